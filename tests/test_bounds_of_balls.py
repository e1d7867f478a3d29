"""Bounds are bounds where balls are wide: upper ends that are taken at the lower one are seen."""

from fractions import Fraction
from types import SimpleNamespace

import mpmath
import pytest
import sympy
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct import PoissonSubsample
from symacct.adversary import climb
from symacct.core.errors import DomainError
from symacct.expressions.theorem_registry import always
from symacct.mechanisms import DiscreteGaussian, DiscreteLaplace, Skellam
from symacct.mechanisms.mixtures import MixtureDirection
from symacct.numerics.densities.expectations import Entropy, Excess, ReverseEntropy
from symacct.numerics.densities.stretch import DensityLogs
from symacct.numerics.triangles.slopes import SlopeSeries
from symacct.profile.closed_form import few_laplace
from symacct.profile.discretized import connect_the_dots, grid, grouped
from symacct.profile.dominating.pairs import products
from symacct.profile.losses import laplace, summed
from symacct.profile.losses.sampled_gaussian.many import log_most
from tests.thinning import examples

mp = mpmath.mp.clone()
mp.dps = 30


def number(x):
    """A ball's end in mpmath, to all its bits."""
    mantissa, power = x.man_exp()
    return mp.ldexp(mp.mpf(int(mantissa)), int(power))


# --- an error that is a wide ball counts by its upper end

WIDE = arb(1, 0.9)


def off(values):
    return min(number(x.real.rad()) for x in values)


def test_a_sample_that_is_off_by_a_wide_ball_is_off_by_its_upper_end(monkeypatch):
    """Of every part that adds the error of a sample to its moments."""
    known = SimpleNamespace(losses=[arb(1)], weights=[arb(1)], error=WIDE)
    line = SimpleNamespace(a=1.0, h=1.0, last=1, first=0, nodes=range(2))
    contour = SimpleNamespace(reverse=False)
    found = few_laplace.Path._moments_at(contour, known, [arb(1)], [arb(0.1)])
    assert off(found[0]) >= 1.9
    part = SimpleNamespace(sample=lambda *asked: known)
    assert off(summed.Summed.transform(part, line, 10.0)) >= 1.9
    monkeypatch.setattr(laplace, "LaplaceSample", lambda *asked: known)
    part = laplace.LaplaceLoss(Fraction(1), Fraction(1, 2))
    assert off(part.transform(line, 10.0)) >= 1.9


# --- log F(a) of atoms, from what few outcomes give

NOISE = st.one_of(
    st.builds(DiscreteLaplace, st.integers(1, 4)),
    st.builds(DiscreteGaussian, st.integers(1, 4)),
    st.builds(Skellam, st.integers(1, 9)),
)


def masses(node, far=150):
    """(p, q) of a sum of the outcomes, in mpmath, by the definition of the law."""
    k = range(-far, far + 1)
    if isinstance(node, DiscreteLaplace):
        weight = {j: mp.exp(-mp.mpf(abs(j)) / int(node.b)) for j in range(-far - 1, far + 1)}
    elif isinstance(node, DiscreteGaussian):
        connect_the_dots = 2 * mp.mpf(int(node.sigma)) ** 2
        weight = {j: mp.exp(-mp.mpf(j * j) / connect_the_dots) for j in range(-far - 1, far + 1)}
    else:
        weight = {j: mp.besseli(j, int(node.mu)) for j in range(-far - 1, far + 1)}
    total = mp.fsum(weight.values())
    return [(weight[j - 1] / total, weight[j] / total) for j in k if weight[j] and weight[j - 1]]


@examples(6, 60)
@given(NOISE, st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(1, 50)]), st.floats(-1, 3))
def test_what_bounds_the_moments_of_atoms_is_not_below_them(node, gamma, a):
    """|F(a+it)| <= F(a), at every t again and again about as large."""
    m = node if gamma == 1 else PoissonSubsample(node, gamma)
    (part,) = {part for product in products(m) for part, _ in product.runs}
    with ctx.workprec(64):
        bound = part.decay(a, 1.0, 0.25)
    rate = mp.mpf(gamma.numerator) / gamma.denominator
    truth = mp.log(mp.fsum(q * (1 - rate + rate * p / q) ** mp.mpf(a) for p, q in masses(node)))
    assert number(bound.lower()) >= truth - mp.mpf(10) ** -15


# --- what a series leaves out


@examples(6, 100)
@given(
    st.integers(1, 3),
    st.integers(5, 39),
    st.fractions(Fraction(1, 50), Fraction(1, 2), max_denominator=50),
    st.integers(1, 16),
)
def test_the_rest_of_a_series_is_at_most_what_is_said(degree, tenths, x, quarters):
    """|C(p,K)| x^K E[Y(X^{K+1}+Y^{K+1})(1+xX)^q], by Gauss's law at a tilted mean."""
    power, top = degree + Fraction(tenths, 10), Fraction(quarters, 4)
    with ctx.workprec(128):
        found = SlopeSeries(power, x, top)._last(degree)
    p, y, t = (mp.mpf(z.numerator) / z.denominator for z in (power, x, top))

    def tilted(i, j):
        """E[X^i Y^j (1+xX)^{p−K}], log X and log Y normal, of variance t and covariance t/2."""
        size = mp.exp((i * (i - 1) + j * (j - 1) + i * j) * t / 2)
        mean = (i + mp.mpf(j) / 2 - mp.mpf("0.5")) * t
        step, total = mp.sqrt(t) / 6, mp.zero
        for k in range(-120, 121):
            u = k * step + mean + (p - degree) * t / 2
            total += mp.exp((p - degree) * mp.log1p(y * mp.exp(u)) - (u - mean) ** 2 / (2 * t))
        return size * total * step / mp.sqrt(2 * mp.pi * t)

    truth = abs(mp.binomial(p, degree)) * y**degree
    truth *= tilted(degree + 1, 1) + tilted(0, degree + 2)
    assert truth <= number(found.upper()) * (1 + mp.mpf(10) ** -9)


# --- who is asked whether a theorem applies


@pytest.mark.parametrize("reads", ["itself", "below"])
@pytest.mark.parametrize("by_condition", [False, True])
@pytest.mark.parametrize("applies", [always, lambda node: "never"])
def test_only_a_theorem_with_a_condition_on_the_operation_is_asked(
    monkeypatch, reads, by_condition, applies
):
    """The share of candidates it applies to: 1 unasked, else that of those it says yes to."""
    asked = []

    def why_not(node, alpha):
        asked.append(node)
        return None if node == 1 else "no"

    theorem = SimpleNamespace(applies=applies, reads=reads, why_not=why_not)
    scheme = SimpleNamespace(by_condition=by_condition)
    monkeypatch.setattr(climb, "_operations", lambda scheme: [1, 2, 2, 2])
    share = climb.Task(theorem, scheme, 2, None).suitable
    conditional = applies is not always and reads == "below" and not by_condition
    assert share == (0.25 if conditional else 1)
    assert asked == ([1, 2, 2, 2] if conditional else [])


# --- a bound from wide balls is one of every number in them

SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=2)


def inside(x, share):
    """A number in a ball."""
    return (x.lower() + arb(share) * (x.upper() - x.lower())).mid()


def wide(low, high):
    ends = st.floats(low, high)
    return st.tuples(ends, ends).map(lambda ends: arb(ends[0]).union(arb(ends[1])))


@examples(40, 400)
@given(wide(1e-3, 1), wide(1e-3, 3), SHARES, st.sampled_from([-2.0, 0.5, 3.0]), st.floats(0, 5))
def test_the_bound_of_a_mixtures_logarithm_holds_in_the_balls(u, theta, shares, a, t):
    """|(1+ve^{iφ})^z| at the ends of the balls, and on the way to them."""
    bound = log_most(arb(a), t, u, theta)
    v, phi = (number(inside(x, share)) for x, share in zip((u, theta), shares, strict=True))
    turned = 1 + v * mp.expj(phi)
    if bound.is_finite():
        truth = a * mp.log(abs(turned)) + t * abs(mp.arg(turned))
        assert number(bound.upper()) >= truth - mp.mpf(10) ** -12


@examples(40, 400)
@given(wide(1e-3, 9), wide(1e-3, 9), SHARES)
def test_two_weights_side_by_side_hold_in_the_balls(u, v, shares):
    x, y = (number(inside(z, share)) for z, share in zip((u, v), shares, strict=True))
    assert number(connect_the_dots.parallel(u, v).upper()) >= x * y / (x + y) - mp.mpf(10) ** -12


@examples(20, 200)
@given(wide(-9, 9), st.floats(0, 1))
def test_a_float_above_a_ball_is_above_what_is_in_it(x, share):
    assert grid._float_above(x) > float(inside(x, share)) - 1e-12


MASSES = st.builds(lambda x, share: arb(x, x * share), st.floats(1e-9, 1), st.floats(0, 0.25))


@examples(20, 200)
@given(st.lists(st.tuples(MASSES, MASSES), min_size=2, max_size=6), st.floats(1, 9))
def test_what_a_group_leaves_out_and_its_losses_hold_in_the_balls(laws, need):
    found = grouped._kept(laws, need)
    kept = [cell.p for cell in found.cells]
    left = [p for p, _ in laws if not any(p is one for one in kept)]
    assert (
        number(found.left_out.upper()) >= sum(number(p.upper()) for p in left) - mp.mpf(10) ** -12
    )
    for cell in found.cells:
        for p, q in ((cell.p.lower(), cell.q.upper()), (cell.p.upper(), cell.q.lower())):
            loss = mp.log(number(p) / number(q))
            low, high = number(cell.low), number(cell.high)
            assert low - mp.mpf(10) ** -9 <= loss <= high + mp.mpf(10) ** -9


# --- branches that no question had met


@pytest.mark.parametrize(("of", "limit"), [(Entropy, mp.inf), (ReverseEntropy, mp.mpf(1) / 3)])
def test_the_entropies_where_one_law_is_alone(of, limit):
    """Where q is 0: m log(m/q) is ∞, and q log(q/m) − q + m is what m is, γp."""
    gamma, log_mass = Fraction(1, 3), mp.mpf(-2)
    beyond = of(gamma).plainly(mp, log_mass, -mp.inf)
    expected = limit * mp.exp(log_mass)
    assert beyond == expected or mp.almosteq(beyond, expected, mp.mpf(10) ** -25)


@pytest.mark.parametrize("gamma", [Fraction(1, 3), Fraction(9, 10)])
@pytest.mark.parametrize(
    ("of", "divergence", "p_too"),
    [
        (Entropy, lambda m, q: m * mp.log(m / q), False),
        (ReverseEntropy, lambda m, q: q * mp.log(q / m), True),
        (lambda gamma: Excess(gamma, Fraction(3)), lambda m, q: m**3 / q**2 - q, False),
        (lambda gamma: Excess(gamma, Fraction(-2)), lambda m, q: q**3 / m**2 - q, True),
    ],
)
def test_what_one_law_alone_adds_is_what_it_adds_beside_nearly_nothing(
    gamma, of, divergence, p_too
):
    """As parts of the function in balls: the other density is 0, or e^{−70}."""
    integrand, alone = of(gamma), mp.mpf(2) / 5
    for law in "pq" if p_too else "q":
        log = acb((arb(2) / 5).log())
        logs = DensityLogs(log if law == "p" else None, log if law == "q" else None, None, None)
        found = integrand.combine(integrand.parts(logs)).real
        p, q = (alone if law == name else mp.exp(-70) for name in "pq")
        m = q + (p - q) * gamma.numerator / gamma.denominator
        slope = int(getattr(integrand, "power", 1 if of is Entropy else -1))
        truth = divergence(m, q) - slope * (m - q)
        assert mp.almosteq(number(found.mid()), truth, mp.mpf(10) ** -13)


def test_a_rate_that_is_no_fraction_is_refused_in_words():
    with pytest.raises(DomainError, match="needed a rational number"):
        MixtureDirection(None, sympy.sqrt(2) / 10, False).question(Fraction(1, 2))
