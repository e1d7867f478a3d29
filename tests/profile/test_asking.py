"""The exact profile asked like any other conversion: laws over the nodes, and what is refused."""

import itertools
import os
import signal
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import flint
import pytest
from flint import arb, fmpq

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    AssumptionError,
    Curve,
    DistributionPair,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    LimitError,
    OrderError,
    PoissonSubsample,
    PostProcess,
    PrecisionError,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    laws,
    limits,
)
from symacct.kernel.answer import to_fraction
from symacct.profile.answer import EXACT, profile
from symacct.profile.contours import Contour, Contours
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.solve import CompositionProfile
from symacct.testing import UnsoundError, assert_sound
from tests.support import line_for_any_arithmetic
from tests.thinning import covering

LEAVES = [Gaussian(2), Gaussian(1), Laplace(2), RandomizedResponse("3/5"), PureDP("1/2")]
NODES = [
    *LEAVES,
    *(PoissonSubsample(m, "1/10") for m in LEAVES),
    *(5 * m for m in LEAVES[1:4]),
    1000 * PoissonSubsample(Gaussian(5), "1/1000"),
    40 * PoissonSubsample(Gaussian(2), "1/5"),
    20 * PoissonSubsample(RandomizedResponse("3/5"), "1/5"),
    2000 * PoissonSubsample(Laplace(1), "1/10"),
    30 * PoissonSubsample(Gaussian(3), "1/10") + 10 * RandomizedResponse("11/20"),
    PoissonSubsample(3 * RandomizedResponse("3/5"), "1/3"),
    PoissonSubsample(PoissonSubsample(Gaussian(1), "1/2"), "1/3"),
    3 * PoissonSubsample(DistributionPair(["1/2", "1/2"], ["1/4", "3/4"]), "1/3"),
    SubsampleWithoutReplacement(Gaussian(1), "1/10"),
    PostProcess(Gaussian(3)),
    GroupPrivacy(3 * Gaussian(9), 2),
]


def a_kind(m):
    return {(type(m), type(getattr(m, "mechanism", m)))}


def ends(x):
    return to_fraction(x.lower), to_fraction(x.upper)


DELTA = Fraction(1, 1000)


@covering(a_kind)
@pytest.mark.parametrize("m", NODES, ids=repr)
def test_both_questions_are_one(m):
    """δ at both ends of ε(δ) lies on both sides of δ; no bound that is proved contradicts it."""
    accountant = Accountant(digits=8)
    found = accountant.epsilon(m, DELTA, "exact")
    low, high = ends(found.epsilon)
    if high > 0:
        above, below = (accountant.delta(m, x, "exact", digits=12).delta for x in (low, high))
        assert ends(below)[0] <= DELTA <= ends(above)[1]
    assert found.optimal
    assert found.conversion == "exact"
    assert found.kind is found.claim.kind
    assert found.epsilon.lower <= accountant.epsilon(m, DELTA, "improved").epsilon.upper

    deltas = {x: accountant.delta(m, x, "exact").delta for x in ("0", "1/5", "1/2")}
    assert all(a.upper >= b.lower for a, b in pairwise(deltas.values()))
    for x, conversion in itertools.product(("0", "1/5"), ("classic", "improved")):
        assert deltas[x].lower <= accountant.delta(m, x, conversion).delta.upper
    with suppress(AssumptionError, PrecisionError):  # samples of fixed size; digits out of reach
        twice = (2 * m).delta("1/5", digits=5, conversion="exact").delta
        assert twice.upper >= deltas["1/5"].lower

    least = accountant.lower_epsilon(m, DELTA)
    assert least.claim.kind is Kind.LOWER
    assert least.lower <= found.epsilon.upper
    if found.kind is Kind.EXACT:
        assert found.epsilon.lower <= least.upper
        assert ends(accountant.lower_delta(m, high))[0] <= DELTA


@pytest.mark.parametrize(
    ("m", "kind"),
    [
        (10 * Gaussian(5), Kind.EXACT),
        (PostProcess(Gaussian(5)), Kind.UPPER),
        (GroupPrivacy(Gaussian(5), 2), Kind.UPPER),
        (SubsampleWithoutReplacement(PureDP(1), "1/2"), Kind.EXACT),
        (2 * SubsampleWithoutReplacement(PureDP(1), "1/2"), Kind.UPPER),
    ],
)
def test_the_kind_of_an_answer(m, kind):
    assert m.epsilon("1e-3", conversion="exact").kind is kind


def test_a_group_s_noise_is_that_of_its_sensitivity():
    for made in (Gaussian(3), Laplace(4)):
        group, alone = GroupPrivacy(made, 2), type(made)(*list(made.fields().values())[:1], 2)
        of_both = [m.epsilon("1e-3", conversion="exact").epsilon for m in (group, alone)]
        assert ends(of_both[0]) == ends(of_both[1])


TENTS = DistributionPair(laws.Density("exp(-Abs(x))/2"), laws.Density("exp(-Abs(x-1))/2"))


@pytest.mark.parametrize(
    "m",
    [
        ZCDP("1/10"),
        TCDP("1/10", 5),
        Curve(line_for_any_arithmetic(1), kind="upper", adjacency="either"),
        2 * SubsampleWithoutReplacement(TENTS, "1/2"),
        PoissonSubsample(RandomizedResponse("3/5"), "1/10", adjacency="replace_one"),
        GroupPrivacy(RandomizedResponse("3/5"), 2),
    ],
    ids=repr,
)
def test_where_no_pair_is_known_the_remedy_is_said(m):
    with pytest.raises(AssumptionError, match=r"conversion exact.*conversion improved"):
        m.epsilon("1e-5", conversion="exact")


BELOW = {
    "a record replaced": 100 * SubsampleWithoutReplacement(Gaussian(2), "1/10"),
    "added or removed": 50 * SubsampleWithoutReplacement(Gaussian(2), "1/10", "add_remove"),
    "Poisson, replaced": 50 * PoissonSubsample(Gaussian(2), "1/10", "replace_one"),
    "a part without laws": Gaussian(1) + ZCDP("1/10"),
    "a group": GroupPrivacy(100 * PoissonSubsample(Gaussian(2), "1/10"), 4),
    "too many for a contour": 30 * PoissonSubsample(Laplace(1), "1/5"),
}


@pytest.mark.parametrize("m", BELOW.values(), ids=BELOW)
def test_there_is_a_bracket_where_the_profile_is_not_known(m):
    lower = m.lower_epsilon("1e-5", digits=6)
    upper = m.epsilon("1e-5", digits=6, conversion="improved").epsilon
    assert 0 < lower.lower <= lower.upper < upper.lower


@pytest.mark.parametrize("m", [ZCDP("1/10"), PostProcess(Gaussian(1))], ids=repr)
def test_what_may_tell_nothing_has_a_lower_bound_of_0(m):
    assert m.lower_epsilon("1e-5").upper == 0
    assert m.lower_delta(1).upper == 0


def test_what_the_exact_profile_has_no_use_for():
    m = PoissonSubsample(Gaussian(1), "1/10")
    with pytest.raises(OrderError, match="ask without orders"):
        m.epsilon("1e-5", conversion="exact", orders=[2, 3])
    with pytest.raises(DomainError, match="ask without by"):
        m.epsilon("1e-5", conversion="exact", by="ZW19-T5")
    with pytest.raises(DomainError, match="needed delta > 0"):
        m.epsilon(0, conversion="exact")
    noise = 30 * PoissonSubsample(Laplace("1/2"), "1/10") + PoissonSubsample(Gaussian(1), "1/3")
    with pytest.raises(PrecisionError, match="conversion improved"):
        noise.epsilon("1e-5", digits=30, conversion="exact")
    laws = ["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"]
    thirds = DistributionPair(*laws, "add_remove", with_record="P")
    with pytest.raises(PrecisionError, match=r"about . digits"):
        (1000 * thirds).epsilon("1e-5", digits=30, conversion="exact")


DEAR = {
    "two million nodes": 100_000 * PoissonSubsample(Gaussian(50), "1e-6"),
    "many outcomes": 5 * PoissonSubsample(Gaussian(1), "1/10")
    + 40
    * DistributionPair(
        [Fraction(i, 5050) for i in range(1, 101)], ["1/100"] * 100, "add_remove", with_record="P"
    ),
}


@pytest.mark.parametrize("m", DEAR.values(), ids=DEAR)
def test_a_contour_that_is_too_large_is_refused_before_it_is_begun(m, monkeypatch):
    monkeypatch.setattr(Contour, "nodes", property(lambda _: pytest.fail("begun")))
    contours = profile(m).directions[0].contours
    with pytest.raises(LimitError, match=r"the limit contour"), limits(contour=2**28):
        contours.delta(lambda: arb(1), 14)


EXTREME = [
    Gaussian("1e-200"),
    PoissonSubsample(Gaussian(5), "1e-400"),
    3 * PoissonSubsample(Gaussian(5), "1e-400"),
    3 * PoissonSubsample(Gaussian("1e200"), "1/2"),
    3 * PoissonSubsample(Gaussian(5), "1e-20"),
    3 * PoissonSubsample(Gaussian("1e20"), "1/2"),
    3 * PoissonSubsample(Laplace("1e-5"), "1/2"),
    10**9 * PoissonSubsample(RandomizedResponse("3/5"), "1e-400"),
]


@covering()
@pytest.mark.parametrize("m", EXTREME, ids=range(len(EXTREME)))
@pytest.mark.parametrize("ask", ["epsilon", "delta"])
@pytest.mark.parametrize("x", ["1e-400", "1/2"])
def test_numbers_beyond_float64_are_answered_or_refused(m, ask, x):
    with suppress(PrecisionError, LimitError):
        assert getattr(m, ask)(x, digits=4, conversion="exact").asked.upper >= 0
    if m in EXTREME[:3] + EXTREME[6:]:
        assert m.lower_delta(1, digits=4).lower >= 0


def test_the_limit_of_a_contour_is_raised_by_the_caller():
    m = 3000 * PoissonSubsample(Gaussian(2), "1/100")
    with pytest.raises(LimitError, match="exact profile"), limits(contour=10**5):
        m.delta(1, digits=14, conversion="exact")
    with limits(contour=10**8):
        assert m.delta(1, digits=14, conversion="exact").delta.lower > 0


def test_at_the_ends():
    for m in (Gaussian(1), 5 * RandomizedResponse("3/5"), 3 * Laplace(1)):
        everything = m.delta(0, conversion="exact").delta
        nothing = m.epsilon(to_fraction(everything.upper) + Fraction(1, 10**9), conversion="exact")
        assert nothing.epsilon.upper == 0
    assert 3 * RandomizedResponse("3/4").epsilon(0, conversion="exact").epsilon.lower > 0
    pure = (3 * RandomizedResponse("3/4")).epsilon(0, digits=20, conversion="exact").epsilon
    assert str(pure).startswith("3.295836866004329074")  # 3 log 3
    assert PureDP(1).delta(2, conversion="exact").delta.upper == 0
    same = DistributionPair(["1/2", "1/2"], ["1/2", "1/2"])
    assert (7 * same).delta(0, conversion="exact").delta.upper == 0
    disjoint = DistributionPair(["1", "0"], ["0", "1"])
    assert (7 * disjoint).delta(9, conversion="exact").delta.lower == 1
    with pytest.raises(DomainError, match="only one of two"):
        disjoint.epsilon("1/2", conversion="exact")


def test_what_only_one_law_can_give():
    """Beside noise; test_edges.py has it alone."""
    sampled = PoissonSubsample(DistributionPair(["1/10", "9/10"], ["0", "1"]), "1/2")
    with_noise = sampled + 20 * PoissonSubsample(Gaussian(2), "1/10")
    found = with_noise.delta(1, digits=10, conversion="exact").delta
    assert found.lower > 0.05
    with pytest.raises(DomainError, match=r"needed at least 0\.05"):
        with_noise.epsilon("1/100", conversion="exact")


def test_what_is_remembered_is_used_and_changes_nothing():
    m = 5000 * PoissonSubsample(Gaussian(2), "1/100")
    warm = Accountant(digits=20)
    first = warm.epsilon(m, "1e-5", "exact")
    profile = EXACT.remembered(m, warm._table)
    before = [id(c.plan) for d in profile.directions for c in d.contours.known]
    near = warm.epsilon(m, "1.01e-5", "exact")
    assert [id(c.plan) for d in profile.directions for c in d.contours.known] == before
    cold = Accountant(digits=20).epsilon(m, "1.01e-5", "exact")
    assert max(ends(near.epsilon)[0], ends(cold.epsilon)[0]) <= min(
        ends(near.epsilon)[1], ends(cold.epsilon)[1]
    )
    assert near.epsilon.upper < first.epsilon.lower
    warm.clear()
    assert EXACT.remembered(m, warm._table) is not profile


RUNS = {
    "Gaussian": 5000 * PoissonSubsample(Gaussian(2), "1/100"),
    "many nodes": 1000 * PoissonSubsample(Gaussian("11/10"), "1/100"),
    "Laplace": 2000 * PoissonSubsample(Laplace(2), "1/100"),
    "two kinds": 900 * PoissonSubsample(Laplace(5), "1/10") + 300 * Gaussian(40),
}


@covering()
@pytest.mark.parametrize("m", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("delta", ["1e-6", "1/10"])
def test_what_one_direction_tells_of_the_other(m, delta):
    accountant = Accountant(digits=30)
    found = accountant.epsilon(m, delta, "exact").epsilon
    first, other = EXACT.remembered(m, accountant._table).directions
    told = 0
    for share in ("1/2", "1", "3/2"):
        y = to_fraction(found.upper) * Fraction(share)
        for value in other.contours._across(lambda: arb(fmpq(y.numerator, y.denominator))):  # noqa: B023
            alone = CompositionProfile(other.pairs, True).delta(
                lambda: arb(fmpq(y.numerator, y.denominator)),  # noqa: B023
                20,
            )
            assert value.overlaps(alone)
            told += value.rel_accuracy_bits() > 8
    assert told or first.contours.known[0].plan.across is None


@pytest.mark.parametrize(("count", "rate"), [(10**7, "1/100000"), (10**4, "1/1000")])
def test_rare_jumps_that_no_float_steers_to(count, rate):
    """M(c)e^{−cy} is some 10¹⁵ times D(y): the root is looked for by balls."""
    m = count * PoissonSubsample(Gaussian(1), rate)
    found = Accountant(digits=10).epsilon(m, "1e-10", "exact").epsilon
    below, above = (Accountant(digits=10).delta(m, end, "exact").delta for end in ends(found))
    assert to_fraction(below.upper) > Fraction(1, 10**10) > to_fraction(above.lower)
    assert to_fraction(below.upper) < Fraction(1, 10**10) * (1 + Fraction(1, 10**6))


def test_a_root_that_is_not_found_is_spoken_of_as_such(monkeypatch):
    """Also where it is the values of δ on the way that balls can't tell."""
    monkeypatch.setattr(Contours, "_on", lambda *_: None)
    m = 2 * PoissonSubsample(Gaussian(2), 1 - Fraction(1, 10**20))
    with pytest.raises(PrecisionError, match=r"^ε at δ = 1e-05: 13 digits not reached"):
        m.epsilon("1e-5", digits=12, conversion="exact")


def test_a_rate_that_float64_does_not_tell_from_1():
    """One run is nearly the noise itself: δ(1) = Φ(−7/4) − e Φ(−9/4) of σ = 2, to 20 digits."""
    near = PoissonSubsample(Gaussian(2), 1 - Fraction(1, 10**20))
    found, whole = (m.delta(1, digits=12, conversion="exact").delta for m in (near, Gaussian(2)))
    assert found.lower <= whole.upper
    assert abs(found.upper - whole.lower) < whole.upper * 10**-11


def test_far_below_every_likely_loss_a_second_question_has_its_saddle():
    """The moments' bound is least at order 1 there, where the next search may not stay."""
    m = 69164 * Gaussian("253417/782672") + 115709 * PoissonSubsample(Gaussian(2), "1/250")
    found = Accountant(digits=15).delta(m, 320000, "exact").delta
    assert 1 - Fraction(1, 10**12) < to_fraction(found.lower) <= to_fraction(found.upper) <= 1


INTERRUPTED = {
    "a contour": (3000 * PoissonSubsample(Gaussian(3), "1/50"), SampledGaussian, "transform"),
    "what bounds it": (3000 * PoissonSubsample(Gaussian(3), "1/50"), SampledGaussian, "decay"),
    "a closed form": (PoissonSubsample(Laplace(2), "1/10"), LaplaceLoss, "hockey_stick"),
}


@pytest.mark.parametrize(("m", "part", "name"), INTERRUPTED.values(), ids=INTERRUPTED)
def test_ctrl_c_leaves_nothing_behind(m, part, name, monkeypatch):
    """The signal comes at the first calls in turn; the same accountant is asked again."""
    expected, bits = Accountant(digits=15).epsilon(m, "1e-5", "exact"), flint.ctx.prec
    accountant, ask, calls = Accountant(digits=15), getattr(part, name), 0

    def watched(*args, **given):
        nonlocal calls
        calls += 1
        if calls == stop:
            os.kill(os.getpid(), signal.SIGINT)
        return ask(*args, **given)

    monkeypatch.setattr(part, name, watched)
    for stop in (1, 2):  # noqa: B007  # `watched` reads it
        calls = 0
        with pytest.raises(KeyboardInterrupt):
            accountant.epsilon(m, "1e-5", "exact")
        assert flint.ctx.prec == bits
    stop = -1
    found = accountant.epsilon(m, "1e-5", "exact")
    assert found.epsilon == expected.epsilon
    assert found.alpha == expected.alpha


@pytest.mark.parametrize("noise", [Gaussian(2), Laplace(3)])
def test_at_0_both_directions_have_the_total_variation(noise):
    """Balls can't tell equal numbers apart: only one of two is worked out."""
    asked = profile(400 * PoissonSubsample(noise, "1/50"))
    straight, reverse = asked.directions
    found, best = asked.largest_delta(Fraction(0), 12)
    assert best is straight
    assert not reverse.contours.known
    assert found.overlaps(reverse.delta(flint.arb, 12))


def test_an_accountant_that_answers_one_percent_too_little_is_caught():
    m = 1000 * PoissonSubsample(Gaussian(2), "1/100")

    def truth(delta):
        return float(m.epsilon(delta, digits=12, conversion="exact").epsilon)

    assert assert_sound(truth, m, what="epsilon", at=["1e-5"]) == 1
    with pytest.raises(UnsoundError):
        assert_sound(lambda delta: 0.99 * truth(delta), m, what="epsilon", at=["1e-5"])
