"""The formula of the number to report: δ(ε) of a pair of laws, or what a Rényi order gives."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy

from symacct.export.latex.display import Display, displayed
from symacct.export.latex.printer import WIDTH, PaperPrinter, width_of
from symacct.export.latex.sentences import SymbolNames, tex_number
from symacct.kernel.answer import Enclosure, Guarantee, found_order, given
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic
from symacct.kernel.attached import question
from symacct.kernel.claims import Kind
from symacct.kernel.conversion import (
    Conversion,
    Failures,
    OrderOne,
    failures,
    failures_of_guarantee,
)
from symacct.kernel.conversion import named as named_conversion
from symacct.kernel.errors import AssumptionError, DomainError
from symacct.kernel.exact import INFINITY, expression
from symacct.kernel.node import Node
from symacct.kernel.parameters import By
from symacct.kernel.symbols import alpha as ALPHA
from symacct.profile.answer import Profile, profile
from symacct.profile.part import Part, Runs
from symacct.profile.selected import BestOfRuns
from symacct.profile.solve import CompositionProfile
from symacct.profile.written_laws import BREAK, WrittenLaws, product

# --- the two laws of a pair, as its loss writes them

#: A law that is printed is at most this wide, in the widths of a letter.
_WIDEST_LAW = 250


class UnwrittenError(DomainError):
    """The laws of a pair are not known in letters, or are too long to be read."""


# --- the formula

#: The sign between a number and its formula, by the kind of the number.
_RELATIONS = {Kind.EXACT: "=", Kind.UPPER: r"\leq", Kind.LOWER: r"\geq"}
#: One maximum is over at most this many pairs.
_MOST_DIRECTIONS = 8
#: The parts with their counts, and whether P and Q are exchanged.
Direction = tuple[Runs, bool]
#: The lines that define the hockey-stick divergence.
_STICK = (
    r"H_{\varepsilon}(A \,\|\, B) &= \int \max\{0,\, dA - e^{\varepsilon} \, dB\}",
    r"&= \mathrm{E}_{A}\bigl[ \max\{0,\, 1 - e^{\varepsilon - L}\} \bigr], "
    r"\quad L = \log \frac{dA}{dB}",
)
#: Words at a formula's lines: what L is of a product, which ε is meant, what outcomes are in.
_SUMMED = r"&\quad \text{(of products, $L$ is the sum of the factors' independent losses)}"
_LEAST = r" \quad \text{(the least such $\varepsilon$, rounded up)}"
_UNITS = r"&\quad \text{(outcomes in units of the sensitivity)}"
#: δ(ε) of Gaussian noise, μ the sensitivity over σ.
_GAUSSIAN = (
    r"\Phi\left( \frac{\mu}{2} - \frac{\varepsilon}{\mu} \right) - e^{\varepsilon} \, "
    r"\Phi\left( -\frac{\mu}{2} - \frac{\varepsilon}{\mu} \right)"
)
#: The optimal conversion asks this of an order: the least moment of two-point pairs.
_LEAST_MOMENT = (
    r"\min_{p - e^{\varepsilon} q = \delta} \bigl( p^{\alpha} q^{1 - \alpha} + (1 - p)^{\alpha} "
    r"(1 - q)^{1 - \alpha} \bigr) &\geq e^{(\alpha - 1) \epsilon_{\mathcal{M}}(\alpha)}"
)
#: This letter is the δ of what is left of a mechanism that may fail.
_OF_REST = r"\delta_{0}"
#: The line that says what Φ is.
_PHI = r"\Phi(t) &= \frac{1}{\sqrt{2 \pi}} \int_{-\infty}^{t} e^{-z^{2}/2} \, dz"


@question(Guarantee, "latex")
def guarantee_latex(guarantee: Guarantee) -> str:
    """Write the formula of this number as a LaTeX display: δ(ε) of its laws, or of its order."""
    return number_latex(guarantee)


def number_latex(
    guarantee: Guarantee, names: Mapping[Any, str] | None = None, by: By = None
) -> str:
    r"""Write the formula behind a guarantee as a LaTeX display, the number last; needs amsmath.

    Of the exact profile it is δ(ε) of the two laws of the mechanism, or of the pair that dominates
    it; of a conversion it is the ε or δ of its Rényi order, with ε(α) below. `names` is as in
    `latex`, and `by` the theorem that was pinned. Raises DomainError if no formula of the pair is
    known.

    >>> from symacct import Gaussian
    >>> print(number_latex(Gaussian(2).epsilon("1e-5", conversion="exact")).splitlines()[2])
    \mu &= \frac{1}{2} \\
    """
    if guarantee.mechanism is None:
        raise DomainError(
            "latex: found a guarantee without its mechanism",
            remedy="ask its mechanism for the guarantee",
        )
    rows = (
        _by_profile(
            guarantee.mechanism, names, failures_of_guarantee(guarantee, guarantee.mechanism)
        )
        if guarantee.needs_no_order
        else _by_order(guarantee, names, by)
    )
    return displayed([*rows, _number(guarantee)])


def profile_latex(m: Node, names: Mapping[Any, str] | None = None) -> str:
    r"""Write δ(ε) of the exact profile of `m` as a LaTeX display; symbols may be left open.

    Raises UnwrittenError where no formula of the laws is known.
    """
    return displayed(_by_profile(m, names, failures(m)))


def _number(guarantee: Guarantee) -> str:
    """Write the line of the number that is proved of the formula, rounded up."""
    digits = guarantee.asked.digits_asked
    shown = _tex(guarantee.asked.rounded(digits))
    if isinstance(guarantee.epsilon, Enclosure):
        if guarantee.needs_no_order:
            remark = _LEAST if guarantee.kind is Kind.EXACT else ""
            return rf"\delta({shown}) &\leq {_tex(given(guarantee.given))}{remark}"
        left = r"\varepsilon"
    else:
        left = rf"\delta({_tex(given(guarantee.given))})" if guarantee.needs_no_order else r"\delta"
    relation = "=" if guarantee.asked.how_rounded(digits) == "exactly" else r"\leq"
    return f"{left} &{relation} {shown}"


def _tex(number: str) -> str:
    """Write a number in mathematics."""
    return tex_number(number).replace(r"\ensuremath", "")


# --- by the exact profile


def _by_profile(
    m: Node,
    names: Mapping[Any, str] | None,
    failing: Failures | None = None,
    letter: str = r"\delta",
) -> Iterator[str]:
    """Yield the lines that say what δ(ε) of the exact profile is, with the laws of each pair.

    `letter` is what δ is called, and `failing` what is taken out of it. UnwrittenError where no
    formula of the laws is known.
    """
    if failing is not None:
        relation = _RELATIONS[Kind.EXACT if failing.attained else Kind.UPPER]
        yield from _by_profile(failing.rest, names, letter=_OF_REST)
        yield (
            rf"{letter}(\varepsilon) &{relation} 1 - \bigl( 1 - "
            rf"{_OF_REST}(\varepsilon) \bigr) {_nothing_fails(failing, names)}"
        )
        return
    known = _profile(m)
    directions = directions_of(known.directions)
    printer = PaperPrinter(SymbolNames(names))
    relation = _RELATIONS[known.claim.kind]
    if not any(pairs for pairs, _ in directions):
        yield rf"{letter}(\varepsilon) &{relation} 0"
        return
    match directions:
        case [(((part, 1),), _)] if (ratio := part.gaussian_ratio) is not None:
            mu = printer.doprint(sympy.sqrt(expression(ratio)))  # of (Δ/σ)², one query alone
            yield rf"{letter}(\varepsilon) &{relation} {_GAUSSIAN}"
            yield rf"\mu &= {mu}"
            yield _PHI
            return
    parts: dict[Part, WrittenLaws] = {}
    for part in dict.fromkeys(part for pairs, _ in directions for part, _ in pairs):
        laws = part.in_latex(lambda x: printer.script(expression(x)))
        if laws is None or max(width_of(law) for law in (laws.P, laws.Q)) > _WIDEST_LAW:
            raise _no_formula(m)
        parts[part] = laws
    yield from _largest(directions, list(parts), rf"{letter}(\varepsilon) &{relation} ")
    yield from _STICK
    if any(sum(count for _, count in pairs) > 1 for pairs, _ in directions):
        yield _SUMMED
    words: dict[str, None] = {}
    for place, laws in enumerate(parts.values()):
        index = _index(place, parts)
        yield from _lines(f"P{index} &= ", laws.P)
        yield from _lines(f"Q{index} &= ", laws.Q)
        words |= dict.fromkeys(laws.words)
    yield from (rf"&\quad \text{{{line}}}" for line in words)
    if any(node.fields().get("sensitivity", 1) != 1 for node in m.walk()):
        yield _UNITS


def _profile(m: Node) -> Profile:
    """Return the exact profile; UnwrittenError where there is none, or it has too many pairs."""
    try:
        known = profile(m._rewritten)
    except AssumptionError:
        raise _no_formula(m) from None
    if isinstance(known, BestOfRuns) or len(known.directions) > _MOST_DIRECTIONS:
        raise _no_formula(m)
    return known


def _no_formula(m: Node) -> UnwrittenError:
    """Make the error of a node whose profile has no formula."""
    return UnwrittenError(
        f"latex: found {type(m).__name__}, for whose exact privacy profile no formula of a pair of "
        "laws is written",
        remedy="without delta, latex writes that of the Rényi curve",
    )


def directions_of(directions: list[CompositionProfile]) -> list[Direction]:
    """List the runs of each direction; a single part of several pairs has one for each of them."""
    listed: list[Direction] = []
    for direction in directions:
        match direction.pairs:
            case ((part, 1),):
                listed += [(((each, 1),), direction.reverse) for each in part.alternatives]
            case _:
                listed.append((direction.pairs, direction.reverse))
    return listed


def _largest(directions: list[Direction], parts: list[Part], start: str) -> Iterator[str]:
    """Yield δ(ε) as the largest hockey-stick divergence, on as many lines as it takes."""
    sticks = [_stick(*direction, parts) for direction in directions]
    if len(sticks) == 1:
        yield start + sticks[0]
        return
    yield from _lines(start, rf"\max\bigl\{{ {f', {BREAK}'.join(sticks)} \bigr\}}")


def _lines(start: str, formula: str) -> Iterator[str]:
    """Yield a formula on as many lines as it takes, cut where it has a BREAK."""
    line, *rest = formula.split(BREAK)
    line = start + line
    for piece in rest:
        if width_of(line + piece) > WIDTH:
            yield line.rstrip()
            line = r"&\qquad "
        line += piece
    yield line


def _stick(pairs: Runs, reverse: bool, parts: list[Part]) -> str:
    """Write the hockey-stick divergence of the products of some parts, P first unless reversed."""

    def side(letter: str) -> str:
        return product((f"{letter}{_index(parts.index(part), parts)}", n) for part, n in pairs)

    first, second = ("Q", "P") if reverse else ("P", "Q")
    return rf"H_{{\varepsilon}}({side(first)} \,\|\, {side(second)})"


def _index(place: int, parts: Collection[Part]) -> str:
    """Write the subscript of a pair where there are several."""
    return f"_{{{place + 1}}}" if len(parts) > 1 else ""


def _nothing_fails(failing: Failures, names: Mapping[Any, str] | None) -> str:
    """Write Π(1−δ_i)^k_i, a lower bound of the probability that no part fails."""
    printer = PaperPrinter(SymbolNames(names))
    factors = []
    for delta, count in failing.parts:
        power = "" if count == 1 else f"^{{{printer.doprint(expression(count))}}}"
        is_number = isinstance(delta, Fraction)
        shown = _tex(given(delta)) if is_number else printer.doprint(expression(delta))
        factors.append(rf"( 1 - {shown} ){power}")
    return r" \, ".join(factors)


# --- by a Rényi order


def _by_order(guarantee: Guarantee, names: Mapping[Any, str] | None, by: By) -> Iterator[str]:
    """Yield the conversion's formula, its order and what was given, and the curve; ε <= ε(∞) at ∞.

    Of a mechanism that may fail all of this is about the rest, with a row that says what δ is then.
    UnwrittenError for a conversion that has no formula of one order above 1.
    """
    m, conversion = guarantee.mechanism, named_conversion(guarantee.conversion)
    assert m is not None  # noqa: S101  # asked before
    printer = PaperPrinter(SymbolNames(names))
    may_fail = failures_of_guarantee(guarantee, m)
    delta = r"\delta" if may_fail is None else _OF_REST
    asks_epsilon = isinstance(guarantee.epsilon, Enclosure)
    if guarantee.alpha == INFINITY:
        yield r"\varepsilon &\leq \epsilon_{\mathcal{M}}(\infty)"
    elif conversion.name == "optimal":
        yield _LEAST_MOMENT if may_fail is None else _LEAST_MOMENT.replace(r"\delta", delta)
    elif not isinstance(conversion, Conversion) or isinstance(conversion, OrderOne):
        raise UnwrittenError(
            f"latex: found the conversion {conversion.name}, which has no formula of one order "
            "above 1",
            remedy="without delta, latex writes that of the Rényi curve",
        )
    else:
        ctx = SymbolicArithmetic()
        curve = sympy.Function("epsilon_M")(ALPHA)
        name = ("delta" if may_fail is None else "delta_0") if asks_epsilon else "varepsilon"
        ask = conversion.epsilon if asks_epsilon else conversion.log_delta
        left = r"\varepsilon" if asks_epsilon else rf"\log {delta}"
        value = sympy.Symbol(name, positive=True)
        first, *rest = printer.lines(ask(ctx, curve, ALPHA, value))
        yield rf"{left} &\leq {first}"
        yield from (rf"&\quad {line}" for line in rest)
    if guarantee.alpha != INFINITY:
        shown = found_order(guarantee.alpha)
        near = "=" if expression(guarantee.alpha) == sympy.Rational(shown) else r"\approx"
        other = r"\delta" if asks_epsilon else r"\varepsilon"
        yield rf"\alpha &{near} {shown}, \quad {other} = {_tex(given(guarantee.given))}"
    if may_fail is not None:
        yield rf"1 - \delta &= ( 1 - {delta} ) \, {_nothing_fails(may_fail, names)}"
    yield from Display(m if may_fail is None else may_fail.rest, names=names, by=by).rows()
