"""For an accountant's own test suite: is what a function returns right?

from symacct.testing import assert_sound

def test_my_rdp():
    assert_sound(lambda alpha: my_rdp(5, 0.001, alpha), "PoissonSubsample(Gaussian(5), 0.001)")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import count
from typing import Any

from symacct.kernel import parameters
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import nearest_float
from symacct.kernel.claims import Kind
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, SymacctError, echo
from symacct.kernel.exact import binary, exact
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import rational
from symacct.operations import Compose, PoissonSubsample, SubsampleWithoutReplacement
from symacct.text import parse
from symacct.verify.judging.bounds import Bound, decimal_text, ends, missing_share

#: ε(α) is held to the truth at these orders, from next to 1 to large, where none are given.
ORDERS = ("1.00000001", "1.01", "1.5", "2", "2.5", "3", "8", "10.5", "64", "256.5", "1024")
#: ε(δ) is held to it at these δ.
DELTAS = ("1e-5", "1e-8")
#: δ(ε) is held to it at these ε, in nats.
EPSILONS = ("0.1", "1")
#: A truth has this many significant digits, some more than a float64 has. What is held to it rests
#: on its ends, which are proved for any number.
_DIGITS = 20
#: The width of a truth is told in digits where its two ends differ by less than this share. Only a
#: text rests on it.
_CLOSE_SHARE = 1e-3
#: A truth whose ends no float64 tells apart is said to be known to this many digits. Only a text
#: rests on it.
_FLOAT_DIGITS = 15
#: An exact profile is asked to this many significant digits, as far as a float64 goes. Its ends are
#: proved for any number: more take longer.
_PROFILE_DIGITS = 14


class UnsoundError(AssertionError):
    """A function returned less than the truth, nan, or more than `loose` allows."""


class UndecidedError(AssertionError):
    """A function returned a number that the known bounds neither confirm nor refute."""


class Checked(int):
    """Counts the values held to the truth, and states how well the truth was known."""

    #: The largest quotient of a best proved bound and the certified lower bound beside it; 1 where
    #: no float64 tells them apart, ∞ where the lower one is 0 alone.
    width: float

    def __new__(cls, count: int, width: float) -> Checked:
        checked = super().__new__(cls, count)
        checked.width = width
        return checked

    def __repr__(self) -> str:
        """Write how many values were held to a truth, and how many digits that has."""
        known = f"up to a factor of {self.width:.6g}"
        if self.width < 1 + _CLOSE_SHARE:
            digits = _FLOAT_DIGITS if self.width == 1 else -math.ceil(math.log10(self.width - 1))
            known = f"to {digits} digits"
        return f"{int(self)} values, each held to a truth that is known {known}"


def assert_sound(
    function: Callable[[float], Any],
    expression: str | Node,
    *,
    what: str = "rdp",
    at: Iterable[Any] | None = None,
    conversion: str | None = None,
    rounding: float = 1e-9,
    loose: float | None = None,
    width: float = 2,
    relation: str | None = None,
) -> Checked:
    """Raises unless `function` is an upper bound of the truth at every argument; counts them.

    `what` is "rdp" (the function takes an order α), "epsilon" (δ ↦ ε) or "delta" (ε ↦ δ); `at`
    the arguments, each given as a float. A value must not be below a certified lower bound of the
    truth by more than the share `rounding`; with `loose`, it must not be above `loose` times the
    best proved bound. ε and δ are held to the exact profile where the laws are known; with
    `conversion` ("classic" or "improved") to the least value that this conversion gives over all
    orders, where that is proved to be the least. UnsoundError says where, what and by how much. A
    value between a lower bound and the best proved one is neither right nor wrong: UndecidedError,
    where these are more than a factor of `width` apart; what is returned says how far apart they
    were. With a `relation` ("add_remove", "replace_one" or "zero_out") every sampling is taken
    under that one.
    An infinite value is sound, unless `loose` forbids it. Errors of the function itself are raised:
    one that takes whole orders alone is asked with at=range(2, 65).

    >>> assert_sound(lambda alpha: alpha / 50, "Gaussian(5)")
    11 values, each held to a truth that is known to 15 digits
    >>> assert_sound(lambda alpha: 0.08 * alpha, "PoissonSubsample(Gaussian(5), 1/2)",
    ...              relation="replace_one")
    11 values, each held to a truth that is known to 15 digits
    """
    __tracebackhide__ = True  # a test's report ends at the line that called
    m = parse(expression) if isinstance(expression, str) else as_node(expression, "expression")
    m = m if relation is None else _under(m, relation)
    parameters.one_of(what, "what", _DEFAULTS)
    if not callable(function):
        raise DomainError(f"function: found {echo(function)}, needed a function of one number")
    share = rational(rounding, "rounding")
    times = None if loose is None else rational(loose, "loose")
    if times is not None and times < 1:
        raise DomainError(f"loose: found {echo(loose)}, needed >= 1: no bound is below the truth")
    accountant = Accountant(_DIGITS)
    apart = rational(width, "width")
    places = _DEFAULTS[what] if at is None else parameters.members(at, "at", "[2, 8]")
    if not places:
        raise DomainError("at: found no argument, needed at least one")
    means = f" by the {conversion} conversion" if conversion is not None else ""
    widest = 1.0
    with progress("assert_sound", len(places)) as advance:
        for argument in places:
            x = float(exact(argument, "at"))
            truth = _truth(accountant, m, what, binary(x), conversion)
            where = f"{what}({echo(x)}) of {echo(m)}{means}"
            value = function(x)
            fault = _fault(value, truth, where, share, times)
            if fault:
                raise UnsoundError(fault)
            if _undecided(_float(value, where), truth, share, apart):
                raise UndecidedError(
                    f"{where}: found {echo(value)}, {_between(truth)}, needed bounds no more than "
                    f"{echo(width)} times apart; ask elsewhere, or give `width`"
                )
            widest = max(widest, _width(truth))
            advance(1)
    return Checked(len(places), widest)


def _under(m: Node, relation: str) -> Node:
    """Returns the node with every sampling in it under one relation, or raises DomainError."""
    parameters.one_of(relation, "relation", ("add_remove", "replace_one", "zero_out"))

    def moved(node: Node) -> Node:
        if isinstance(node, Compose):
            return Compose({moved(run): count for run, count in node.terms.items()})
        if isinstance(node, PoissonSubsample | SubsampleWithoutReplacement):
            return type(node)(node.children[0], node.parameters()["gamma"], relation)
        return node

    related = moved(m)
    if related.claim.adjacency is not None and str(related.claim.adjacency) != relation:
        raise DomainError(
            f"relation: found {echo(m)}, which is about {related.claim.adjacency} alone, needed "
            f"{relation}, or an expression of samplings and compositions"
        )
    return related


#: What may be asked, with its arguments where none are given.
_DEFAULTS: dict[str, tuple[str, ...]] = {"rdp": ORDERS, "epsilon": DELTAS, "delta": EPSILONS}


def _truth(
    accountant: Accountant, m: Node, what: str, x: Fraction, conversion: str | None
) -> tuple[Bound, Bound]:
    """Computes a lower and the best upper bound of the truth, or of the conversion's least."""
    if what == "rdp":
        return _renyi(accountant, m, x)
    ask = accountant.epsilon if what == "epsilon" else accountant.delta
    if conversion is not None:
        lower = ask(m, x, conversion)
        if lower.optimal:
            return ends(lower.asked)
    lower_of = accountant.lower_epsilon if what == "epsilon" else accountant.lower_delta
    low = _end_or(Fraction(0), lambda: ends(lower_of(m, x, _PROFILE_DIGITS))[0])
    exactly = _end_or(math.inf, lambda: ends(ask(m, x, "exact", digits=_PROFILE_DIGITS).asked)[1])
    return low, min(ends(ask(m, x).asked)[1], exactly)


def _renyi(accountant: Accountant, m: Node, alpha: Fraction) -> tuple[Bound, Bound]:
    """Computes a lower and the best upper bound of ε(α) in nats; 0 or ∞ where none is known."""
    value = accountant.rdp(m, alpha)
    low, high = ends(value)
    if value.claim.kind is Kind.EXACT:
        return low, high
    if value.claim.kind is Kind.LOWER:
        return low, math.inf
    return _end_or(Fraction(0), lambda: ends(accountant.lower_bound(m, alpha))[0]), high


def _end_or(unknown: Bound, end: Callable[[], Bound]) -> Bound:
    """Computes an end of a truth; `unknown` where nothing is known of it."""
    try:
        return end()
    except SymacctError:
        return unknown


def _undecided(value: float, truth: tuple[Bound, Bound], share: Fraction, most: Fraction) -> bool:
    """Is the value below the best proved bound, where that is above `most` times the lower one?"""
    low, high = truth
    proved = value == math.inf or (high != math.inf and Fraction(value) >= high * (1 - share))
    return not proved and (high == math.inf or bool(high > low * most))


def _width(truth: tuple[Bound, Bound]) -> float:
    """Computes the quotient of the two ends; ∞ where it is no number."""
    low, high = truth
    if low in (0, math.inf) or high == math.inf:
        return 1.0 if low == high else math.inf
    return nearest_float(Fraction(high) / Fraction(low))


def _between(truth: tuple[Bound, Bound]) -> str:
    """Says between which ends the truth is, to 17 digits rounded outwards."""
    low, high = truth
    return f"the truth is in [{decimal_text(low, False, 17)}, {decimal_text(high, True, 17)}]"


def _float(value: Any, where: str) -> float:
    """Reads a value as a float; DomainError for what is none."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise DomainError(f"{where}: found {echo(value)}, needed a number") from None


def _more_than(loose: Fraction, times: Fraction) -> str:
    """Writes `times` with so many digits, from three on, that it shows to be more than `loose`."""
    texts = (decimal_text(times, False, digits) for digits in count(3))
    return next(text for text in texts if Fraction(text) > loose)


def _fault(
    answer: object,
    truth: tuple[Bound, Bound],
    where: str,
    rounding: Fraction,
    loose: Fraction | None,
) -> str | None:
    """Describes why a value is unsound, or more than `loose` allows; None where it is neither."""
    low, high = truth
    value = _float(answer, where)
    between = _between(truth)
    if math.isnan(value):
        return f"{where}: found nan, {between}"
    if value == -math.inf:
        return f"{where}: found -inf, {between}"
    if value == math.inf:
        if loose is None or high == math.inf:
            return None
        allowed = f"allowed {float(loose):g} times the best proved bound"
        return f"{where}: found inf, {allowed}; {between}"
    exactly = Fraction(value)
    if exactly < low * (1 - rounding):
        share = missing_share(exactly, Fraction(low))
        return f"{where}: found {echo(value)}, {share}; {between}"
    if loose is not None and exactly > high * loose:
        what = (
            "the truth"
            if nearest_float(Fraction(low)) == nearest_float(Fraction(high))
            else "the best proved bound"
        )
        over = (
            f"{_more_than(loose, exactly / Fraction(high))} times {what}"
            if high
            else f"where {what} is 0"
        )
        return f"{where}: found {echo(value)}, {over}, allowed {float(loose):g}; {between}"
    return None
