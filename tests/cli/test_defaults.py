"""What is by default what: a command prints the number to report, and what is not it says so."""

import json
from fractions import Fraction

import pytest
import sympy
from click.testing import CliRunner

import symacct
from symacct import Gaussian, parse
from symacct.cli import main
from symacct.kernel.conversion import BEST

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


def test_what_is_pinned_says_what_may_give_less():
    pinned = Gaussian(5).epsilon("1e-5", digits=6, conversion="improved")
    assert "m.epsilon('1e-5') may give a smaller ε" in repr(pinned)
    assert "may give a smaller" not in repr(Gaussian(5).epsilon("1e-5", digits=6))


def test_formulas_by_the_classic_conversion_say_what_gives_less():
    found = parse("ZCDP(1/100)").optimum(delta="1e-5")
    assert "the best conversion" in repr(found)
    assert "the best conversion" in found._repr_html_()
    assert "a smaller number" in asked("optimum", "ZCDP(1/100)", *_DELTA)
    assert float(parse("ZCDP(1/100)").report("1e-5").epsilon) < float(found.epsilon)


def test_a_picture_names_the_conversion_that_was_pinned():
    over = {"sigma": [1, 2], "delta": "1e-5"}
    labels = [
        symacct.plot_sweep(_SIGMA, over, **how).axes[0].get_ylabel()
        for how in ({}, {"conversion": BEST}, {"conversion": "improved"})
    ]
    assert ["improved conversion" in label for label in labels] == [False, False, True]
