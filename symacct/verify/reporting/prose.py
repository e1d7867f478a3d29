"""A defect in sentences: what was asked, answered and true, who is at risk, and what to look at."""

from __future__ import annotations

import math
from fractions import Fraction

from symacct.kernel import theorem_registry
from symacct.kernel.answer import rational_text
from symacct.kernel.errors import SymacctError
from symacct.verify.asking.regions import RIGHT_AT
from symacct.verify.judging.bounds import decimal_text
from symacct.verify.judging.factors import EVERY
from symacct.verify.judging.precision import is_float32
from symacct.verify.judging.verdict import Finding
from symacct.verify.peer.protocol import ADJACENCIES, ASKED, CONVERTED, LARGEST, Answer, Ask
from symacct.verify.reporting.defects import BOTH, SIDES, Defect

_DIGITS = 14
#: Off by so little, and a float32 number: it may be computed in float32.
_NEAR = 1e-5
_FROM_AN_ORDER = RIGHT_AT.format("")
_MEANT = {
    "rdp": "the Rényi divergence ε(α) at α = {at}",
    "epsilon": "the ε at δ = {at}",
    "delta": "the δ at ε = {at}",
    "noise": "the least noise for ε = {within} and δ = {at}",
    "rate": "the largest sampling rate for ε = {within} and δ = {at}",
    "runs": "the largest number of runs for ε = {within} and δ = {at}",
    "rho": "the least ρ of zero-concentrated DP",
    "mu": "the least μ of Gaussian DP",
    "advantage": "the largest advantage of an attacker, δ(0),",
}
_SAMPLED = {
    "none": "without sampling",
    "poisson": "with Poisson sampling",
    "without replacement": "with batches of a fixed size",
}
#: Where a cause lies, by the word that names it.
_PLACES = {
    "rounding to float64": "rounding to float64, where a moment is close to 1",
    "conversion from RDP": "the conversion from RDP to ε and δ, such as the sign of log δ or the "
    "division by α − 1; a wrong curve would be a defect of its own",
    "mostly from the conversion": "the conversion from RDP, as another one gives less",
    "mostly from the order grid": "the orders that are searched are too few",
    "mostly from the total variation at order 1": "the total variation, which it does not use",
    "mostly from the orders and series": "the orders that are searched, or the sum of the curve",
    "mostly from the orders and conversion's formula": "the orders that are searched, or the "
    "formula of the conversion",
    "mostly from the conversion's formula": "the formula of the conversion",
    "mostly from the series": "the sum or series of the curve",
    "several runs": "the composition of several runs: no single run was found to be wrong",
    "several runs in a sample": "the runs that share one sample",
    "in a composition": "the composition of different mechanisms: none of them alone was found to "
    "be wrong",
    "depends on what was asked before": "something that is kept from one question to the next",
    "answers change by chance": "random numbers",
}


def title(cause: str) -> str:
    """A cause in the field's words, where it names a kind of sampling in the protocol's.

    >>> title("too small: none: add/remove: Gaussian")
    'too small: Gaussian noise without sampling, add/remove'
    >>> title("too small: poisson: add/remove")
    'too small: mechanisms with Poisson sampling, add/remove'
    """
    words = cause.split(": ")
    place = next((i for i, word in enumerate(words) if word in _SAMPLED), None)
    if place is None:
        return cause
    rest = words[place + 1 :]
    relations = [word for word in rest if word.replace("/", "_") in ADJACENCIES]
    mechanisms = [_called(word) for word in rest if word not in relations]
    what = f"{' '.join(mechanisms) or 'mechanisms'} {_SAMPLED[words[place]]}"
    return ": ".join((*words[:place], ", ".join((what, *relations))))


def _called(word: str) -> str:
    """A mechanism in words, where the word names one."""
    return ASKED[word].called if word in ASKED else word


def sentences(defect: Defect) -> list[str]:
    """What an engineer has to know to mend it, a line each, but for what reproduces it."""
    found = defect.shown
    lines = [
        f"The question: what is {_asked(found.ask)}?",
        " ".join((_answered(found), *_true(found), *_off(found))),
        _risk(found),
        *_where(found),
        *_jumps(defect),
    ]
    cause = _cause(defect)
    if cause:
        lines.append(f"Likely cause: {cause}.")
    if defect.advice:
        lines.append(defect.advice)
    return lines


def _asked(ask: Ask) -> str:
    what = _MEANT[ask.kind].format(at=ask.at, within=ask.within)
    ways = ", ".join(f"{key} as {way}" for key, way in ask.how)
    more = [f"under {ask.adjacency.replace('_', '/')}"]
    more += [f"for datasets that differ in {ask.group} records"] if ask.group > 1 else []
    more += [f"among the orders {', '.join(ask.orders)}"] if ask.orders is not None else []
    more += [f"built with {ways}"] if ways else []
    return f"{what} of {ask.expression}, {', '.join(more)}"


def _answered(found: Finding) -> str:
    if found.verdict == "slow":
        return f"The peer took {found.note or 'too long'} and was not waited for any longer."
    if found.verdict == "exception":
        return f"The peer has no number, but this error: {found.note}."
    said = f"The peer answers {_number(found.answer)}"
    if found.other is None or found.note:
        return f"{said}."
    ask, other = found.other
    return f"{said}, and to the question “{_asked(ask)}” it answers {_number(other)}."


def _number(answer: Answer) -> str:
    value = answer.finite
    if value is None:
        return str(answer.error if answer.value is None else answer.value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    plain = number if value.denominator == 1 and abs(value) < 10**15 else None
    if plain is not None:
        return f"{plain:.0f}"
    return str(number) if math.isfinite(number) and number else decimal_text(value, up=True)


def _true(found: Finding) -> list[str]:
    truth = found.truth
    if truth is None:
        return []
    low, high = (
        decimal_text(end, up, _DIGITS) for end, up in ((truth.lower, False), (truth.upper, True))
    )
    if low == high:
        return [f"The truth is {low}."]
    if truth.exact or found.verdict != "loose":
        return [f"The truth lies between {low} and {high}."]
    if _is_by_orders(found):
        return [f"The truth is at least {low}, and the best by Rényi orders is {high}."]
    return [f"The truth is at least {low}, and it is proved to be at most {high}."]


def _is_by_orders(found: Finding) -> bool:
    """Is it held against the best of all Rényi orders? The exact profile may prove less."""
    kind = found.ask.kind
    return kind in CONVERTED and kind not in LARGEST and found.verdict == "loose"


def _off(found: Finding) -> list[str]:
    """By how much, and in which direction."""
    value, truth = found.answer.finite, found.truth
    if value is None or truth is None or found.verdict in ("slow", "exception"):
        return []
    small = value < truth.lower
    if not small and value <= truth.upper:
        return []
    end = truth.lower if small else truth.upper
    if end in (0, math.inf) or value == 0:
        return [f"The answer is too {'small' if small else 'large'}."]
    if value < 0:
        return ["The answer is too small: it is negative, where the truth is positive."]
    what = (
        "the truth" if truth.exact else "what is proved from below" if small else "what is proved"
    )
    if _is_by_orders(found) and not (truth.exact or small):
        what = "the best by Rényi orders"
    return [f"The answer is {_amount(value, Fraction(end), what)}."]


def _amount(value: Fraction, end: Fraction, what: str) -> str:
    share = value / end
    side = "small" if share < 1 else "large"
    if share >= 2:
        return f"too large: it is {rational_text(share, 3, up=False)} times {what}"
    gap = abs(share - 1)
    by = (
        f"{rational_text(100 * gap, 3, up=False)} %"
        if gap >= Fraction(1, 10**4)
        else (f"a share of {rational_text(gap, 3, up=False)}")
    )
    return f"too {side} by {by} of {what}"


def _risk(found: Finding) -> str:
    if found.below and not found.beyond_rounding:
        return (
            "The error is one of rounding to float64, and hardly puts a user at risk; but a value "
            "below the truth is no guarantee."
        )
    if found.below:
        return (
            "Users of the peer are at risk: a guarantee that rests on such an answer promises more "
            "privacy than there is."
        )
    if found.verdict == "loose":
        less = (
            "fewer runs or a lower rate are used than"
            if found.ask.kind in LARGEST
            else ("more noise is added than")
        )
        return f"No user is at risk: the guarantee holds, but {less} the proved bound allows."
    if found.answer.finite is None:
        return "No user is at risk by a wrong number, as the peer gives no number to use."
    return (
        "This answer is not below what is proved, so it puts no user at risk by itself; but the "
        "code is at fault, and other answers of it may."
    )


def _where(found: Finding) -> list[str]:
    """The notes on a finding as sentences; errors and seconds are in the answer."""
    if not found.note or found.verdict in ("slow", "exception"):
        return []
    return [
        f"{note[0].upper() if note[0].isascii() else note[0]}{note[1:]}."
        for note in found.note.split("; ")
    ]


def _jumps(defect: Defect) -> list[str]:
    """Between which orders the error begins, where another finding of the defect tells it."""
    shown = (c.shown for c in defect.clusters if c.shown is not defect.shown)
    jumps = [one for one in shown if one.verdict == "jump" and one.other is not None and one.note]
    if not jumps:
        return []
    alike = [one for one in jumps if one.ask.parts == defect.shown.ask.parts] or jumps
    first = min(alike, key=lambda one: (Fraction(one.ask.at).denominator, Fraction(one.ask.at)))
    return [f"For {first.ask.expression}, {first.note}."]


def _cause(defect: Defect) -> str:
    """What explains the question shown; of answers that depend on earlier ones, that alone."""
    found = defect.shown
    if defect.remembers:
        return _PLACES[defect.cause]
    if found.formula is not None:
        if found.formula.startswith(EVERY):
            return found.formula
        try:
            theorem_registry.named(found.formula)
        except SymacctError:
            return f"{found.formula}; the answer is what this mistake gives"
        return f"the answer is the value of the theorem {found.formula}"
    if found.verdict == "inf" and found.ask.kind == "rdp" and _FROM_AN_ORDER in found.note:
        return "exp overflows above 1.8e308; sum logarithms"
    if found.form:
        return f"the numbers are {found.form}"
    ratio = found.ratio
    near = ratio is not None and 0 < abs(ratio - 1) < _NEAR
    if near and found.answer.finite is not None and is_float32(found.answer.finite):
        return "a float32 in the computation, as the answer is a float32 number"
    words = defect.cause.split(": ")
    known = (_PLACES[word] for word in words if word in _PLACES)
    if words[0] in (*SIDES, BOTH):
        where = title(": ".join(words[1:]))
        return next(known, f"this answer does not show it; look at the code for {where}")
    return next(known, "")
