"""Causes, never verdicts, of what all of a peer's numbers show: digits, float32, one factor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from symacct.kernel.answer import nearest_float
from symacct.verify.judging import matching
from symacct.verify.judging.bounds import Truth, is_float32
from symacct.verify.judging.truth import Oracle
from symacct.verify.judging.verdict import Finding, explained_by_rounding
from symacct.verify.peer.protocol import Answer, Ask

# --- how the numbers are written


#: Distinct numbers that a form is stated of at the least; fewer may be of one form by chance. Only
#: an explanation rests on it, and no verdict.
_ENOUGH_NUMBERS = 12
#: Significant digits that numbers "printed with … digits" have at the most: a peer whose numbers
#: have more is not taken to round what it prints.
_MOST_DIGITS = 8


def form(values: Iterable[Fraction]) -> str | None:
    """Names the form of a peer's numbers: the most digits of any of them, or float32.

    None for other numbers, and for fewer than 12 distinct ones that are not 0.

    >>> form(Fraction(round(10**5 / 7 ** (i / 9)), 10**5) for i in range(12))
    'printed with 5 digits'
    """
    distinct = {value for value in values if value}
    if len(distinct) < _ENOUGH_NUMBERS:
        return None
    digits = max(_digits(value) for value in distinct)
    if digits <= _MOST_DIGITS:
        return f"printed with {digits} digits"
    return "computed in float32" if all(map(is_float32, distinct)) else None


def explained(finding: Finding, written: str | None, oracle: Oracle) -> Finding:
    """Returns the finding with the form `written`, what `form` gives, if that explains the error.

    It does where the value is off by a share of 10^{1 − digits} or less, or by what float32 leaves:
    a share of 2^−18, or `explained_by_rounding` to 24 bits. The distance is that to the theorem
    that the peer claims, else to the truth, and 0 within it. Else the finding itself is returned.
    """
    value, truth = finding.answer.finite, finding.truth
    if written is None or value is None or truth is None:
        return finding
    stated = matching.claimed(oracle, finding.ask, finding.answer.claims or "")
    low, high = stated or (truth.lower, truth.upper)
    if float("inf") in (low, high):
        return finding
    end = Fraction(low if value < low else high if value > high else value)
    gap = abs(value - end)
    if written.startswith("printed"):
        digits = int(written.split()[2])
        right = gap <= Fraction(10) ** (1 - digits) * abs(value)
    else:
        near = gap <= Fraction(1, 2**18) * end
        right = near or explained_by_rounding(finding.ask, gap, end, bits=24)
    return replace(finding, form=written) if right else finding


def _digits(value: Fraction) -> int:
    """The fewest significant digits that write the value exactly; 9 where 8 do not."""
    number = nearest_float(value)
    if math.isfinite(number):
        for digits in range(1, _MOST_DIGITS + 1):
            if Fraction(f"{number:.{digits}g}") == value:
                return digits
    return _MOST_DIGITS + 1


# --- one factor between all answers of a kind and the truth

#: Answers beside an exact truth that a factor is stated of at the least. Only an explanation rests
#: on it, and no verdict.
_ENOUGH_RATIOS = 5
#: Relative distance up to which two factors are one, and up to which a factor is 1, which is none.
#: Only an explanation rests on it, and no verdict.
_ALIKE = 1e-6
#: Factors with a name, logarithms to another base, and the words that follow the factor.
_NAMED = {
    1 / math.log(2): " = 1/ln 2: bits in place of nats",
    1 / math.log(10): " = 1/ln 10: log10 in place of ln",
    math.log(2): " = ln 2: nats taken for bits",
    math.log(10): " = ln 10: nats taken for decimal digits",
}
#: How the formula of `with_factor` begins; a report knows it by this.
EVERY = "every answer is "


def with_factor(
    finding: Finding, answers: Mapping[Ask, Answer], known: Callable[[Ask], Truth | None]
) -> Finding:
    """Returns the finding with one factor as its formula if all answers of its kind have it.

    Counted are the answers to plain questions of this kind, `rdp` or another, of which `known`
    gives an exact truth. A formula that the finding has stays, unless the factor is 2 or 1/2, which
    several mistakes give at one question. The finding itself is returned in all other cases.
    """
    kind, reference = finding.ask.kind, _ratio(finding.answer, finding.truth)
    if finding.ask.how or reference is None or abs(reference - 1) <= _ALIKE:
        return finding
    if finding.formula is not None and all(abs(reference - x) > _ALIKE for x in (0.5, 2)):
        return finding
    exchanges = {ask: answer for ask, answer in answers.items() if ask.kind == kind and not ask.how}
    ratios = [_ratio(answer, known(ask)) for ask, answer in exchanges.items()]
    known_ratios = [ratio for ratio in ratios if ratio is not None]
    if len(known_ratios) < _ENOUGH_RATIOS or any(
        not abs(ratio - reference) <= _ALIKE * reference for ratio in known_ratios
    ):
        return finding
    name = next((words for x, words in _NAMED.items() if abs(reference - x) <= _ALIKE * x), "")
    return replace(finding, formula=f"{EVERY}{reference:.7g} times the truth{name}")


def _ratio(answer: Answer, truth: Truth | None) -> float | None:
    """The answer over an exact truth: None without both or over 0 or ∞; nan outside 0 to 10^6."""
    value = answer.finite
    if value is None or truth is None or not truth.exact or not 0 < truth.lower < math.inf:
        return None
    if not 0 < value / truth.lower < 10**6:
        return math.nan
    return float(value / truth.lower)
