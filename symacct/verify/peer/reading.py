"""What a peer's line says: bounded, typed values by docs/verification.md, or a ProtocolError."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from symacct.kernel.errors import DomainError, LimitError, SymacctError
from symacct.kernel.exact import exact
from symacct.verify.peer.protocol import (
    ADJACENCIES,
    CALIBRATED,
    CONVERSIONS,
    HOW,
    KINDS,
    MECHANISMS,
    SAMPLINGS,
    STREAMS,
    WITH_SENSITIVITY,
    Answer,
    Hello,
    Support,
)

_T = TypeVar("_T")
Row = dict[str, object]
#: The largest min_order of a row, as questions are drawn up to it; the largest order of a hello.
LARGEST_MIN_ORDER, _MOST_ORDER = Fraction(4096), Fraction(2**17)
#: The most orders of a hello's list, and the most rows of its `supports`.
_MOST_ORDERS = 4096
_MOST_SUPPORTS = 120  # every mechanism, sampling, relation and kind of orders
#: An order's numerator and denominator have fewer bits: more than any float64 of that size has.
_ORDER_BITS = 256
_NO_NUMBER = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
#: Text in quotes (to the end of the line where they are not closed), or what C prints: -nan(0x8).
_BARE = re.compile(
    r'"(?:[^"\\]|\\.?)*"?|([+-]?(?:inf(?:inity)?|nan)\b)(?:\(\w*\))?', re.IGNORECASE | re.DOTALL
)
#: The begin of an answer whose id comes first, wherever it stands on a line.
_BEGINS = re.compile(rb'\{\s*"id"\s*:')
_REPRODUCE = (60, 2000)  # the most lines, and characters of one; what is more is cut
#: The fields that an answer may have: any other makes it a bad one.
_ANSWER = {
    "id", "value", "values", "error", "unsupported", "claims", "alpha", "reproduce", "seconds",
}  # fmt: skip


class ProtocolError(SymacctError):
    """A peer's line is not what docs/verification.md says."""


class Number(str):
    """A JSON number as it was written: reading it loses no digit and computes nothing."""

    __slots__ = ()


def read_object(line: bytes) -> Row | None:
    """The JSON object on a line, its numbers as they were written; None for anything else.

    Other words may stand before it, as of what logs or prints without an end of the line.
    """
    whole, later = line.lstrip(), _BEGINS.search(line)
    row = _object(whole) if whole.startswith(b"{") else None
    return _object(line[later.start() :]) if row is None and later is not None else row


def _object(text: bytes) -> Row | None:
    """The JSON object that the text is, its numbers as they were written, bare nan and inf as text.

    None for anything else, for text after it, and for bytes that are no UTF-8.
    """
    try:
        bare = _BARE.sub(_quoted, text.decode())
        row = json.loads(bare, parse_int=Number, parse_float=Number)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _quoted(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else f'"{match[1]}"'


def is_answer_to(row: Row, number: int) -> bool:
    """Does the row have the id of this ask, and is it not the ask itself?"""
    given = row.get("id")
    return isinstance(given, Number) and given == str(number) and "ask" not in row


def misplaced(row: Row, number: int) -> str:
    """Describes what is wrong with a row that answers no question; empty for noise.

    The line that was read, and the line that is needed.
    """
    if "ask" in row:
        problem = f"it echoes the question: found {shown(row)}"
        return f"{problem}; needed an answer, such as {line_needed(number)}"
    if not set(row) & (((_ANSWER if number else {"id", *_HELLO}) | {"error"}) - {"id", "version"}):
        return ""
    other = f"with the id {_json(row['id'])}" if "id" in row else 'without an "id"'
    needed = f"the id of the question: {line_needed(number)}"
    return f"found an answer {other}: {shown(row)}; needed {needed}"


def line_needed(number: int) -> str:
    """The line that would answer this question, with … for what is open; a hello's for 0."""
    rest = '"value": …' if number else '"peer": "NAME", "supports": […]'
    return f'{{"id": {number}, {rest}}}'


def is_meant_for(line: bytes, number: int) -> bool:
    """Does a line that is no JSON hold the begin of the answer to this ask, {"id": number?"""
    return re.search(rb'\{\s*"id"\s*:\s*%d\b' % number, line) is not None


def read_answer(row: Row, measured: float, batch: int = 0) -> Answer:
    """Reads the Answer in a row, of a batch of so many orders; or raises ProtocolError.

    The seconds are those `measured`, or fewer if the peer states fewer. Long texts are cut.
    """
    _only(row, _ANSWER)
    key = "values" if batch else "value"
    given = [name for name in ("value", "values", "error", "unsupported") if name in row]
    if len(given) != 1 or given[0] not in (key, "error", "unsupported"):
        raise ProtocolError(f"found {shown(row)}, needed one of '{key}', 'error', 'unsupported'")
    return Answer(
        value=read_number(row["value"]) if "value" in row else None,
        values=_values(row["values"], batch) if "values" in row else (),
        error=_text(row["error"], 300) if "error" in row else None,
        unsupported=_text(row["unsupported"], 300) if "unsupported" in row else None,
        claims=_if_given(row, "claims", lambda value: _text(value, 200)),
        alpha=_if_given(row, "alpha", _order_text),
        reproduce=_if_given(row, "reproduce", _lines) or (),
        seconds=_seconds(row, measured),
    )


def _values(value: object, needed: int) -> tuple[Fraction | float, ...]:
    """Reads the values of a batch, one for each order asked; or raises ProtocolError."""
    if not isinstance(value, list) or len(value) != needed:
        raise _needed(value, f"'values', a list of {needed}, one for each of the orders")
    return tuple(map(read_number, value))


def read_number(value: object) -> Fraction | float:
    """Reads a Number, or text that is one, exactly; inf and nan as floats; or ProtocolError."""
    if not isinstance(value, str):
        raise _needed(value, "a number")
    if _NO_NUMBER.fullmatch(value.strip()):
        return float(value)
    try:
        number = exact(str(value), "value")
    except (DomainError, LimitError) as error:
        raise _needed(value, "a number") from error
    assert isinstance(number, Fraction)  # noqa: S101  # text is rational
    return number


# --- the hello


def read_hello(row: Row) -> Hello:
    """Reads the Hello in an answer, or raises ProtocolError."""
    if "error" in row:
        raise ProtocolError(
            f"the peer answered the hello with an error: {shown(row['error'])}; "
            "needed its packages installed: use --python PATH of an interpreter that has them, "
            "or --install"
        )
    try:
        given = _read({key: value for key, value in row.items() if key != "id"}, _HELLO)
        return Hello(**{"version": "unknown", **given})
    except ProtocolError as error:
        raise ProtocolError(
            f"the peer's hello: {error}", remedy="see docs/verification.md"
        ) from None


def _support(item: object) -> Support:
    """Reads a row of `supports`; ProtocolError for one that this protocol does not define."""
    if not isinstance(item, dict):
        raise _needed(item, "an object with a 'mechanism'")
    row = Support(**_read(item, _SUPPORT))
    _require_orders(row)
    _require_meaning(row)
    return row


def _require_orders(row: Support) -> None:
    """Raises ProtocolError for a row that takes no order > 1, or none up to LARGEST_MIN_ORDER."""
    lowest = row.min_order
    if row.orders == "integer":
        lowest = Fraction(max(2, math.ceil(lowest)))
    most = row.max_order
    if lowest > LARGEST_MIN_ORDER or (most is not None and (most < lowest or most <= 1)):
        raise _needed(
            {"min_order": str(row.min_order), "max_order": str(most)},
            f"an order > 1 between them, min_order at most {LARGEST_MIN_ORDER}",
        )


def _require_meaning(row: Support) -> None:
    """Raises ProtocolError for a row that this protocol does not define."""
    special = row.adjacency in ("replace_special", "zero_out")
    if special and row.mechanism == "RandomizedResponse":
        raise _needed(f"{row.mechanism} under replace_special", "noise on a sum")
    if row.inner and row.sampling == "none":
        raise _needed("'inner' without a sampling", "a row that is sampled")
    if row.mechanism in STREAMS and row.sampling != "none":
        raise _needed(f"{row.mechanism}, {row.sampling}", "a stream that is not sampled")
    if row.sensitivity and row.mechanism not in WITH_SENSITIVITY:
        raise _needed(f"'sensitivity' of {row.mechanism}", f"one of {', '.join(WITH_SENSITIVITY)}")
    if "noise" in row.asks and row.mechanism not in CALIBRATED:
        raise _needed(f"'noise' of {row.mechanism}", f"one of {', '.join(CALIBRATED)}")
    if "rate" in row.asks and row.sampling != "poisson":
        raise _needed(f"'rate' of {row.mechanism}, {row.sampling}", "a row of Poisson samples")


def _orders(value: object) -> tuple[Fraction, ...] | str:
    """Reads the orders that a peer searches, or "real" for all; or raises ProtocolError."""
    if value == "real":
        return "real"
    return tuple(map(_order, _listed(value, 'default_orders (or "real")', _MOST_ORDERS)))


def _order(value: object) -> Fraction:
    """An order from 1 to _MOST_ORDER of fewer than _ORDER_BITS, or ProtocolError."""
    number = read_number(value)
    bits = _ORDER_BITS
    if isinstance(number, Fraction) and 1 <= number <= _MOST_ORDER:
        bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits >= _ORDER_BITS:
        raise _needed(value, f"an order from 1 to {_MOST_ORDER}")
    return Fraction(number)


def _how(value: object) -> dict[str, tuple[str, ...]]:
    """Reads which ways of building questions a peer knows; or raises ProtocolError."""
    if not isinstance(value, dict):
        raise _needed(value, "'how', an object")
    _only(value, set(HOW))
    return {key: _ways(value[key], known) for key, known in HOW.items() if key in value}


def _ways(value: object, known: tuple[str, ...]) -> tuple[str, ...]:
    """The known ways that are listed, in our sequence; ProtocolError for another."""
    given = {_choice(item, known) for item in _listed(value, "ways", len(known))}
    return tuple(way for way in known if way in given)


def _among(known: tuple[str, ...]) -> Callable[[object], str]:
    return lambda value: _choice(value, known)


# --- fields


def _only(row: Row, known: set[str]) -> None:
    """Raises ProtocolError for a field that is not known."""
    unknown = sorted(set(row) - known)
    if unknown:
        raise ProtocolError(
            f"found the field {shown(unknown[0])}, needed only {', '.join(sorted(known))}"
        )


def _read(row: Row, readers: dict[str, Callable[[object], Any]]) -> dict[str, Any]:
    """The given fields (null is none) by their readers; ProtocolError for others, or too few."""
    _only(row, set(readers))
    for key in _REQUIRED:
        if key in readers and row.get(key) is None:
            raise _needed(row, f"{key!r}")
    return {key: read(row[key]) for key, read in readers.items() if row.get(key) is not None}


def _if_given(row: Row, key: str, read: Callable[[object], _T]) -> _T | None:
    """The field as `read` has it; None where it is absent or null."""
    return None if row.get(key) is None else read(row[key])


def _text(value: object, most: int) -> str:
    """A text, cut to so many printable characters; ProtocolError for anything else."""
    if type(value) is not str:
        raise _needed(value, "text")
    return printable(value, most)


def _version(value: object) -> str:
    return _text(str(value) if isinstance(value, Number) else value, 80) or "unknown"


def _flag(value: object) -> bool:
    """Reads true or false; or raises ProtocolError."""
    if not isinstance(value, bool):
        raise _needed(value, "true or false")
    return value


def _choice(value: object, known: tuple[str, ...]) -> str:
    """Reads a text that is one of those known; or raises ProtocolError."""
    if type(value) is not str or value not in known:
        raise _needed(value, f"one of {', '.join(known)}")
    return value


def _listed(value: object, what: str, most: int) -> list[object]:
    """A list that is neither empty nor longer than `most`, or ProtocolError."""
    if not isinstance(value, list) or not 0 < len(value) <= most:
        raise _needed(value, f"{what}, a list of 1 to {most}")
    return value


def _lines(value: object) -> tuple[str, ...]:
    """Reads lines of code that reproduce an answer, cut to 60 lines of 2,000 characters."""
    lines, length = _REPRODUCE
    listed = value if isinstance(value, list) else [value]
    return tuple(_text(line, length) for line in listed[:lines])


def _order_text(value: object) -> str:
    read_number(value)
    return printable(str(value), 80)


def _seconds(row: Row, measured: float) -> float:
    """The seconds that the peer states, no more than were measured here."""
    stated = _if_given(row, "seconds", read_number)
    if stated is None:
        return measured
    if not 0 <= stated < math.inf:
        raise _needed(row["seconds"], "seconds >= 0")
    return float(min(stated, Fraction(measured)))


def _needed(value: object, needed: str) -> ProtocolError:
    return ProtocolError(f"found {shown(value)}, needed {needed}")


#: How each field is read; one that is absent or null is what the class of the row says.
_SUPPORT: dict[str, Callable[[object], Any]] = {
    "mechanism": _among(tuple(MECHANISMS)),
    "sampling": _among(SAMPLINGS),
    "adjacency": _among(ADJACENCIES),
    "orders": _among(("real", "integer")),
    "asks": lambda value: tuple(map(_among(KINDS), _listed(value, "asks", len(KINDS)))),
    **dict.fromkeys(("min_order", "max_order"), _order),
    **dict.fromkeys(("order_one", "inner", "batch", "group", "sensitivity"), _flag),
}
#: How each field of a hello is read.
_HELLO: dict[str, Callable[[object], Any]] = {
    "peer": lambda value: _text(value, 80),
    "version": _version,
    "supports": lambda value: tuple(map(_support, _listed(value, "supports", _MOST_SUPPORTS))),
    "conversion": _among(CONVERSIONS),
    "default_orders": _orders,
    **dict.fromkeys(("compose", "order_grid", "negative_epsilon"), _flag),
    "how": _how,
}
#: The fields that a hello and its rows must have.
_REQUIRED = ("mechanism", "peer", "supports")


# --- what is shown of a peer's text


def printable(text: str, most: int = 300) -> str:
    """A peer's text for a terminal or a page, cut to `most`; of controls only newlines stay."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in cut)


def shown(value: object) -> str:
    """Any JSON value for a message, cut to 300 characters; a text without its quotes."""
    try:
        text = value if isinstance(value, str) else _json(value)
    except RecursionError:
        text = "a value nested too deeply"
    return printable(text)


def _json(value: object) -> str:
    """JSON with each number as it was written."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_json, value))}]"
    if isinstance(value, dict):
        rows = (f"{json.dumps(key, ensure_ascii=False)}: {_json(value[key])}" for key in value)
        return f"{{{', '.join(rows)}}}"
    return json.dumps(value, ensure_ascii=False)
