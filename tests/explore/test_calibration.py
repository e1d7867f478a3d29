"""Calibration: a certified bracket around the parameter that just meets a target."""

import json
import math
import re
import subprocess
import sys
from fractions import Fraction

import mpmath
import pytest
import sympy
from click.testing import CliRunner
from mpmath import mpf

import symacct
from symacct import (
    ZCDP,
    ApproximateDP,
    Curve,
    DomainError,
    Failing,
    FiniteMechanism,
    Gaussian,
    InfiniteError,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    Scale,
    SubsampleWithoutReplacement,
    calibrate,
)
from symacct.cli import main
from symacct.explore import calibration
from symacct.explore.calibration import steered_epsilon
from symacct.kernel.answer import to_fraction
from symacct.kernel.node import Node

SIGMA = sympy.Symbol("sigma", positive=True)
GAMMA = sympy.Symbol("gamma", positive=True)
A, S = "alpha", "Symbol('sigma', positive=True)"
FIXED_SIZE = 3516 * SubsampleWithoutReplacement(Gaussian(SIGMA, 2), "256/60000")
UPPER = {"kind": "upper", "adjacency": "add_remove"}


def test_the_gaussian_under_the_classic_conversion_has_a_closed_form():
    # ε = ρ + 2√(ρ log(1/δ)) with ρ = 1/(2σ²): solved for σ
    with mpmath.workdps(30):
        t = mpmath.log(10**5)
        rho = (mpmath.sqrt(t + 1) - mpmath.sqrt(t)) ** 2
        sigma = 1 / mpmath.sqrt(2 * rho)
        found = calibrate(Gaussian(SIGMA), 1, "1e-5", digits=12, conversion="classic")
        assert mpmath.mpf(found.fails.numerator) / found.fails.denominator < sigma
        assert sigma < mpmath.mpf(found.meets.numerator) / found.meets.denominator
    assert found.meets - found.fails == Fraction(1, 10**11)


@pytest.mark.parametrize(
    ("node", "falls"),
    [
        (100 * PoissonSubsample(Gaussian(SIGMA), "1/50"), True),
        (100 * PoissonSubsample(Laplace(SIGMA), "1/50"), True),
        (1000 * PoissonSubsample(Gaussian(2), GAMMA), False),
        (ZCDP(GAMMA), False),
        (Scale(Gaussian(10), GAMMA), False),
    ],
)
def test_both_ends_are_what_they_say(node, falls):
    found = calibrate(node, "3/2", "1e-6", digits=5, conversion="improved")
    assert (found.meets > found.fails) is falls
    meets, fails = (node.subs({found.symbol: one}) for one in (found.meets, found.fails))
    assert found.node is meets
    assert meets.epsilon("1e-6", conversion="improved").epsilon.upper <= 1.5
    assert fails.epsilon("1e-6", conversion="improved").epsilon.lower > 1.5
    assert found.guarantee.epsilon.upper <= 1.5
    gap = abs(found.meets - found.fails) / min(found.meets, found.fails)
    assert gap <= Fraction(1, 10**4)


def test_a_target_out_of_reach_is_given_up_soon(monkeypatch):
    """No rate has so large an ε: what leads away from it is not followed far."""
    asked = []
    met = calibration.Target._met
    monkeypatch.setattr(
        calibration.Target, "_met", lambda *args: asked.append(args[1]) or met(*args)
    )
    with pytest.raises(DomainError, match="every value tried meets the target"):
        calibrate(PoissonSubsample(Gaussian(4), GAMMA), 5, "1e-5", digits=3)
    assert len({value for value in asked if value <= 1}) < 20


@pytest.mark.parametrize(("target", "truth"), [("0.3", 0.3), ("1", 1), ("6", 6)])
def test_a_probability_is_found_though_there_is_none_at_one(target, truth):
    """Randomized response at δ → 0 by its closed form, ε = log(p/(1−p))."""
    p = sympy.Symbol("p")
    found = calibrate(RandomizedResponse(p), target, "1e-12", digits=5)
    known = 1 / (1 + math.exp(-truth))
    assert float(found.meets) == pytest.approx(known, rel=1e-4)
    assert found.meets < found.fails


def test_a_rate_next_to_one_is_found():
    """γ has no values beyond 1, where a power of two would be."""
    node = PoissonSubsample(Gaussian(2), GAMMA)
    whole = node.subs({GAMMA: "99/100"}).epsilon("1e-5", digits=10).epsilon.upper
    found = calibrate(node, to_fraction(whole), "1e-5", digits=4)
    assert found.meets <= Fraction(99, 100) <= found.fails + Fraction(1, 10**4)
    assert found.fails - found.meets <= Fraction(1, 10**4)


@pytest.mark.parametrize(
    ("node", "epsilon", "delta"),
    [
        (Gaussian(2), 1, "1e-5"),
        (PoissonSubsample(Gaussian(SIGMA), GAMMA), 1, "1e-5"),
        (Gaussian(SIGMA), -1, "1e-5"),
        (Gaussian(SIGMA), 1, "3/2"),
        (Gaussian(SIGMA), 1, 0),
        ("Gaussian(sigma)", 1, "1e-5"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(node, epsilon, delta):
    with pytest.raises(DomainError):
        calibrate(node, epsilon, delta)


@pytest.mark.parametrize("epsilon", [4, 6, 9])
@pytest.mark.parametrize("digits", [1, 2, 3])
def test_next_to_the_end_of_its_domain_a_parameter_has_more_digits(epsilon, digits):
    """ε = log(p/(1 − p)), and 1 is no probability: rounding outwards must not leave the domain."""
    found = calibrate(RandomizedResponse(sympy.Symbol("p")), epsilon, 0, digits=digits)
    threshold = 1 / (1 + mpmath.exp(-epsilon))
    assert mpmath.mpf(found.meets.numerator) / found.meets.denominator <= threshold
    assert threshold < mpmath.mpf(found.fails.numerator) / found.fails.denominator < 1
    assert found.fails - found.meets <= Fraction(1, 10**digits)


def test_a_number_of_runs_is_a_whole_number():
    n = sympy.Symbol("n", integer=True, positive=True)
    step = PoissonSubsample(Gaussian(1), "1/100")
    found = calibrate(n * step, 3, "1e-6")
    assert found.fails == found.meets + 1
    assert found.node is int(found.meets) * step
    assert (int(found.meets) * step).epsilon("1e-6").epsilon.upper <= 3
    assert (int(found.fails) * step).epsilon("1e-6").epsilon.lower > 3


@pytest.mark.parametrize(
    ("node", "digits", "most"),
    [
        (FIXED_SIZE, 6, 2),  # the two that are answered: float64 has seen where they are
        (Gaussian(SIGMA), 25, 15),  # halving takes 86
        (Laplace(SIGMA), 12, 14),
    ],
)
def test_few_values_are_asked(monkeypatch, node, digits, most):
    """Every one is a search for the best order: halving a bracket asked 22 of six digits."""
    asked = []
    ask = Node.epsilon
    monkeypatch.setattr(Node, "epsilon", lambda *a, **how: asked.append(a) or ask(*a, **how))
    calibrate(node, 2, "1e-5", digits=digits, conversion="improved")
    assert len(asked) <= most


def bisected(node, epsilon, delta, unit, low, high):
    """The neighbouring multiples of `unit` between which the target lies, by halving alone."""
    below, above = int(low / unit), int(high / unit)
    while above - below > 1:
        middle = (below + above) // 2
        asked = node.subs({"sigma": middle * unit}).epsilon(delta, 12, "improved")
        met = asked.epsilon.upper <= float(epsilon)
        below, above = (below, middle) if met else (middle, above)
    return above * unit, below * unit


@pytest.mark.parametrize(
    ("node", "epsilon", "delta", "unit", "ends", "most"),
    [
        (100 * PoissonSubsample(Gaussian(SIGMA), "1/50"), 1, "1e-6", 4, (1, 2), 9),
        (Gaussian(SIGMA), "1/1000", "1e-5", 1, (1024, 2048), 19),
        # What bends where the target is, and what is almost level, mislead the guess.
        (Curve(f"{A}*Max(1/{S}**2, 5*(Rational(32,5)-{S}))", **UPPER), 1, "1e-6", 4, (4, 8), 16),
        (Curve(f"{A}*Max(1/100, (5/2/{S})**400)", **UPPER), 1, "1e-6", 4, (2, 4), 21),
    ],
)
def test_a_guess_finds_what_halving_finds(node, epsilon, delta, unit, ends, most, monkeypatch):
    asked = []
    epsilon_of = Node.epsilon

    def counted(self, *given, **how):
        asked.append(self)
        return epsilon_of(self, *given, **how)

    monkeypatch.setattr(Node, "epsilon", counted)
    found = calibrate(node, epsilon, delta, digits=5, conversion="improved")
    assert len(asked) <= most
    expected = bisected(node, Fraction(epsilon), delta, Fraction(1, 10**unit), *ends)
    assert (found.meets, found.fails) == expected


def test_the_guarantee_shown_meets_the_target_whatever_more_digits_find(monkeypatch):
    epsilon_of = Node.epsilon

    def looser(self, delta, digits=30, **how):
        found = epsilon_of(self, delta, digits, **how)
        return found if digits < 30 else epsilon_of(self, delta, digits, orders=[9])

    monkeypatch.setattr(Node, "epsilon", looser)
    found = calibrate(Gaussian(SIGMA), 1, "1e-5", digits=5, conversion="improved")
    assert found.guarantee.epsilon.upper <= 1


@pytest.mark.parametrize("off", [0.9, 1.001])
def test_where_float64_is_wrong_the_answer_is_the_same(monkeypatch, off):
    """It only says where to ask first: wrong by any factor, it costs time."""
    node = SubsampleWithoutReplacement(Gaussian(SIGMA), "1/2")
    found = calibrate(node, 2, "1e-5", digits=2, conversion="improved")
    about = calibration.steered_epsilon
    monkeypatch.setattr(calibration, "steered_epsilon", lambda *a, **how: off * about(*a, **how))
    assert calibrate(node, 2, "1e-5", digits=2, conversion="improved") == found


def test_what_orders_are_compared_by_is_about_the_answer():
    node = FIXED_SIZE.subs({SIGMA: 2})
    answer = node.epsilon("1e-5", 10, "improved").epsilon
    about = steered_epsilon(node, "1e-5", "improved", None, None)
    assert abs(about / float(answer) - 1) < 1e-9
    for conversion, orders in (("improved", [4, 8]), ("exact", None), ("total-variation", None)):
        with pytest.raises(DomainError, match="no bound that is cheaper"):
            steered_epsilon(node, "1e-5", conversion, orders, None)
    with pytest.raises(DomainError, match="no bound that is cheaper"):
        steered_epsilon(Gaussian(2), "1e-5", "improved", None, None)


@pytest.mark.parametrize(
    ("m", "symbol"),
    [(Gaussian(SIGMA), SIGMA), (9 * PoissonSubsample(Gaussian(3), GAMMA), GAMMA)],
    ids=["noise", "rate"],
)
def test_the_best_calibration_is_the_command_s_and_better_than_the_one_by_orders(m, symbol):
    """It is the default."""
    best, by_orders = (
        calibrate(m, 1, "1e-5", digits=3, conversion=c) for c in ("best", "improved")
    )
    assert best == calibrate(m, 1, "1e-5", digits=3)
    sign = -1 if symbol is SIGMA else 1
    assert sign * best.meets > sign * by_orders.meets
    epsilons = [
        m.subs({symbol: x}).report("1e-5", digits=12).epsilon for x in (best.meets, best.fails)
    ]
    assert epsilons[0] <= 1 < epsilons[1]
    text = re.sub(r"Symbol\('(\w+)'[^)]*\)", r"\1", repr(m))
    asked = ["calibrate", text, "--epsilon", "1", "--delta", "1e-5"]
    shown = " ".join(CliRunner().invoke(main, [*asked, "--digits", "3"]).output.split())
    assert f"{symbol} │ {best.values}" in shown


def test_of_a_curve_alone_the_best_is_the_one_by_orders_and_says_why():
    best = calibrate(ZCDP(SIGMA), 1, "1e-5", digits=3, conversion="best")
    usual = calibrate(ZCDP(SIGMA), 1, "1e-5", digits=3, conversion="improved")
    assert best.meets >= usual.meets
    assert "ZCDP fixes only a bound on the Rényi curve" in best.guarantee.not_exact


@pytest.mark.parametrize("base", ["Gaussian(20)", "PoissonSubsample(Laplace(2), 1/50)"])
def test_the_command_searches_whole_numbers_where_runs_are_counted(base):
    asked = ["calibrate", f"n*{base}", "--epsilon", "1", "--delta", "1e-5", "--json"]
    said = [CliRunner().invoke(main, [*asked, *more]) for more in ([], ["--whole"])]
    assert said[0].exit_code == 0
    assert said[0].stdout == said[1].stdout


# --- ρ of zCDP, and the noise of a run


@pytest.mark.parametrize("rho", ["1/2", "1/3", "2/9", "1/100"])
def test_the_least_noise_of_a_rho_is_that_of_its_formula(rho):
    """Of c Gaussians ρ = c/(2σ²): exact ties, as ρ = 1/2 at σ = 1, are met."""
    for count in (1, 3):
        found = calibrate(count * Gaussian(sympy.Symbol("sigma")), rho=rho, digits=5)
        assert Fraction(count) / (2 * found.meets**2) <= Fraction(rho)
        assert Fraction(count) / (2 * found.fails**2) > Fraction(rho)


def test_a_target_is_one():
    m = Gaussian(sympy.Symbol("sigma"))
    for target in ({}, {"epsilon": 1}, {"delta": "1e-5"}, {"epsilon": 1, "delta": 0, "rho": 1}):
        with pytest.raises(DomainError, match=r"calibrate: .*needed (a|one) target"):
            calibrate(m, **target)
    with pytest.raises(DomainError, match="rho: found 0, needed more than 0"):
        calibrate(m, rho=0)


RUN = {"n": 6000, "batch_size": 60, "epochs": 2}


def test_the_noise_of_a_run_meets_its_target_as_a_float_and_one_digit_less_does_not():
    run, delta, conversion = RUN | {"adjacency": "replace_one"}, "1e-5", "improved"
    found = symacct.noise(**run, epsilon="3/2", delta=delta, digits=4, conversion=conversion)
    assert type(found) is float
    less = Fraction(f"{found:.4g}") - Fraction(10) ** (math.floor(math.log10(found)) - 3)
    for value, meets in ((symacct.binary(found), True), (less, False)):
        m = symacct.dp_sgd(noise_multiplier=value, **run)
        asked = m.epsilon(delta, digits=12, conversion=conversion).epsilon
        assert (asked.upper <= mpf(3) / 2) is meets


def test_the_noise_of_a_run_is_found_without_sympy():
    asked = "symacct.noise(n=6000, batch_size=60, steps=200, epsilon=2, delta=1e-5, digits=3)"
    code = f"import sys, symacct; print({asked} > 0.5, 'sympy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert said.stdout.split() == ["True", "False"], said.stderr


def test_several_targets_of_a_run_are_one_table():
    run = ["dpsgd", "--n", "6000", "--batch-size", "60", "--steps", "100", "--delta", "1e-5"]
    asked = [*run, "--epsilon", "2,4", "--digits", "3", "--conversion", "exact"]
    rows = json.loads(CliRunner().invoke(main, [*asked, "--json"]).output)
    assert [row["target"] for row in rows] == ["2", "4"]
    stated = {"n": 6000, "batch_size": 60, "steps": 100, "delta": "1e-5", "conversion": "exact"}
    for target, row in zip("24", rows, strict=True):
        value = float(Fraction(row["meets"]))
        noise = symacct.noise(**stated, epsilon=target, digits=3)
        assert Fraction(row["meets"]) <= Fraction(noise) <= Fraction(math.nextafter(value, 9))
    wrong = CliRunner().invoke(main, [*run, "--noise-multiplier", "1", "--form", "latex"])
    assert wrong.exit_code == 2


@pytest.mark.parametrize(
    ("node", "epsilon", "meets"),
    [
        (ApproximateDP(1, GAMMA, "add_remove"), 1, Fraction(1, 10**5)),
        (Failing(PureDP("1/2", "add_remove"), GAMMA), "1/2", Fraction(1, 10**5)),
        (PoissonSubsample(FiniteMechanism([[1, 0], [0, 1]]), GAMMA), 1, Fraction(1, 10**5)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("conversion", ["best", "exact"])
def test_an_infinite_epsilon_misses_the_target(node, epsilon, meets, conversion):
    """A chance of failure is searched for: at 1/2, where the search begins, ε is infinite."""
    found = calibrate(node, epsilon, "1e-5", digits=3, conversion=conversion)
    assert found.meets == meets < found.fails


def test_where_every_epsilon_is_infinite_the_error_says_why():
    for m in (ApproximateDP(SIGMA, "1e-4", "add_remove"), Failing(Gaussian(SIGMA), "1e-4")):
        with pytest.raises(InfiniteError, match="needed at least 1e-4"):
            calibrate(m, 1, "1e-5")
    count = sympy.Symbol("k", integer=True)
    with pytest.raises(InfiniteError, match="needed at least 1e-4"):
        calibrate(count * ApproximateDP("1/100", "1e-4", "add_remove"), 1, "1e-5")
