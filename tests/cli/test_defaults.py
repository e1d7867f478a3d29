"""What is by default what: a command prints the number to report, and what is not it says so."""

import sympy

import symacct
from symacct import Gaussian
from symacct.kernel.conversion import BEST

_SIGMA = Gaussian(sympy.Symbol("sigma"))


def test_a_picture_names_the_conversion_that_was_pinned():
    over = {"sigma": [1, 2], "delta": "1e-5"}
    labels = [
        symacct.plot_sweep(_SIGMA, over, **how).axes[0].get_ylabel()
        for how in ({}, {"conversion": BEST}, {"conversion": "improved"})
    ]
    assert ["improved conversion" in label for label in labels] == [False, False, True]
