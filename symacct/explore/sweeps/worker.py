"""What a worker does: questions in as text, answers out as text; nothing else is shared."""

from __future__ import annotations

import json
from typing import Any

from symacct import sizes
from symacct.accountant import Accountant
from symacct.enclosure import Enclosure, Guarantee
from symacct.errors import SymacctError
from symacct.exact import INFINITY
from symacct.notation import from_json
from symacct.rounding import order_text

Answer = dict[str, Any]


def answer(task: str) -> str:
    """The answers to a task's questions, in their order.

    A task is {"limits": {…}, "settings": {"ask": …, "digits": …}, "questions":
    [{"expression": JSON text, "alpha" or "delta" or "epsilon": number as text}]}. A question that
    cannot be answered has an "error" for an answer and does not touch the others.
    """
    read = json.loads(task)
    settings = read["settings"]
    with sizes.limits(**read["limits"]):
        accountant = Accountant(settings["digits"])
        return json.dumps([_answered(accountant, settings, q) for q in read["questions"]])


def _answered(accountant: Accountant, settings: Answer, question: Answer) -> Answer:
    if "error" in question:  # its parameters give no mechanism
        return {"error": question["error"]}
    try:
        return _asked(accountant, settings, question)
    except SymacctError as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _asked(accountant: Accountant, settings: Answer, question: Answer) -> Answer:
    m, ask = from_json(question["expression"]), settings["ask"]
    given = question[NEEDED[ask]]
    if ask == "rdp":
        return shown(accountant.rdp(m, given, by=settings["by"]))
    how = {name: settings[name] for name in ("conversion", "orders", "by")}
    guarantee: Guarantee = getattr(accountant, ask)(m, given, **how)
    order = "inf" if guarantee.alpha == INFINITY else order_text(guarantee.alpha, 12)
    return {**shown(guarantee.asked), "order": order, "optimal": guarantee.optimal}


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
