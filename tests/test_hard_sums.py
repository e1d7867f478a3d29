"""Hard cases of sums, integrals and optima, against plain mpmath at ten times the precision.

The formulas below are those of the papers, summed term by term; nothing in them is symacct's.
"""

import functools
import itertools
import json
import math
import warnings
from fractions import Fraction
from pathlib import Path

import pytest
from flint import acb, arb
from flint import ctx as flint_ctx
from mpmath.ctx_mp import MPContext

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    AssumptionError,
    Compose,
    Curve,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Laplace,
    LimitError,
    OrderError,
    OrderGridWarning,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomizedResponse,
    SoundnessError,
    SubsampleWithoutReplacement,
    chi_divergence,
    from_json,
    limits,
    parse,
    ternary_bound,
)
from symacct.amplification import wbk19
from symacct.arithmetic import BALL, BallArithmetic
from symacct.arithmetic.ball import precision
from symacct.sums.differences import forward_differences
from tests.sums import chi

DIGITS = 30
INFINITY = math.inf
REFERENCE = Path(__file__).parent / "reference"

mp = MPContext()
mp.dps = 10 * DIGITS


# --- comparing


def number(x):
    if isinstance(x, mp.mpf):
        return x
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


def ends(found):
    """The ends of an enclosure in the context of this file, exactly."""
    return mp.make_mpf(found.lower._mpf_), mp.make_mpf(found.upper._mpf_)


def holds(found, true, digits=DIGITS, error=None):
    """Does the enclosure hold the value, and does it show the digits asked for?"""
    low, high = ends(found)
    slack = abs(true) * mp.mpf(10) ** (-error if error else 60 - mp.dps)
    return low <= true + slack and true - slack <= high and found.digits >= digits


def overlap(a, b):
    return a.lower <= b.upper and b.lower <= a.upper


# --- base curves: ε(α) for 1 < α <= ∞


def gaussian(sigma):
    return lambda a: mp.inf if a == INFINITY else number(a) / (2 * number(sigma) ** 2)


def laplace(b):
    s = 1 / number(b)

    def eps(a):
        if a == INFINITY:
            return s
        a = number(a)
        up, down = mp.exp((a - 1) * s), mp.exp(-a * s)
        return mp.log(a / (2 * a - 1) * up + (a - 1) / (2 * a - 1) * down) / (a - 1)

    return eps


def response(p):
    p = number(p)

    def eps(a):
        if a == INFINITY:
            return abs(mp.log(p / (1 - p)))
        a = number(a)
        return mp.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)

    return eps


def pure(epsilon):
    return response(1 / (1 + mp.exp(-number(epsilon))))


SEEDS = {
    "Gaussian(5)": (Gaussian(5), gaussian(5)),
    "Gaussian(1)": (Gaussian(1), gaussian(1)),
    "Laplace(2)": (Laplace(2), laplace(2)),
    "Laplace(1/2)": (Laplace("1/2"), laplace("1/2")),
    "RandomizedResponse(0.6)": (RandomizedResponse("0.6"), response("0.6")),
    "RandomizedResponse(0.9)": (RandomizedResponse("0.9"), response("0.9")),
}
WIDE = {**SEEDS, "Gaussian(50)": (Gaussian(50), gaussian(50))}
FULL = pytest.mark.parametrize("name", WIDE)
TINY_RATE, RATE, NEAR_ONE = Fraction(1, 10**12), Fraction(1, 1000), 1 - Fraction(1, 10**6)


# --- the papers' sums


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


@pytest.mark.parametrize(("sigma", "alpha"), [(50, 34540), (5, 346), (5, 345), (5, 347)])
def test_two_balanced_peaks(sigma, alpha):
    check_all_sums(Gaussian(sigma), gaussian(sigma), alpha, RATE)


@pytest.mark.parametrize("gamma", [TINY_RATE, RATE, Fraction(1, 2), NEAR_ONE], ids=str)
@pytest.mark.parametrize("alpha", [2, 3, 17, 240])
@FULL
def test_near_degenerate_rates(name, alpha, gamma):
    check_all_sums(*WIDE[name], alpha, gamma)


@pytest.mark.parametrize("name", ["Laplace(1/2)", "RandomizedResponse(0.9)", "Gaussian(50)"])
def test_large_orders(name):
    base, eps = WIDE[name]
    check_all_sums(base, eps, 5000, RATE)


#: e^{ε(∞)} − 1 below 1, above 1 (the square below 2, the fourth power above), and above 2.
SPREADS = {
    "Laplace(2)": (Laplace(2), laplace(2)),
    "Laplace(5/4)": (Laplace("5/4"), laplace("5/4")),
    "Laplace(1/2)": (Laplace("1/2"), laplace("1/2")),
    "RandomizedResponse(0.6)": (RandomizedResponse("0.6"), response("0.6")),
    "RandomizedResponse(11/16)": (RandomizedResponse("11/16"), response("11/16")),
    "RandomizedResponse(0.9)": (RandomizedResponse("0.9"), response("0.9")),
}


@pytest.mark.parametrize("gamma", [Fraction(1, 1000), Fraction(1, 20), Fraction(1, 2)], ids=str)
@pytest.mark.parametrize("name", SPREADS)
def test_every_branch_of_theorem_9(name, gamma):
    base, eps = SPREADS[name]
    fixed = SubsampleWithoutReplacement(base, gamma)
    for alpha in (2, 3, 4, 5, 40, 333):
        true = theorem_9(alpha, gamma, moments(eps, alpha), eps(INFINITY))
        assert holds(ask(fixed, alpha, "WBK19-T9"), true), alpha


def test_the_bases_above_do_take_every_branch():
    second, later = set(), set()
    for _, eps in SPREADS.values():
        e2, c = mp.exp(eps(2)), mp.expm1(eps(INFINITY))
        second.add("4" if 4 * (e2 - 1) < e2 * min(2, c**2) else "2" if c**2 > 2 else "c")
        later |= {(j, c**j < 2) for j in (3, 4)}
    assert second == {"4", "2", "c"}
    assert later == {(3, True), (3, False), (4, True), (4, False)}
    one = response("11/16")
    assert mp.expm1(one(INFINITY)) ** 3 < 2 < mp.expm1(one(INFINITY)) ** 4


# --- curves that are not convex


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


@pytest.mark.parametrize("gamma", [TINY_RATE, Fraction(1, 50), NEAR_ONE], ids=str)
@pytest.mark.parametrize("name", CUSTOM)
def test_curves_of_any_shape(name, gamma):
    base, eps = CUSTOM[name]
    for alpha in (2, 3, 40, 1200):
        values = moments(eps, alpha)
        found = ask(PoissonSubsample(base, gamma), alpha, "ZW19-T5")
        assert holds(found, theorem_5(alpha, gamma, values))
        found = ask(SubsampleWithoutReplacement(base, gamma), alpha, "WBK19-T9")
        assert holds(found, theorem_9(alpha, gamma, values, mp.inf))


def general_poisson(eps, gamma):
    """The default curve of a sampled general mechanism: Theorem 5, or the base if smaller."""

    @functools.cache
    def curve(alpha):
        return min(theorem_5(alpha, gamma, moments(eps, alpha)), eps(alpha))

    return curve


@pytest.mark.parametrize("inner", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)], ids=str)
@pytest.mark.parametrize("outer", [TINY_RATE, Fraction(1, 20), NEAR_ONE], ids=str)
def test_sampling_twice(inner, outer):
    base = gaussian(3)
    exact = functools.cache(lambda l: theorem_8(l, inner, moments(base, l)))
    twice = PoissonSubsample(PoissonSubsample(Gaussian(3), inner), outer)
    rough = general_poisson(base, inner)
    rougher = PoissonSubsample(PoissonSubsample(ZCDP("1/18"), inner), outer)
    for alpha in (2, 3, 61):
        assert holds(ask(twice, alpha), general_poisson(exact, outer)(alpha))
        assert holds(ask(rougher, alpha), general_poisson(rough, outer)(alpha))
        lower = theorem_8(alpha, outer, moments(exact, alpha))
        assert holds(ask(twice, alpha, "ZW19-T6"), lower)


def test_the_nested_bound_is_not_convex():
    """Else the test above would say nothing about such curves."""
    curve = general_poisson(gaussian(3), Fraction(1, 2))
    cgf = [(l - 1) * curve(l) for l in range(2, 30)]
    bends = [a - 2 * b + c for a, b, c in zip(cgf, cgf[1:], cgf[2:], strict=False)]
    assert min(bends) < 0 < max(bends)


# --- oracle calls


@pytest.mark.parametrize(("alpha", "most"), [(10**4, 300), (10**5, 1000), (10**6, 3000)])
@FULL
def test_fifty_digits_take_few_oracle_calls(name, alpha, most):
    base, _ = WIDE[name]
    accountant = Accountant(50)
    found = accountant.rdp(PoissonSubsample(base, RATE), alpha)
    assert found.digits >= 50
    assert 1 <= accountant.oracle_calls(base) <= most


@pytest.mark.parametrize("name", ["Laplace(2)", "Laplace(1/2)", "RandomizedResponse(0.6)"])
def test_fewer_digits_cost_fewer_oracle_calls(name):
    base, _ = SEEDS[name]
    calls = []
    for digits in (5, 50):
        accountant = Accountant(digits)
        accountant.rdp(PoissonSubsample(base, RATE), 10**4)
        calls.append(accountant.oracle_calls(base))
    assert calls[0] < calls[1] * 3 // 4


@pytest.mark.parametrize("digits", [1, 2, 8, 9, 17, 31])
def test_the_digits_asked_for_are_shown(digits):
    """For every order, whatever the last bits are; one digit short was found by the soak."""
    node = PoissonSubsample(RandomizedResponse("27/100"), "6181/100000000")
    for k in range(1, 60):
        assert ask(node, 1 + Fraction(k * 887, 5000000), None, digits).digits >= digits


# --- τ-term bounds


def theorem_11(alpha, gamma, values, eps, tau, sides):
    g = number(gamma)
    e = eps(alpha - tau if sides == 2 else alpha)
    total = (1 - g) ** alpha * (1 - mp.exp(-e)) + mp.exp(-e) * (1 - g + g * mp.exp(e)) ** alpha
    return mp.log(total + corrections(alpha, g, values, e, tau, sides, 2)) / (alpha - 1)


def theorem_20(alpha, gamma, values, eps, tau, sides):
    g = number(gamma)
    e = eps(alpha - tau if sides == 2 else alpha)
    total = (1 - g) ** alpha * (1 - 3 * mp.exp(-e))
    total += 3 * mp.exp(-e) * (1 - g + g * mp.exp(e)) ** alpha
    total -= 2 * g * alpha * (1 - g) ** (alpha - 1)
    pairs = mp.binomial(alpha, 2) * g**2 * (1 - g) ** (alpha - 2)
    total += pairs * (values[2] - 3 * mp.exp(e))
    total += 3 * corrections(alpha, g, values, e, tau, sides, 3)
    return mp.log(total) / (alpha - 1)


def corrections(alpha, g, values, e, tau, sides, first):
    """−Σ_{l=first}^{τ} b_l (e^{(l−1)E} − e^{(l−1)ε(l)}) + Σ_{l=α−τ+1}^{α} (…) if two-sided."""
    orders = [*range(first, tau + 1)]
    if sides == 2:
        orders += range(max(alpha - tau + 1, first), alpha + 1)
    return mp.fsum(
        mp.binomial(alpha, l) * g**l * (1 - g) ** (alpha - l) * (values[l] - mp.exp((l - 1) * e))
        for l in orders
    )


TAU = {"ZW19-T11": (theorem_11, theorem_8), "ZW19-T20": (theorem_20, theorem_5)}
TAU_CASES = pytest.mark.parametrize(
    ("alpha", "tau"), [(4, 2), (20, 2), (20, 10), (77, 3), (77, 38), (400, 50)]
)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("theorem", TAU)
@TAU_CASES
@FULL
def test_tau_terms_are_the_formula_and_an_upper_bound(name, alpha, tau, theorem, sides):
    base, eps = WIDE[name]
    bound, exact = TAU[theorem]
    gamma = Fraction(1, 50)
    values = moments(eps, alpha)
    true = bound(alpha, gamma, values, eps, tau, sides)
    found = ask(PoissonSubsample(base, gamma), alpha, f"{theorem}:tau={tau},sides={sides}")
    assert holds(found, true)
    # Equal where 2τ = α, but for the rounding of the two sums.
    assert true >= exact(alpha, gamma, values) * (1 - mp.mpf(10) ** (30 - mp.dps))
    assert str(found.claim.kind) == "upper"


@pytest.mark.parametrize("theorem", TAU)
@pytest.mark.parametrize("alpha", [2, 3, 8])
def test_one_term_at_each_end_is_enough_for_the_formula(theorem, alpha):
    """At α = 2 the last term is the second, which Theorem 20 has by itself."""
    base, eps = SEEDS["Gaussian(1)"]
    gamma, values = Fraction(1, 50), moments(eps, alpha)
    for sides in (1, 2):
        true = TAU[theorem][0](alpha, gamma, values, eps, 1, sides)
        found = ask(PoissonSubsample(base, gamma), alpha, f"{theorem}:tau=1,sides={sides}")
        assert holds(found, true)


@pytest.mark.parametrize("theorem", TAU)
@pytest.mark.parametrize("gamma", [0, 1])
def test_tau_terms_at_the_ends_of_the_rate(theorem, gamma):
    """The odds γ/(1−γ) are 0 or infinite there."""
    base, eps = SEEDS["Laplace(1/2)"]
    values = moments(eps, 9)
    true = TAU[theorem][0](9, Fraction(gamma), values, eps, 3, 2)
    found = ask(PoissonSubsample(base, gamma), 9, f"{theorem}:tau=3,sides=2")
    assert holds(found, true)


def test_many_tau_terms_come_from_one_binomial(monkeypatch):
    """At order 10⁷ a binomial for each term takes minutes; the ratio of two is short."""
    asked = []

    def counted(ctx, n, k):
        asked.append(k)
        return binomial(ctx, n, k)

    binomial = BallArithmetic.binomial
    monkeypatch.setattr(BallArithmetic, "binomial", counted)
    base, accountant = Laplace(2), Accountant(DIGITS)
    accountant.rdp(PoissonSubsample(base, RATE), 10**7, by="ZW19-T11:tau=1000")
    assert accountant.oracle_calls(base) == 2000
    assert set(asked) <= {2, 10**7 - 999}


@pytest.mark.parametrize("theorem", TAU)
def test_tau_terms_are_two_sided_or_not_as_stated(theorem):
    """Which form stands behind the name alone."""
    alpha, tau, gamma = 60, 7, Fraction(1, 50)
    base, eps = SEEDS["Laplace(1/2)"]
    sides = {"ZW19-T11": 2, "ZW19-T20": 1}[theorem]
    true = TAU[theorem][0](alpha, gamma, moments(eps, alpha), eps, tau, sides)
    assert holds(ask(PoissonSubsample(base, gamma), alpha, f"{theorem}:tau={tau}"), true)


@TAU_CASES
def test_the_two_sided_bound_takes_two_tau_oracle_calls(alpha, tau):
    """The orders 2 … τ and α−τ … α; where 2τ = α the order τ would be counted twice."""
    base = Laplace(2)
    accountant = Accountant(DIGITS)
    accountant.rdp(PoissonSubsample(base, RATE), alpha, by=f"ZW19-T11:tau={tau}")
    assert accountant.oracle_calls(base) == 2 * tau - (2 * tau == alpha)


@pytest.mark.parametrize("theorem", TAU)
@pytest.mark.parametrize(("alpha", "tau"), [(2, 2), (9, 5), (40, 21), (40, 1000)])
def test_too_many_terms_give_the_exact_sum(theorem, alpha, tau):
    base, eps = SEEDS["Laplace(2)"]
    found = ask(PoissonSubsample(base, RATE), alpha, f"{theorem}:tau={tau}")
    assert holds(found, TAU[theorem][1](alpha, RATE, moments(eps, alpha)))


@pytest.mark.parametrize("theorem", TAU)
def test_tau_terms_need_a_nondecreasing_curve(theorem):
    nested = PoissonSubsample(PoissonSubsample(ZCDP("1/18"), "1/10"), "1/10")
    for node in (nested, *(PoissonSubsample(base, RATE) for base, _ in CUSTOM.values())):
        with pytest.raises(AssumptionError, match="not proved"):
            ask(node, 40, f"{theorem}:tau=5")


def test_what_tau_terms_would_claim_of_a_falling_curve_is_false():
    """So the refusal is not idle: with ε falling the formula is below the sum."""
    values = moments(saw_in_mpmath, 60)
    bound = theorem_20(60, Fraction(1, 50), values, saw_in_mpmath, 3, 1)
    assert bound < theorem_5(60, Fraction(1, 50), values)


@pytest.mark.parametrize(
    "option",
    [*("tau=5,sides", "sides=x", "tau=-1", "sigma=2", "", "tau=0", "sides=0", "sides=3"),
     *("tau=1000000000", "tau=5,", "tau=٣", "tau=1.5", "tau=5;sides=1", "tau")],
)  # fmt: skip
def test_options_that_do_not_exist(option):
    """One clear error that names what was found and everything that is allowed."""
    needed = "needed tau=<whole number> from 1 to 999999999, sides=<whole number> from 1 to 2$"
    for theorem in TAU:
        with pytest.raises(DomainError, match=rf"^by: found option '.*' of {theorem}, {needed}"):
            ask(PoissonSubsample(Gaussian(5), RATE), 40, f"{theorem}:{option}")


def test_an_option_is_given_once():
    with pytest.raises(DomainError, match=r"^by: found tau twice in 'tau=50,tau=3', needed each"):
        ask(PoissonSubsample(Gaussian(5), RATE), 400, "ZW19-T11:tau=50,tau=3")


@pytest.mark.parametrize("options", ["tau=3", "sides=1", "sides=1, tau=3", "tau=3,sides=2"])
def test_the_name_of_a_theorem_with_options_can_be_asked_for(options):
    node = PoissonSubsample(Gaussian(5), RATE)
    found = ask(node, 40, f"ZW19-T11:{options}")
    name = found.claim.theorems[0]
    assert ask(node, 40, name) == found


# --- WBK19 Theorem 27


THEOREM_27 = json.loads((REFERENCE / "without_replacement_thm27.json").read_text(encoding="utf8"))
FAMILIES = {"Gaussian": Gaussian, "Laplace": Laplace, "RandomizedResponse": RandomizedResponse}


def near(found, text, digits, units=2):
    """Within `units` of the last of the printed digits."""
    printed = mp.mpf(text)
    return all(abs(x - printed) < units * abs(printed) * mp.mpf(10) ** (1 - digits) for x in found)


@pytest.mark.parametrize("key", [key for key in THEOREM_27 if "gamma" in key])
def test_reference_values_of_theorem_27(key):
    (family, parameter), gamma = key.split(" | ")[0].split(), key.split()[-1]
    node = SubsampleWithoutReplacement(FAMILIES[family](parameter), gamma)
    accountant = Accountant(45)
    for alpha, text in THEOREM_27[key].items():
        found = accountant.rdp(node, int(alpha), by="WBK19-T27")
        assert near(ends(found), text, 40), alpha
        assert found.digits >= 45


@pytest.mark.parametrize("key", [key for key in THEOREM_27 if key.endswith("B")])
def test_reference_values_of_the_differences(key):
    family, parameter = key.split(" | ")[0].split()
    for order, text in THEOREM_27[key].items():
        found = chi_divergence(FAMILIES[family](parameter), int(order), 40)
        assert near(ends(found), text, 35), order
        assert found.digits >= 40


def difference_table(values):
    """B(l) for every l, by the table of differences; the caller sees to the precision."""
    row, found = values, []
    while row:
        found.append(row[0])
        row = [after - before for before, after in itertools.pairwise(row)]
    return found


def theorem_27(alpha, gamma, values, pure_epsilon):
    """Σ of the smaller of both forms, term by term; `values` reach to α + 1."""
    g, b = number(gamma), difference_table(values[: alpha + 2])
    total = mp.one
    for j in range(2, alpha + 1):
        by_differences = 4 * mp.sqrt(b[2 * (j // 2)] * b[2 * ((j + 1) // 2)])
        plain = values[j] * spread(pure_epsilon, j)
        total += mp.binomial(alpha, j) * g**j * min(by_differences, plain)
    return mp.log(total) / (alpha - 1)


@pytest.mark.parametrize("gamma", [Fraction(1, 1000), Fraction(1, 10), Fraction(9, 10)], ids=str)
@FULL
def test_theorem_27_is_the_term_by_term_minimum(name, gamma):
    """At orders around and beyond the one where differences are first given up; odd and even."""
    base, eps = WIDE[name]
    values = moments(eps, 301)
    fixed = SubsampleWithoutReplacement(base, gamma)
    for alpha in (2, 3, 4, 5, 63, 64, 65, 66, 129, 300):
        true = theorem_27(alpha, gamma, values, eps(INFINITY))
        found = ask(fixed, alpha, "WBK19-T27")
        assert holds(found, true, error=100), alpha
        # Never above Theorem 9, in both: in the formula, and in the answers.
        other = theorem_9(alpha, gamma, values, eps(INFINITY))
        assert true <= other * (1 + mp.mpf(10) ** (30 - mp.dps))
        assert found.lower <= ask(fixed, alpha, "WBK19-T9").upper


@pytest.mark.parametrize("gamma", ["1/1000", "1/10"])
@pytest.mark.parametrize("alpha", [300, 601])
@pytest.mark.parametrize("name", ["Laplace(2)", "Gaussian(5)", "RandomizedResponse(0.6)"])
def test_the_order_where_differences_are_given_up_does_not_matter(name, alpha, gamma, monkeypatch):
    """With a head of 10,000 orders the sum is the full one."""
    fixed = SubsampleWithoutReplacement(SEEDS[name][0], gamma)
    answers = []
    for head in (2, 3, 16, 64, 10_000):
        monkeypatch.setattr(wbk19, "_FIRST_HEAD", head)
        answers.append(ask(fixed, alpha, "WBK19-T27"))
    assert all(a.digits >= DIGITS for a in answers)
    assert all(overlap(a, b) for a, b in itertools.combinations(answers, 2))


@pytest.mark.parametrize("name", ["Laplace(2)", "Gaussian(5)"])
def test_theorem_27_at_order_ten_thousand(name, monkeypatch):
    base, _ = SEEDS[name]
    fixed = SubsampleWithoutReplacement(base, RATE)
    for alpha in (9999, 10**4):
        answers = []
        for head in (64, 200, 700):
            monkeypatch.setattr(wbk19, "_FIRST_HEAD", head)
            answers.append(ask(fixed, alpha, "WBK19-T27"))
        assert all(a.digits >= DIGITS for a in answers)
        assert all(overlap(a, b) for a, b in itertools.combinations(answers, 2))
        assert answers[0].lower <= ask(fixed, alpha, "WBK19-T9").upper


def test_theorem_27_of_laplace_at_a_large_order_from_closed_forms():
    """B by an integral recurrence instead of differences; the rest bounded by 2 e^{K_l}."""
    alpha, top = 10**4, 500
    with flint_ctx.workprec(6000):
        b = chi.laplace_chi(2, top + 2)
        values = [arb(1), arb(1)]
        for l in range(2, alpha + 1):
            up, down = (arb(l - 1) / 2).exp(), (-arb(l) / 2).exp()
            values.append((l * up + (l - 1) * down) / (2 * l - 1))
        c, g = (arb(1) / 2).expm1(), arb(1) / 1000
        total, weight = arb(0), g * alpha
        for j in range(2, alpha + 1):
            weight = weight * g * (alpha - j + 1) / j
            plain = values[j] * (c**j).min(arb(2))
            if j <= top:
                four = 4 * (b[2 * (j // 2)] * b[2 * ((j + 1) // 2)]).sqrt()
                total += weight * four.min(plain)
            else:
                total += weight * plain * arb(0.5, 0.5)
        true = total.log1p() / (alpha - 1)
        assert true.rel_accuracy_bits() > 150
        found = ask(SubsampleWithoutReplacement(Laplace(2), RATE), alpha, "WBK19-T27", 40)
        low, high = (arb(mp.nstr(mp.make_mpf(x._mpf_), 80)) for x in (found.lower, found.upper))
        assert low <= true.upper() * (1 + arb("1e-70"))
        assert true.lower() * (1 - arb("1e-70")) <= high


@pytest.mark.parametrize(
    "base",
    [
        ZCDP("1/50"),
        TCDP("1/50", 100),
        Curve("alpha/50", kind="upper", adjacency="either"),
        Curve("alpha/50", kind="exact", adjacency="either"),
        PostProcess(Gaussian(5)),
        GroupPrivacy(Gaussian(5), 1),
        SubsampleWithoutReplacement(Gaussian(5), "1/2"),
    ],
    ids=repr,
)
def test_theorem_27_refuses_a_base_that_no_dominating_pair_attains(base):
    with pytest.raises((SoundnessError, AssumptionError)):
        ask(SubsampleWithoutReplacement(base, "1/10"), 4, "WBK19-T27")


def test_theorem_27_of_an_upper_bound_would_be_too_small():
    """Raising ε(3) makes B(4) smaller, so the refusal is not idle."""
    eps = laplace(2)
    raised = [*moments(eps, 4)]
    raised[3] = mp.exp(2 * eps(3) * mp.mpf("1.01"))
    assert difference_table(raised)[4] < difference_table(moments(eps, 4))[4] / 2


# --- χ-divergences


@pytest.mark.parametrize("p", ["0.6", "0.9", "0.51"])
def test_chi_divergences_of_randomized_response(p):
    """Every l <= 1000: (1−p)((2p−1)/(1−p))^l + p((1−2p)/p)^l, with exact fractions."""
    base, accountant = RandomizedResponse(p), Accountant()

    def log_moment_at(bits, i):
        return (i - 1) * accountant.curve(base)(i)

    p = Fraction(p)
    found = forward_differences(log_moment_at, 1000, 100)
    up, down = (2 * p - 1) / (1 - p), (1 - 2 * p) / p
    for l, value in enumerate(found):
        true = (1 - p) * up**l + p * down**l
        with precision(60_000):
            assert value.contains(BALL.number(true)), l
        assert value.rel_accuracy_bits() >= 100


@pytest.mark.parametrize("l", [0, 1, 2, 3, 10, 101, 1000])
@pytest.mark.parametrize("p", ["0.6", "0.2"])
def test_chi_divergence_of_randomized_response_as_asked(p, l):
    found = chi_divergence(RandomizedResponse(p), l)
    q = max(Fraction(p), 1 - Fraction(p))  # the curve does not tell p from 1 − p
    true = (1 - q) * ((2 * q - 1) / (1 - q)) ** l + q * ((1 - 2 * q) / q) ** l
    assert holds(found, number(true))
    assert found.digits >= DIGITS


@pytest.mark.parametrize("sigma", [1, 5, 100])
@pytest.mark.parametrize("l", [2, 3, 7, 40, 333, 1000])
def test_chi_divergence_of_a_gaussian_by_quadrature(sigma, l):
    found = chi_divergence(Gaussian(sigma), l, 40)
    with flint_ctx.workprec(300):
        true = chi.gaussian_chi(sigma, l)
        assert true.rel_accuracy_bits() > 140
        mid, rad = (mp.mpf(x.str(90, radius=False)) for x in (true.mid(), true.rad()))
    low, high = ends(found)
    assert low <= mid + rad + abs(mid) * mp.mpf(10) ** -80
    assert mid - rad - abs(mid) * mp.mpf(10) ** -80 <= high
    assert found.digits >= 40


def test_chi_divergence_needs_an_exact_curve():
    for base in (ZCDP("1/50"), PostProcess(Gaussian(5)), GroupPrivacy(Gaussian(5), 1)):
        with pytest.raises(SoundnessError):
            chi_divergence(base, 4)


@FULL
def test_ternary_bound_is_the_smallest_of_the_proved_ones(name):
    base, eps = WIDE[name]
    values = moments(eps, 82)
    table = difference_table(values)
    for l in (2, 3, 4, 17, 80, 81):
        by_differences = 4 * mp.sqrt(table[2 * (l // 2)] * table[2 * ((l + 1) // 2)])
        power = min(by_differences, values[l] * spread(eps(INFINITY), l))
        found = ternary_bound(base, l)
        assert holds(found, power ** (mp.one / l), error=100), l
        # What it bounds, at one choice of three mutually adjacent laws: R = Q.
        if l % 2 == 0:
            assert ends(found)[1] ** l >= table[l]


@pytest.mark.parametrize("p", ["0.6", "0.9"])
def test_ternary_divergence_of_three_laws_is_below_its_bound(p):
    """The laws of two answers: E_R[(|P−Q|/R)^l] for every choice among the pair and between."""
    p = number(p)
    laws = [(x, 1 - x) for x in (p, 1 - p)]
    for l in (2, 3, 8, 21):
        top = ends(ternary_bound(RandomizedResponse(Fraction(str(float(p)))), l))[1]
        for first, second, third in itertools.product(laws, repeat=3):
            parts = zip(first, second, third, strict=True)
            divergence = mp.fsum(abs(a - b) ** l / c ** (l - 1) for a, b, c in parts)
            assert divergence <= top**l


@pytest.mark.parametrize("f", [lambda a: a / 50, lambda ctx, a: ctx.number(a) / 50])
@pytest.mark.parametrize("adjacency", ["either", "add_remove"])
def test_what_is_made_from_a_curve_is_as_certified_as_the_curve(f, adjacency):
    for kind, ask in (
        ("exact", chi_divergence),
        ("exact", ternary_bound),
        ("upper", ternary_bound),
    ):
        m = Curve(f, kind=kind, adjacency=adjacency, at_infinity=9)
        found = ask(m, 4)
        assert found.certified is found.claim.certified is m.claim.certified
        assert found.claim.adjacency == m.claim.adjacency


def test_ternary_bound_of_an_upper_bound_uses_no_differences():
    base = ZCDP("1/50")
    for l in (3, 4, 9):
        true = (2 * mp.exp((l - 1) * number(l) / 50)) ** (mp.one / l)
        assert holds(ternary_bound(base, l), true)
    assert holds(ternary_bound(base, 2), mp.sqrt(4 * mp.expm1(number(2) / 50)))
    with pytest.raises(SoundnessError):
        ternary_bound(Curve("alpha/50", kind="lower", adjacency="either"), 4)


# --- fractional orders


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


def gaussian_by_erfc(alpha, q, sigma, bits):
    """ε(α) by MTZ19's two erfc series (theory: section 4), summed until nothing is left."""
    with mp.workprec(bits):
        a, q, s = number(alpha), number(q), number(sigma)
        crossing = mp.mpf(1) / 2 + s * s * mp.log(1 / q - 1)
        total, binomial = mp.zero, mp.one
        for i in itertools.count():
            left = (1 - q) ** (a - i) * q**i * mp.exp(mp.mpf(i * i - i) / (2 * s * s))
            left *= mp.erfc((i - crossing) / (mp.sqrt(2) * s))
            b = a - i
            right = (1 - q) ** i * q**b * mp.exp((b * b - b) / (2 * s * s))
            right *= mp.erfc((crossing - b) / (mp.sqrt(2) * s))
            term = binomial * (left + right) / 2
            total += term
            if abs(term) < total * mp.mpf(2) ** -bits and i > 2:
                return mp.log(total) / (a - 1)
            binomial *= (a - i) / (i + 1)


@pytest.mark.parametrize(
    ("alpha", "q", "sigma"),
    [
        ("1.000000000001", "1/1000", 1),
        ("1.000000000001", "1/1000000000000", 10),
        ("1.000001", "999999/1000000", 3),
        ("3/2", "1/100", "3/10"),
        ("5/2", "1/1000000000000", 2),
        ("5/2", "999999/1000000", 2),
        ("5/2", "1/2", 10000),
        ("10.5", "1/100", "1/2"),
        ("63.9", "1/100", 4),
        ("1000.5", "1/1000", 50),
        ("100000", "1/1000", 10000),
    ],
)
def test_sampled_gaussian_by_integral(alpha, q, sigma):
    found = ask(PoissonSubsample(Gaussian(sigma), q), alpha, "MTZ19-EXACT")
    true = gaussian_by_integral(Fraction(alpha), Fraction(q), Fraction(sigma), 600)
    with flint_ctx.workprec(600):
        assert true.rel_accuracy_bits() > 130
        mid, rad = (mp.mpf(x.str(120, radius=False)) for x in (true.mid(), true.rad()))
    low, high = ends(found)
    assert low <= mid + rad * 2
    assert mid - rad * 2 <= high
    assert found.digits >= DIGITS


@pytest.mark.parametrize(
    ("alpha", "q", "sigma"),
    [
        ("99999.5", "1/100", "1/20"),
        ("99999.5", "1/1000000000000", "1/20"),
        ("1000.25", "1/100", "3/10"),
        ("10000.5", "999999/1000000", 1),
        ("64.5", "1/1000", "3/10"),
    ],
)
def test_sampled_gaussian_by_two_series(alpha, q, sigma):
    found = ask(PoissonSubsample(Gaussian(sigma), q), alpha, "MTZ19-EXACT")
    true = gaussian_by_erfc(Fraction(alpha), Fraction(q), Fraction(sigma), 400)
    assert holds(found, true, error=80)


@pytest.mark.parametrize("by", ["MTZ19-EXACT", "PAIR-EXACT"])
@pytest.mark.parametrize("order", [2, 3, 7, 64])
def test_no_jump_at_whole_orders(order, by):
    """At n ± 1e−40 the values differ from that of the binomial sum at n by the slope alone."""
    step = Fraction(1, 10**40)
    bases = {"MTZ19-EXACT": ("Gaussian(5)", "Gaussian(1)")}.get(by, ("Laplace(2)", "Laplace(1/2)"))
    for name in bases:
        base, eps = SEEDS[name]
        node = PoissonSubsample(base, RATE)
        below, above = (ends(ask(node, order + sign * step, by, 60)) for sign in (-1, 1))
        true = theorem_8(order, RATE, moments(eps, order))
        assert below[1] < true < above[0]
        assert abs(below[0] + above[1] - 2 * true) < true * mp.mpf(10) ** -55
        assert above[1] - below[0] < true * mp.mpf(10) ** -36
        assert holds(ask(node, order, by), true)


def laplace_by_quadrature(alpha, gamma, b):
    """ε(α) from the two atoms of the ratio and mpmath's quadrature between them."""
    with mp.workdps(120):
        a, g, s = number(alpha), number(gamma), 1 / number(b)

        def power(w):
            return (1 - g + g * mp.exp(w)) ** a

        middle = (1 + mp.log((1 - g) / g) / s) / 2
        places = [0, *([middle] if 0 < middle < 1 else []), 1]
        inside = mp.quad(lambda z: s * mp.exp(-s * z) * power(s * (2 * z - 1)), places)
        total = (power(-s) + mp.exp(-s) * power(s) + inside) / 2
        return mp.log(total) / (a - 1)


@pytest.mark.parametrize("b", ["1/10", 1, 20])
@pytest.mark.parametrize("gamma", ["1/1000000", "1/20", "999999/1000000"])
@pytest.mark.parametrize("alpha", ["1.000001", "3/2", "31/3", "100.5"])
def test_sampled_laplace_by_quadrature(alpha, gamma, b):
    found = ask(PoissonSubsample(Laplace(b), gamma), alpha, "PAIR-EXACT")
    assert holds(found, laplace_by_quadrature(alpha, gamma, b), error=60)


@pytest.mark.parametrize("p", ["0.6", "0.9", "0.1"])
@pytest.mark.parametrize("gamma", [TINY_RATE, RATE, NEAR_ONE], ids=str)
@pytest.mark.parametrize("alpha", ["1.000000000001", "5/2", "1000.5", "100000"])
def test_sampled_response_outcome_by_outcome(alpha, gamma, p):
    node = PoissonSubsample(RandomizedResponse(p), gamma)
    g, a = number(gamma), number(alpha)
    outcomes = ((number(p), 1 - number(p)), (1 - number(p), number(p)))
    total = mp.fsum(((1 - g) * y + g * x) ** a * y ** (1 - a) for x, y in outcomes)
    assert holds(ask(node, alpha, "PAIR-EXACT"), mp.log(total) / (a - 1))


@pytest.mark.parametrize(
    "node",
    [
        PoissonSubsample(Gaussian(5), RATE),
        PoissonSubsample(Laplace("1/2"), "1/10"),
        PoissonSubsample(RandomizedResponse("0.9"), "1/10"),
        PoissonSubsample(ZCDP("1/50"), "1/10"),
        SubsampleWithoutReplacement(Gaussian(5), "1/100"),
        SubsampleWithoutReplacement(Laplace(2), "1/100"),
        1000 * PoissonSubsample(Gaussian(2), "1/50") + Laplace(20),
        SubsampleWithoutReplacement(RandomizedResponse("0.6"), "1/10").convexify(40),
    ],
    ids=repr,
)
@pytest.mark.parametrize("alpha", [1, 2, "5/2", 33])
def test_the_three_engines_agree(node, alpha):
    ball = Accountant(25).rdp(node, alpha)
    other = Accountant(25, engine="mpmath").rdp(node, alpha)
    middle = sum(ends(other)) / 2
    assert abs(middle - ends(ball)[0]) <= abs(middle) * mp.mpf(10) ** -23
    quick = Accountant(engine="float64").rdp(node, alpha)
    assert abs(sum(ends(quick)) / 2 - middle) <= abs(middle) * mp.mpf(10) ** -10


# --- projection


def hull_value(points, place):
    """The lower hull at a place: the smallest chord over it of all pairs of points."""
    return min(
        y0 if x0 == x1 else y0 + (y1 - y0) * (place - x0) / (x1 - x0)
        for (x0, y0), (x1, y1) in itertools.product(points, repeat=2)
        if x0 <= place <= x1 and (x0 < x1 or x0 == place)
    )


def kinked(values):
    """A Curve with the given ε at the whole orders 2, 3, …, the last one from there on."""

    def curve(ctx, alpha):
        return ctx.number(values[min(max(math.floor(float(alpha)), 2) - 2, len(values) - 1)])

    return Curve(curve, kind="upper", adjacency="either")


KINKS = {
    "one tooth": [Fraction(1, 10), Fraction(9, 10), Fraction(1, 5), Fraction(1, 4), Fraction(2, 5)],
    "falling": [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 5)],
    "convex": [Fraction(l, 7) for l in range(2, 30)],
    "random": [Fraction((7919 * l) % 101 + 1, 97) for l in range(2, 60)],
    "zeros": [Fraction(0), Fraction(1, 3), Fraction(0), Fraction(1), Fraction(2)],
}


@pytest.mark.parametrize("name", KINKS)
def test_projection_is_the_lower_hull(name):
    """Every value exactly that of the brute-force hull, in fractions; at 1 its slope there."""
    values = KINKS[name]
    last = len(values) + 1
    base = kinked(values)
    hull = base.convexify(last)
    points = [(0, Fraction(0)), *((l - 1, (l - 1) * values[l - 2]) for l in range(2, last + 1))]
    accountant = Accountant(DIGITS)
    places = [Fraction(k, 6) for k in range(1, 6 * (last - 1) + 1)]
    for lam in places:
        true = hull_value(points, lam) / lam
        low, high = ends(accountant.rdp(hull, lam + 1))
        assert low <= number(true) <= high or abs(low - number(true)) < mp.mpf(10) ** -290
        assert high - low <= number(true) * mp.mpf(10) ** -DIGITS
        if lam.denominator == 1:
            assert low <= number(values[int(lam) - 1])
    slope = min(y / x for x, y in points[1:])
    assert holds(accountant.rdp(hull, 1), number(slope))
    beyond = accountant.rdp(hull, last + 5)
    assert holds(beyond, number(values[-1]))


@pytest.mark.parametrize("name", KINKS)
def test_projection_is_convex_and_nondecreasing(name):
    last = len(KINKS[name]) + 1
    hull = kinked(KINKS[name]).convexify(last)
    accountant = Accountant(DIGITS)
    lams = [Fraction(k, 4) for k in range(1, 4 * (last - 1) + 1)]
    eps = [sum(ends(accountant.rdp(hull, lam + 1))) / 2 for lam in lams]
    cgf = [number(lam) * e for lam, e in zip(lams, eps, strict=True)]
    slack = mp.mpf(10) ** -25
    assert all(b >= a - slack for a, b in itertools.pairwise(eps))
    assert all(a - 2 * b + c >= -slack for a, b, c in zip(cgf, cgf[1:], cgf[2:], strict=False))


@pytest.mark.parametrize("name", ["Gaussian(5)", "Laplace(1/2)", "RandomizedResponse(0.9)"])
def test_projection_of_an_exact_curve_is_its_interpolation(name):
    base, eps = SEEDS[name]
    node = PoissonSubsample(base, "1/20")
    hull = node.convexify(40)
    values = {l: (l - 1) * theorem_8(l, Fraction(1, 20), moments(eps, l)) for l in range(2, 41)}
    values[1] = mp.zero
    for order in ("3/2", "9/4", 5, "31/3", "159/4", 40):
        alpha = Fraction(order)
        below, lam = math.floor(alpha), number(alpha) - 1
        share = number(alpha - below)
        true = (1 - share) * values[below] + share * values.get(below + 1, mp.zero)
        found = ask(hull, alpha)
        assert holds(found, true / lam)
        assert overlap(found, ask(node, alpha, "WBK19-C10"))
        if alpha.denominator > 1:
            # The exact curve lies strictly below its chords.
            assert found.lower > ask(node, alpha).upper
        assert str(found.claim.kind) == "upper"


def test_the_hull_of_a_convex_curve_is_asked_around_the_order_alone():
    """Every point of a convex curve is a corner, so the chord needs two of ten million."""
    base, accountant = Gaussian(5), Accountant(DIGITS)
    found = accountant.rdp(base.convexify(10**7), "5/2")
    assert holds(found, mp.mpf(4) / 75)  # (½·1·ε(2) + ½·2·ε(3))/(3/2), ε(α) = α/50
    assert accountant.oracle_calls(base) == 2


@pytest.mark.parametrize("alpha", [1, "3/2", 4, "9/2", 5, "11/2", 8])
def test_the_hull_of_a_convex_curve_that_becomes_infinite(alpha):
    """Whole orders alone are known: between the last finite one and ∞ it is the curve's own."""
    base = TCDP("1/50", 5)
    found, at = ask(base.convexify(10**6), alpha), Fraction(alpha)
    slope = {1: 2, Fraction(3, 2): 2, 4: 4}  # chords from (0, 0) have the slope of ε(2)
    if at < 5:
        assert holds(found, mp.mpf(slope.get(at) or number(at)) / 50)
    else:
        assert found.lower == mp.inf


def test_the_hull_of_other_curves_is_limited():
    """Each of its orders is a sum: LimitError at once, with the remedy."""
    node = SubsampleWithoutReplacement(Gaussian(5), "1/100")
    says = (
        r"^Convexify, max_order: found 10,000,000, the limit is 4,096; raise it with .*\(hull=...\)"
    )
    with pytest.raises(LimitError, match=says):
        node.convexify(10**7).rdp("5/2")
    with limits(hull=7), pytest.raises(LimitError, match="found 8, the limit is 7"):
        Accountant(DIGITS).rdp(node.convexify(8), 3)
    with limits(hull=8):
        assert ask(node.convexify(8), 3).upper < 1


def test_the_hull_forms_each_ternary_power_once(monkeypatch):
    """It depends on neither α nor γ, so that a thousand orders cost hardly more than the last."""
    asked = []

    def counted(ctx, eps, spread, difference, j):
        asked.append((ctx.bits, j))
        return ternary_power(ctx, eps, spread, difference, j)

    ternary_power = wbk19.ternary_power
    monkeypatch.setattr(wbk19, "ternary_power", counted)
    base, accountant = Gaussian(5), Accountant(DIGITS)
    for gamma in ("1/100", "1/50"):
        accountant.rdp(SubsampleWithoutReplacement(base, gamma).convexify(40), "5/2")
    assert {j for _, j in asked} == set(range(2, 41))
    assert len(asked) == len(set(asked))


def test_projection_of_a_default_bound_is_never_above_it():
    """Theorem 9 jumps where branches of its minimum change."""
    accountant = Accountant(DIGITS)
    for base in (Gaussian(1), Laplace("1/2"), ZCDP("1/4")):
        node = SubsampleWithoutReplacement(base, "1/5")
        hull = node.convexify(30)
        points = [(0, mp.zero)]
        points += [(l - 1, (l - 1) * ends(accountant.rdp(node, l))[1]) for l in range(2, 31)]
        for l in range(2, 31):
            found = accountant.rdp(hull, l)
            assert found.lower <= accountant.rdp(node, l).upper
            assert holds(found, hull_value(points, l - 1) / (l - 1), error=27)
        for alpha in ("5/4", "9/2", "59/2"):
            between = accountant.rdp(node, alpha, by="WBK19-C10")
            assert accountant.rdp(hull, alpha).lower <= between.upper


@pytest.mark.parametrize(
    "node",
    [
        SubsampleWithoutReplacement(Gaussian(5), "1/1000").convexify(64),
        (3 * PoissonSubsample(ZCDP("1/50"), "1/10")).convexify(20),
    ],
    ids=repr,
)
def test_projection_goes_through_text_and_json(node):
    assert parse(repr(node)) is node
    assert from_json(node.to_json()) is node


def test_projection_refuses_a_lower_bound():
    with pytest.raises(SoundnessError, match="lower"):
        Curve("alpha/50", kind="lower", adjacency="either").convexify(10)


# --- guarantees


OPTIMA = json.loads((REFERENCE / "epsilon_optima.json").read_text(encoding="utf8"))


@pytest.mark.parametrize("key", OPTIMA)
def test_published_optima_over_all_real_orders(key):
    text, count, delta, conversion = key.split(" | ")
    node = int(count.removeprefix("k ")) * parse(text)
    found = Accountant(DIGITS).epsilon(node, delta.removeprefix("delta "), conversion=conversion)
    assert found.optimal
    assert found.epsilon.digits >= DIGITS
    assert near(ends(found.epsilon), OPTIMA[key]["epsilon"], 20, units=1)
    assert abs(float(found.alpha) - float(OPTIMA[key]["alpha"])) < 1e-6


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


@functools.cache
def sampled_curve(name, gamma, count):
    """α ↦ count · Theorem 8 at the whole orders 2 … 300."""
    _, eps = SEEDS[name]
    values = moments(eps, 300)
    return {l: count * theorem_8(l, gamma, values) for l in range(2, 301)}


@pytest.mark.parametrize("conversion", ["classic", "improved"])
@pytest.mark.parametrize(("gamma", "count"), [(RATE, 1000), (Fraction(1, 20), 30)], ids=str)
@pytest.mark.parametrize("name", SEEDS)
def test_whole_orders_against_all_of_them(name, gamma, count, conversion):
    base, _ = SEEDS[name]
    curve = sampled_curve(name, gamma, count)
    node = count * PoissonSubsample(base, gamma)
    f = epsilon_objective(curve.__getitem__, "1e-6", conversion)
    best = min(range(2, 301), key=f)
    if best < 300:
        found = Accountant(DIGITS).epsilon(node, "1e-6", conversion=conversion, orders="integer")
        assert found.alpha == best
        assert holds(found.epsilon, f(best))
        assert found.optimal
    f = log_delta_objective(curve.__getitem__, "3/2", conversion)
    best = min(range(2, 301), key=f)
    if best < 300:
        found = Accountant(DIGITS).delta(node, "3/2", conversion=conversion, orders="integer")
        assert found.alpha == best
        assert holds(found.delta, min(mp.one, mp.exp(f(best))))
        assert found.optimal


def test_a_valley_between_the_first_order_and_the_guess():
    """The best whole order is 3, with a worse one on each side; found by the soak."""
    node = 40 * PoissonSubsample(Gaussian("1289/2000"), "6/125")
    node += 8 * PoissonSubsample(RandomizedResponse("197/500"), "123/1000")
    accountant = Accountant(DIGITS)
    grid = accountant.epsilon(node, "1e-11", conversion="classic", orders=range(2, 20))
    whole = accountant.epsilon(node, "1e-11", conversion="classic", orders="integer")
    assert grid.alpha == whole.alpha == 3
    assert whole.optimal


def test_the_brute_force_has_an_inner_optimum_in_most_cases():
    """Else the test above would assert nothing."""
    inner = 0
    for name, gamma in itertools.product(SEEDS, (RATE, Fraction(1, 20))):
        curve = sampled_curve(name, gamma, 1000 if gamma == RATE else 30)
        f = epsilon_objective(curve.__getitem__, "1e-6", "classic")
        inner += min(range(2, 301), key=f) < 300
    assert inner >= 9


def smallest(objective, low, high):
    """The least value of a function with one valley, by golden sections."""
    with mp.workdps(80):
        low, high = number(low), number(high)
        share = (3 - mp.sqrt(5)) / 2
        a, b = low + share * (high - low), high - share * (high - low)
        fa, fb = objective(a), objective(b)
        for _ in range(160):
            if fa < fb:
                high, b, fb = b, a, fa
                a = low + share * (high - low)
                fa = objective(a)
            else:
                low, a, fa = a, b, fb
                b = high - share * (high - low)
                fb = objective(b)
        return min(fa, fb)


def composed(*parts):
    """The curve of a composition."""
    return lambda a: mp.fsum(count * eps(a) for count, eps in parts)


COMPOSED = {
    "Gaussian": (30 * Gaussian(5), composed((30, gaussian(5)))),
    "mixed": (
        Compose({Gaussian(8): 40, PureDP("1/10"): 60}),
        composed((40, gaussian(8)), (60, pure("1/10"))),
    ),
    "zCDP": (ZCDP("1/3", "1/7"), lambda a: number("1/7") + number(a) / 3),
    "pure": (200 * PureDP("1/10"), composed((200, pure("1/10")))),
}


@pytest.mark.parametrize("conversion", ["classic", "improved"])
@pytest.mark.parametrize("name", COMPOSED)
def test_real_orders_against_golden_sections(name, conversion):
    node, curve = COMPOSED[name]
    found = Accountant(DIGITS).epsilon(node, "1e-6", conversion=conversion)
    true = smallest(epsilon_objective(curve, "1e-6", conversion), "1.001", 400)
    assert found.optimal
    assert holds(found.epsilon, true, error=35)
    found = Accountant(DIGITS).delta(node, 4, conversion=conversion)
    true = mp.exp(smallest(log_delta_objective(curve, 4, conversion), "1.001", 400))
    assert found.optimal
    assert holds(found.delta, true, error=33)


def test_a_grid_warns_at_its_edge_and_only_there():
    node = 1000 * PoissonSubsample(Gaussian(2), "1/50")
    accountant = Accountant(DIGITS)
    best = accountant.epsilon(node, "1e-6", orders="integer").alpha
    for grid in (range(2, best), range(best + 1, 64), [best, best + 3]):
        with pytest.warns(OrderGridWarning, match="edge"):
            accountant.epsilon(node, "1e-6", orders=grid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inside = accountant.epsilon(node, "1e-6", orders=range(best - 3, best + 4))
        single = accountant.epsilon(node, "1e-6", orders=[best])
    assert inside.alpha == single.alpha == best
    everywhere = accountant.epsilon(node, "1e-6")
    assert everywhere.epsilon.upper < inside.epsilon.lower


@pytest.mark.parametrize("conversion", ["classic", "improved"])
@pytest.mark.parametrize("count", [1, 10])
def test_a_few_runs_of_a_pure_mechanism(count, conversion):
    """The objective falls for ever, or nearly: the answer is the best of it and k·ε₀."""
    node, top = count * PureDP("1/10"), mp.mpf(count) / 10
    for delta in ("1e-5", "1e-10"):
        found = Accountant(DIGITS).epsilon(node, delta, conversion=conversion)
        f = epsilon_objective(lambda a: count * pure("1/10")(a), delta, conversion)
        tried = min(f(a) for a in (2, 3, 10, 100, 159, 1000, 10**4, 52498, 10**5))
        assert ends(found.epsilon)[0] <= min(top, tried)
        if found.alpha == INFINITY:
            assert ends(found.epsilon) == (top, top) or holds(found.epsilon, top)
            assert tried >= top
        else:
            assert ends(found.epsilon)[1] < top


def test_the_limit_answers_where_it_is_asked_for():
    node = 10 * PureDP("1/10")
    assert Accountant().epsilon(node, 0).alpha == INFINITY
    above = Accountant().delta(node, "101/100")
    assert above.alpha == INFINITY
    assert ends(above.delta) == (0, 0)
    assert above.optimal
    below = Accountant().delta(node, "99/100")
    assert below.alpha != INFINITY
    assert ends(below.delta)[0] > 0


@pytest.mark.parametrize(
    ("node", "limit"), [(PureDP("1/10"), "1/10"), (10 * PureDP("1/10"), 1), (PureDP(1), 1)]
)
def test_epsilon_of_the_limit_itself_needs_no_delta(node, limit):
    """(ε, 0) for ε = ε(∞) exactly, where balls alone cannot tell."""
    found = Accountant().delta(node, limit)
    assert found.alpha == INFINITY
    assert ends(found.delta) == (0, 0)


def test_a_curve_that_is_finite_at_few_orders_has_a_guarantee():
    """Finite below 3/2 only: no whole order answers, but every real one does there."""
    found = TCDP("1/10", "3/2").epsilon("1e-5")
    assert 1 < found.alpha < Fraction(3, 2)


def test_projection_of_a_curve_that_is_infinite_at_whole_orders():
    """There is no chord: m's own curve stands, at 1 too."""
    node = TCDP("1/10", "3/2")
    hull = node.convexify(8)
    for alpha in ("6/5", 2, 1):
        assert overlap(ask(hull, alpha), ask(node, alpha))


def test_no_guarantee_where_the_curve_is_infinite():
    nowhere = Curve(lambda ctx, alpha: ctx.number(INFINITY), kind="upper", adjacency="either")
    with pytest.raises(OrderError, match="infinite"):
        nowhere.epsilon("1e-5")


def test_the_best_order_stays_below_the_last_finite_one():
    """ε(α) = α/10 for α < 20, ∞ beyond: whole and real orders, near the edge and at it."""
    node = TCDP("1/10", 20)
    for delta in ("1e-2", "1e-5", "1e-20", "1e-60"):
        f = epsilon_objective(lambda a: number(a) / 10, delta, "classic")
        whole = Accountant().epsilon(node, delta, conversion="classic", orders="integer")
        best = min(range(2, 20), key=f)
        assert whole.alpha == best
        assert holds(whole.epsilon, f(best))
        found = Accountant().epsilon(node, delta, conversion="classic")
        assert ends(found.epsilon)[1] <= ends(whole.epsilon)[1]
        assert found.alpha < 20
        inside = smallest(f, "1.001", "19.999999")
        assert ends(found.epsilon)[0] >= inside * (1 - mp.mpf(10) ** -6)
