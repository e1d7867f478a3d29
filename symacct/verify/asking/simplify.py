"""Questions beside one that shows a finding: the simplest that still does, and where it begins."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from symacct.kernel.deadline import OutOfTimeError
from symacct.verify.asking.questions import SCALED, WHOLE, short
from symacct.verify.judging.verdict import Finding, Probe
from symacct.verify.peer.protocol import BUDGETED, VALUES, Answer, Ask, AskedPart

# --- the simplest question


#: Simple steps of a tree, and simple ε that noise, a rate or runs are asked for, plainest first.
_STEPS, _WITHIN = ("1", "2", "3", "4", "7", "8", "1000"), ("1", "0.1", "10")
#: Simple rates, and simple places of each kind of question, the plainest first.
_RATES = ("0.5", "0.1", "0.01", "0.001", "0.0001", "1e-6", "0.9", "0.99")
_AT = {
    "rdp": ("2", "3", "4", "8", "16", "64", "256", "1.5", "2.5", "3.5", "10.5", "1.1", "1.01"),
    "epsilon": ("1e-5", "0.001"),
    "delta": ("1", "0.1"),
} | dict.fromkeys(BUDGETED, ("1e-5", "0.001"))
#: The most questions that bisect whole orders: one at 2, and 17 up to 2¹⁷, the largest of a hello.
_ORDER_BISECTIONS = 18
#: Verdicts that begin at some order, which is then bisected; their size says nothing of the error.
_EDGES = ("nan", "inf", "exception", "zero")
#: The share of the worst error that a simpler question has to show: less may be another defect.
_LARGE = 0.1


def simplest(
    finding: Finding,
    probe: Probe,
    budget: int = 90,
    edges: int = 0,
    right: Right = lambda ask: True,
) -> Finding:
    """Searches a finding of the same kind at a question that no single step of SIMPLER simplifies.

    Or the simplest after `budget` questions, or when time is over; the finding itself if no other
    shows it. Nan, inf, exceptions and zeros move to the first whole order that shows them. With so
    many questions more, the `edges` of numbers are noted (see `bounded`).
    """
    left, worst = budget, finding

    def budgeted(ask: Ask) -> Finding | None:
        nonlocal left
        if left == 0:
            raise OutOfTimeError
        left -= 1
        return probe(ask)

    def shows(ask: Ask) -> Finding | None:
        try:
            again = budgeted(ask)
        except OutOfTimeError:
            return None
        return again if again is not None and _same_kind(again, worst) else None

    before = None
    while left and finding is not before:
        before = finding
        for simpler in SIMPLER:
            finding = next(filter(None, map(shows, simpler(finding.ask))), finding)
    left = _ORDER_BISECTIONS
    if finding.verdict in _EDGES:
        finding = _at_the_edge(finding, shows, right)
    left = edges
    return bounded(finding, budgeted, right) if edges and not finding.ask.how else finding


def _same_kind(again: Finding, worst: Finding) -> bool:
    """Is it the worst's defect: its verdict and sort, and (but of _EDGES) a tenth of its error?

    What is simplified is compared with the worst found, not with the step before: many small
    steps would lose it.
    """
    kind = (again.verdict, again.below, again.beyond_rounding)
    if kind != (worst.verdict, worst.below, worst.beyond_rounding):
        return False
    return again.verdict in _EDGES or _error(again) >= _LARGE * _error(worst)


def _error(finding: Finding) -> float:
    """1 − value/truth of what is too small, 1 − truth/value of what is too large."""
    return -math.expm1(-finding.severity)


def _at_the_edge(finding: Finding, shows: Probe, is_right: Right) -> Finding:
    """Bisects to the first whole order that shows the finding, and notes the order before it.

    Unchanged where the order is not a single whole one, or 2 is not known to be right; stops where
    an order is neither wrong in this way nor known to be right.
    """
    ask = finding.ask
    if ask.kind != "rdp" or ask.batch or Fraction(ask.at).denominator != 1:
        return finding
    second = replace(ask, at="2")
    if ask.at == "2" or shows(second) or not is_right(second):
        return finding
    right, wrong = 2, int(ask.at)
    while wrong - right > 1:
        middle = replace(ask, at=str((right + wrong) // 2))
        again = shows(middle)
        if again:
            finding, wrong = again, int(middle.at)
        elif is_right(middle):
            right = int(middle.at)
        else:
            break
    note = "; ".join(filter(None, (finding.note, RIGHT_WITH.format(f"α = {right}"))))
    return replace(finding, note=note)


def _fewer_parts(ask: Ask) -> Iterator[Ask]:
    """Without one of several parts."""
    for i in range(len(ask.parts) if len(ask.parts) > 1 else 0):
        yield replace(ask, parts=ask.parts[:i] + ask.parts[i + 1 :])


def _fewer_orders(ask: Ask) -> Iterator[Ask]:
    """A batch as one order; then without one of the orders to be searched, or asked at once."""
    orders = ask.orders or ()
    if ask.batch:
        yield replace(ask, orders=None)
    for i in range(len(orders) if len(orders) > 1 else 0):
        if not ask.batch or orders[i] != ask.at:
            yield replace(ask, orders=orders[:i] + orders[i + 1 :])


def _fewer_records(ask: Ask) -> Iterator[Ask]:
    """A group of one record, or of two; then the sensitivity 1, or 2."""
    yield from (replace(ask, group=n) for n in (1, 2) if n < ask.group)
    for i, part in enumerate(ask.parts):
        for size in () if part.sensitivity == "1" else _before(("1", "2"), part.sensitivity):
            yield ask.with_part(i, replace(part, sensitivity=size))


def _fewer_steps(ask: Ask) -> Iterator[Ask]:
    """A tree of fewer steps."""
    for i, part in enumerate(ask.parts):
        named = dict(part.parameters)
        for steps in _STEPS if "steps" in named else ():
            if int(steps) < int(named["steps"]):
                parameters = (part.parameters[0], ("steps", steps))
                yield ask.with_part(i, replace(part, parameters=parameters))


def _bold(ask: Ask) -> Iterator[Ask]:
    """Plainest parts and one of three rates, if the expression gets shorter; the order stays."""
    for gamma in ("0.5", "0.1", "0.001"):
        plain = replace(ask, parts=tuple(_plain(part, gamma) for part in ask.parts))
        if len(plain.expression) < len(ask.expression):
            yield plain


def _fewer_inside(ask: Ask) -> Iterator[Ask]:
    """One, two or three runs in a sample that had more."""
    for i, part in enumerate(ask.parts):
        yield from (ask.with_part(i, replace(part, inner=n)) for n in (1, 2, 3) if n < part.inner)


def _fewer_runs(ask: Ask) -> Iterator[Ask]:
    """A smaller count of one part, from 1 on by known steps."""
    for count in (1, 2, 6, 10, 100, 1000, 10_000, 100_000):
        for i, part in enumerate(ask.parts):
            if part.count > count:
                yield ask.with_part(i, replace(part, count=count))


def _simpler_place(ask: Ask) -> Iterator[Ask]:
    """A known order, ε or δ, or one of fewer digits; of a batch the orders are what they are."""
    if ask.within is not None:
        for within in (*_before(_WITHIN, ask.within), *_shorter(ask.within)):
            yield replace(ask, within=within)
    if not ask.at or ask.batch:
        return
    low = "1" if ask.kind == "rdp" else "0"
    known = (*_before(_AT[ask.kind], ask.at), *_shorter(ask.at, low))
    yield from (replace(ask, at=at) for at in known)


def _plain(part: AskedPart, gamma: str) -> AskedPart:
    """The part run once, alone in a sample of the rate `gamma` if sampled, with plainest noise."""
    rate = None if part.gamma is None else gamma
    runs = min(part.count, 1)  # none where the number of runs is asked for
    return replace(part.valued(VALUES[part.mechanism].simple[0]), gamma=rate, count=runs, inner=1)


def _before(known: tuple[str, ...], text: str) -> Iterator[str]:
    """The known simple values before this one in their list; all of them if it is not in it."""
    for value in known:
        if Fraction(value) == Fraction(text):
            return
        yield value


def _shorter(text: str, low: str = "0", high: str = "Infinity") -> Iterator[str]:
    """The decimal number to fewer significant digits, the fewest first, if in low < x < high."""
    if "/" in text:
        return
    number = Decimal(text)
    for digits in range(1, len(number.normalize().as_tuple().digits)):
        fewer = Decimal(f"{number:.{digits}g}")
        if Decimal(low) < fewer < Decimal(high):
            yield str(int(fewer) if fewer == int(fewer) else fewer)


def _simpler_rates(ask: Ask) -> Iterator[Ask]:
    """A known rate, or one of fewer digits, below 1."""
    for i, part in enumerate(ask.parts):
        given = part.gamma
        known = () if given is None else (*_before(_RATES, given), *_shorter(given, high="1"))
        yield from (ask.with_part(i, replace(part, gamma=gamma)) for gamma in known)


def _simpler_values(ask: Ask) -> Iterator[Ask]:
    """A known first parameter, or one of fewer digits; a p stays between ½ and 1."""
    for i, part in enumerate(ask.parts):
        if not part.parameters:
            continue
        given = part.parameters[0][1]
        limits = ("0.5", "1") if part.mechanism == "RandomizedResponse" else ("0", "Infinity")
        for value in (*_before(VALUES[part.mechanism].simple, given), *_shorter(given, *limits)):
            yield ask.with_part(i, part.valued(value))


#: Each of these gives simpler questions, the simplest first, and none of the plainest. The boldest
#: ways come first, as the first that shows the finding is taken: their order saves questions.
SIMPLER = (
    _fewer_parts, _fewer_orders, _fewer_records, _bold, _fewer_inside, _fewer_runs,
    _simpler_place, _simpler_rates, _simpler_values, _fewer_steps,
)  # fmt: skip


def other_side(ask: Ask) -> Iterator[Ask]:
    """Lists questions where an error may have the other sign, with one change each.

    Parts swapped, a sensitivity or a scale inverted, γ → 1 − γ, α > 2 → 2 if whole, else to its
    conjugate, 1 + 1/(α − 1).
    """
    if len(ask.parts) > 1:
        yield replace(ask, parts=ask.parts[::-1])
        yield replace(ask, parts=ask.parts[1:] + ask.parts[:1])
    for i, part in enumerate(ask.parts):
        size = Fraction(part.sensitivity)
        if size != 1:
            whole = part.mechanism in WHOLE
            yield ask.with_part(i, replace(part, sensitivity=_number(1 / size if not whole else 2)))
        if part.parameters and part.mechanism in SCALED and Fraction(part.parameters[0][1]) != 1:
            yield ask.with_part(i, part.valued(_number(1 / Fraction(part.parameters[0][1]))))
        if part.gamma is not None and part.sampling == "poisson" and part.rate < 1:
            yield ask.with_part(i, replace(part, gamma=_number(1 - part.rate)))
    if ask.kind == "rdp" and not ask.batch and Fraction(ask.at) > 2:
        alpha = Fraction(ask.at)
        yield replace(ask, at="2" if alpha.denominator == 1 else _number(1 + 1 / (alpha - 1)))


def _number(x: Fraction | int) -> str:
    return str(x) if Fraction(x).denominator == 1 else short(float(x))


def nearby(ask: Ask, chance: random.Random) -> Ask:
    """Draws a question close by: first parameters, rates and the order times 2^u, |u| <= 1.

    Of α the distance from 1, of p that from ½; what would leave the domain stays, whole orders
    stay whole. Runs, δ, ε and sensitivities stay.
    """

    def moved(text: str, low: float = 0, most: float | None = None) -> str:
        x = Decimal(short(float(Fraction(text) - low) * 2 ** chance.uniform(-1, 1)))
        x += Decimal(str(low))
        return text if x <= 0 or (most is not None and x >= most) else str(x)

    def moved_part(part: AskedPart) -> AskedPart:
        gamma = None if part.gamma is None else moved(part.gamma, 0, 1)
        for name, value in part.parameters[:1]:
            part = part.valued(moved(value, *((0.5, 1) if name == "p" else (0, None))))
        return replace(part, gamma=gamma)

    at = ask.at
    if ask.kind == "rdp" and not ask.batch:
        alpha = Fraction(at)
        whole = alpha.denominator == 1
        at = moved(at, 1, 4097)
        at = str(max(2, round(Fraction(at)))) if whole else at
    return replace(ask, parts=tuple(map(moved_part, ask.parts)), at=at)


# --- the edges between which a defect shows

#: Was this question asked, and is the answer known to be right? See History.is_right.
Right = Callable[[Ask], bool]
#: The note of a finding about the places next to it that are right, such as "α = 7 or α = 9".
RIGHT_WITH = "the answer is right with {} instead"
#: Factors by which a number (of α its distance from 1) is moved in turn until the answer is right.
_FACTORS = (2, 8, 64)
#: Halvings of the gap at an edge that is no whole number: 1/128 of it is left.
_EDGE_BISECTIONS = 7
#: The largest number of runs, and the largest order, at which an edge is searched.
_MOST_RUNS, _MOST_ORDER = 10**6, 4096
#: What counters of so many bits count modulo, the largest first; only `as_runs` names one.
_MODULI = tuple(2**bits for bits in (32, 31, 24, 16, 15, 8))


@dataclass(frozen=True)
class _Axis:
    """One number of a question, low < value < high, and how to ask with another (whole) one."""

    name: str
    value: Fraction
    moved: Callable[[str], Ask]
    low: Fraction
    high: Fraction
    whole: bool = False

    def text(self, x: Fraction) -> str:
        """x as a question has it: to four digits, or rounded to a whole number."""
        return str(round(x)) if self.whole else short(float(x))

    def at(self, x: Fraction) -> Ask | None:
        """The question at x, rounded as text; None outside of what it may be, and at its value."""
        text = self.text(x)
        inside = self.low < Fraction(text) < self.high and Fraction(text) != self.value
        return self.moved(text) if inside else None


def bounded(finding: Finding, shows: Probe, right: Right = lambda ask: True) -> Finding:
    """Returns the finding with a note of the numbers next to its own at which the answer is right.

    Of runs only fewer ones, and the finding moves to the fewest that show the same defect; then of
    noise, rate and order. Any finding counts as wrong; only what was asked and answered rightly is
    named. Unchanged for an error of rounding and for several parts; once time is over, as it is.
    """
    if not finding.beyond_rounding or len(finding.ask.parts) > 1:
        return finding
    notes = []
    with contextlib.suppress(OutOfTimeError):
        for axes in (_runs, _axes):  # the fewest runs first: the other edges are those of that many
            for axis in axes(finding.ask):
                below, above = (_edge(axis, shows, right, up) for up in (False, True))
                if axis.name == "runs" and below is not None:
                    again = shows(axis.moved(axis.text(below[1])))
                    finding = again if again and _same_kind(again, finding) else finding
                edges = (below, None if axis.name == "runs" else above)
                texts = [axis.text(edge[0]) for edge in edges if edge is not None]
                places = " or ".join(f"{axis.name} = {x}" for x in texts)
                note = RIGHT_WITH.format(places)
                notes += [note] if places and note not in finding.note.split("; ") else []
    return replace(finding, note="; ".join(filter(None, (finding.note, *notes))))


def _runs(ask: Ask) -> Iterator[_Axis]:
    """The number of runs of a question of one part as an axis; none where it is asked for."""
    (part,) = ask.parts
    if part.count:
        yield _Axis(
            "runs",
            Fraction(part.count),
            lambda text: ask.with_part(0, replace(part, count=int(text))),
            Fraction(0),
            Fraction(_MOST_RUNS + 1),
            True,
        )


def _axes(ask: Ask) -> Iterator[_Axis]:
    """Lists the noise, the Poisson rate and the order of a question of one part as axes."""
    (part,) = ask.parts
    for name, value in part.parameters[:1]:
        most = (Fraction(1, 2), Fraction(1)) if name == "p" else (Fraction(0), Fraction(10**9))
        yield _Axis(name, Fraction(value), lambda x: ask.with_part(0, part.valued(x)), *most)
    if part.gamma is not None and part.sampling == "poisson":
        rate, limits = Fraction(part.gamma), (Fraction(0), Fraction(1))
        yield _Axis("γ", rate, lambda x: ask.with_part(0, replace(part, gamma=x)), *limits)
    if ask.kind == "rdp" and not ask.batch:
        order = Fraction(ask.at)
        whole = order.denominator == 1
        limits = (Fraction(1), Fraction(_MOST_ORDER + 1))
        yield _Axis("α", order, lambda text: replace(ask, at=text), *limits, whole)


def _edge(axis: _Axis, shows: Probe, right: Right, up: bool) -> tuple[Fraction, Fraction] | None:
    """Searches neighbours (right, wrong) above the value (`up`) or below, at places by _FACTORS.

    None where all that may be asked are wrong, or the first that is not is not known to be right.
    """
    wrong = axis.value
    for factor in _FACTORS:
        place = axis.value * factor if up else axis.value / factor
        if axis.name == "α":  # which begins at 1
            place = 1 + (axis.value - 1) * factor if up else 1 + (axis.value - 1) / factor
        if axis.whole:
            place = Fraction(round(place))
        ask = axis.at(place)
        if ask is None:
            return None
        if shows(ask) is None:
            return _bisected(axis, shows, right, (place, wrong)) if right(ask) else None
        wrong = place
    return None


def _bisected(
    axis: _Axis, shows: Probe, right: Right, edge: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    """Bisects (right, wrong) to neighbouring whole numbers, or by _EDGE_BISECTIONS halvings.

    Stops earlier, with what is known, where four digits do not tell the middle from an end, or
    where it is neither wrong nor known to be right.
    """
    good, bad = edge
    for _ in range(20 if axis.whole else _EDGE_BISECTIONS):  # 2²⁰ is beyond _MOST_RUNS
        middle = Fraction(axis.text((good + bad) / 2))
        if middle in (good, bad):
            break
        ask = axis.at(middle)
        if ask is None:
            break
        if shows(ask) is not None:
            bad = middle
        elif right(ask):
            good = middle
        else:
            break  # neither right nor wrong: nothing closer is known
    return good, bad


def as_runs(finding: Finding, answers: Mapping[Ask, Answer]) -> Finding:
    """Notes of how many runs (at most twice as many) the RDP is, by the known answer to one run."""
    (part, *more), value = finding.ask.parts, finding.answer.finite
    single = answers.get(replace(finding.ask, parts=(replace(part, count=1),)))
    single_value = None if single is None or more or finding.ask.kind != "rdp" else single.finite
    if not single_value or value is None:
        return finding
    runs = round(value / single_value)
    few = 0 <= runs <= 2 * part.count  # what has nothing to do with runs may be any multiple
    if (
        not few
        or runs == part.count
        or abs(value - runs * single_value) > Fraction(1, 10**9) * abs(value)
    ):
        return finding
    modulus = next((m for m in _MODULI if m <= part.count and part.count % m == runs), None)
    counted = "" if modulus is None else f", their number modulo {modulus:,}"
    text = f"the answer is that of {runs:,} of the {part.count:,} runs{counted}"
    return replace(finding, note="; ".join(filter(None, (finding.note, text))))
