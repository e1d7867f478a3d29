"""Mixtures of normal laws: the sums, dp_accounting's event, and what is made of them."""

import math
import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb

from symacct import (
    Accountant,
    AdjacencyError,
    Compose,
    DistributionPair,
    DomainError,
    Gaussian,
    LimitError,
    PoissonSubsample,
    from_json,
    laws,
    parse,
    sample_with_replacement,
)
from symacct.analysis import normal_mixtures
from symacct.interop import dp_events, from_dp_event
from symacct.kernel.arithmetic.ball import precision
from symacct.mechanisms.pair import Overlap
from symacct.profile.losses import density as densities
from symacct.profile.losses.density import DensityLoss, DensityPair
from tests import independent
from tests.support import INFINITY, holds, overlap
from tests.thinning import covering

MP = independent.context(32)


def density(law):
    """Its density, plainly."""
    means = getattr(law, "means", None) or (law.mean,)
    weights = getattr(law, "weights", (Fraction(1),))
    sigma = MP.sqrt(independent.number(MP, law.variance))
    parts = [
        tuple(independent.number(MP, x) for x in pair) for pair in zip(weights, means, strict=True)
    ]
    return lambda x: MP.fsum(w * MP.npdf(x, m, sigma) for w, m in parts)


def by_quadrature(P, Q, alpha):  # noqa: N803
    """D_α of two laws of about unit variance."""
    return integral(density(P), density(Q), alpha)


def integral(p, q, alpha):
    """D_α of two densities, by mpmath's own rule on short pieces."""
    places = MP.linspace(-26, 34, 21)
    if alpha == 1:
        return MP.quad(lambda x: p(x) * MP.log(p(x) / q(x)), places, method="gauss-legendre")
    a = independent.number(MP, alpha)
    moment = MP.quad(lambda x: p(x) ** a * q(x) ** (1 - a), places, method="gauss-legendre")
    return MP.log(moment) / (a - 1)


def drawn(draw, least=0):
    count = draw.randint(2, 4)
    means = draw.sample(range(6 * least, 13), count)
    shares = [draw.randint(1, 9) for _ in means]
    weights = [Fraction(share, sum(shares)) for share in shares]
    return laws.NormalMixture(
        [Fraction(m, 6) for m in means], weights, Fraction(draw.randint(7, 12), 8)
    )


@covering(lambda seed: {seed % 2})
@pytest.mark.parametrize("seed", range(10))
def test_both_divergences_are_their_integrals(seed):
    """Of a mixture and one normal law, or of two mixtures, with means of either sign."""
    draw = random.Random(seed)
    P = drawn(draw, least=-1)
    Q = laws.Normal(0, P.variance)
    if seed % 2:
        Q = laws.NormalMixture([Fraction(-1, 2), 1], ["1/3", "2/3"], P.variance)
    pair = DistributionPair(P, Q)
    for alpha in (1, Fraction(draw.randint(11, 60), 10)):
        values = [by_quadrature(P, Q, alpha), by_quadrature(Q, P, alpha)]
        for reverse, value in enumerate(values):
            assert holds(pair.divergence(alpha, 22, reverse=bool(reverse)), value, 22, trusted=25)
        assert holds(pair.rdp(alpha, digits=22), max(values), 22, trusted=25)


# --- the error of a sum, by sums of a hundredth of a deviation in float64

FAR = np.arange(-60, 60, 1 / 100)


def parts(draw, count, far):
    """Weights and means of a law that is drawn."""
    shares = [draw.randint(1, 9) for _ in range(count)]
    return [(arb(w) / sum(shares), arb(draw.randint(-far, far))) for w in shares]


def log_factor(law, x):
    """log A"""
    return np.log(sum(float(w) * np.exp(float(c) * x - float(c) ** 2 / 2) for w, c in law))


LAWS = [(1, 1, 9), (1, 1, 2), (2, 1, 2), (2, 3, 2), (3, 2, 1)]


@pytest.mark.parametrize(("first", "second", "far"), LAWS)
def test_on_the_rim_of_a_strip_nothing_is_larger_than_said(first, second, far):
    draw = random.Random(far)
    for _ in range(12):
        laws = parts(draw, first, far), parts(draw, second, far)
        width = max(float(normal_mixtures._width(law)) for law in laws)
        height = draw.uniform(0.05, 2.8 / max(width, 2 * far))
        rim = FAR + 1j * height
        log_p, log_q = (log_factor(law, rim) for law in laws)
        log_weight = -(rim**2 + height**2) / 2
        entropy = np.sum(abs(np.exp(log_weight + log_p) * (log_p - log_q)))
        entropy /= 100 * math.sqrt(2 * math.pi)
        assert entropy <= float(normal_mixtures._entropy_on_the_rim(laws, height)) * (1 + 1e-9)
        for a in (Fraction(3, 2), Fraction(-1, 3), Fraction(4)):
            powers = a, 1 - a
            there, here = (
                float(a) * log_factor(laws[0], x) + float(1 - a) * log_factor(laws[1], x) - x**2 / 2
                for x in (rim, FAR)
            )
            largest = here.max()
            most = float(normal_mixtures._turned(laws, powers, height)) * (1 + 1e-9)
            found = np.sum(abs(np.exp(there - height**2 / 2 - largest)))
            assert found <= most * np.sum(np.exp(here - largest))


@pytest.mark.parametrize(("first", "second", "far"), LAWS)
def test_no_more_is_left_out_than_said(first, second, far):
    """Of sums that end next to where the bells are, so that what is left out is much."""
    draw = random.Random(far)
    for _ in range(12):
        laws, a = (
            (parts(draw, first, far), parts(draw, second, far)),
            Fraction(draw.randint(11, 20), 10),
        )
        centres = normal_mixtures._centres(laws, (a, 1 - a))
        middles = [float(c) for c in (*(c for _, c in centres), *(c for _, c in laws[0]))]
        low, high = min(middles) - draw.random(), max(middles) + draw.random()
        strip = normal_mixtures.TrapezoidStrip(
            0.2, 1.0, math.floor(5 * low), math.ceil(5 * high) + 1
        )
        nodes = np.arange(-300, 300)
        x = nodes[(nodes < strip.first) | (nodes >= strip.last)] / 5
        log_p, log_q = (log_factor(law, x) for law in laws)
        log_bell = -(x**2) / 2 - math.log(5 * math.sqrt(2 * math.pi))
        powers = np.sum(np.exp(log_bell + float(a) * log_p + float(1 - a) * log_q))
        said = sum(float(normal_mixtures._tails(strip, *centre)) for centre in centres)
        assert powers <= said * (1 + 1e-9)
        entropy = np.sum(np.exp(log_bell + log_p) * abs(log_p - log_q))
        assert entropy <= float(normal_mixtures._entropy_left_out(laws, strip)) * (1 + 1e-9)


@covering(lambda seed: {seed % 2})
@pytest.mark.parametrize("seed", range(10))
def test_a_sampled_mixture_is_its_integrals(seed):
    """(1−γ)Q + γP, its density added up at each point."""
    draw = random.Random(seed)
    P, rate = drawn(draw), Fraction(draw.randint(1, 60), 100)
    Q = laws.Normal(0, P.variance)
    share = independent.number(MP, rate)
    p, q = density(P), density(Q)
    sampled = PoissonSubsample(DistributionPair(P, Q), rate)

    def mixed(x):
        return (1 - share) * q(x) + share * p(x)

    for alpha in (1, Fraction(draw.randint(11, 60), 10)):
        value = max(integral(mixed, q, alpha), integral(q, mixed, alpha))
        assert holds(sampled.rdp(alpha, digits=22), value, 22, trusted=25)


@pytest.mark.parametrize("gamma", ["1/1000", "1/3"])
def test_a_sampled_mixture_is_a_mixture(gamma):
    """(1−γ)N(0) + γP has one part more: the same sum, at orders of all kinds, and plain mpmath."""
    P = laws.NormalMixture([1, 2], ["1/4", "3/4"], 1)
    Q = laws.Normal(0, 1)
    share = Fraction(gamma)
    whole = laws.NormalMixture([0, 1, 2], [1 - share, share / 4, 3 * share / 4], 1)
    sampled = PoissonSubsample(DistributionPair(P, Q), gamma)
    for alpha in (1, Fraction(7, 2), 6):
        one, other = sampled.rdp(alpha, digits=25), DistributionPair(whole, Q).rdp(alpha, digits=25)
        assert overlap(one, other)
        for engine in ("float64", "mpmath") if (alpha, gamma) == (6, "1/3") else ():
            rounded = float(Accountant(engine=engine, digits=10).rdp(sampled, alpha))
            assert rounded == pytest.approx(float(one), rel=1e-9)


def test_of_one_part_it_is_the_gaussian_mechanism():
    """Whatever the digits and the order: 2α/9."""
    m = DistributionPair(laws.NormalMixture([2], [1], 9), laws.Normal(0, 9))
    for digits in (5, 30, 200):
        for alpha in ("1.000001", 2, "17/2", 3000):
            value = independent.number(independent.context(digits + 20), Fraction(alpha) * 2 / 9)
            assert holds(m.rdp(alpha, digits=digits), value, digits, trusted=digits + 10)
    assert m.rdp("inf").upper == INFINITY
    one, other = (n.epsilon("1e-5", digits=9).epsilon for n in (m, Gaussian(3, 2)))
    assert overlap(one, other)


def test_far_orders_are_told_up_to_a_limit():
    m = DistributionPair(laws.NormalMixture([0, 1], ["1/2", "1/2"], 1), laws.Normal(0, 1))
    assert holds(m.rdp(10**4, digits=12), 5000 - MP.log(2) * 10**4 / (10**4 - 1), 12, trusted=35)
    with pytest.raises(LimitError, match="nodes of a mixture"):
        m.rdp(10**9)


def test_text_json_latex_words_and_the_exact_profile():
    P = laws.NormalMixture([0, 1], ["2/3", "1/3"], 1)
    m = DistributionPair(P, laws.Normal(0, 1), "add_remove", with_record="P")
    node = 10 * PoissonSubsample(m, "1/100")
    assert parse(repr(node)) is node
    assert from_json(node.to_json()) is node
    assert r"\int" in m.latex()
    assert "Normal Mixture law" in node.epsilon("1e-5", digits=5).statement()
    same = PoissonSubsample(Gaussian(1), "1/3")
    exact, other = (n.delta(1, conversion="exact", digits=6) for n in (m, same))
    assert overlap(exact.delta, other.delta)
    assert overlap(m.rdp(5), same.rdp(5))


def difference(first, second, grown):
    """Σ over where a first density is more than e^ε times the second, by signs and normal tails.

    The first minus e^ε times the second, of sampled or plain mixtures, changes its sign once.
    """

    def tail(parts, x):
        return MP.fsum(w * MP.ncdf(-(x - m)) for w, m in parts)

    def more(x):
        return MP.fsum(w * MP.npdf(x - m) for w, m in first) - grown * MP.fsum(
            w * MP.npdf(x - m) for w, m in second
        )

    low, high = MP.mpf(-40), MP.mpf(40)
    above = more(high) > 0
    if (more(low) > 0) == above:
        return max(1 - grown, 0)
    for _ in range(130):
        middle = (low + high) / 2
        low, high = (low, middle) if (more(middle) > 0) == above else (middle, high)
    beyond = tail(first, low) - grown * tail(second, low)
    return beyond if above else 1 - grown - beyond


@covering(lambda seed: {seed % 3})
@pytest.mark.parametrize("seed", range(12))
def test_the_exact_profile_of_one_run(seed):
    """In units of the deviation, both directions, sampled and not, to the right and to the left."""
    draw, side = random.Random(seed), (1, -1)[seed % 2]
    count = draw.randint(1, 4)
    means = [Fraction(x, 6) for x in draw.sample(range(13), count)] + [Fraction(7, 3)]
    weights = [Fraction(x) for x in draw.choices(range(1, 9), k=count + 1)]
    weights = [w / sum(weights) for w in weights]
    variance, rate = Fraction(draw.randint(2, 5)) ** 2 / 4, Fraction(draw.randint(1, 3), 3)
    P = laws.NormalMixture([1 + side * mean for mean in means], weights, variance)
    part = DensityLoss(DensityPair(Overlap(P, laws.Normal(1, variance)), rate))
    deviation = MP.sqrt(independent.number(MP, variance))
    mixed = [
        (independent.number(MP, rate * w), independent.number(MP, m) / deviation)
        for w, m in zip(weights, means, strict=True)
    ]
    mixed.append((1 - independent.number(MP, rate), MP.mpf(0)))
    own = [(MP.mpf(1), MP.mpf(0))]
    for y in (Fraction(-1, 5), Fraction(0), Fraction(draw.randint(1, 12), 8)):
        grown = MP.exp(independent.number(MP, y))
        for reverse, laws_of in ((False, (mixed, own)), (True, (own, mixed))):
            with precision(150):
                found = part.hockey_stick(arb(y.numerator) / y.denominator, reverse)
                known = arb(MP.nstr(difference(*laws_of, grown), 30))
                assert abs(found - known) < arb(10) ** -26
                assert found.rad() < arb(10) ** -30


def test_one_run_takes_no_density_apart(monkeypatch):
    """A batch of ten drawn with replacement: eleven normal laws, known by their tails."""
    monkeypatch.setattr(densities, "_panels", lambda *_: pytest.fail("asked"))
    m = sample_with_replacement(Gaussian(2), 1000, 10)
    epsilon = m.epsilon("1e-5", digits=20, conversion="exact").epsilon
    delta = m.delta(Fraction(str(epsilon)), digits=20, conversion="exact").delta
    assert abs(Fraction(str(delta)) * 10**5 - 1) < Fraction(1, 10**15)


def test_which_mixtures_mirror_each_other():
    P = laws.NormalMixture([0, 1, 3], ["1/2", "1/3", "1/6"], 2)
    Q = laws.NormalMixture([4, 3, 1], ["1/2", "1/3", "1/6"], 2)
    pair = DistributionPair(P, Q)
    assert pair._swap_symmetric
    assert overlap(pair.divergence(3), pair.divergence(3, reverse=True))
    assert not DistributionPair(P, laws.NormalMixture(Q.means, P.weights[::-1], 2))._swap_symmetric


@pytest.mark.parametrize(
    "arguments",
    [
        ([0, 1], ["1/2"], 1),
        ([0, 0], ["1/2", "1/2"], 1),
        ([0, 0, 1], ["1/2", "1/2"], 1),
        ([0, 1], ["1/2", "1/3"], 1),
        ([0, 1], [2, -1], 1),
        ([], [], 1),
        ([0], [1], 0),
        (0, [1], 1),
        (["x"], [1], 1),
    ],
)
def test_bad_mixtures(arguments):
    with pytest.raises((DomainError,)) as raised:
        laws.NormalMixture(*arguments)
    assert "found" in str(raised.value)


# --- dp_accounting's event


class MixtureOfGaussiansDpEvent(SimpleNamespace):
    """A stand-in."""


def event(deviation, sizes, weights):
    return MixtureOfGaussiansDpEvent(
        standard_deviation=deviation, sensitivities=sizes, sampling_probs=weights
    )


def test_the_event_is_the_pair_it_documents():
    node = from_dp_event(event(1.5, [0.0, 1.0, 2.0], [0.5, 0.25, 0.25]))
    P = laws.NormalMixture([0, 1, 2], ["1/2", "1/4", "1/4"], "9/4")
    assert node is DistributionPair(P, laws.Normal(0, "9/4"), "add_remove", with_record="P")
    zeroed = from_dp_event(event(1.5, [0.0, 1.0, 2.0], [0.5, 0.25, 0.25]), "replace_special")
    assert zeroed is DistributionPair(P, laws.Normal(0, "9/4"), "zero_out", with_record="P")
    assert from_dp_event(event(1.5, [0.0], [1.0])) is Compose()
    assert from_dp_event(event(1.5, [0, 0], [0.5, 0.5])) is Compose()
    with pytest.raises(AdjacencyError, match="found replace_one"):
        from_dp_event(event(1.5, [1.0], [1.0]), "replace_one")


@pytest.mark.parametrize("weights", [[0.9, 0.1], [0.7, 0.2, 0.1], [0.1] * 10, [0.3, 0.7]])
def test_weights_that_floats_do_not_sum_to_one_cost_no_less(weights):
    """More weight on the larger ones than if all were divided by their sum."""
    sizes = list(range(len(weights)))
    node = from_dp_event(event(1.0, sizes, weights))
    total = sum(map(Fraction, weights))
    assert total != 1
    kept = dict(zip(node.P.means, node.P.weights, strict=True))
    for least in sizes:
        above = sum(share for size, share in kept.items() if size >= least)
        assert above >= sum(map(Fraction, weights[least:])) / total
    assert sum(kept.values()) == 1


def test_to_the_event_nothing_gets_cheaper():
    P = laws.NormalMixture([0, "1/3", 2], ["1/3", "1/3", "1/3"], 2)
    node = DistributionPair(P, laws.Normal(0, 2), "add_remove", with_record="P")
    deviation, sizes, weights = dp_events.mixture_parts(node)
    assert Fraction(deviation) ** 2 < 2
    assert all(Fraction(x) >= y for x, y in zip(sizes, (0, Fraction(1, 3), 2), strict=True))
    assert Fraction(weights[2]) >= Fraction(1, 3) >= Fraction(weights[0])
    back = from_dp_event(event(deviation, sizes, weights))
    assert back.rdp(3, digits=40).lower >= node.rdp(3, digits=40).upper
    for other in (laws.Normal(1, 2), laws.Normal(0, 2)):
        assert dp_events.mixture_parts(DistributionPair(P, other)) is None


@pytest.mark.parametrize(
    "fields",
    [
        (0.0, [1.0], [1.0]),
        (1.0, [-1.0], [1.0]),
        (1.0, [1.0], [0.5]),
        (1.0, [1.0], [0.5, 0.5]),
        (1.0, [], []),
        (1.0, 1.0, 1.0),
        (1.0, [1.0, 2.0], [1.5, -0.5]),
    ],
)
def test_bad_events(fields):
    with pytest.raises(DomainError, match="found"):
        from_dp_event(event(*fields))


def test_dp_accounting_s_own_answer_lies_above_the_exact_one():
    """Its PLDs are rounded up; where it is installed."""
    pld = pytest.importorskip("dp_accounting.pld", reason="dp-accounting not installed")
    theirs = pytest.importorskip("dp_accounting.dp_event").MixtureOfGaussiansDpEvent
    given = theirs(1.0, [1.0, 2.0], [0.5, 0.5])
    node = from_dp_event(given)
    answer = pld.PLDAccountant(value_discretization_interval=1e-4).compose(given).get_epsilon(1e-4)
    exact = node.epsilon("1e-4", conversion="exact", digits=8)
    assert exact.epsilon.lower <= answer <= float(exact.epsilon) * (1 + 1e-3)
