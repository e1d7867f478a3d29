"""Ten thousand random cases against plain sums, rigorous integrals, tables and all whole orders.

The cases are the same in every run. A failing one is named by its kind and number, and
`python -m tests.soak.test_soak KIND NUMBER` runs it again alone.
"""

import math
import random
import sys
from fractions import Fraction

import pytest
from flint import acb, arb, ctx

from symacct import (
    ZCDP,
    Accountant,
    Compose,
    Gaussian,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
)
from symacct.kernel.answer import to_fraction
from symacct.theory.amplification import wbk19
from tests.kernel.hard_sums.formulas import (
    curve_of,
    epsilon_objective,
    gaussian_by_integral,
    holds,
    log_delta_objective,
    moments,
    mp,
    number,
    proposition_11,
    theorem_5,
    theorem_8,
    theorem_9,
    theorem_27,
)
from tests.kernel.sums.curves import ball
from tests.kernel.sums.oracles import certified_binomial_sum

BLOCKS = 20


# --- random parameters


def uniform_rate(source):
    """A rate between 1e−9 and 1 − 1e−6, small ones more often."""
    if source.random() < 0.1:
        return 1 - Fraction(source.randrange(1, 1000), 10**9)
    return Fraction(source.randrange(1, 1000), 1000 * 10 ** source.randrange(7))


def scale(source, least, most):
    """A log-uniform rational with four digits."""
    value = math.exp(source.uniform(math.log(least), math.log(most)))
    return Fraction(f"{value:.3e}")


def order(source, most):
    """A whole order, small ones more often."""
    return 2 + int((most - 1) * source.random() ** 2)


def leaf(source):
    """A mechanism and its curve in mpmath."""
    kind = source.randrange(4)
    if kind == 0:
        node = Gaussian(scale(source, 0.4, 60))
    elif kind == 1:
        node = Laplace(scale(source, 0.3, 20))
    elif kind == 2:
        node = RandomizedResponse(Fraction(source.randrange(50, 999), 1000))
    else:
        node = PureDP(scale(source, 0.01, 3))
    return node, curve_of(node)


# --- one case of each kind; each raises AssertionError if it fails


def sum_of_any_terms(source):
    """The certified sum for a random K, against the plain one at 10 times the bits.

    K is convex (a maximum of lines and a parabola), or only K_l/(l−1) is nondecreasing.
    """
    convex = source.random() < 0.7
    lines = [
        (Fraction(source.randrange(0, 4000), 1000), source.randrange(1, 200))
        for _ in range(source.randrange(1, 4))
    ]
    bend = source.choice((0, Fraction(1, 10 ** source.randrange(2, 25))))
    width = source.randrange(2, 40)

    def moment(l):
        with ctx.workprec(ctx.prec + 60):
            if convex:
                value = max(max(rate * (l - start), 0) for rate, start in lines)
                return ball(value + bend * (l - 1) * l)
            return ball((l - 1) * (bend + lines[0][0] * (l // width) / 10))

    shape = "convex" if convex else "nondecreasing"
    term, factor, shift, first = source.choice(
        (
            (lambda l, k: k.expm1(), 1, 1, 2),
            (lambda l, k: k.expm1() if l == 2 else 3 * k.exp() - 1, 3, 1, 2),
            (lambda l, k: k.exp() * (arb(11) / 10) ** min(l, 7), 2, None, 3),
        )
    )
    alpha, gamma = order(source, 600), uniform_rate(source)
    rest = 1 if shift is None else 1 - gamma
    with ctx.workprec(source.choice((53, 90, 140))):
        with ctx.workprec(10 * ctx.prec):
            u, v = ball(gamma), ball(rest)
            weight, true = arb.bin_uiui(alpha, first) * u**first * v ** (alpha - first), arb(0)
            if alpha < first:
                weight = arb(0)
            for l in range(first, alpha + 1):
                true += weight * term(l, moment(l))
                weight *= u / v * (alpha - l) / (l + 1)
        goal = abs(true) * arb(2) ** (10 - ctx.prec)
        with ctx.workprec(4 * ctx.prec + 60):
            u, v = ball(gamma), ball(rest)
        found = certified_binomial_sum(alpha, u, v, moment, term, factor, first, shape, shift)
        assert found.contains(true)
        assert found.rad() <= goal


def theorem_about_sampling(source):
    """Theorems 5, 6, 8, 9 and Proposition 11, asked of an accountant, against their sums."""
    base, eps = leaf(source)
    alpha, gamma, digits = order(source, 250), uniform_rate(source), source.choice((5, 15, 30))
    with mp.workdps(120):
        values = moments(eps, alpha)
        poisson = PoissonSubsample(base, gamma)
        fixed = SubsampleWithoutReplacement(base, gamma)
        for node, by, true in (
            (poisson, source.choice(("ZW19-T8", "ZW19-T6")), theorem_8(alpha, gamma, values)),
            (poisson, "ZW19-T5", theorem_5(alpha, gamma, values)),
            (fixed, "WBK19-P11", proposition_11(alpha, gamma, values)),
            (fixed, "WBK19-T9", theorem_9(alpha, gamma, values, eps(math.inf))),
        ):
            found = Accountant(digits).rdp(node, alpha, by=by)
            assert holds(found, true, digits, error=60), by


def sampled_gaussian(source):
    """MTZ19-EXACT against rigorous integration of the definition."""
    sigma = scale(source, 0.5, 100)
    alpha = 1 + scale(source, 1e-4, 30 if sigma < 1 else 200)
    q = scale(source, 1e-6, 0.99)
    digits = source.choice((8, 15, 30))
    found = Accountant(digits).rdp(PoissonSubsample(Gaussian(sigma), q), alpha, by="MTZ19-EXACT")
    true = gaussian_by_integral(alpha, q, sigma, 300)
    assert found.digits >= digits
    assert inside(found, true)


def inside(found, true):
    """Do the enclosure and the ball meet, and is the ball narrow enough to say so?"""
    with ctx.workprec(600):
        assert true.rel_accuracy_bits() > 110
        low, high = ball(to_fraction(found.lower)), ball(to_fraction(found.upper))
        return bool(low <= true.upper()) and bool(true.lower() <= high)


def sampled_pair(source):
    """PAIR-EXACT: Laplace against rigorous integration, randomized response by its outcomes."""
    alpha, gamma = 1 + scale(source, 1e-4, 300), scale(source, 1e-6, 0.99)
    digits = source.choice((8, 15, 30))
    with ctx.workprec(300):
        a, g = ball(alpha), ball(gamma)
        if source.random() < 0.7:
            b = scale(source, 0.1, 30)
            base, s = Laplace(b), ball(1 / b)

            def power(w, analytic=False):
                m = 1 - g + g * w.exp()
                return (a * m.log(analytic=analytic)).exp()

            def integrand(z, analytic):
                return power(s * (2 * z - 1), analytic) * (-s * z).exp()

            body = acb.integral(integrand, 0, 1, eval_limit=10**6, abs_tol=arb(2) ** -300)
            atoms = power(acb(-s)) + power(acb(s)) * (-s).exp()
            moment = (atoms + s * body).real / 2
        else:
            p = Fraction(source.randrange(2, 999), 1000)
            base = RandomizedResponse(p)
            parts = ((p, 1 - p), (1 - p, p))
            ratios = (((1 - gamma) * y + gamma * x, y) for x, y in parts)
            moment = sum((ball(m / y) ** a * ball(y) for m, y in ratios), arb(0))
        true = moment.log() / (a - 1)
    found = Accountant(digits).rdp(PoissonSubsample(base, gamma), alpha, by="PAIR-EXACT")
    if true.contains(0):
        assert base is RandomizedResponse("1/2")
        assert found.upper == 0
        return
    assert found.digits >= digits
    assert inside(found, true)


def theorem_27_by_table(source):
    """WBK19 Theorem 27 against a plain table of differences, wherever differences are given up."""
    base, eps = leaf(source)
    alpha, gamma, digits = order(source, 90), uniform_rate(source), source.choice((5, 15, 30))
    with mp.workdps(400):
        if eps(2) == 0:
            return
        true = theorem_27(alpha, gamma, moments(eps, alpha + 1), eps(math.inf))
        head = wbk19._FIRST_HEAD_ORDER
        try:
            wbk19._FIRST_HEAD_ORDER = source.choice((2, 3, 8, 64))
            node = SubsampleWithoutReplacement(base, gamma)
            found = Accountant(digits).rdp(node, alpha, by="WBK19-T27")
        finally:
            wbk19._FIRST_HEAD_ORDER = head
        assert holds(found, true, digits, error=80)


def guarantee(source):
    """The best whole and the best real order against all whole ones, and some real ones."""
    parts, curve = {}, []
    for _ in range(source.randrange(1, 3)):
        base, eps = leaf(source) if source.random() < 0.8 else concentrated(source)
        count = round(10 ** source.uniform(0, 3))
        if source.random() < 0.5 and not isinstance(base, ZCDP):
            base, eps = sampled(base, eps, Fraction(source.randrange(1, 300), 1000))
        parts[base] = count
        curve.append((count, eps))
    node = Compose(parts)
    with mp.workdps(40):
        if source.random() < 0.5:
            given = Fraction(1, 10 ** source.randrange(1, 15))
            build, kind = epsilon_objective, "epsilon"
        else:
            given = scale(source, 0.05, 10)
            build, kind = log_delta_objective, "delta"
        conversion = source.choice(("classic", "improved"))
        f = build(lambda l: sum(n * eps(l) for n, eps in curve), given, conversion)
        values = {l: f(l) for l in range(2, 81)}
        best = min(values.values())
        target = max(best, 0) if kind == "epsilon" else mp.exp(min(best, 0))
        accountant = Accountant(12)
        ask = getattr(accountant, kind)
        whole = ask(node, given, conversion=conversion, orders="integer")
        slack = 1 + mp.mpf(10) ** -10
        assert top(whole) <= target * slack, (node, kind, given, conversion, "whole")
        everywhere = ask(node, given, conversion=conversion)
        assert top(everywhere) <= target * slack, (node, kind, given, conversion, "real")
        if everywhere.optimal and everywhere.alpha > 1:  # at order 1 it is no conversion's
            # No order does better than what is claimed to be optimal: real ones at random.
            near = float(everywhere.alpha) if everywhere.alpha < 10**6 else 100.0
            for _ in range(6):
                alpha = 1 + scale(source, (near - 1) / 3, (near - 1) * 3)
                grid = ask(node, given, conversion=conversion, orders=[alpha])
                assert bottom(everywhere) <= top(grid)


def concentrated(source):
    rho = scale(source, 1e-3, 1)
    return ZCDP(rho), lambda a: number(rho) * number(a)


def sampled(base, eps, gamma):
    """A sampled mechanism and Theorem 8 at the whole orders."""
    known = {}

    def curve(l):
        if l not in known:
            known[l] = theorem_8(l, gamma, moments(eps, l))
        return known[l]

    return PoissonSubsample(base, gamma), curve


def top(found):
    return mp.make_mpf(found.asked.upper._mpf_)


def bottom(found):
    return mp.make_mpf(found.asked.lower._mpf_)


# --- all of them

KINDS = {
    sum_of_any_terms: 3000,
    theorem_about_sampling: 2000,
    sampled_gaussian: 1500,
    sampled_pair: 1000,
    theorem_27_by_table: 1500,
    guarantee: 1000,
}
TOTAL = sum(KINDS.values())


def run(case, number_of_case):
    """One case; its seed is its kind and its number."""
    case(random.Random(f"{case.__name__} {number_of_case}"))


def test_there_are_ten_thousand_cases():
    assert TOTAL == 10_000
    assert all(count % BLOCKS == 0 for count in KINDS.values())


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("case", KINDS, ids=lambda case: case.__name__)
def test_soak(case, block, record_property):
    size = KINDS[case] // BLOCKS
    failed = []
    for i in range(block * size, (block + 1) * size):
        try:
            run(case, i)
        except Exception as error:
            failed.append(f"{case.__name__} {i}: {type(error).__name__} {str(error)[:300]}")
    done = f"{block + 1}/{BLOCKS}"
    found = f"{size} cases, {len(failed)} failed"
    record_property("progress", f"{case.__name__:24} block {done:>5}: {found}")
    assert not failed, "\n".join(failed)


if __name__ == "__main__":
    run(globals()[sys.argv[1]], int(sys.argv[2]))
