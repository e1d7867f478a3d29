"""What a notebook shows of an answer: a small HTML table."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from symacct.export.description import float_note, in_few_words, neighbours
from symacct.expressions.theorem_registry import Theorem
from symacct.results import rounding
from symacct.results.enclosure import Enclosure, Guarantee, shortened, shown

_DIGITS = 6


def enclosure_card(x: Enclosure) -> str:
    """The value on the safe side, what is proved of it, and what it is."""
    return card([("value", shown(x, _DIGITS)), *_proof(x), ("kind", str(x.claim))])


def guarantee_card(guarantee: Guarantee) -> str:
    """ε and δ, which of them was asked, and the order, the conversion and the curve behind it."""
    rows = [("ε", shown(guarantee.epsilon, _DIGITS)), ("δ", shown(guarantee.delta, _DIGITS))]
    rows += _proof(guarantee.asked)
    alpha = rounding.order_text(guarantee.alpha)
    order = [] if guarantee.needs_no_order else [("at order", alpha)]
    rows += [
        ("kind", f"{guarantee.kind}, by the {guarantee.conversion} conversion"),
        *([("smaller", guarantee.may_be_less)] if guarantee.may_be_less else []),
        *order,
        *([("not final", guarantee.note)] if guarantee.note else []),
        ("curve", str(guarantee.claim)),
        ("neighbours", neighbours(guarantee.claim.adjacency)),
    ]
    if guarantee.mechanism is not None:
        rows.append(("expression", shortened(repr(guarantee.mechanism))))
        rows.append(("in words", in_few_words(guarantee.mechanism)))
        note = float_note(guarantee.mechanism)
        rows += [("note", note)] if note else []
    return card(rows)


def theorem_card(theorem: Theorem) -> str:
    """What a theorem says, of what, and under what."""
    return card([*theorem_facts(theorem).items()])


def theorems_grid(theorems: Iterable[Theorem]) -> str:
    """The theorems below each other."""
    rows = [theorem_facts(one) for one in theorems]
    return grid(rows[0] if rows else (), (row.values() for row in rows))


def theorem_facts(theorem: Theorem) -> dict[str, str]:
    """A theorem in a few words, by what they are about."""
    return {
        "theorem": theorem.name,
        "source": str(theorem.source),
        "about": ", ".join(theorem.operation),
        "says": " ".join(theorem.statement.split()),
        "relation": str(theorem.adjacency),
        "orders": str(theorem.orders),
        "kind": str(theorem.kind),
        "status": theorem.status,
        "assumes": theorem.assumes,
    }


def _proof(x: Enclosure) -> list[tuple[str, str]]:
    return [("all digits", str(x) if x.certified else f"{x}, not certified")]


def card(rows: Iterable[tuple[str, str]]) -> str:
    """Names beside what belongs to them."""
    body = "".join(_row([_cell("th", name), _cell("td", x)]) for name, x in rows)
    return _wide(f"<table>{body}</table>")


def grid(headers: Iterable[str], rows: Iterable[Iterable[str]], below: str = "") -> str:
    """A table with a line of headers; what is said below it."""
    head = _row(_cell("th", name) for name in headers)
    body = "".join(_row(_cell("td", value) for value in row) for row in rows)
    note = f"<p>{escape(below)}</p>" if below else ""
    return _wide(f"<table><thead>{head}</thead><tbody>{body}</tbody></table>") + note


def _wide(table: str) -> str:
    """A table that is scrolled in a narrow window, which it would be cut by."""
    return f'<div style="overflow-x:auto;max-width:100%">{table}</div>'


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, value: str) -> str:
    return f'<{tag} style="text-align:left;padding-right:1em">{escape(value)}</{tag}>'
