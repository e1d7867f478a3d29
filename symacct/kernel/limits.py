"""Sizes beyond which an input is refused at once, and the one place where they are raised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace

from symacct.kernel.errors import DomainError, LimitError, echo


@dataclass(frozen=True)
class Limits:
    """The limits in force; each is a count, or whole seconds.

    Most are sizes beyond which an input is refused with a LimitError, or a PrecisionError for
    digits and bits. Beyond `search_order` and `search_sum` no order is tried, beyond `values` and
    `answers` those that were not read for longest are forgotten, and at the end of `seconds` what
    is proved by then is the answer.
    """

    digits: int = 10_000  # decimal digits asked of an answer
    bits: int = 2**17  # working precision, in bits, before a PrecisionError
    order: int = 10**7  # largest finite order at which a sum is evaluated
    search_order: int = 10**100  # largest order that a search over orders tries
    search_sum: int = 2**17  # largest that it tries where each takes a sum, as of a sample
    hull: int = 2**12  # orders evaluated for the convex hull of a curve not known to be convex
    parameter_bits: int = 2**16  # size of a numerator or denominator
    formula_bits: int = 2**11  # of a parameter in a formula of sums, which SymPy sorts as text
    written_bits: int = 2**13  # of a number that a formula works out at an order
    root_bits: int = 2**10  # what stands under the roots of one product: it is factored
    terms: int = 64  # arguments of Min or Max, which are compared with each other; means of a law
    text_bytes: int = 2**22  # length of a text or JSON document
    depth: int = 60  # nesting of operations
    nodes: int = 100_000  # distinct nodes of one expression
    points: int = 1_000_000  # of a sweep's grid
    values: int = 2**18  # remembered of one curve at one precision; older ones are forgotten
    answers: int = 2**12  # (ε, δ) remembered of one node; older ones are forgotten
    outcomes: int = 10_000  # of a list that is given; outcomes, their pairs, losses that it makes
    contour: int = 2**34  # of an exact profile: bits of all the terms that it sums
    seconds: int = 5  # of processor time for the smallest number that is proved of a question


#: The largest values that some limits can be raised to: code that walks an expression recurses, and
#: Python's stack is finite; Python prints no integer of more than 4,300 digits.
CEILINGS = {"depth": 64, "formula_bits": 2**12, "written_bits": 14_000}

_limits: ContextVar[Limits] = ContextVar("symacct_limits", default=Limits())  # noqa: B039  # frozen


def current() -> Limits:
    """The limits in force in this context."""
    return _limits.get()


def limits(**raised: int) -> AbstractContextManager[Limits]:
    """Limits for the `with` block, e.g. `with symacct.limits(seconds=60): ...`.

    `raised` are limits by name, with their values in the block. Outside of a `with` block they
    change nothing. Raises DomainError at once for an unknown name, for a value that is not a
    positive whole number, and for one above the limit's own ceiling. The names and their units:

    seconds: of processor time, for one question, which is answered by the smallest number that is
    proved by then or refused, and for what stands beside it (a named conversion and a value of a
    curve run to their end, and so does a function of yours, as in Curve, each time that it is
    called);
    digits: decimal digits of an answer; bits, contour: bits of the numbers that are worked with;
    parameter_bits, formula_bits, written_bits, root_bits: bits of one number that is given or
    written; order, search_order, search_sum: the largest Rényi order of a sum and of a search;
    hull: orders; terms: arguments of Min or Max, means of a mixture, answers of a sparse vector,
    draws with replacement; text_bytes: bytes; depth: levels; nodes: nodes;
    points: points of a grid; values, answers: values and answers remembered, the oldest of which
    are forgotten beyond them; outcomes: entries of a list that is given, as a law, a matrix or
    a file, and what is listed of it: pairs of outcomes, triples of laws, outcomes of runs together,
    losses.

    >>> from symacct import Gaussian
    >>> with limits(digits=20_000):
    ...     value = Gaussian(5).rdp(2, digits=15_000)
    >>> value.digits_asked
    15000
    """
    names = {field.name for field in fields(Limits)}
    for name, value in raised.items():
        if name not in names:
            raise DomainError(f"found limit {echo(name)}, needed one of {', '.join(sorted(names))}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise DomainError(f"limit {name}: found {echo(value)}, needed a whole number >= 1")
        ceiling = CEILINGS.get(name, value)
        if value > ceiling:
            raise DomainError(f"limit {name}: found {echo(value)}, needed at most {ceiling}")
    return _in_force(raised)


@contextmanager
def _in_force(raised: dict[str, int]) -> Iterator[Limits]:
    """Puts the raised limits in force for a `with` block."""
    token = _limits.set(replace(_limits.get(), **raised))
    try:
        yield _limits.get()
    finally:
        _limits.reset(token)


def check_text(text: str | bytes, subject: str) -> None:
    """Raises LimitError if a text has more bytes, in UTF-8, than the limit `text_bytes`."""
    written = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    check("text_bytes", len(written), f"{subject}, in bytes")


def check(name: str, size: int, subject: str) -> None:
    """Raises LimitError if a size exceeds the limit called `name`, in its unit.

    The error says what of, in the words of `subject`.
    """
    allowed = getattr(current(), name)
    if size > allowed:
        size_text = f"{size:,}" if size < 10**18 else "more than 10^18"
        remedy = f"raise the limit {name}"
        if allowed >= CEILINGS.get(name, math.inf):
            remedy = "it cannot be raised: needed a smaller one"
        raise LimitError(f"{subject}: found {size_text}, the limit is {allowed:,}", remedy=remedy)
