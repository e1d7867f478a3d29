"""What a terminal and a notebook show of an expression and of an answer: lines, an HTML table."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from symacct.export.description import float_note, in_few_words, neighbours, sensitivity
from symacct.kernel import answer
from symacct.kernel.answer import Enclosure, Guarantee, shortened, shown
from symacct.kernel.attached import question
from symacct.kernel.claims import Kind
from symacct.kernel.exact import LazyModule
from symacct.kernel.node import Node
from symacct.kernel.theorem_registry import Theorem, Theorems

if TYPE_CHECKING:
    from symacct.export.latex import display
else:  # which loads SymPy
    display = LazyModule("symacct.export.latex.display")

#: A number beside which all digits stand has this many significant digits.
_DIGITS = 6
#: A cell of at most this many characters stays in one line.
_MOST_UNBROKEN = 40
#: A guarantee's number is called this by its kind.
_KINDS = {Kind.EXACT: "the smallest that is true", Kind.UPPER: "an upper bound"}
#: Styles that hold on light and on dark pages: none names a colour.
_NAME = "white-space:nowrap;padding-right:1em"
_TEXT = "white-space:normal;overflow-wrap:anywhere"
_FIRST = f"{_TEXT};font-weight:bold"
_SENTENCE = "white-space:normal;min-width:16em;padding-right:1em"


@question(Enclosure, "_repr_html_")
def enclosure_card(x: Enclosure) -> str:
    """Show the value on its safe side, all its digits and its claim, as an HTML table."""
    value = f"{shown(x, _DIGITS)}  ({x.how_rounded(_DIGITS)})"
    return card([("value", value), _digits(x), ("kind", str(x.claim))])


@question(Guarantee, "_repr_html_")
def guarantee_card(guarantee: Guarantee) -> str:
    """Show what is guaranteed, for whom and of what, how it was found, and all its digits."""
    g, letters = guarantee, ("ε", "δ")
    letter, other = letters if g.epsilon is g.asked else letters[::-1]
    pair = f"{letter} = {shown(g.asked, _DIGITS)} at {other} = {shown(g.given)}"
    order = "" if g.needs_no_order else f" at order {answer.found_order(g.alpha)}"
    m = g.mechanism
    note = "" if m is None else float_note(m)
    rows = [
        ("guarantee", f"{pair}  ({g.asked.how_rounded(_DIGITS)})"),
        ("smaller", g.may_be_less),
        ("not final", g.note),
        ("relation", neighbours(g.claim.adjacency, m)),
        ("of", "" if m is None else in_few_words(m)),
        ("note", note),
        ("how", f"{_KINDS[g.kind]}, by the {g.conversion} conversion{order}"),
        _digits(g.asked),
        ("curve", str(g.claim)),
        ("expression", "" if m is None else shortened(repr(m))),
    ]
    return card((name, value) for name, value in rows if value)


@question(Guarantee, "__repr__")
def guarantee_lines(guarantee: Guarantee) -> str:
    """Write the guarantee, whether a smaller one may be had, its claim, and what it is of."""
    lines = [f"Guarantee: {guarantee}", _best(guarantee), f"of the curve: {guarantee.claim}"]
    m = guarantee.mechanism
    if m is not None:
        lines += [f"of: {', '.join(filter(None, (shortened(repr(m)), sensitivity(m))))}"]
        lines += [float_note(m)]
    return "\n  ".join(filter(None, lines))


def _best(guarantee: Guarantee) -> str:
    """Name the kind of the number, and say of one by an order whether another may do better."""
    if guarantee.needs_no_order:
        return str(guarantee.kind)
    best = "no order does better" if guarantee.optimal else "another order may do better"
    return "; ".join(filter(None, [str(guarantee.kind), best, guarantee.may_be_less]))


@question(Theorem, "_repr_html_")
def theorem_card(theorem: Theorem) -> str:
    """Show what a theorem says, of what, and under what assumptions."""
    return card([*theorem_facts(theorem).items()])


@question(Theorems, "_repr_html_")
def theorems_grid(theorems: Iterable[Theorem]) -> str:
    """Show the theorems below each other, in one table."""
    rows = [theorem_facts(theorem) for theorem in theorems]
    return grid(rows[0] if rows else (), (row.values() for row in rows))


def theorem_facts(theorem: Theorem) -> dict[str, str]:
    """Describe a theorem in a few words each, by what these are about."""
    return {
        "theorem": theorem.name,
        "says": " ".join(theorem.statement.split()),
        "assumes": theorem.assumes,
        "about": theorem.about,
        "kind": str(theorem.kind),
        "status": theorem.status,
        "relation": str(theorem.adjacency),
        "orders": str(theorem.orders),
        "source": str(theorem.source),
    }


def _digits(x: Enclosure) -> tuple[str, str]:
    """Give the row of all the digits that were asked for, and whether they are proved.

    The digits are left out where the value above shows them all.
    """
    proved = "every digit is proved" if x.certified else "not certified"
    if str(x) == shown(x, _DIGITS):
        return "digits", proved
    return f"to {x.digits_asked} digits", f"{x}  ({proved})"


def card(rows: Iterable[tuple[str, str]]) -> str:
    """Write an HTML table of names beside what belongs to them; the first row stands out.

    The text is escaped.
    """
    body = "".join(
        f"<tr>{_cell('th', name, _NAME)}{_cell('td', value, _TEXT if place else _FIRST)}</tr>"
        for place, (name, value) in enumerate(rows)
    )
    return f'<table style="max-width:56em">{body}</table>'


def grid(headers: Iterable[str], rows: Iterable[Iterable[str]], below: str = "") -> str:
    """Write an HTML table with a line of headers, and a paragraph below it; text is escaped."""
    head = "".join(_cell("th", name) for name in headers)
    lines = ("".join(_cell("td", cell) for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    note = f"<p>{escape(below)}</p>" if below else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return scrolled(table) + note


def scrolled(wide: str) -> str:
    """Put HTML into a box that scrolls where a narrow window would cut it; nothing is escaped."""
    return f'<div style="overflow-x:auto;max-width:100%">{wide}</div>'


def _cell(tag: str, text: str, style: str = "") -> str:
    """Write a cell of a table, its text escaped; without a style only a sentence is wrapped."""
    style = style or (_NAME if len(text) <= _MOST_UNBROKEN else _SENTENCE)
    return f'<{tag} style="text-align:left;vertical-align:top;{style}">{escape(text)}</{tag}>'


@question(Node, "_repr_html_")
def node_card(m: Node) -> str:
    """Show what was done, whom it is about, and its Rényi curve as a formula.

    The formula is left out where there is none, or it is too long to be read.
    """
    rows = [
        ("what", in_few_words(m)),
        ("relation", neighbours(m.claim.adjacency)),
        ("note", float_note(m)),
        ("expression", shortened(repr(m))),
    ]
    curve = display.inline(m)
    formula = "" if curve is None else f"<p>Its Rényi curve:</p>{scrolled(escape(curve))}"
    return card((name, value) for name, value in rows if value) + formula
