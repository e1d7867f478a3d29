"""What is by default what: a command prints the number to report, and what is not it says so."""

import sympy
from click.testing import CliRunner

import symacct
from symacct import Gaussian, parse
from symacct.cli import main
from symacct.kernel.conversion import BEST

_DELTA = ("--delta", "1e-5")


def asked(*arguments: str) -> str:
    """What a command prints, without its notes."""
    run = CliRunner().invoke(main, arguments)
    assert run.exit_code == 0, run.output
    return run.stdout


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
