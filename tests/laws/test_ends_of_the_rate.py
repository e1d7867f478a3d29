"""At γ = 0 and γ = 1 every answer is what the answers next to it come to."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    ZCDP,
    Accountant,
    Gaussian,
    Kind,
    Laplace,
    NoisyMax,
    PoissonSubsample,
    PrecisionError,
    PureDP,
    baselines,
    dp_sgd,
    from_json,
    parse,
)
from symacct.kernel.theorem_registry import named
from tests import independent
from tests.laws.test_amplification import ask, said, sampled
from tests.support import (
    BASES,
    INFINITY,
    LEAVES,
    MP,
    SAMPLERS,
    about_sampling,
    at_order,
    each_sort,
    fractional_orders,
    fractions,
    holds,
    new_rate,
    overlap,
    sample,
    sampling,
    whole_orders,
)
from tests.thinning import covering, examples

DIGITS = 20
GAP = Fraction(1, 10**18)  # from the end to the rate next to it
TAME = Fraction(1, 10**6)  # which a distance to be compared may be up to
#: What is no function of γ, and jumps to 0 with the truth.
WITHOUT_A_RATE = {"VEH14-T13"}
#: Of a slack that it does without at γ = 1, where all triangles are worth the same.
SLACK = {"TRIPLE-GAUSSIAN-NEAR"}
#: Leaves whose own curve at a real order may be above a chord of that at whole ones, which a sample
#: is bounded by.
ABOVE_A_CHORD = {"SparseVector"}

#: The leaves that each theorem applies to.
APPLIES = {
    (name, kind): [
        base for base in LEAVES if named(name).applies(sampling(kind, sample(base))) is None
    ]
    for name, kind in about_sampling()
}
APPLIES = {about: bases for about, bases in APPLIES.items() if bases}


def reach(mechanism, alpha):
    """What the distance to an end of γ is at most multiplied by in ε′(α);

    more than can be compared where it is not known.

    G(γ) = E_q[m^α n^{1−α}] >= γ^α (γ+κR)^{1−α} G(1), R the mean of q/p′ under p^α p′^{1−α}
    (Jensen), which is at most e^{2α ε(2α+1)} (Cauchy–Schwarz); G(γ) <= (1−γ) + γG(1) (convexity).
    A sum of powers of γ up to 2α with positive terms changes by no more of itself.
    """
    a = 1 if alpha == INFINITY else math.ceil(alpha)
    pure = ask(mechanism, INFINITY, digits=10).upper
    most = pure if pure < INFINITY else ask(mechanism, 2 * a + 1, digits=10).upper
    exponent = 2 * (a + 1) * float(most)
    if exponent > 100:
        return 10**50
    scale = min(1, alpha - 1) if alpha > 1 else 1
    return math.ceil(16 * (a + 1) * math.exp(exponent) / scale)


def number(x):
    return INFINITY if x == INFINITY else independent.fraction(x)


def check_next_to(end, near, allowed, both=True):
    """Is the answer at the end within what is allowed of the one next to it?"""
    low, high = number(end.lower), number(end.upper)
    assert low <= number(near.upper) + allowed
    assert not both or number(near.lower) - allowed <= high


def about(node, end, gap=GAP):
    """The node at this rate and at the one next to it."""
    return new_rate(node, end), new_rate(node, abs(end - gap))


@covering(each_sort)
@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("base", BASES)
@given(data=st.data())
@examples(1, 20)
def test_an_answer_at_an_end_is_what_those_next_to_it_come_to(kind, base, data):
    """At γ = 0 a mechanism of infinite ε(∞) jumps at the order ∞, as the truth does."""
    node, whole, fractional = sampled(data, kind, base)
    for alpha in (1, min(whole, 5), min(fractional, Fraction(9, 2)), INFINITY):
        nothing, little = (ask(one, alpha, digits=DIGITS) for one in about(node, 0))
        everything, most = (ask(one, alpha, digits=DIGITS) for one in about(node, 1))
        assert nothing.upper == 0
        assert most.lower <= everything.upper
        moved = GAP * reach(node.mechanism, alpha)
        if moved < TAME:
            if base not in ABOVE_A_CHORD or not isinstance(alpha, Fraction):
                check_next_to(everything, most, moved)
            if little.upper < INFINITY:
                jumps = bool(set(little.claim.theorems) & WITHOUT_A_RATE)
                check_next_to(nothing, little, moved, both=not jumps)


def what_is_said(node, alpha, name):
    try:
        return said(node, alpha, name, DIGITS)
    except PrecisionError:
        assert named(name).partial


@covering(lambda name, kind: {name, kind})
@pytest.mark.parametrize(("name", "kind"), APPLIES)
@given(data=st.data())
@examples(3, 40)
def test_a_theorem_at_an_end_says_what_it_says_next_to_it(name, kind, data):
    base = data.draw(st.sampled_from(APPLIES[name, kind]))
    node, whole, fractional = sampled(data, kind, base)
    alpha = at_order(named(name), min(whole, 5), max(2, min(fractional, Fraction(9, 2))))
    moved = GAP * reach(node.mechanism, alpha)
    if named(name).status != "proved" or moved >= TAME:
        return
    for end in (0, 1):
        at, near = (what_is_said(one, alpha, name) for one in about(node, end))
        if at is None or near is None or near.upper == INFINITY:
            continue
        slack = (end, name) in {(0, one) for one in WITHOUT_A_RATE} | {(1, one) for one in SLACK}
        check_next_to(at, near, moved, both=not slack)


def two_steps_apart(mechanism):
    """N(Δ, σ²) against N(−Δ, σ²): twice the sensitivity, 2Δ²α/σ²."""
    ratio = Fraction(mechanism.sensitivity) / Fraction(mechanism.sigma)
    return lambda alpha: independent.number(MP, 2 * Fraction(alpha) * ratio**2)


@given(LEAVES["Gaussian"], whole_orders, fractional_orders)
def test_all_of_the_data_with_a_record_replaced_is_noise_at_twice_the_sensitivity(m, whole, some):
    """In every arithmetic, from text, as a lower bound, as a formula and below other operations."""
    node, truth = PoissonSubsample(m, 1, "replace_one"), two_steps_apart(m)
    twice = Gaussian(m.sigma, 2 * m.sensitivity)
    for alpha in (1, whole, some):
        assert node.rdp(alpha).claim.kind is Kind.EXACT
        for one in (node, parse(repr(node)), from_json(node.to_json())):
            assert holds(one.rdp(alpha), truth(alpha), 30)
        for engine in ("mpmath", "float64"):
            assert float(node.rdp(alpha, engine=engine)) == pytest.approx(float(truth(alpha)))
        assert holds((3 * node).rdp(alpha), 3 * truth(alpha), 30)
        assert Accountant().lower_bound(node, alpha).lower <= node.rdp(alpha).upper
        assert node.formula(alpha) == twice.formula(alpha)
    assert overlap(Accountant().lower_bound(node, whole), twice.rdp(whole))
    assert node.epsilon("1e-5").epsilon.upper == twice.epsilon("1e-5").epsilon.upper


@pytest.mark.parametrize("mechanism", [Laplace(2), ZCDP("1/50"), PureDP(1), NoisyMax(1)], ids=repr)
def test_all_of_the_data_with_a_record_replaced_is_no_less_than_a_step(mechanism):
    """Two steps that may add up: pure DP's worst pair of them has twice the ε(∞)."""
    node = PoissonSubsample(mechanism, 1, "replace_one")
    for alpha in (1, 2, Fraction(7, 2), 9):
        assert node.rdp(alpha).upper > mechanism.rdp(alpha).upper
    assert overlap(node.rdp(INFINITY), (2 * mechanism).rdp(INFINITY))


#: Mechanisms whose true profile is known, below sampling as well.
KNOWN = ["Gaussian", "Laplace", "RandomizedResponse", "DiscreteGaussian", "FiniteMechanism"]


@pytest.mark.parametrize("kind", ["PoissonSubsample", "SubsampleWithoutReplacement"])
@pytest.mark.parametrize("base", KNOWN)
@pytest.mark.parametrize("end", [0, 1])
@given(data=st.data())
@examples(1, 20)
def test_the_true_profile_at_an_end_is_what_those_next_to_it_come_to(kind, base, end, data):
    """∫(m − e^ε n)⁺ moves by at most (1 + e^ε)κ where m and n move by κ in total variation."""
    node, epsilon = sampled(data, kind, base)[0], data.draw(fractions(0, 2, 9))
    gap = Fraction(1, 10**6)
    asked = {"digits": 8, "conversion": "exact"}
    at, near = (one.delta(epsilon, **asked).delta for one in about(node, end, gap))
    check_next_to(at, near, gap * (1 + math.ceil(math.exp(epsilon))))


def test_the_true_profile_of_all_of_the_data_with_a_record_replaced():
    """Noise at twice the sensitivity; σ = 20 in 100 runs: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
    run = dp_sgd(n=9, batch_size=9, noise_multiplier=20, steps=100, adjacency="replace_one")
    found = run.epsilon("1e-5", digits=12, conversion="exact")
    assert (
        found.epsilon.upper
        == (100 * Gaussian(20, 2)).epsilon("1e-5", digits=12, conversion="exact").epsilon.upper
    )
    mu, epsilon = MP.mpf(1), MP.mpf(1) * MP.make_mpf(found.epsilon.upper._mpf_)
    delta = MP.ncdf(mu / 2 - epsilon / mu) - MP.exp(epsilon) * MP.ncdf(-mu / 2 - epsilon / mu)
    assert abs(delta / MP.mpf("1e-5") - 1) < MP.mpf("1e-10")
    assert found.epsilon.upper < run.epsilon("1e-5", conversion="improved").epsilon.upper
    assert run.lower_epsilon("1e-5").upper < found.epsilon.upper


@given(fractions(0, 3, 9), fractions(0, 1, 9))
def test_amplification_of_epsilon_and_delta_is_continuous_at_both_ends(epsilon, delta):
    nothing, little, most, everything = (
        baselines.subsampled_dp(epsilon, delta, gamma) for gamma in (0, GAP, 1 - GAP, 1)
    )
    allowed = 30 * GAP  # γe^ε, ε <= 3
    for end, near, truth in ((nothing, little, (0, 0)), (everything, most, (epsilon, delta))):
        for at, next_to, value in zip(end, near, truth, strict=True):
            assert holds(at, independent.number(MP, Fraction(value)), 25)
            check_next_to(at, next_to, allowed)
