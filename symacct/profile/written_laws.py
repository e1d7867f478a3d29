r"""The two laws of a pair in LaTeX, and the pieces that losses write them with.

Outcomes are in units of the sensitivity: \mathcal{N}(1, 4) is the law with the record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from symacct.kernel.exact import Exact, exact, expression, sympy

MOST_TERMS = 8  # outcomes or means of a law that is printed
BREAK = "\n"  # where a law may be cut at the end of a line
Write = Callable[[Exact], str]


@dataclass(frozen=True)
class WrittenLaws:
    """P and Q, and words on how they are meant."""

    P: str
    Q: str
    words: tuple[str, ...] = ()


def product(laws: Iterable[tuple[str, int]]) -> str:
    """Laws side by side, each as often as it is run."""
    return r" \otimes ".join(
        law if count == 1 else rf"{grouped(law)}^{{\otimes {count}}}" for law, count in laws
    )


def grouped(law: str) -> str:
    """A law that a power may stand behind."""
    law = law.replace(BREAK, "")
    return rf"\bigl( {law} \bigr)" if " + " in law else law


def mixed(gamma: Exact, on: str, off: str, write: Write) -> str:
    """(1−γ)·off + γ·on."""
    if gamma == 1:
        return on
    rest, share = (factor(write(weight)) for weight in (1 - gamma, gamma))
    return rf"{rest} \, {grouped(off)}{BREAK} + {share} \, {grouped(on)}"


def factor(number: str) -> str:
    """A number before a law."""
    if fraction := re.fullmatch(r"(\d+)/(\d+)", number):
        return rf"\frac{{{fraction[1]}}}{{{fraction[2]}}}"
    return f"({number})" if " - " in number or " + " in number else number


def simplified(x: Exact) -> Exact:
    """A number with e in it as it is the shortest, without the hyperbolic functions."""
    if isinstance(x, Fraction):
        return x
    plain, shorter = expression(x), sympy.simplify(expression(x))
    hyperbolic = sympy.functions.elementary.hyperbolic.HyperbolicFunction
    return exact(plain if shorter.has(hyperbolic) else shorter)


def normals(variance: Exact, write: Write) -> tuple[str, str]:
    """With the record, and without."""
    return normal("1", write(variance)), normal("0", write(variance))


def normal(mean: str, variance: str) -> str:
    """A normal law."""
    return rf"\mathcal{{N}}({mean}, {variance})"


def laplaces(shift: Exact, write: Write) -> tuple[str, str]:
    """With the record, and without."""
    scale = write(1 / shift)
    return rf"\mathrm{{Lap}}(1, {scale})", rf"\mathrm{{Lap}}(0, {scale})"


def allocated(on: str, off: str, steps: int) -> WrittenLaws:
    """The mean over the runs of the laws with the record in one of them."""
    before, after = rf"{off}^{{\otimes (i-1)}}", rf"{off}^{{\otimes ({steps}-i)}}"
    mean = rf"\frac{{1}}{{{steps}}} \sum_{{i=1}}^{{{steps}}}"
    return WrittenLaws(
        rf"{mean} {before} \otimes {on} \otimes {after}", rf"{off}^{{\otimes {steps}}}"
    )


def of_fixed_size(on: str, off: str, gamma: Exact, write: Write) -> WrittenLaws:
    """Right of 1/2 the mixture against the law without, left of it the mirror image."""
    right, mirrored = mixed(gamma, on, off, write), mixed(gamma, off, on, write)
    above, below = r"\big|_{x > 1/2}", r"\big|_{x < 1/2}"
    return WrittenLaws(
        rf"{grouped(right)}{above}{BREAK} + {on} {below}",
        rf"{off} {above}{BREAK} + {grouped(mirrored)}{below}",
        (
            r"each law on the outcomes $x$ that are said, and in both",
            "one more outcome, of what is left to the total of 1",
        ),
    )
