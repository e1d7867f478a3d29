"""One factor between all answers of a kind and the truth: another unit, or a constant too much."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from symacct.verify.judging.bounds import Truth
from symacct.verify.judging.verdict import Finding
from symacct.verify.peer.protocol import Answer, Ask

#: So many answers tell, and to this share they have one factor.
_ENOUGH, _ALIKE = 5, 1e-6
_NAMED = {
    1 / math.log(2): " = 1/ln 2: bits in place of nats",
    1 / math.log(10): " = 1/ln 10: log10 in place of ln",
    math.log(2): " = ln 2: nats taken for bits",
    math.log(10): " = ln 10: nats taken for decimal digits",
}
EVERY = "every answer is "


def with_factor(
    found: Finding, answers: Mapping[Ask, Answer], known: Callable[[Ask], Truth | None]
) -> Finding:
    """The finding with the factor of all answers of its kind, if they have one.

    Counted are the answers whose exact truth is known. A formula that is known explains more, but
    of 2 and 1/2, which several mistakes may give at one question.
    """
    kind, own = found.ask.kind, _ratio(found.answer, found.truth)
    if found.ask.how or own is None or abs(own - 1) <= _ALIKE:
        return found
    if found.formula is not None and all(abs(own - x) > _ALIKE for x in (0.5, 2)):
        return found
    asked = {ask: answer for ask, answer in answers.items() if ask.kind == kind and not ask.how}
    ratios = [_ratio(answer, known(ask)) for ask, answer in asked.items()]
    told = [ratio for ratio in ratios if ratio is not None]
    if len(told) < _ENOUGH or any(not abs(ratio - own) <= _ALIKE * own for ratio in told):
        return found
    name = next((said for x, said in _NAMED.items() if abs(own - x) <= _ALIKE * x), "")
    return replace(found, formula=f"{EVERY}{own:.7g} times the truth{name}")


def _ratio(answer: Answer, truth: Truth | None) -> float | None:
    """The answer over a truth that is known exactly and is neither 0 nor infinite."""
    value = answer.finite
    if value is None or truth is None or not truth.exact or not 0 < truth.lower < math.inf:
        return None
    if not 0 < value / truth.lower < 10**6:
        return math.nan
    return float(value / truth.lower)
