"""Bounds by τ terms."""

from fractions import Fraction

import pytest

from symacct import (
    ZCDP,
    Accountant,
    AssumptionError,
    DomainError,
    Gaussian,
    Laplace,
    PoissonSubsample,
)
from symacct.kernel.arithmetic import BallArithmetic
from tests import independent
from tests.kernel.hard_sums.formulas import (
    CUSTOM,
    DIGITS,
    FULL,
    RATE,
    SEEDS,
    WIDE,
    ask,
    holds,
    moments,
    mp,
    theorem_5,
    theorem_8,
)
from tests.thinning import covering

#: The bound, from the curve, the order, the node, τ and the sides, and the sum that it bounds.
TAU = {
    "ZW19-T11": (independent.zhu_wang_11, theorem_8),
    "ZW19-T20": (independent.zhu_wang_20, theorem_5),
}


TAU_CASES = pytest.mark.parametrize(
    ("alpha", "tau"), [(4, 2), (20, 2), (20, 10), (77, 3), (77, 38), (400, 50)]
)


@covering()
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("theorem", TAU)
@TAU_CASES
@FULL
def test_tau_terms_are_the_formula_and_an_upper_bound(name, alpha, tau, theorem, sides):
    base, eps = WIDE[name]
    bound, exact = TAU[theorem]
    gamma = Fraction(1, 50)
    values = moments(eps, alpha)
    node = PoissonSubsample(base, gamma)
    true = bound(mp, eps, alpha, node, tau, sides)
    found = ask(node, alpha, f"{theorem}:tau={tau},sides={sides}")
    assert holds(found, true)
    # Equal where 2τ = α, but for the rounding of the two sums.
    assert true >= exact(alpha, gamma, values) * (1 - mp.mpf(10) ** (30 - mp.dps))
    assert str(found.claim.kind) == "upper"


@pytest.mark.parametrize("theorem", TAU)
@pytest.mark.parametrize("alpha", [2, 3, 8])
def test_one_term_at_each_end_is_enough_for_the_formula(theorem, alpha):
    """At α = 2 the last term is the second, which Theorem 20 has by itself."""
    base, eps = SEEDS["Gaussian(1)"]
    node = PoissonSubsample(base, "1/50")
    for sides in (1, 2):
        true = TAU[theorem][0](mp, eps, alpha, node, 1, sides)
        found = ask(node, alpha, f"{theorem}:tau=1,sides={sides}")
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
    alpha, tau = 60, 7
    base, eps = SEEDS["Laplace(1/2)"]
    node = PoissonSubsample(base, "1/50")
    sides = {"ZW19-T11": 2, "ZW19-T20": 1}[theorem]
    true = TAU[theorem][0](mp, eps, alpha, node, tau, sides)
    assert holds(ask(node, alpha, f"{theorem}:tau={tau}"), true)


@TAU_CASES
def test_the_two_sided_bound_takes_two_tau_oracle_calls(alpha, tau):
    """The orders 2 … τ and α−τ … α; where 2τ = α the order τ would be counted twice."""
    base = Laplace(2)
    accountant = Accountant(DIGITS)
    accountant.rdp(PoissonSubsample(base, RATE), alpha, by=f"ZW19-T11:tau={tau}")
    assert accountant.oracle_calls(base) == 2 * tau - (2 * tau == alpha)


@pytest.mark.parametrize("theorem", TAU)
def test_tau_terms_need_a_nondecreasing_curve(theorem):
    nested = PoissonSubsample(2 * PoissonSubsample(ZCDP("1/18"), "1/10"), "1/10")
    for node in (nested, *(PoissonSubsample(base, RATE) for base, _ in CUSTOM.values())):
        with pytest.raises(AssumptionError, match="not proved"):
            ask(node, 40, f"{theorem}:tau=5")


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
