"""What is by default what: a command prints the number to report, and what is not it says so."""

import json
import re
from fractions import Fraction

import pytest
import sympy
from click.testing import CliRunner

import symacct
from symacct import Gaussian, calibrate, parse, sweep
from symacct.cli import main
from symacct.theory.conversion import BEST

#: Of one the true number is known, of the other a curve alone.
_AT = {"Gaussian": ("Gaussian(5)", "Gaussian(sigma)", "sigma=5"),
       "ZCDP": ("ZCDP(1/100)", "ZCDP(rho)", "rho=1/100")}  # fmt: skip
_DELTA = ("--delta", "1e-5")


def asked(*arguments: str) -> str:
    """What a command prints, without its notes."""
    run = CliRunner().invoke(main, arguments)
    assert run.exit_code == 0, run.output
    return run.stdout


@pytest.mark.parametrize("name", _AT)
@pytest.mark.parametrize(
    "verb", ["epsilon", "statement", "explain", "compare", "sweep", "reference"]
)
def test_a_command_prints_the_number_to_report_first(verb, name):
    closed, open_, value = _AT[name]
    best = parse(closed).report("1e-5").epsilon.rounded(5)[:-1]  # shorter: some print more digits
    words = {
        "sweep": ["sweep", open_, "--over", value, "--over", "delta=1e-5"],
        "reference": ["reference", open_, "--grid", value, "--grid", "delta=1e-5",
                      "--ask", "epsilon", "--digits", "8"],
    }  # fmt: skip
    text = asked(*words.get(verb, [verb, closed, *_DELTA]))
    usual = parse(closed).epsilon("1e-5", digits=8).epsilon.rounded(5)[:-1]
    assert best in text
    assert best == usual or usual not in text.partition(best)[0]


@pytest.mark.parametrize("name", _AT)
def test_a_certificate_is_of_the_number_to_report(name):
    closed = _AT[name][0]
    certified = Fraction(json.loads(asked("certificate", closed, *_DELTA))["epsilon"])
    assert certified == Fraction(parse(closed).report("1e-5").epsilon.rounded())


@pytest.mark.parametrize("name", _AT)
def test_a_check_is_of_the_number_to_report(name):
    closed = _AT[name][0]
    prints = parse(closed).report("1e-5").epsilon.rounded(6)
    assert "true" in asked("check", closed, *_DELTA, "--prints", prints)


_SIGMA = Gaussian(sympy.Symbol("sigma"))
#: Results of Python that are by Rényi orders unless the best is asked for.
_RESULTS = {
    "epsilon": lambda **how: Gaussian(5).epsilon("1e-5", digits=6, **how),
    "delta": lambda **how: Gaussian(5).delta(1, digits=6, **how),
    "of a curve": lambda **how: parse("ZCDP(1/100)").epsilon("1e-5", digits=6, **how),
    "calibrate": lambda **how: calibrate(_SIGMA, 1, "1e-5", digits=3, **how),
    "sweep": lambda **how: sweep(_SIGMA, {"sigma": [1, 2], "delta": "1e-5"}, digits=6, **how),
}
_BETTER = re.compile(r"m\.report\(\S+\)|conversion=.{1,6}best")


@pytest.mark.parametrize("name", _RESULTS)
def test_what_is_not_the_best_says_what_gives_it(name):
    usual, best = _RESULTS[name](), _RESULTS[name](conversion=BEST)
    for shown in (repr, lambda found: found._repr_html_()):
        assert _BETTER.search(shown(usual)), shown(usual)
        assert not _BETTER.search(shown(best)), shown(best)


def test_formulas_by_the_classic_conversion_say_what_gives_less():
    found = parse("ZCDP(1/100)").optimum(delta="1e-5")
    assert "m.report(delta)" in repr(found)
    assert "m.report(delta)" in found._repr_html_()
    assert "a smaller number" in asked("optimum", "ZCDP(1/100)", *_DELTA)
    assert float(parse("ZCDP(1/100)").report("1e-5").epsilon) < float(found.epsilon)


def test_a_picture_says_that_it_is_by_renyi_orders():
    over = {"sigma": [1, 2], "delta": "1e-5"}
    labels = [
        symacct.plot_sweep(_SIGMA, over, **how).axes[0].get_ylabel()
        for how in ({}, {"conversion": BEST}, {"conversion": "exact"})
    ]
    assert "by Rényi orders" in labels[0]
    assert not any("Rényi" in label for label in labels[1:])
