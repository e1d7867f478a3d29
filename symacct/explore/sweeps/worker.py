"""What a worker does: questions in as text, answers out as text; nothing else is shared."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

from symacct.export.description import OWN_CURVE
from symacct.export.tables import in_full
from symacct.kernel import exact, limits
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, Guarantee, found_order, order_text
from symacct.kernel.claims import Kind
from symacct.kernel.errors import SymacctError
from symacct.kernel.exact import INFINITY
from symacct.kernel.node import Node
from symacct.text import from_json

Answer = dict[str, Any]


def answer(task: str) -> str:
    """The answers to a task's questions, in their order.

    A task is {"limits": {…}, "settings": {"ask": …, "digits": …}, "expression": JSON text,
    "questions": [[["sigma", "5"], …, ["alpha" or "delta" or "epsilon", number as text]]]}, the
    symbols' values first. A question that cannot be answered has an "error" for an answer and does
    not touch the others.
    """
    read = json.loads(task)
    settings = read["settings"]
    if "error" in read:  # the expression has no text
        return json.dumps([{"error": read["error"]}] * len(read["questions"]))
    answers: list[Answer] = []
    with limits.limits(**read["limits"]):
        accountant = Accountant(settings["digits"])
        try:
            m = from_json(read["expression"])
        except SymacctError as error:
            return json.dumps([_error(error)] * len(read["questions"]))
        # One set of parameters is asked at several orders, δ or ε.
        for chosen, questions in groupby(read["questions"], lambda question: question[:-1]):
            answers += _answers(accountant, settings, m, chosen, [q[-1][1] for q in questions])
        return json.dumps(answers)


def _answers(
    accountant: Accountant, settings: Answer, m: Node, chosen: list[list[str]], given: list[str]
) -> list[Answer]:
    """The answers at each of the numbers given, or the error of parameters that give no m."""
    try:
        at = m.subs(dict(chosen)) if chosen else m
    except SymacctError as error:
        return [_error(error)] * len(given)
    return [_asked(accountant, settings, at, number) for number in given]


def _error(error: SymacctError) -> Answer:
    return {"error": f"{type(error).__name__}: {error}"}


def _asked(accountant: Accountant, settings: Answer, m: Node, given: str) -> Answer:
    by = tuple(settings["by"]) if isinstance(settings["by"], list) else settings["by"]
    try:
        if settings["ask"] == "rdp":
            found = accountant.rdp(m, given, by=by)
            return shown(in_full(found, m, exact.order(given), by, accountant.digits))
        how = {"conversion": settings["conversion"], "orders": settings["orders"], "by": by}
        guarantee: Guarantee = getattr(accountant, settings["ask"])(m, given, **how)
    except SymacctError as error:
        return _error(error)
    return {**_of(guarantee), "how": _how(guarantee)}


def _of(g: Guarantee) -> Answer:
    if g.needs_no_order:
        return shown(g.asked)
    order = "inf" if g.alpha == INFINITY else order_text(g.alpha, 12)
    return {**shown(g.asked), "order": order, "optimal": g.optimal}


def _how(g: Guarantee) -> str:
    """How the number was found."""
    if g.needs_no_order:
        how = "exact profile" if g.kind is Kind.EXACT else "profile of a dominating pair"
    else:
        theorems = ", ".join(g.claim.theorems) or OWN_CURVE
        how = f"order {found_order(g.alpha)} by {theorems}, {g.conversion} conversion"
    return "; ".join(filter(None, [how, g.note]))


def shown(x: Enclosure) -> Answer:
    """The value on its safe side, and both of its ends rounded outwards."""
    return {
        "value": x.rounded(),
        "lower": x.rounded_down(),
        "upper": x.rounded_up(),
        "kind": str(x.claim.kind),
        "certified": x.certified,
        "theorems": " ".join(x.claim.theorems),
    }


#: What may be asked, with the parameter that the question needs besides the expression's own.
NEEDED = {"rdp": "alpha", "epsilon": "delta", "delta": "epsilon"}
