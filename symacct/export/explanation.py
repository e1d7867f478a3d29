"""Explanations: what was done, and which theorem says what about it, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from operator import attrgetter
from typing import Any, TypeAlias

from symacct.export.cards import card
from symacct.export.description import own_premises, value
from symacct.kernel import exact
from symacct.kernel.answer import order_text
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.evaluation import Evaluation, LeafCurve, NodeCurve, OperationCurve
from symacct.kernel.exact import Numeric, Order, order
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose, Count
from symacct.kernel.sources import SYMACCT
from symacct.results.screen import Branch, Part
from symacct.text import heading

#: What was asked and how it was found, in rows.
Answer: TypeAlias = tuple[tuple[str, str], ...]

#: Balls have this many bits, which show which theorem is best at an order.
_BITS = 128
#: A node of the same curve rests on these.
_SAME_CURVE = SYMACCT.at("docs/proofs/directions.md, nested-samples and gaussian-queries")


@dataclass(frozen=True, repr=False)
class Explanation:
    """One node: what it is, the theorem that bounds it at the order, and its parts.

    `theorem` is empty for a mechanism, whose own curve is `statement`. `count` is how many times it
    is run.
    """

    title: str
    count: Count
    theorem: str
    statement: str
    assumes: str
    claim: Claim
    parts: tuple[Explanation, ...]
    #: The theorems are about this node of the same curve, where it is another one.
    same_curve_as: str = ""
    #: It has the same curve for these reasons.
    reasons: tuple[str, ...] = ()
    #: This has to be true of the program that ran; it is said of the whole, not of its parts.
    premises: tuple[str, ...] = ()
    #: The sensitivity of a mechanism's noise is said where the text leaves it out as well.
    sensitivity: str = ""
    #: The number that is explained and how it was found are said of the whole, not of its parts.
    answer: Answer = ()
    #: Does the number come from the exact privacy profile, which no theorem about orders is behind?
    by_profile: bool = False

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield what is said of this node, as (label, text)."""
        yield from self.answer
        if self.same_curve_as:
            yield "same curve as", f"{self.same_curve_as} ({_SAME_CURVE})"
            yield from (("because", why) for why in self.reasons)
        if self.premises:
            yield "premises", "; ".join(self.premises)
        if self.by_profile:
            yield from [("sensitivity", self.sensitivity)] if self.sensitivity else []
            return
        if self.theorem:
            yield "theorem", f"{self.theorem} ({self.claim.sources[0]})"
            yield from [("says", self.statement), ("assumes", self.assumes)]
        else:
            yield "curve", str(self.claim.sources[0])
        if self.sensitivity:
            yield "sensitivity", self.sensitivity
        trust = "" if self.claim.certified else ", not certified"
        yield "claim", f"{self.claim.kind}, {self.claim.adjacency}{trust}"

    def __str__(self) -> str:
        return "\n".join(_indented(self, 0))

    __repr__ = __str__

    def _screen_(self) -> Iterator[Part]:
        yield self._branch()

    def _branch(self) -> Branch:
        below = [part._branch() for part in self.parts]
        return Branch(_counted(self), list(self.lines()), below)

    def _repr_html_(self) -> str:
        """Lay the explanation in a card for a notebook, those of its parts below it."""
        inner = "".join(part._repr_html_() for part in self.parts)
        within = f'<div style="padding-left:1.5em">{inner}</div>' if inner else ""
        rows = list(self.lines())
        return f"<p><b>{escape(_counted(self))}</b></p>{card(rows) if rows else ''}{within}"

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation for JSON."""
        same = (
            {"same_curve_as": self.same_curve_as, "because": self.reasons}
            if self.same_curve_as
            else {}
        )
        return {
            "node": self.title,
            "count": self.count,
            **dict(self.answer),
            **same,
            "theorem": self.theorem or None,
            "says": self.statement,
            "assumes": self.assumes or None,
            **({"premises": list(self.premises)} if self.premises else {}),
            "sensitivity": self.sensitivity or None,
            "claim": self.claim.as_dict(),
            "parts": [part.as_dict() for part in self.parts],
        }


def explain_order(
    m: Node, alpha: Numeric | None = None, answer: Answer | None = None
) -> Explanation:
    """Explain m's curve at an order by bounds of its side, by default at 2, the first whole one.

    `answer` says in rows what was asked, if it was not ε(α) at this order. Raises as `rdp` does.
    """
    at = 2 if alpha is None else order(alpha)
    why = ", the first whole one, because nothing was asked" if alpha is None else ""
    question = (("number", f"ε(α) of the Rényi curve at order {order_text(at)}{why}"),)
    goal = Kind.LOWER if m.claim.kind is Kind.LOWER else Kind.UPPER
    with precision(_BITS):
        evaluation = Evaluation(BALL, goal)
        explanation = _explain(evaluation, evaluation.curve(m), at, 1)
    return _of_all(replace(explanation, answer=question if answer is None else answer), m)


def explain_profile(m: Node, answer: Answer) -> Explanation:
    """Explain what a number of the exact privacy profile is about, part by part."""
    return _of_all(replace(_parts(m._rewritten, 1), answer=answer), m)


def _parts(node: Node, count: Count) -> Explanation:
    """Explain a node and its parts without theorems, which a profile does not read."""
    parts = _sorted(_parts(part, n) for part, n in node.parts.items())
    title = _title(node) if parts else repr(node)
    noise = _sensitivity(node)
    return Explanation(
        title, count, "", "", "", node.claim, parts, sensitivity=noise, by_profile=True
    )


def _sorted(parts: Iterable[Explanation]) -> tuple[Explanation, ...]:
    return tuple(sorted(parts, key=attrgetter("title")))


def _sensitivity(node: Node) -> str:
    """Write the sensitivity of a mechanism; empty where it has none."""
    return value(node.fields().get("sensitivity", ""))


def _of_all(explanation: Explanation, m: Node) -> Explanation:
    """Add what is said of the whole: its premises, and the node of the same curve."""
    explanation = replace(explanation, premises=tuple(own_premises(m)))
    if m._rewritten is m:
        return explanation
    return replace(
        explanation, title=_title(m), same_curve_as=repr(m._rewritten), reasons=m._rewrites
    )


def _explain(evaluation: Evaluation, curve: NodeCurve, alpha: Order, count: int) -> Explanation:
    """Explain a curve at an order, and the parts that its theorem reads.

    Parts are explained at order 2 if the theorem reads whole orders, else at α.
    """
    node = curve.node
    claim = curve.claim(alpha)
    if isinstance(curve, LeafCurve):
        statement = (type(node).__doc__ or "").split("\n\n")[0]
        noise = _sensitivity(node)
        return Explanation(repr(node), count, "", statement, "", claim, (), sensitivity=noise)
    assert isinstance(curve, OperationCurve)  # noqa: S101  # there are only these two
    theorem = curve.best(alpha)
    read = 2 if theorem.orders.whole or theorem.reads == "itself" else alpha
    parts = _sorted(
        _explain(evaluation, evaluation.curve(part), read, n) for part, n in node.parts.items()
    )
    says = " ".join(theorem.statement.split())
    return Explanation(_title(node), count, theorem.name, says, theorem.assumes, claim, parts)


def _shown(count: Count) -> str:
    """Write a number of runs, whatever its length."""
    return exact.text(Fraction(count) if isinstance(count, int) else count)


def _counted(explanation: Explanation) -> str:
    """Write the title, and how many times where that is not once."""
    times = f"{_shown(explanation.count)} × " if explanation.count != 1 else ""
    return f"{times}{explanation.title}"


def _title(node: Node) -> str:
    """Name the operation and its parameters; its parts are left to the branches below."""
    if isinstance(node, Compose):
        if not node.terms:
            return "Compose of nothing: no mechanism is run"
        kinds = len(node.terms)
        return f"Compose, {_shown(node.runs)} runs of {kinds} mechanism{'s' * (kinds != 1)}"
    return heading(node)


def _indented(explanation: Explanation, depth: int) -> Iterator[str]:
    """Yield the lines of an explanation and of its parts, two spaces further in for each level."""
    margin = "  " * depth
    yield f"{margin}{_counted(explanation)}"
    for label, text in explanation.lines():
        yield f"{margin}    {label}: {text}"
    for part in explanation.parts:
        yield from _indented(part, depth + 1)
