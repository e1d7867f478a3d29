"""What an attacker can do at most with a mechanism of which only a Rényi curve is known."""

import json
from fractions import Fraction
from statistics import NormalDist

import mpmath
import pytest
import sympy
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    TCDP,
    ZCDP,
    AssumptionError,
    Curve,
    DistributionPair,
    Gaussian,
    Kind,
    PoissonSubsample,
    PrecisionError,
    PureDP,
    SubsampleWithoutReplacement,
    calibrate_risk,
    limits,
    risk,
)
from symacct.accountant.currencies.tradeoff import profile_of_curve
from symacct.cli import main
from symacct.explore.risk import Risk
from symacct.kernel.answer import to_fraction
from symacct.kernel.deadline import Budget
from tests.explore.test_risk import best_power
from tests.thinning import examples

CURVES = [
    ZCDP("1/2"),
    ZCDP("1/100", "1/10"),
    TCDP("1/2", 8),
    Curve("alpha/50", kind="upper", adjacency="replace_one"),
    10 * PoissonSubsample(ZCDP("1/2"), "1/100"),
    ZCDP("1/2") + Gaussian(3),
]
LEVELS = ("1/10", "1/100", "1e-6")


def numbers(of):
    yield of.advantage
    yield from map(of.tpr, LEVELS)
    yield from map(of.bayes_success, ("1/2", "1/10"))
    yield from map(of.reconstruction, ("1/10", "1e-3"))


@pytest.mark.parametrize("m", CURVES, ids=repr)
def test_a_curve_bounds_every_risk_from_above(m):
    found = risk(m)
    assert found.kind is Kind.UPPER
    assert all(
        number.claim.kind is Kind.UPPER and 0 < number.upper < 1 for number in numbers(found)
    )
    assert found.advantage.claim.adjacency == m.claim.adjacency
    assert found.mu.claim.kind is Kind.UPPER
    assert (found.lower is None) == (m is not CURVES[-1])  # it has a part with laws
    assert found.note in str(found)
    assert bool(found.note) == (m is not CURVES[-1])


@pytest.mark.parametrize("sigma", [1, 3, 20])
def test_a_curve_bounds_the_mechanism_that_has_it(sigma):
    """Gaussian noise has zCDP's curve; its tests are those of Φ, worked out beside us."""
    mu = mpmath.mpf(1) / sigma
    found = risk(ZCDP(Fraction(1, 2 * sigma**2)))
    with mpmath.workdps(30):
        assert found.advantage.upper >= 2 * mpmath.ncdf(mu / 2) - 1
        for level in LEVELS:
            quantile = -mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(float(Fraction(level))) - 1)
            power = mpmath.ncdf(mu - quantile)
            assert power < found.tpr(level).upper < 4 * power
        pinsker = mpmath.sqrt(mpmath.mpf(1) / (4 * sigma**2))
        assert abs(found.advantage.upper - pinsker) < 1e-5
    assert found.mu.lower > mu


@pytest.mark.parametrize("epsilon", ["1/2", 1, 3])
def test_what_pure_privacy_implies_is_had_from_its_curve(epsilon):
    """ε(∞) ends the profile; what the curve says before it is no larger than the true one."""
    m = PureDP(epsilon)
    curve, true = Risk(m, known=profile_of_curve(m)), risk(m)
    for one, other in zip(numbers(curve), numbers(true), strict=True):
        assert one.upper >= other.lower
        assert one.upper < other.upper * (1 + mpmath.mpf("1e-5"))


@examples(6, 600)
@given(
    p=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    q=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    level=st.fractions(0, 1, max_denominator=20),
)
def test_no_test_of_finite_laws_beats_what_their_curve_implies(p, q, level):
    """Every test of few outcomes and the mixtures of two, at the level, in fractions."""
    q = q[: len(p)]
    laws = [[Fraction(x, sum(law)) for x in law] for law in (p, q)]
    m = DistributionPair(*laws)
    bound = Risk(m, known=profile_of_curve(m)).tpr(level).upper
    for one, other in (laws, laws[::-1]):
        assert to_fraction(bound) >= best_power(one, other, level)


def test_what_a_curve_does_not_imply_is_said_in_plain_words():
    found = risk(ZCDP("1/2"))
    with pytest.raises(AssumptionError, match="bound does not say how good the best test is"):
        _ = found.regret
    with pytest.raises(AssumptionError, match="from a Rényi curve alone no μ is known that holds"):
        _ = found.mu_of_all
    assert ZCDP("1/2").gdp(6, "1e-10").upper == pytest.approx(found.mu.upper)


def test_the_command_prints_them_and_calibrates_by_them():
    document = json.loads(CliRunner().invoke(main, ["risk", "ZCDP(1/2)", "--json"]).stdout)
    assert "Only a Rényi curve" in document["note"]
    found = calibrate_risk(ZCDP(sympy.Symbol("rho")), advantage="1/10", digits=3)
    assert found.meets == Fraction(2, 100) - Fraction(1, 10**4)  # √(ρ/2) is 1/10 at 1/50


def test_a_bound_of_few_digits_next_to_the_target_does_not_meet_it():
    """Several samples of fixed size have risks of few digits; the value found meets the target."""
    run = 20 * SubsampleWithoutReplacement(Gaussian(sympy.Symbol("sigma")), "1/20")
    found = calibrate_risk(run, advantage="1/10", digits=2)
    assert risk(found.node).advantage.upper <= 0.1
    assert 0 < found.meets - found.fails <= Fraction(1, 10)


def no_digits(self, value, what, digits=None):
    if self.is_of_curve:
        return ASK(self, value, what, digits)
    raise PrecisionError("too few digits")


ASK = Risk._ask


@pytest.mark.parametrize("sigma", [1, 5])
def test_what_the_profile_does_not_tell_is_bounded_by_the_curve(monkeypatch, sigma):
    """Gaussian noise without its profile; the truth is that of Φ, worked out beside us."""
    monkeypatch.setattr(Risk, "_ask", no_digits)
    found = risk(Gaussian(sigma), adjacency="replace_one")
    said = {name: most for name, most, _ in found.rows}
    mu, truth = 1 / sigma, NormalDist()
    least = {
        "advantage, TPR − FPR": 2 * truth.cdf(mu / 2) - 1,
        **{
            f"TPR at FPR {fpr}": truth.cdf(mu + truth.inv_cdf(float(fpr)))
            for fpr in ("0.1", "0.01", "0.001", "1e-6")
        },
        "best guess right, prior 0.5": truth.cdf(mu / 2),
        "reconstruction, baseline 0.1": truth.cdf(mu + truth.inv_cdf(0.1)),
    }
    for name, value in least.items():
        assert said[name].claim.kind is Kind.UPPER
        assert said[name].claim.adjacency.relation.value == "replace_one"
        assert value < said[name].upper < 1
    assert "come from the Rényi curve, because the exact profile" in found.note
    drawn = found.drawn([Fraction(1, 100)])
    assert drawn[0].upper == said["TPR at FPR 0.01"].upper
    assert drawn[0].claim.kind is Kind.UPPER


def test_no_lower_bound_is_replaced_by_what_the_curve_implies(monkeypatch):
    lower = risk(2 * SubsampleWithoutReplacement(Gaussian(2), "1/10")).lower
    monkeypatch.setattr(Risk, "_ask", no_digits)
    assert not any(not isinstance(most, str) for name, most, _ in lower.rows if "TPR" in name)


RELEASE = (
    "7 * DiscreteGaussian(sqrt(27)) + 2 * DiscreteGaussian(10) + ExponentialMechanism(1/2)"
    " + Laplace(2)"
)


def test_a_release_of_many_parts_has_all_its_risks():
    with limits(seconds=4):
        shown = CliRunner().invoke(main, ["risk", RELEASE, "--adjacency", "replace_one"])
    assert shown.exit_code == 0
    assert shown.stdout.count("│ upper") == 10
    assert "Rows marked upper come from the Rényi curve" in " ".join(shown.stdout.split())


def test_without_any_bound_the_command_fails_in_one_line(monkeypatch):
    monkeypatch.setattr(Budget, "ask", out_of_time)
    shown = CliRunner().invoke(main, ["risk", RELEASE])
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert len(shown.stderr.strip().splitlines()) == 1
    assert "found no bound on any of the risks" in shown.stderr


def out_of_time(self, share, question):
    return None
