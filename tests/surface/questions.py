"""What every expression is asked, how an answer is written down, and which answers keep it.

A number is written as its kind and two ends, which are proved. Another tree keeps it if its answer
is as strong and no truth contradicts it: a tighter bound passes, and one below the truth does not.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import symacct as sa
from symacct.kernel import deadline

DIGITS = 9
DELTA, EPSILON = "1e-5", "1"
#: Of an upper bound, which a search may find a little above or below another one.
NEAR = Fraction(1, 10**6)
#: Errors that say "not known" or "not in time": an answer in their place is a gain.
NOT_KNOWN = ("SoundnessError", "LimitError", "PrecisionError", "OrderError", "InfiniteError")
SECONDS_TO_WRITE, SECONDS_TO_KEEP = 1.25, 30.0

Answer = dict[str, Any]

QUESTIONS: dict[str, Callable[[sa.Node], Any]] = {
    **{
        f"rdp({alpha})": lambda m, alpha=alpha: m.rdp(alpha, digits=DIGITS)
        for alpha in ("2", "3", "8", "64", "5/2", "inf")
    },
    "rdp(3), mpmath": lambda m: m.rdp(3, digits=DIGITS, engine="mpmath"),
    "rdp(3), float64": lambda m: m.rdp(3, engine="float64"),
    "cgf(4)": lambda m: m.cgf(4, digits=DIGITS),
    "lower_bound(2)": lambda m: m.lower_bound(2, digits=DIGITS),
    "lower_bound(8)": lambda m: m.lower_bound(8, digits=DIGITS),
    "epsilon, improved": lambda m: m.epsilon(DELTA, digits=DIGITS, conversion="improved").asked,
    "epsilon, exact": lambda m: m.epsilon(DELTA, digits=DIGITS, conversion="exact").asked,
    "epsilon": lambda m: m.epsilon(DELTA, digits=DIGITS).asked,
    "delta": lambda m: m.delta(EPSILON, digits=DIGITS).asked,
    "lower_epsilon": lambda m: m.lower_epsilon(DELTA, digits=DIGITS),
    "lower_delta": lambda m: m.lower_delta(EPSILON, digits=DIGITS),
}
#: Questions about one number: what bounds it from the other side.
TRUTHS = {
    "rdp(2)": ("rdp(2)", "lower_bound(2)"),
    "rdp(8)": ("rdp(8)", "lower_bound(8)"),
    "lower_bound(2)": ("rdp(2)", "lower_bound(2)"),
    "lower_bound(8)": ("rdp(8)", "lower_bound(8)"),
    **dict.fromkeys(
        ("epsilon, improved", "epsilon, exact", "epsilon", "lower_epsilon"),
        ("epsilon", "epsilon, improved", "epsilon, exact", "lower_epsilon"),
    ),
    **dict.fromkeys(("delta", "lower_delta"), ("delta", "lower_delta")),
}


def written(value: Any) -> Answer:
    """An answer as it is stored: a number by its kind and ends, rounded outwards."""
    if isinstance(value, sa.Enclosure):
        kind, low, high = value.claim.kind, value.rounded_down(DIGITS), value.rounded_up(DIGITS)
        return {"kind": str(kind), "low": low, "high": high, "about": str(value.claim.adjacency)}
    return {"kind": "error", "name": type(value).__name__}


def packed(answer: Answer) -> str:
    """The answer as one text: `upper 0.12 0.13 either`, or `error LimitError`."""
    return " ".join(answer.values())


def unpacked(text: str) -> Answer:
    """The answer that a text says."""
    keys = ("kind", "name") if text.startswith("error") else ("kind", "low", "high", "about")
    return dict(zip(keys, text.split(" ", len(keys) - 1), strict=True))


def asked(
    question: Callable[[sa.Node], Any], m: sa.Node, seconds: float, best_in: int = 10
) -> Answer | None:
    """The answer as it is stored; None where it takes longer than the seconds.

    `best_in` are the seconds of what is the smallest number that is proved in time.
    """
    began = time.process_time()
    try:
        with warnings.catch_warnings(), sa.limits(seconds=best_in), deadline.within(seconds):
            warnings.simplefilter("ignore")
            found = written(question(m))
    except deadline.OutOfTimeError:
        return None
    except sa.SymacctError as error:
        found = written(error)
    return found if time.process_time() - began <= seconds else None


def row_of(text: str) -> Answer:
    """All that is written down of an expression."""
    try:
        m = sa.parse(text)
    except sa.SymacctError as error:
        return {"text": text, "error": type(error).__name__}
    answers = {name: asked(question, m, SECONDS_TO_WRITE) for name, question in QUESTIONS.items()}
    return {
        "text": text,
        "repr": repr(m),
        "json": m.to_json(),
        "claim": [str(m.claim.kind), str(m.claim.adjacency)],
        "answers": {name: packed(answer) for name, answer in answers.items() if answer},
    }


def faults(row: Answer) -> list[str]:
    """What the tree as it is says otherwise about an expression than was written down."""
    text = row["text"]
    try:
        m = sa.parse(text)
    except sa.SymacctError as error:
        was = row.get("error", "an expression")
        return [] if was == type(error).__name__ else [f"{text}: {was}, now {error!r}"]
    if "error" in row:
        return [f"{text}: was a {row['error']}, now an expression"]
    found = {
        "repr": repr(m),
        "json": m.to_json(),
        "claim": [str(m.claim.kind), str(m.claim.adjacency)],
    }
    said = [f"{text}: {key} is {now}" for key, now in found.items() if now != row[key]]
    if sa.parse(row["repr"]) is not m or sa.from_json(row["json"]) is not m:
        said.append(f"{text}: its text or JSON is another expression")
    answers = {name: unpacked(answer) for name, answer in row["answers"].items()}
    for name, was in answers.items():
        why = ""
        for best_in in (10, 25):  # on a busy machine as many seconds prove less
            now = asked(QUESTIONS[name], m, SECONDS_TO_KEEP, best_in)
            why = "no answer in time" if now is None else fault(name, was, now, answers)
            if not why:
                break
        if why:
            said.append(f"{text}: {name}: {why}; was {was}, is {now}")
    return said


def fault(name: str, was: Answer, now: Answer, answers: dict[str, Answer]) -> str:
    """Why an answer does not keep what was written down; nothing where it does."""
    if "error" in (was["kind"], now["kind"]):
        return _fault_of_an_error(was, now)
    if was["about"] != now["about"]:
        return "about another relation"
    low, high = _number(now["low"]), _number(now["high"])
    truths = [answers[of] for of in TRUTHS.get(name, (name,)) if of in answers]
    least = [_number(x["low"]) for x in truths if x["kind"] in ("exact", "lower")]
    most = [_number(x["high"]) for x in truths if x["kind"] in ("exact", "upper")]
    if now["kind"] in ("exact", "upper") and any(high < x for x in least):
        return "below the truth"
    if now["kind"] in ("exact", "lower") and any(low > x for x in most):
        return "above the truth"
    if was["kind"] == "exact" and now["kind"] != "exact":
        return "exact no longer"
    if now["kind"] == "upper" and high > _number(was["high"]) * (1 + NEAR):
        return "a larger bound"
    if now["kind"] == "lower" and low * (1 + NEAR) < _number(was["low"]):
        return "a smaller lower bound"
    return ""


def _fault_of_an_error(was: Answer, now: Answer) -> str:
    if now["kind"] != "error":
        return "" if was["name"] in NOT_KNOWN else "an answer, where none may be"
    if was["kind"] != "error":
        return "an error"
    same = was["name"] == now["name"] or {was["name"], now["name"]} <= set(NOT_KNOWN)
    return "" if same else "another error"


def _number(text: str) -> Fraction:
    """The number, ∞ as one that is larger than any."""
    return Fraction(10) ** 10**5 if text == "inf" else Fraction(text)
