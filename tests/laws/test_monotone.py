"""What contains more costs no less: by the curve, by ε(δ) and by δ(ε), whatever is proved how."""

import itertools
import random
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import (
    ZCDP,
    DiscreteGaussian,
    DistributionPair,
    Either,
    ExponentialMechanism,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    Skellam,
    SubsampleWithoutReplacement,
)
from symacct.kernel.errors import SymacctError
from tests.thinning import examples, some

NOISE = (Gaussian, Laplace, DiscreteGaussian, PureDP, ExponentialMechanism)
#: σ, or 1/ε₀.
scales = st.sampled_from(["1/2", "1", "2", "5"]).map(Fraction)
rates = st.sampled_from(["1/3", "1/10", "1/100", "1/1000"]).map(Fraction)
counts = st.sampled_from([1, 2, 3, 7, 8, 20])


def noise(kind, scale):
    return kind(1 / scale if kind in (PureDP, ExponentialMechanism) else scale)


def sampled(kind, scale, rate):
    """The mechanism itself, or on a sample."""
    m = noise(kind, scale)
    return {
        "all": lambda: m,
        "poisson": lambda: PoissonSubsample(m, rate),
        "replaced": lambda: PoissonSubsample(m, rate, "replace_one"),
        "fixed": lambda: SubsampleWithoutReplacement(m, rate),
        "one fewer": lambda: SubsampleWithoutReplacement(m, rate, "add_remove"),
    }


SAMPLINGS = ("all", "poisson", "replaced", "fixed", "one fewer")
mechanisms = st.tuples(st.sampled_from(NOISE), scales, rates, st.sampled_from(SAMPLINGS))


def made(kind, scale, rate, sampling):
    return sampled(kind, scale, rate)[sampling]()


#: What is asked: of the curve here, of ε and δ in a soak.
QUESTIONS = {
    "rdp(2)": lambda m: m.rdp(2, digits=8),
    "rdp(3)": lambda m: m.rdp(3, digits=8),
    "rdp(16)": lambda m: m.rdp(16, digits=8),
    "rdp(inf)": lambda m: m.rdp("inf", digits=8),
    "improved ε": lambda m: m.epsilon("1e-6", digits=6, conversion="improved").epsilon,
    "improved δ": lambda m: m.delta("1/2", digits=6, conversion="improved").delta,
}
EXACT = {
    "exact ε": lambda m: m.epsilon("1e-6", digits=4, conversion="exact").epsilon,
    "exact δ": lambda m: m.delta("1/2", digits=4, conversion="exact").delta,
}
asked = some(
    {name: ask for name, ask in QUESTIONS.items() if name.startswith("rdp")}, QUESTIONS | EXACT
)


def assert_no_more(less, more, questions=None):
    """What is reported of `less` is not proved to be above what is reported of `more`."""
    for name, ask in (questions or asked).items():
        try:
            first, second = ask(less), ask(more)
        except SymacctError:
            continue
        assert not first.lower > second.upper, f"{name}: {less} {first}, {more} {second}"


# --- one number larger


def louder(kind, scale, rate, sampling):
    """With more noise; of two discrete Gaussians, whole σ that are close contain neither other."""
    return made(kind, scale * (2 if kind is DiscreteGaussian else Fraction(3, 2)), rate, sampling)


#: What costs less and what costs no less, by what is larger.
LARGER = {
    "runs": lambda m, n: (n * made(*m), (n + 1) * made(*m)),
    "group": lambda m, n: (GroupPrivacy(made(*m), n), GroupPrivacy(made(*m), n + 1)),
    "noise": lambda m, n: (n * louder(*m), n * made(*m)),
    "rate": lambda m, n: (n * made(*m), n * made(*m[:2], m[2] * Fraction(3, 2), m[3])),
}


@pytest.mark.parametrize("what", LARGER)
@examples(6, 150)
@given(mechanisms, counts)
def test_a_larger_number_costs_as_much_at_least(what, m, count):
    try:
        less, more = LARGER[what](m, min(count, 4) if what == "group" else count)
    except SymacctError:  # samples of fixed size of one record fewer have no groups of three
        return
    assert_no_more(less, more)


@examples(4, 60)
@given(mechanisms, counts, st.sampled_from(["improved", *some([], ["exact"])]))
def test_a_larger_delta_has_no_larger_epsilon_and_back(m, count, conversion):
    one = count * made(*m)
    rising = ["1e-12", "1e-9", "1e-6", "1e-3", "1/10"]
    how = {"digits": 6, "conversion": conversion}
    for ask, places in (
        (lambda delta: one.epsilon(delta, **how).epsilon, rising),
        (lambda epsilon: one.delta(epsilon, **how).delta, ["1/10", "1/2", "1", "3"]),
    ):
        answers = []
        for place in places:
            try:
                answers.append(ask(place))
            except SymacctError:
                continue
        for more, less in itertools.pairwise(answers):
            assert less.lower <= more.upper, f"{one}: {answers}"


# --- one description in another


def contained(m, rate, share):
    """(what, what contains it) of a mechanism for either relation."""
    poisson, other = PoissonSubsample(m, rate), RandomizedResponse("2/3")
    fixed = SubsampleWithoutReplacement(m, rate)
    return [
        (PoissonSubsample(m, rate, "replace_one"), GroupPrivacy(poisson, 2)),
        (poisson, m),
        (fixed, m),
        (poisson, poisson + other),
        (poisson, GroupPrivacy(poisson, 2)),
        (fixed, GroupPrivacy(fixed, 2)),
        (PostProcess(fixed), fixed),
        (RandomAllocation(m, 3), m),
        (2 * RandomAllocation(m, 3), 2 * m),
        (PoissonSubsample(RandomAllocation(m, 3), rate), PoissonSubsample(m, rate)),
        (Either(poisson, m, share), m),
        (poisson, Either(poisson, m, share)),
        (SubsampleWithoutReplacement(m, rate, "add_remove"), m),
        (
            SubsampleWithoutReplacement(PoissonSubsample(m, rate, "replace_one"), "2/3"),
            PoissonSubsample(m, rate, "replace_one"),
        ),
    ]


@examples(6, 150)
@given(
    st.sampled_from([*NOISE, ZCDP, Skellam, lambda scale: RandomizedResponse(Fraction(3, 4))]),
    scales,
    rates,
    st.sampled_from(["1/2", "1/10"]),
    st.integers(0, 13),
    counts,
)
@example(DiscreteGaussian, Fraction(2), Fraction(1, 3), "1/2", 0, 1)
def test_a_description_in_another_costs_no_more(kind, scale, rate, share, which, count):
    m = noise(kind, scale)
    less, more = contained(m, rate, share)[which]
    assert_no_more(count * less, count * more)


def law(r, outcomes):
    masses = [r.randint(1, 9) for _ in range(outcomes)]
    return [Fraction(mass, sum(masses)) for mass in masses]


@examples(6, 150)
@given(st.integers(0, 10**6), st.sampled_from(["1/3", "1/10"]), counts)
def test_a_pair_whose_record_is_known_costs_no_more(seed, rate, count):
    r = random.Random(seed)
    P, Q = law(r, 3), law(r, 3)
    known, open_ = (
        DistributionPair(P, Q, "add_remove", with_record=which) for which in ("P", "either")
    )
    for wrapped in (
        lambda m: count * m,
        lambda m: count * PoissonSubsample(m, rate),
        lambda m: PoissonSubsample(count * m, rate),
        lambda m: Either(m, 2 * m, rate),
    ):
        assert_no_more(wrapped(known), wrapped(open_))


@pytest.mark.skipif(not some([], [1]), reason="seconds each: in a soak")
@pytest.mark.parametrize("count", range(7, 14))
def test_no_fewer_runs_of_fixed_size_cost_more(count):
    """Runs by a profile, and by another way where that one is too slow."""
    one = SubsampleWithoutReplacement(Gaussian(5), "1/1000")
    assert_no_more(
        count * one,
        (count + 1) * one,
        {"best ε": lambda m: m.epsilon("1e-8", digits=4, conversion="best").epsilon},
    )
