r"""The two laws of a pair in LaTeX, as the profile reads them: \mathcal{N}(1, 4) against the rest.

Outcomes are in units of the sensitivity. A pair whose laws are not written here has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import sympy
from sympy.functions.elementary.hyperbolic import HyperbolicFunction

from symacct.export.latex.printer import PaperPrinter, width_of
from symacct.export.latex.sentences import SymbolNames
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import INFINITY, Exact, exact, expression
from symacct.laws.law import Law
from symacct.profile.losses.allocated import AllocatedGaussian
from symacct.profile.losses.allocated_laplace import AllocatedLaplace
from symacct.profile.losses.density.bounded_range import BoundedRange
from symacct.profile.losses.density.densities import DensityLoss
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.fixed_size.gaussian import FixedSizeGaussian
from symacct.profile.losses.fixed_size.laplace import FixedSizeLaplace
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.mixed import MixedLoss
from symacct.profile.losses.normal_mixtures import NormalMixtures
from symacct.profile.losses.one_sample import OneSample
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from symacct.profile.part import Part

_MOST_TERMS, _LONGEST = 8, 250  # outcomes or means of a law, and its width, that are printed
BREAK = "\n"  # where a law may be cut at the end of a line
Write = Callable[[Exact], str]


class UnwrittenError(DomainError):
    """The laws of a pair are not known in letters, or are too long to be read."""

    def __init__(
        self, finding: str = "latex: found a pair of laws that are not written", remedy: str = ""
    ) -> None:
        super().__init__(finding, remedy=remedy)


@dataclass(frozen=True)
class Laws:
    """P and Q, and words on how they are meant."""

    P: str
    Q: str
    words: tuple[str, ...] = ()


def laws_of(part: Part, names: SymbolNames) -> Laws:
    """P and Q of one part; UnwrittenError for what is not known so."""
    printer = PaperPrinter(names)
    found = _laws(part, lambda x: printer.in_line(sympy.sympify(expression(x))))
    if max(width_of(law) for law in (found.P, found.Q)) > _LONGEST:
        raise UnwrittenError
    return found


@singledispatch
def _laws(part: Part, write: Write) -> Laws:
    raise UnwrittenError


@_laws.register
def _(part: GaussianLoss, write: Write) -> Laws:
    return Laws(*_normals(1 / part.ratio, write))


@_laws.register
def _(part: SampledGaussian, write: Write) -> Laws:
    on, off = _normals(part.variance, write)
    return Laws(_mixed(part.gamma, on, off, write), off)


@_laws.register
def _(part: LaplaceLoss, write: Write) -> Laws:
    on, off = _laplace(part.shift, write)
    return Laws(_mixed(part.gamma, on, off, write), off)


@_laws.register
def _(part: NormalMixtures, write: Write) -> Laws:
    if max(len(part.upper), len(part.lower)) > _MOST_TERMS:
        raise UnwrittenError
    variance = write(1 / part.ratio)

    def mixture(weights: Iterable[tuple[Exact, int]]) -> str:
        terms = ((_factor(write(w)), _normal(str(j), variance)) for w, j in weights)
        return f"{BREAK} + ".join(law if w == "1" else rf"{w} \, {law}" for w, law in terms)

    return Laws(mixture(part.upper), mixture(part.lower))


@_laws.register
def _(part: IntegerLoss, write: Write) -> Laws:
    law = part.noise.law_latex(write)
    if law is None:
        raise UnwrittenError
    off, read = law
    on = rf"\delta_{{{part.noise.sensitivity}}} \ast {off}"
    words = (r"$\delta_{k} \ast$ moves a law by $k$", *read)
    return Laws(_mixed(part.gamma, on, off, write), off, words)


@_laws.register
def _(part: Atoms, write: Write) -> Laws:
    if len(part.laws) > _MOST_TERMS:
        raise UnwrittenError
    P, Q = (  # noqa: N806
        f", {BREAK}".join(write(_simplified(x)) for x in law)
        for law in zip(*part.laws, strict=True)
    )
    words = ("(the probabilities of all outcomes)",)
    return Laws(rf"\bigl( {P} \bigr)", rf"\bigl( {Q} \bigr)", words)


def _simplified(x: Exact) -> Exact:
    """A number with e in it as it is the shortest, without the hyperbolic functions."""
    if isinstance(x, Fraction):
        return x
    plain, shorter = expression(x), sympy.simplify(expression(x))
    return exact(plain if shorter.has(HyperbolicFunction) else shorter)


@_laws.register
def _(part: OneSample, write: Write) -> Laws:
    inner = [(_laws(one, write), count) for one, count in part.runs]
    P, Q = (  # noqa: N806
        product((getattr(laws, which), count) for laws, count in inner) for which in ("P", "Q")
    )
    words = dict.fromkeys(line for laws, _ in inner for line in laws.words)
    return Laws(_mixed(part.gamma, P, Q, write), Q, tuple(words))


@_laws.register
def _(part: MixedLoss, write: Write) -> Laws:
    first, second = _laws(part.first, write), _laws(part.second, write)
    one, other = (_factor(write(share)) for share in (part.share, 1 - part.share))
    return Laws(
        rf"{one} \, {_grouped(first.P)}{BREAK} \oplus {other} \, {_grouped(second.P)}",
        rf"{one} \, {_grouped(first.Q)}{BREAK} \oplus {other} \, {_grouped(second.Q)}",
        (*first.words, *second.words, r"$\oplus$ tells by which of the two laws the outcome is"),
    )


@_laws.register
def _(part: AllocatedGaussian, write: Write) -> Laws:
    return _allocated(*_normals(1 / part.ratio, write), part.steps)


@_laws.register
def _(part: AllocatedLaplace, write: Write) -> Laws:
    return _allocated(*_laplace(part.shift, write), part.steps)


def _allocated(on: str, off: str, steps: int) -> Laws:
    before, after = rf"{off}^{{\otimes (i-1)}}", rf"{off}^{{\otimes ({steps}-i)}}"
    mean = rf"\frac{{1}}{{{steps}}} \sum_{{i=1}}^{{{steps}}}"
    return Laws(rf"{mean} {before} \otimes {on} \otimes {after}", rf"{off}^{{\otimes {steps}}}")


@_laws.register
def _(part: FixedSizeGaussian, write: Write) -> Laws:
    return _of_fixed_size(*_normals(part.variance, write), part.gamma, write)


@_laws.register
def _(part: FixedSizeLaplace, write: Write) -> Laws:
    return _of_fixed_size(*_laplace(part.shift, write), part.gamma, write)


def _of_fixed_size(on: str, off: str, gamma: Exact, write: Write) -> Laws:
    """Right of 1/2 the mixture against the law without, left of it the mirror image."""
    mixed, mirrored = _mixed(gamma, on, off, write), _mixed(gamma, off, on, write)
    above, below = r"\big|_{x > 1/2}", r"\big|_{x < 1/2}"
    return Laws(
        rf"{_grouped(mixed)}{above}{BREAK} + {on} {below}",
        rf"{off} {above}{BREAK} + {_grouped(mirrored)}{below}",
        (
            r"each law on the outcomes $x$ that are said, and in both",
            "one more outcome, of what is left to the total of 1",
        ),
    )


@_laws.register
def _(part: BoundedRange, write: Write) -> Laws:
    half, pure = expression(part.pure) / 2, write(part.pure)
    total = write(exact(2 * (sympy.exp(half) - sympy.exp(-half))))
    P, Q = (rf"e^{{{sign}x/2}} / ({total}) \, dx" for sign in ("", "-"))  # noqa: N806
    return Laws(P, Q, (rf"(for $-{pure} \leq x \leq {pure}$)",))


@_laws.register
def _(part: DensityLoss, write: Write) -> Laws:
    P, Q = (_density(law, write) for law in (part.pair.overlap.P, part.pair.overlap.Q))  # noqa: N806
    words = (r"$c$ stands for what makes the total of each law 1",)
    return Laws(_mixed(part.pair.gamma, P, Q, write), Q, words)


def _density(law: Law, write: Write) -> str:
    if law.kernel is None or law.kernel.cuts[0] != -INFINITY or law.kernel.cuts[-1] != INFINITY:
        raise UnwrittenError
    return rf"c \, {write(sympy.exp(law.kernel.log))} \, dx"


def product(laws: Iterable[tuple[str, int]]) -> str:
    """Laws side by side, each as often as it is run."""
    return r" \otimes ".join(
        law if count == 1 else rf"{_grouped(law)}^{{\otimes {count}}}" for law, count in laws
    )


def _grouped(law: str) -> str:
    """A law that a power may stand behind."""
    law = law.replace(BREAK, "")
    return rf"\bigl( {law} \bigr)" if " + " in law else law


def _mixed(gamma: Exact, on: str, off: str, write: Write) -> str:
    if gamma == 1:
        return on
    rest, share = (_factor(write(weight)) for weight in (1 - gamma, gamma))
    return rf"{rest} \, {_grouped(off)}{BREAK} + {share} \, {_grouped(on)}"


def _factor(number: str) -> str:
    """A number before a law."""
    if fraction := re.fullmatch(r"(\d+)/(\d+)", number):
        return rf"\frac{{{fraction[1]}}}{{{fraction[2]}}}"
    return f"({number})" if " - " in number or " + " in number else number


def _normals(variance: Exact, write: Write) -> tuple[str, str]:
    """With the record, and without."""
    return _normal("1", write(variance)), _normal("0", write(variance))


def _normal(mean: str, variance: str) -> str:
    return rf"\mathcal{{N}}({mean}, {variance})"


def _laplace(shift: Exact, write: Write) -> tuple[str, str]:
    """With the record, and without."""
    scale = write(1 / shift)
    return rf"\mathrm{{Lap}}(1, {scale})", rf"\mathrm{{Lap}}(0, {scale})"
