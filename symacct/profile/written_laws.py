r"""The two laws of a pair in LaTeX, and the pieces that losses write them with.

Outcomes are in units of the sensitivity: \mathcal{N}(1, 4) is the law with the record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from symacct.kernel.exact import Exact, exact, expression, sympy

#: A law of more outcomes or means than these is not printed.
MOST_TERMS = 8
#: Stands where a law may be cut at the end of a line.
BREAK = "\n"
#: Writes an exact number in LaTeX.
Write = Callable[[Exact], str]


@dataclass(frozen=True)
class WrittenLaws:
    """Written laws are P and Q in LaTeX, and words of English on how they are meant."""

    P: str
    Q: str
    words: tuple[str, ...] = ()


def product(laws: Iterable[tuple[str, int]]) -> str:
    """Write the product of laws, each to the power of its count."""
    return r" \otimes ".join(
        law if count == 1 else rf"{grouped(law)}^{{\otimes {count}}}" for law, count in laws
    )


def grouped(law: str) -> str:
    """Put a sum of laws in brackets, so that a power may stand behind it, and take out breaks."""
    law = law.replace(BREAK, "")
    return rf"\bigl( {law} \bigr)" if " + " in law else law


def mixed(gamma: Exact, on: str, off: str, write: Write) -> str:
    """Write (1−γ)·off + γ·on, which is `on` at γ = 1."""
    if gamma == 1:
        return on
    rest, share = (factor(write(weight)) for weight in (1 - gamma, gamma))
    return rf"{rest} \, {grouped(off)}{BREAK} + {share} \, {grouped(on)}"


def factor(number: str) -> str:
    """Write a number in front of a law: a fraction stacked, a sum in brackets."""
    if fraction := re.fullmatch(r"(\d+)/(\d+)", number):
        return rf"\frac{{{fraction[1]}}}{{{fraction[2]}}}"
    return f"({number})" if " - " in number or " + " in number else number


def simplified(x: Exact) -> Exact:
    """Simplify a number by SymPy, unless that would bring in a hyperbolic function."""
    if isinstance(x, Fraction):
        return x
    plain, shorter = expression(x), sympy.simplify(expression(x))
    hyperbolic = sympy.functions.elementary.hyperbolic.HyperbolicFunction
    return exact(plain if shorter.has(hyperbolic) else shorter)


def normals(variance: Exact, write: Write) -> tuple[str, str]:
    """Write the normal laws with the record and without, of σ²/Δ² = `variance`."""
    return normal("1", write(variance)), normal("0", write(variance))


def normal(mean: str, variance: str) -> str:
    """Write a normal law."""
    return rf"\mathcal{{N}}({mean}, {variance})"


def laplaces(shift: Exact, write: Write) -> tuple[str, str]:
    """Write the Laplace laws with the record and without, `shift` = Δ/b."""
    scale = write(1 / shift)
    return rf"\mathrm{{Lap}}(1, {scale})", rf"\mathrm{{Lap}}(0, {scale})"


def allocated(on: str, off: str, steps: int) -> WrittenLaws:
    """Write the mean over the runs of the laws with the record in one of them, and that of none."""
    before, after = rf"{off}^{{\otimes (i-1)}}", rf"{off}^{{\otimes ({steps}-i)}}"
    mean = rf"\frac{{1}}{{{steps}}} \sum_{{i=1}}^{{{steps}}}"
    return WrittenLaws(
        rf"{mean} {before} \otimes {on} \otimes {after}", rf"{off}^{{\otimes {steps}}}"
    )


def of_fixed_size(on: str, off: str, gamma: Exact, write: Write) -> WrittenLaws:
    """Write the pair of a sample of fixed size: right of ½ the mixture against the law `off`.

    Left of ½ it is the mirror image; what is left of both laws is one outcome.
    """
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
