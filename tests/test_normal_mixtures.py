"""Mixtures of normal laws: the sums, dp_accounting's event, and what is made of them."""

import random
from fractions import Fraction
from types import SimpleNamespace

import pytest

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
)
from symacct.interop import from_dp_event, mixtures
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
    """D_α of two laws of about unit variance, by mpmath's own rule on short pieces."""
    p, q = density(P), density(Q)
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


@covering(lambda seed: {seed % 4})
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
    m = DistributionPair(P, laws.Normal(0, 1), "add_remove")
    node = 10 * PoissonSubsample(m, "1/100")
    assert parse(repr(node)) is node
    assert from_json(node.to_json()) is node
    assert r"\int" in m.latex()
    assert "NormalMixture" in node.epsilon("1e-5", digits=5).statement()
    same = PoissonSubsample(Gaussian(1), "1/3")
    exact, other = (n.delta(1, conversion="exact", digits=6) for n in (m, same))
    assert overlap(exact.delta, other.delta)
    assert overlap(m.rdp(5), same.rdp(5))


def test_which_mixtures_mirror_each_other():
    P = laws.NormalMixture([0, 1, 3], ["1/2", "1/3", "1/6"], 2)
    Q = laws.NormalMixture([4, 3, 1], ["1/2", "1/3", "1/6"], 2)
    pair = DistributionPair(P, Q)
    assert pair.swap_symmetric
    assert overlap(pair.divergence(3), pair.divergence(3, reverse=True))
    assert not DistributionPair(P, laws.NormalMixture(Q.means, P.weights[::-1], 2)).swap_symmetric


@pytest.mark.parametrize(
    "arguments",
    [
        ([0, 1], ["1/2"], 1),
        ([0, 0], ["1/2", "1/2"], 1),
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
    assert node is DistributionPair(P, laws.Normal(0, "9/4"), "add_remove")
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
    node = DistributionPair(P, laws.Normal(0, 2), "add_remove")
    deviation, sizes, weights = mixtures.mixture_parts(node)
    assert Fraction(deviation) ** 2 < 2
    assert all(Fraction(x) >= y for x, y in zip(sizes, (0, Fraction(1, 3), 2), strict=True))
    assert Fraction(weights[2]) >= Fraction(1, 3) >= Fraction(weights[0])
    back = from_dp_event(event(deviation, sizes, weights))
    assert back.rdp(3, digits=40).lower >= node.rdp(3, digits=40).upper
    assert mixtures.mixture_parts(DistributionPair(P, laws.Normal(1, 2))) is None


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
