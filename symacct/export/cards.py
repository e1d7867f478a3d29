"""What a notebook shows of an answer: a small HTML table."""

from __future__ import annotations

from html import escape

from symacct import rounding
from symacct.enclosure import Enclosure, Guarantee, shown

_DIGITS = 6
_WIDEST = 200  # characters of an expression


def enclosure_card(x: Enclosure) -> str:
    """The value on the safe side, what is proved of it, and what it is."""
    return _card([("value", shown(x, _DIGITS)), *_proof(x), ("it is", str(x.claim))])


def guarantee_card(guarantee: Guarantee) -> str:
    """ε and δ, which of them was asked, and the order, the conversion and the curve behind it."""
    rows = [("ε", shown(guarantee.epsilon, _DIGITS)), ("δ", shown(guarantee.delta, _DIGITS))]
    rows += _proof(guarantee.asked)
    rows += [
        ("it is", f"{guarantee.kind}, by the {guarantee.conversion} conversion"),
        ("at order", rounding.order_text(guarantee.alpha)),
        ("of a curve that is", str(guarantee.claim)),
    ]
    if guarantee.mechanism is not None:
        rows.append(("of", _short(repr(guarantee.mechanism))))
    return _card(rows)


def _proof(x: Enclosure) -> list[tuple[str, str]]:
    return [("digits", str(x) if x.certified else f"{x}, not certified")]


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"


def _card(rows: list[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table>{cells}</table>"
