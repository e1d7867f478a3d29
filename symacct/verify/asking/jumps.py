"""Orders between which a peer's error changes at once: where it switches to another formula."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from symacct.kernel.answer import nearest_float
from symacct.verify.judging.laws import curves
from symacct.verify.judging.truth import Oracle
from symacct.verify.judging.verdict import Finding, Judge, explained_by_rounding
from symacct.verify.peer.protocol import Answer, Ask, Asked
from symacct.verify.reporting.clusters import region_of_orders

_BISECTIONS = 60
#: Errors that differ by less are the same error; a jump is of at least the second.
_SAME, _JUMP = 1e-7, 1e-6


class Jumps:
    """Finds them, given the points asked so far and a way to ask for one more."""

    def __init__(self, judge: Judge, ask: Callable[[Ask], Answer]) -> None:
        self.judge = judge
        self.oracle: Oracle = judge.oracle
        self.ask = ask

    def brackets(self, points: Iterable[Asked]) -> Iterator[tuple[Ask, Ask]]:
        """Neighbouring orders of one curve of which one is right and the other is not."""
        seen = set()
        for curve in curves(points):
            for low, high in itertools.pairwise(curve):
                kinds = self._verdict(low), self._verdict(high)
                what = tuple((part.mechanism, part.sampling) for part in low[0].parts)
                key = (what, kinds, region_of_orders(high[0]))
                if (kinds[0] is None) != (kinds[1] is None) and key not in seen:
                    seen.add(key)
                    yield low[0], high[0]

    def between(self, low: Ask, high: Ask) -> Finding | None:
        """Bisect down to neighbouring orders; a jump if the error still changes between them."""
        whole = all(Fraction(ask.at).denominator == 1 for ask in (low, high))
        start = self._error(low)
        if start is None:
            return None
        for _ in range(_BISECTIONS):
            middle = _middle(low.at, high.at, whole)
            if not Fraction(low.at) < Fraction(middle) < Fraction(high.at):
                break
            ask = replace(low, at=middle)
            error = self._error(ask)
            if error is None:
                return None
            low, high = (ask, high) if abs(error - start) <= _SAME else (low, ask)
        return self._finding(low, high)

    def _finding(self, low: Ask, high: Ask) -> Finding | None:
        errors, truth = (self._error(low), self._error(high)), self.oracle.truth(high)
        if errors[0] is None or errors[1] is None or truth is None:
            return None
        gap = abs(errors[0] - errors[1])
        size = Fraction(truth.upper)
        if gap <= _JUMP or explained_by_rounding(high, gap * size, size):
            return None
        first, second = self.ask(low), self.ask(high)
        found = self.judge.judge(high, second)
        note = (
            f"between α = {low.at} and {high.at} the value over the truth goes from "
            f"{nearest_float(1 + errors[0]):.9g} to {nearest_float(1 + errors[1]):.9g}"
        )
        below = found is not None and found.below
        return Finding("jump", high, second, truth, below=below, note=note, other=(low, first))

    def _verdict(self, point: Asked) -> str | None:
        found = self.judge.judge(*point)
        return None if found is None or not found.beyond_rounding else found.verdict

    def _error(self, ask: Ask) -> Fraction | None:
        """value/truth − 1; None where there is no such number."""
        truth, value = self.oracle.truth(ask), self.ask(ask).finite
        if value is None or truth is None or truth.upper in (0, math.inf):
            return None
        return value / Fraction(truth.upper) - 1


def _middle(low: str, high: str, whole: bool) -> str:
    middle = (Fraction(low) + Fraction(high)) / 2
    return str(int(middle)) if whole else repr(float(middle))
