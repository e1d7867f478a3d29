"""Hard cases of sums, integrals and optima, against plain mpmath at ten times the precision.

The formulas below are those of the papers, summed term by term; nothing in them is symacct's.
"""

import itertools
import math
from fractions import Fraction
from pathlib import Path

import pytest
from flint import acb, arb
from flint import ctx as flint_ctx
from mpmath.ctx_mp import MPContext

from symacct import Accountant, Curve, PoissonSubsample, SubsampleWithoutReplacement, parse
from symacct.kernel.arithmetic import BALL
from tests import independent
from tests.kernel.sums.curves import difference_table

DIGITS = 30
INFINITY = math.inf
REFERENCE = Path(__file__).parents[2] / "reference"

mp = MPContext()
mp.dps = 10 * DIGITS


def is_mpf(x):
    return isinstance(x, mp.mpf)


def number(x):
    return x if is_mpf(x) else independent.number(mp, x)


def ends(found):
    """The ends of an enclosure in the context of this file, exactly."""
    return mp.make_mpf(found.lower._mpf_), mp.make_mpf(found.upper._mpf_)


def holds(found, true, digits=DIGITS, error=None):
    """Does the enclosure hold the value, and does it show the digits asked for?"""
    low, high = ends(found)
    slack = abs(true) * mp.mpf(10) ** (-error if error else 60 - mp.dps)
    return low <= true + slack and true - slack <= high and found.digits >= digits


def curve_of(node):
    """ε(α) of a mechanism that does not sample."""
    return lambda a: independent.rdp(mp, node, independent.fraction(a) if is_mpf(a) else a)


def with_curves(*texts):
    return {text: (parse(text), curve_of(parse(text))) for text in texts}


SEEDS = with_curves(
    *(f"Gaussian({sigma})" for sigma in (5, 1)),
    *(f"Laplace({b})" for b in ("2", "1/2")),
    *(f"RandomizedResponse({p})" for p in ("0.6", "0.9")),
)
WIDE = {**SEEDS, **with_curves("Gaussian(50)")}
FULL = pytest.mark.parametrize("name", WIDE)


TINY_RATE, RATE, NEAR_ONE = Fraction(1, 10**12), Fraction(1, 1000), 1 - Fraction(1, 10**6)


def moments(eps, alpha):
    """e^{(l−1)ε(l)} for l = 0 … α."""
    return [mp.one, mp.one, *(mp.exp((l - 1) * eps(l)) for l in range(2, alpha + 1))]


def weighted(alpha, u, v, values, first):
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} values[l], term by term."""
    weight, total = mp.binomial(alpha, first) * u**first * v ** (alpha - first), mp.zero
    for l in range(first, alpha + 1):
        total += weight * values[l]
        weight *= u / v * (alpha - l) / (l + 1)
    return total


def poisson_moment(alpha, gamma, values, factor=1):
    """(1−γ)^{α−1}(αγ−γ+1) + the terms l >= 2, those with l >= 3 multiplied by the factor."""
    g = number(gamma)
    known = (1 - g) ** (alpha - 1) * (alpha * g - g + 1)
    second = mp.binomial(alpha, 2) * g**2 * (1 - g) ** (alpha - 2) * values[2]
    rest = weighted(alpha, g, 1 - g, values, 3) if alpha > 2 else 0
    return known + second + factor * rest


def theorem_8(alpha, gamma, values):
    return mp.log(poisson_moment(alpha, gamma, values)) / (alpha - 1)


def theorem_5(alpha, gamma, values):
    return mp.log(poisson_moment(alpha, gamma, values, 3)) / (alpha - 1)


def proposition_11(alpha, gamma, values):
    """As printed, with γ/(1−γ)."""
    odds = number(gamma) / (1 - number(gamma))
    inner = 1 + alpha * odds + weighted(alpha, odds, mp.one, values, 2)
    return (alpha * mp.log(1 - number(gamma)) + mp.log(inner)) / (alpha - 1)


def spread(pure_epsilon, j):
    """min{2, (e^{ε(∞)} − 1)^j}"""
    return mp.mpf(2) if pure_epsilon == mp.inf else min(mp.mpf(2), mp.expm1(pure_epsilon) ** j)


def theorem_9(alpha, gamma, values, pure_epsilon):
    g = number(gamma)
    second = min(4 * (values[2] - 1), values[2] * spread(pure_epsilon, 2))
    total = 1 + g**2 * mp.binomial(alpha, 2) * second
    if alpha > 2:
        capped = [value * spread(pure_epsilon, j) for j, value in enumerate(values)]
        total += weighted(alpha, g, mp.one, capped, 3)
    return mp.log(total) / (alpha - 1)


def ask(node, alpha, by=None, digits=DIGITS):
    return Accountant(digits).rdp(node, alpha, by=by)


def check_all_sums(base, eps, alpha, gamma):
    """Theorems 5, 6 and 8 of ZW19, Proposition 11 and Theorem 9 of WBK19."""
    values = moments(eps, alpha)
    tight = theorem_8(alpha, gamma, values)
    poisson = PoissonSubsample(base, gamma)
    assert holds(ask(poisson, alpha, "ZW19-T8"), tight)
    assert holds(ask(poisson, alpha, "ZW19-T6"), tight)
    assert holds(ask(poisson, alpha, "ZW19-T5"), theorem_5(alpha, gamma, values))
    fixed = SubsampleWithoutReplacement(base, gamma)
    assert holds(ask(fixed, alpha, "WBK19-P11"), proposition_11(alpha, gamma, values))
    general = theorem_9(alpha, gamma, values, eps(INFINITY))
    assert holds(ask(fixed, alpha, "WBK19-T9"), general)


def stairs(ctx, alpha):
    """ε(α) = ⌊α/7⌋/40 + 1/100: nondecreasing; the CGF has kinks downwards."""
    return ctx.number(Fraction(math.floor(float(alpha)) // 7, 40) + Fraction(1, 100))


def saw(ctx, alpha):
    """ε goes up and down."""
    return ctx.number(Fraction(1 + 5 * (math.floor(float(alpha)) % 3), 60))


def stairs_in_mpmath(a):
    return mp.inf if a == INFINITY else mp.mpf(int(a) // 7) / 40 + mp.mpf(1) / 100


def saw_in_mpmath(a):
    return mp.inf if a == INFINITY else mp.mpf(1 + 5 * (int(a) % 3)) / 60


CUSTOM = {
    "stairs": (Curve(stairs, kind="upper", adjacency="either"), stairs_in_mpmath),
    "saw": (Curve(saw, kind="upper", adjacency="either"), saw_in_mpmath),
}


def near(found, text, digits, units=2):
    """Within `units` of the last of the printed digits."""
    printed = mp.mpf(text)
    return all(abs(x - printed) < units * abs(printed) * mp.mpf(10) ** (1 - digits) for x in found)


def theorem_27(alpha, gamma, values, pure_epsilon):
    """Σ of the smaller of both forms, term by term; `values` reach to α + 1."""
    g, b = number(gamma), difference_table(values[: alpha + 2])
    total = mp.one
    for j in range(2, alpha + 1):
        by_differences = 4 * mp.sqrt(b[2 * (j // 2)] * b[2 * ((j + 1) // 2)])
        plain = values[j] * spread(pure_epsilon, j)
        total += mp.binomial(alpha, j) * g**j * min(by_differences, plain)
    return mp.log(total) / (alpha - 1)


def gaussian_by_integral(alpha, q, sigma, bits):
    """ε(α) by rigorous integration of φ m^α on a window; what lies outside is below its error."""
    with flint_ctx.workprec(bits):
        a, rate, width = BALL.number(alpha), BALL.number(q), BALL.number(sigma)

        def integrand(z, analytic):
            m = 1 - rate + rate * ((2 * z - 1) / (2 * width**2)).exp()
            return (a * m.log(analytic=analytic) - z * z / (2 * width**2)).exp()

        reach = width * (2 * bits) ** 0.5
        middle = arb(0.5) + width**2 * ((1 - rate) / rate).log()
        places = sorted(
            (-reach, arb(0), a, a + reach, *([middle] if 0 < middle < a else [])),
            key=lambda x: float(x),
        )
        peak = (a * (a - 1) / (2 * width**2)).exp() * rate**a + 1
        tolerance = peak * arb(2) ** -bits
        total = sum(
            acb.integral(integrand, low, high, abs_tol=tolerance, eval_limit=10**6).real
            for low, high in itertools.pairwise(places)
        )
        moment = total / (width * (2 * arb.pi()).sqrt())
        return moment.log() / (a - 1)


def epsilon_objective(curve, delta, conversion):
    log_delta = mp.log(number(delta))

    def objective(alpha):
        lam = number(alpha) - 1
        if conversion == "classic":
            return curve(alpha) - log_delta / lam
        return curve(alpha) + mp.log(lam / (lam + 1)) - (log_delta + mp.log(lam + 1)) / lam

    return objective


def log_delta_objective(curve, epsilon, conversion):
    def objective(alpha):
        lam = number(alpha) - 1
        plain = lam * (curve(alpha) - number(epsilon))
        if conversion == "classic":
            return plain
        return plain - mp.log(lam) + (lam + 1) * mp.log(1 - 1 / (lam + 1))

    return objective
