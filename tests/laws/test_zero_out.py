"""A record zeroed out: what the relation says of the two others, and of samples of fixed size."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Accountant,
    AdjacencyError,
    AssumptionError,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Laplace,
    MatrixMechanism,
    PoissonSubsample,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    dp_sgd,
    from_json,
    limits,
    parse,
    theorems,
    truncated_poisson,
)
from symacct.analysis import halves
from symacct.kernel.claims import UNKNOWN
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.zeroed import ZeroedBound, ZeroedGaussian
from symacct.profile.pairs import products
from symacct.theory.amplification.zeroed import two_steps
from tests.remainders.halves import both_halves
from tests.support import LEAVES, OPERATIONS, whole_orders
from tests.thinning import examples

fixed, poisson = SubsampleWithoutReplacement, PoissonSubsample
small = st.fractions(Fraction(1, 5), 3, max_denominator=8).filter(bool)
rates = st.fractions(Fraction(1, 200), Fraction(9, 10), max_denominator=300)
epsilons = st.fractions(0, 3, max_denominator=8)


def test_what_it_costs_that_another_record_may_be_the_opposite():
    """By quadrature: y = −x against y = 0, which is the pair of a Poisson sample."""
    run = fixed(Gaussian(1), "1/100", "zero_out")
    answer = run.delta("1/2", conversion="exact", digits=10)
    assert f"{float(answer.delta):.7g}" == "0.0004843651"
    assert str(answer.kind) == "exact"
    assert str(answer.claim.adjacency) == "zero_out"
    assert float(poisson(Gaussian(1), "1/100").delta("1/2").delta) == pytest.approx(2.2145157e-7)


@examples(3, 40)
@given(small, rates, epsilons, st.integers(0, 12), st.integers(0, 12))
def test_no_two_records_of_norm_at_most_1_cost_more(sigma, gamma, epsilon, first, second):
    """The integral of the positive part over the line and, by the half-line, over the plane."""
    exactly = fixed(Gaussian(sigma), gamma, "zero_out").delta(epsilon, conversion="exact")
    mp, u = mpmath, mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    s, g = float(sigma), float(gamma)
    x, y = first / 6 - 1, second / 6 - 1

    def law(z, mean):
        return (1 - g) * mp.npdf(z, y, s) + g * mp.npdf(z, mean, s)

    ends = (-2 - 9 * s, 2 + 9 * s)
    places = mp.linspace(*ends, 60)
    for with_it, without in ((x, 0), (0, x)):
        seen = mp.quad(lambda z: max(0, law(z, with_it) - u * law(z, without)), places)  # noqa: B023
        assert seen <= exactly.delta.upper + 1e-9


@examples(3, 40)
@given(small, rates, epsilons)
def test_the_worst_records_are_attained(sigma, gamma, epsilon):
    answer = fixed(Gaussian(sigma), gamma, "zero_out").delta(epsilon, conversion="exact")
    with mpmath.workdps(30):
        mp, u = mpmath, mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        s, g = (mp.mpf(x.numerator) / x.denominator for x in (sigma, gamma))

        def gap(z):
            out = mp.npdf(z, -1, s)
            record, nothing = mp.npdf(z, 1, s), mp.npdf(z, 0, s)
            return (1 - g) * (1 - u) * out + g * (record - u * nothing)

        low, high = mp.mpf(1) / 2, 1 + 50 * (s + s * s)
        for _ in range(150):
            at = (low + high) / 2
            low, high = (low, at) if gap(at) > 0 else (at, high)
        other, record, nothing = (mp.ncdf((mean - at) / s) for mean in (-1, 1, 0))
        seen = (1 - g) * (1 - u) * other + g * (record - u * nothing)
        assert abs(answer.delta.lower - seen) <= 1e-12 + seen * mp.mpf(10) ** -6


@pytest.mark.parametrize("leaf", sorted(set(LEAVES) - {"Curve"}))
def test_a_zeroed_record_of_a_poisson_sample_costs_what_a_removed_one_does(leaf):
    @examples(2, 20)
    @given(LEAVES[leaf], rates, whole_orders)
    def law(node, gamma, alpha):
        zeroed, removed = poisson(node, gamma, "zero_out"), poisson(node, gamma)
        assert zeroed.rdp(alpha).upper == removed.rdp(alpha).upper
        assert zeroed.claim.kind is removed.claim.kind
        assert zeroed.attained == removed.attained

    law()


@examples(3, 30)
@given(small, rates, epsilons, st.integers(1, 9))
def test_profiles_of_poisson_samples_are_alike(sigma, gamma, epsilon, runs):
    zeroed, removed = (
        (runs * poisson(Gaussian(sigma), gamma, relation)).delta(epsilon)
        for relation in ("zero_out", "add_remove")
    )
    assert (zeroed.delta.lower, zeroed.delta.upper) == (removed.delta.lower, removed.delta.upper)


@pytest.mark.parametrize(
    "mechanism", [Gaussian(2), Laplace(2), PureDP(1), RandomizedResponse("2/3")]
)
def test_it_is_between_a_poisson_sample_and_a_replaced_record_at_twice(mechanism):
    """The other record may be nothing, which is Poisson's pair; all are within two steps."""
    for gamma, epsilon in ((Fraction(1, 20), 0), (Fraction(1, 4), Fraction(1, 2))):
        zeroed = fixed(mechanism, gamma, "zero_out")
        assert poisson(mechanism, gamma).rdp(3).lower <= zeroed.rdp(3).upper
        replaced = fixed(two_steps(mechanism), gamma)
        assert zeroed.rdp(3).lower <= replaced.rdp(3).upper
        assert zeroed.rdp(3, by="ZERO-OUT-TWO-STEPS").upper == replaced.rdp(3).upper
        if mechanism == RandomizedResponse("2/3"):  # no pair of a group of two is known
            continue
        below, at, above = (
            m.delta(epsilon, conversion="exact").delta
            for m in (poisson(mechanism, gamma), zeroed, fixed(two_steps(mechanism), gamma))
        )
        assert below.lower <= at.upper
        assert at.lower <= above.upper


@examples(3, 30)
@given(small, rates, whole_orders)
def test_groups_of_two_cover_a_record_replaced(sigma, gamma, alpha):
    for scheme in (fixed, poisson):
        two = GroupPrivacy(scheme(Gaussian(sigma), gamma, "zero_out"), 2)
        base = Gaussian(sigma, 2) if scheme is fixed else Gaussian(sigma)
        one = scheme(base, gamma, "replace_one")
        assert str(two.adjacency) == "zero_out, groups of 2"
        assert one.rdp(alpha).lower <= two.rdp(alpha).upper


@examples(3, 30)
@given(small, rates, st.fractions(Fraction(6, 5), 20, max_denominator=5))
def test_the_bound_of_halves_is_between_its_ends(sigma, gamma, alpha):
    run = fixed(Gaussian(sigma), gamma, "zero_out")
    bound = run.rdp(alpha)
    assert run.rdp(alpha, by="ZERO-OUT-GAUSSIAN-LOWER").lower <= bound.upper
    for other in ("ZERO-OUT-TOLD", "ZERO-OUT-TWO-STEPS"):
        assert bound.lower <= run.rdp(alpha, by=other).upper


@examples(3, 30)
@given(small, rates)
def test_the_bound_at_1_is_the_limit_of_those_above(sigma, gamma):
    """Some 10⁻⁴ below that at 1.0001, above the other record's D₁ and below what is told."""
    run = fixed(Gaussian(sigma), gamma, "zero_out")
    at_one, next_to_it = run.rdp(1), run.rdp("1.0001")
    assert at_one.upper < next_to_it.lower < at_one.lower * (1 + Fraction(1, 100))
    assert at_one.upper <= run.rdp(1, by="ZERO-OUT-TOLD").upper
    s, g, mp = float(sigma), float(gamma), mpmath

    def laws(z):
        return [(1 - g) * mp.npdf(z, -1, s) + g * mp.npdf(z, mean, s) for mean in (1, 0)]

    def loss(z):
        p, q = laws(z)
        return p * mp.log(p / q) - p + q

    assert mp.quad(loss, mp.linspace(-1 - 12 * s, 1 + 12 * s, 60)) <= at_one.upper + 1e-12


@pytest.mark.parametrize(("order", "gamma", "sigma"), [(3, "1/9", 1), ("5/2", "1/2", 2)])
def test_the_bound_of_halves_is_the_integral_by_quadrature(order, gamma, sigma):
    order, gamma = Fraction(order), Fraction(gamma)
    found = fixed(Gaussian(sigma), gamma, "zero_out").rdp(order, 15, by="ZERO-OUT-GAUSSIAN")
    whole = both_halves(order, gamma, Fraction(1, sigma))
    true = float(mpmath.log1p(whole)) / float(order - 1)
    assert found.upper == pytest.approx(true, rel=1e-12)


@pytest.mark.parametrize("engine", ["mpmath", "float64"])
@pytest.mark.parametrize("name", [each.name for each in theorems() if "ZERO-OUT" in each.name])
def test_what_is_proved_of_a_zeroed_record_is_one_number_by_each_engine(name, engine):
    mechanism = Gaussian("3/2") if "GAUSSIAN" in name else Laplace(2)
    run = fixed(mechanism, "1/9", "zero_out")
    for order in (3, 8):
        found, proved = (Accountant(16, by).rdp(run, order, by=name) for by in (engine, "ball"))
        assert found.upper == pytest.approx(float(proved.upper), rel=1e-12)


@pytest.mark.parametrize(
    ("order", "gamma", "delta"),
    [
        (1, "1/100", 1),
        (1, "1/10", 5),
        (200, "1/1000000", 2),
        (200, "1/10", 1),
        ("10001/10000", "1/100", 1),
        (2, "1/2", 30),
    ],
)
def test_what_steers_an_integral_of_halves_is_near_it(order, gamma, delta):
    """So it says how many digits of the integral are asked, which may be e^80000."""
    a, rate = Fraction(order), Fraction(gamma)
    with np.errstate(over="raise", invalid="raise"), limits(seconds=5):
        about = halves.log_halves(float(a), float(rate), float(delta))
        proved = halves.halves(a, rate, Fraction(delta)).log()
    assert about == pytest.approx(float(proved), abs=1e-9, rel=1e-12)


def test_a_lower_bound_is_not_read_as_that_of_one_pair():
    """One sample needs the opposite record, where the sample above it needs empty places."""
    once = fixed(Gaussian(1), "1/100", "zero_out")
    assert once.lower_bound(3, digits=5).lower > 0
    with pytest.raises(AssumptionError, match="may be the larger of two"):
        fixed(2 * once, "1/2", "zero_out").lower_bound(3)


@pytest.mark.parametrize("mechanism", [Laplace("1/3"), PureDP(1)])
def test_a_bound_by_one_step_and_two_falls_and_is_not_composed(mechanism):
    """It is no profile of a pair, as it is not convex, so several runs have none by it."""
    run = fixed(mechanism, "3/10", "zero_out")
    deltas = [run.delta(e, conversion="exact", digits=8).delta for e in (0, "1/10", "1/5", "1/2")]
    assert all(after.lower <= before.upper for before, after in pairwise(deltas))
    for several in (2 * run, run + Gaussian(1)):
        with pytest.raises(AssumptionError):
            products(several)


@pytest.mark.parametrize("shift", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("gamma", [Fraction(1, 10), Fraction(7, 10)])
def test_the_bound_of_laplace_noise_is_its_formula_and_above_all_records(shift, gamma):
    """By H_s(t) = 1 − e^{(t−s)/2}, and by integrals over the line for records up to 1 from 0."""
    part = ZeroedBound(LaplaceLoss(shift), LaplaceLoss(2 * shift), gamma)
    g, s = float(gamma), float(shift)
    z = np.linspace(-s - 25, s + 25, 50001)

    def profile(shift, t):
        return max(0.0, 1 - np.exp((t - shift) / 2))

    def law(record, other):
        seen, instead = (np.exp(-np.abs(z - s * x)) / 2 for x in (record, other))
        return g * seen + (1 - g) * instead

    for y in (0.05 * s, 0.3 * s, 0.8 * s):
        more = np.expm1(y)
        beyond, share = np.log1p(more / g), (1 - g) * more / (more + g)
        near, far = profile(s, beyond), profile(2 * s, beyond)
        with_it, without = (
            float(way(arb(y)).upper()) for way in (part.with_record, part.without_record)
        )
        by_both = (1 - share) * near + share * far
        assert with_it == pytest.approx(g * min(by_both, profile(s, y)), abs=1e-12)
        assert without == pytest.approx(g * near, abs=1e-12)
        for record, other in product((-1, -0.4, 0, 1), (-1, 0, 0.3, 1)):
            p, q = law(record, other), law(0, other)
            for first, second, said in ((p, q, with_it), (q, p, without)):
                gap = np.maximum(first - np.exp(y) * second, 0).sum() * (z[1] - z[0])
                assert gap <= said + 1e-5


@pytest.mark.parametrize("reverse", [False, True])
def test_a_ball_about_0_has_no_profile_as_either_side_has_another_worst_record(reverse):
    rate = Fraction(1, 3)
    for part in (
        ZeroedGaussian(Fraction(2), rate),
        ZeroedBound(LaplaceLoss(Fraction(1)), LaplaceLoss(Fraction(2)), rate),
    ):
        assert part.hockey_stick(arb(0, 1e-9), reverse).is_nan()
        near, below, above = (part.hockey_stick(arb(y), reverse) for y in (0, -1e-9, 1e-9))
        assert above < below
        assert abs(near - below) < 2e-9


def test_the_ends_of_the_rate():
    for gamma in (0, 1):
        run = fixed(Gaussian(2), gamma, "zero_out")
        assert run.attained == (Gaussian(2).attained if gamma else UNKNOWN)
        assert run.rdp(3).upper == (gamma and Gaussian(2).rdp(3).upper)
        assert run.delta(1).delta.upper == (gamma and Gaussian(2).delta(1).delta.upper)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one", "zero_out"])
@pytest.mark.parametrize("over", sorted(OPERATIONS))
def test_an_operation_answers_under_each_relation_or_refuses_in_one_line(over, relation):
    """Whatever is put together: a claim about one relation, or one line that says why not.

    A sample with a record more or less is of a given number of records, which no sample above
    may change.
    """

    @examples(8, 200)
    @given(st.sampled_from(sorted(LEAVES)), st.sampled_from([fixed, poisson]), st.data())
    def law(leaf, scheme, data):
        mechanism = scheme(data.draw(LEAVES[leaf]), "1/3", relation)
        errors = (AdjacencyError, DomainError) if mechanism._counts_records else AdjacencyError
        try:
            node = data.draw(OPERATIONS[over](st.just(mechanism)))
        except errors as error:
            refusal = str(error)
            assert "\n" not in refusal
            return
        assert node.adjacency.relation.value in {"add_remove", "replace_one", "zero_out"}
        assert node.rdp(4).claim.adjacency == node.adjacency

    law()


@examples(2, 20)
@given(small, st.integers(0, 8), st.integers(3, 9), st.integers(1, 4))
def test_a_batch_that_is_cut_costs_no_more_than_is_said(sigma, tenths, n, batch):
    """All batches of n places, the others' records at −1: by the laws of the sums themselves."""
    gamma = Fraction(tenths + 1, 10)
    bound = truncated_poisson(Gaussian(sigma), gamma, n, batch, "zero_out")
    said = bound.delta(Fraction(1, 2), conversion="exact").delta.upper
    g, s = float(gamma), float(sigma)
    with_it, without = {}, {}  # the weight of each sum of a batch
    for taken in range(n):
        chance = comb(n - 1, taken) * g**taken * (1 - g) ** (n - 1 - taken)
        alone = -min(taken, batch)
        kept = g * min(1, batch / (taken + 1))
        for law, value in ((with_it, 1), (without, 0)):
            seen = value - min(taken, batch - 1)
            law[alone] = law.get(alone, 0) + chance * (1 - kept)
            law[seen] = law.get(seen, 0) + chance * kept
    z = np.linspace(-batch - 9 * s, 2 + 9 * s, 40001)
    p, q = (
        sum(w * np.exp(-(((z - m) / s) ** 2) / 2) for m, w in law.items())
        for law in (with_it, without)
    )
    for one, other in ((p, q), (q, p)):
        gap = np.maximum(one - np.exp(0.5) * other, 0).sum() * (z[1] - z[0])
        assert gap / (s * np.sqrt(2 * np.pi)) <= said + 1e-9


@pytest.mark.parametrize(
    "sampling", ["poisson", "without_replacement", "balls_and_bins", "shuffled"]
)
def test_a_training_run_has_one_norm_as_sensitivity(sampling):
    run = dp_sgd(1000, 50, 2, epochs=2, sampling=sampling, adjacency="zero_out")
    assert str(run.adjacency) == "zero_out"
    assert {leaf.sensitivity for leaf in run.walk() if isinstance(leaf, Gaussian)} == {1}
    assert parse(repr(run)) is run
    assert from_json(run.to_json()) is run
    others = {"poisson": "add_remove", "balls_and_bins": "add_remove"}
    if sampling in others:
        removed = dp_sgd(1000, 50, 2, epochs=2, sampling=sampling, adjacency=others[sampling])
        assert run.rdp(4).upper == removed.rdp(4).upper


def test_noise_on_all_of_the_data_is_read_for_whichever_relation():
    answer = MatrixMechanism([[1, 0], ["1/2", 1]], 2).epsilon("1e-5").under("zero_out")
    assert str(answer.claim.adjacency) == "zero_out"
    assert "zeroed out adds nothing" in answer.statement()
    with pytest.raises(AdjacencyError):
        RandomAllocation(Gaussian(2), 9, adjacency="replace_one")
    with pytest.raises(AdjacencyError, match="found add_remove and zero_out together"):
        RandomAllocation(Gaussian(2), 9, adjacency="zero_out") + RandomAllocation(Gaussian(2), 9)


@pytest.mark.parametrize("mechanism", [Laplace(2), PureDP("1/2")])
def test_a_zeroed_record_has_no_larger_loss_than_without_a_sample(mechanism):
    """Two steps are twice as far apart, and end at 0.93; one step bounds the sample too.

    ε(∞) of the sample is at most 0.4749, beyond which the curve proves that δ is 0.
    """
    run = fixed(mechanism, "9/10", "zero_out")
    assert run.epsilon(0, conversion="exact", digits=8).epsilon.upper <= 0.5
    assert run.delta("1/2", conversion="exact", digits=8).delta.upper == 0
    assert run.delta("48/100", conversion="exact", digits=8).delta.upper == 0
    assert run.delta("47/100", conversion="exact", digits=8).delta.lower > 0
