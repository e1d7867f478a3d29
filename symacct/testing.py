"""For an accountant's own test suite: is what a function returns right?

from symacct.testing import assert_sound

def test_my_rdp():
    assert_sound(lambda alpha: my_rdp(5, 0.001, alpha), "PoissonSubsample(Gaussian(5), 0.001)")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from symacct import doors
from symacct.accountant import Accountant
from symacct.claims import Kind
from symacct.domains import rational
from symacct.errors import DomainError, SymacctError, echo
from symacct.exact import exact
from symacct.expr import Node, as_node
from symacct.notation import parse
from symacct.verify.bounds import Bound, decimal_text, ends

#: Whole and fractional orders from next to 1 to large.
ORDERS = ("1.00000001", "1.01", "1.5", "2", "2.5", "3", "8", "10.5", "64", "256.5", "1024")
DELTAS = ("1e-5", "1e-8")
EPSILONS = ("0.1", "1")
_DIGITS = 20
_PROFILE_DIGITS = 14  # as far as a float64 goes


class UnsoundError(AssertionError):
    """A function returned less than the truth, or no number."""


def assert_sound(
    function: Callable[[float], Any],
    expression: str | Node,
    *,
    what: str = "rdp",
    at: Iterable[Any] | None = None,
    conversion: str | None = None,
    rounding: float = 1e-9,
    loose: float | None = None,
) -> int:
    """Fail unless `function` is an upper bound of the truth wherever it is asked; how many were.

    `what` is "rdp" (the function takes an order α), "epsilon" (δ ↦ ε) or "delta" (ε ↦ δ); `at`
    the arguments, each given as a float. A value must not be below a certified lower bound of the
    truth by more than the share `rounding`; with `loose`, it must not be above `loose` times the
    best proved bound. ε and δ are held to the exact profile where the laws are known; with
    `conversion` ("classic" or "improved") also to the least value that this conversion gives over
    all orders. UnsoundError says where, what and by how much.

    >>> assert_sound(lambda alpha: alpha / 50, "Gaussian(5)")
    11
    """
    m = parse(expression) if isinstance(expression, str) else as_node(expression, "expression")
    doors.one_of(what, "what", _DEFAULTS)
    if not callable(function):
        raise DomainError(f"function: found {echo(function)}, needed a function of one number")
    share = rational(rounding, "rounding")
    times = None if loose is None else rational(loose, "loose")
    accountant = Accountant(_DIGITS)
    asked = _DEFAULTS[what] if at is None else doors.listed(at, "at", "[2, 8]")
    for argument in asked:
        x = float(exact(argument, "at"))
        low, high = _truth(accountant, m, what, x, conversion)
        _check(function(x), (low, high), f"{what}({echo(x)}) of {echo(m)}", share, times)
    return len(asked)


_DEFAULTS: dict[str, tuple[str, ...]] = {"rdp": ORDERS, "epsilon": DELTAS, "delta": EPSILONS}


def _truth(
    accountant: Accountant, m: Node, what: str, x: float, conversion: str | None
) -> tuple[Bound, Bound]:
    """A lower bound of what is right, and the best proved bound, at exactly this float."""
    if what == "rdp":
        return _renyi(accountant, m, x)
    ask = accountant.epsilon if what == "epsilon" else accountant.delta
    high = ends(ask(m, x).asked)[1]
    low = _least(accountant, m, what, x)
    if conversion is not None:
        least = ask(m, x, conversion)
        # Only where it is proved that no order does better.
        low = max(low, ends(least.asked)[0]) if least.optimal else low
    return low, high


def _renyi(accountant: Accountant, m: Node, alpha: float) -> tuple[Bound, Bound]:
    value = accountant.rdp(m, alpha)
    low, high = ends(value)
    if value.claim.kind is Kind.EXACT:
        return low, high
    try:
        return ends(accountant.lower_bound(m, alpha))[0], high
    except SymacctError:
        return Fraction(0), high


def _least(accountant: Accountant, m: Node, what: str, x: float) -> Bound:
    """The lower end of the exact profile, or of what post-processing leaves of it."""
    ask = accountant.lower_epsilon if what == "epsilon" else accountant.lower_delta
    try:
        return ends(ask(m, x, _PROFILE_DIGITS))[0]
    except SymacctError:
        return Fraction(0)


def _float(found: Any, where: str) -> float:
    try:
        return float(found)
    except (TypeError, ValueError, OverflowError):
        raise DomainError(f"{where}: found {echo(found)}, needed a number") from None


def _check(
    found: object,
    truth: tuple[Bound, Bound],
    where: str,
    rounding: Fraction,
    loose: Fraction | None,
) -> None:
    low, high = truth
    value = _float(found, where)
    between = f"the truth is in [{decimal_text(low, False, 17)}, {decimal_text(high, True, 17)}]"
    if math.isnan(value):
        raise UnsoundError(f"{where}: found nan, {between}")
    if math.isinf(value):
        if value < 0:
            raise UnsoundError(f"{where}: found -inf, {between}")
        return
    exactly = Fraction(value)
    if exactly < low * (1 - rounding):
        share = float(exactly / Fraction(low))
        raise UnsoundError(f"{where}: found {echo(value)}, {share:.9g} of the truth; {between}")
    if loose is not None and exactly > high * loose:
        raise UnsoundError(
            f"{where}: found {echo(value)}, more than {echo(loose)} times too much; {between}"
        )
