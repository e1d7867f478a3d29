"""What a notebook shows of an expression: what was done, what to ask of it, its formula."""

from __future__ import annotations

from contextlib import suppress
from html import escape

from symacct.export.cards import card, scrolled
from symacct.export.description import float_note, in_few_words, neighbours
from symacct.export.latex.display import inline
from symacct.kernel.answer import shortened
from symacct.kernel.claims import Kind
from symacct.kernel.errors import SymacctError
from symacct.kernel.exact import sympy
from symacct.kernel.node import Node


def node_card(m: Node) -> str:
    """What was done, what may be asked of it next, and its Rényi curve as a formula."""
    rows = [
        ("what", in_few_words(m)),
        ("relation", neighbours(m.claim.adjacency)),
        ("note", float_note(m)),
        ("expression", shortened(repr(m))),
        ("ask next", _questions(m)),
    ]
    curve = inline(m)
    formula = "" if curve is None else f"<p>Its Rényi curve:</p>{scrolled(escape(curve))}"
    return card((name, said) for name, said in rows if said) + formula


def _fitting(m: Node, symbol: sympy.Symbol) -> int | str | None:
    """A number that the symbol may stand for: a rate is at most 1."""
    for given in (2, "1/2", 10, "1/100"):
        with suppress(SymacctError):
            m.subs({symbol: given})
            return given
    return None


def _questions(m: Node) -> str:
    """What to type after the name of the expression, and what it answers."""
    if m.free_symbols:
        first = min(m.free_symbols, key=lambda symbol: symbol.name)
        if (given := _fitting(m, first)) is None:
            return ".latex() is the formula for a paper"
        puts = f".subs({{{first.name!r}: {given!r}}}) puts in a number"
        return f"{puts}, .latex() is the formula for a paper"
    if m.claim.kind not in (Kind.EXACT, Kind.UPPER):
        return ".rdp(2) is the value of this curve at an order"
    return (
        ".report('1e-5') gives the ε to report at δ = 1e-5, .explain(delta='1e-5') says what it "
        "rests on, .plot() draws the Rényi curve and .plot_profile() δ against ε"
    )
