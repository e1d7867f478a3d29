"""The verdict on one value: what it is, by how much, and whether rounding would explain it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symacct.kernel.answer import nearest_float
from symacct.kernel.errors import SymacctError
from symacct.verify.judging import matching
from symacct.verify.judging.bounds import Bound, Truth, decimal_text
from symacct.verify.judging.truth import Oracle
from symacct.verify.peer.protocol import CONVERTED, LARGEST, Answer, Ask, Exchange, Hello, Support

# --- what is above the truth, and why


def excess(
    value: Fraction,
    truth: Truth | None,
    methods: tuple[Truth, Truth, Truth | None],
    given: bool = False,
    by_variation: bool = False,
) -> tuple[tuple[tuple[str, float], ...], str]:
    """Splits value − truth into named parts, and writes a sentence about the peer's largest one.

    `methods` are the best by RDP, that by the declared conversion, and that over the peer's grid of
    orders, None if it is unknown. RDP, a part where the truth is exact, is not the peer's own; of
    orders that were `given` only the last part is.
    """
    best, every, grid = methods
    known = truth is not None and truth.exact
    rows = [("RDP", _minus(best.upper, truth.upper))] if truth and known else []
    rows.append(("conversion", _minus(every.upper, best.upper)))
    if grid is None:
        rows.append(("orders and series", _minus(value, every.upper)))
    else:
        # The total variation comes from the order 1 alone: no other orders give as little.
        name = "total variation at order 1" if by_variation else "order grid"
        rows.append((name, _minus(grid.upper, every.upper)))
        rows.append(("series", _minus(value, grid.upper)))
    return tuple(rows), _mostly(rows[-1:] if given else rows, every.upper)


def _minus(a: Bound, b: Bound) -> float:
    """a − b as the nearest float; ∞ if one of them is."""
    return math.inf if math.inf in (a, b) else nearest_float(Fraction(a) - Fraction(b))


def _mostly(split: list[tuple[str, float]], every: Bound) -> str:
    """Writes a sentence about the largest part but RDP; `every` is the best over all orders."""
    parts = [row for row in split if row[0] != "RDP"]
    name, part = max(parts, key=lambda row: row[1])
    every = every if name == "order grid" else math.inf
    whole = sum(x for _, x in parts)
    # Of a part that is larger than the whole another one takes away: it does better than declared.
    share = "all" if part >= whole else f"{part:.3g}"
    sentence = f"mostly from the {name}: {share} of the excess of {whole:.3g}"
    if every < math.inf:
        sentence += f"; over all orders it would be {decimal_text(every, True, 3)}"
    return sentence


# --- the verdict

#: The worst first: `fail_on` names the mildest that fails, and findings are ranked by their place.
VERDICTS = (
    "unsound", "negative", "zero", "nan", "inf", "exception",
    "wrong-formula", "inconsistent", "slow", "loose",
)  # fmt: skip
#: The verdict that some answer is wrong, and not which; a finding that says which explains it.
SYMPTOM = "inconsistent"
#: The law that a peer breaks whose answers change from one time to the next.
CHANCE = "one question has one answer"
#: Relative distance from the truth up to which a float64 computation is taken to be right. A larger
#: one lets unsound answers pass, a smaller one makes rounding a finding.
ALLOWANCE = Fraction(1, 10**9)
#: ε, δ, noise, rates and runs over a finite grid of orders are never the best: loose from this
#: factor on. It plays no part in what is unsound.
LOOSE = Fraction(101, 100)
#: ε is a difference of terms of size ten and more: rounding them moves it by this, in nats.
#: Verdicts rest on it: a larger one lets unsound answers pass, a smaller one makes rounding a
#: finding.
_CANCELLED = Fraction(1, 10**13)
#: Seconds of the peer's work from which on an answer is called slow: most take milliseconds. Only
#: that verdict rests on it.
_SLOW_SECONDS = 2.0
#: Added to a loose δ and to its truth before their ratio ranks it: a smaller δ matters to nobody.
#: Only the order of findings rests on it.
_NO_DELTA = Fraction(1, 10**12)
#: Below it float64 has few digits or none: of a truth that small no answer is too small, but for a
#: negative one, and no ε or δ that small is loose. Verdicts rest on it.
_TINY = Fraction(1, 2**1000)
#: What a finding says of noise, a rate or a number of runs that is unsound.
_OVERSPENT = "this is more than the ε and δ allow"
#: Of an answer that no order gives by the conversion, and that is no less than the truth.
_NOT_DECLARED = "; it is not by the declared conversion, but it is true"


@dataclass(frozen=True)
class Finding:
    """One wrong answer: its verdict, its truth, and what explains it."""

    verdict: str
    ask: Ask
    answer: Answer
    truth: Truth | None = None
    #: What the value is instead: a theorem's code, a mistake in words, or what `with_factor`
    #: writes, which begins with EVERY. None where nothing explains it.
    formula: str | None = None
    #: Beyond what rounding numbers of size one to float64 explains (True where not numeric).
    beyond_rounding: bool = True
    #: On the unsafe side of every value that is proved, above it for a rate and runs: fails a run.
    below: bool = False
    #: On the unsafe side of what the theorem or conversion that the peer names gives.
    short: bool = False
    #: Of a kind in CONVERTED (noise, rate and runs as well), of a peer that goes through RDP.
    converted: bool = False
    note: str = ""
    #: For "inconsistent": the other answer, and the ask that it answers.
    other: tuple[Ask, Answer] | None = None
    split: tuple[tuple[str, float], ...] = ()
    #: For "inconsistent": the law that is broken, if it is one.
    law: str = ""
    #: How the peer writes its numbers, where that explains the error.
    form: str = ""
    #: Asked before, in the same process, where the answer depends on it.
    before: Ask | None = None

    @property
    def ratio(self) -> float | None:
        """The value over the truth's lower end if below it, else over the upper; None over ∞."""
        value, truth = self.answer.finite, self.truth
        if value is None or truth is None:
            return None
        end = truth.lower if value < truth.lower else truth.upper
        if end == float("inf"):
            return None
        return _quotient(value, Fraction(end))

    @property
    def severity(self) -> float:
        """How far off: |log ratio|, ∞ for a ratio <= 0 or ∞; the answer's seconds without one."""
        ratio = self.ratio
        if self.verdict == "loose" and self.ask.kind == "delta":
            value, truth = self.answer.finite, self.truth
            if value is not None and truth is not None and truth.upper != math.inf:
                ratio = _quotient(value + _NO_DELTA, Fraction(truth.upper) + _NO_DELTA)
        if ratio is None:
            return self.answer.seconds
        return math.inf if ratio <= 0 or math.isinf(ratio) else abs(math.log(ratio))


#: Asks a question again: a finding, or None where there is none; OutOfTimeError when it is late.
Probe = Callable[[Ask], Finding | None]


def _quotient(a: Fraction, b: Fraction) -> float:
    """a/b as the nearest float; over 0 it is 1 for 0, and else ±∞."""
    if b == 0:
        return 1.0 if a == 0 else math.inf if a > 0 else -math.inf
    return nearest_float(a / b)


@dataclass(frozen=True)
class _Case:
    """One finite answer beside its truth; `converted` of a peer that goes through RDP."""

    ask: Ask
    answer: Answer
    value: Fraction
    truth: Truth
    allowance: Fraction
    converted: bool

    @property
    def below_upper(self) -> bool:
        """Is it below the truth's upper end by more than the allowance?"""
        return bool(self.value < self.truth.upper * (1 - self.allowance))

    def finding(self, verdict: str, right: Bound | None = None, **more: Any) -> Finding:
        """A finding; `right`, from which rounding might have led away, sets `beyond_rounding`."""
        if right is not None and right != math.inf:
            gap = abs(self.value - Fraction(right))
            more["beyond_rounding"] = not explained_by_rounding(self.ask, gap, Fraction(right))
        return Finding(verdict, self.ask, self.answer, self.truth, converted=self.converted, **more)


@dataclass(frozen=True)
class Count:
    """How many questions of one kind were answered and judged; `refused` if all were refused."""

    name: str
    answered: int
    judged: int
    refused: bool = False


def _is_about(ask: Ask, row: Support, kind: str) -> bool:
    """Is it about one part, of this kind and of the row's mechanism, sampling and adjacency?"""
    (part, *more) = ask.parts
    same = part.mechanism == row.mechanism and part.sampling == row.sampling
    return same and not more and (ask.kind, ask.adjacency) == (kind, row.adjacency)


class Judge:
    """Judges the answers of a peer against the oracle, and counts them.

    A number is right at once if it is the value of the proved theorem that the peer names, or is no
    better than its declared conversion proves, and not loose. Else nan, ±∞ and numbers without a
    truth are judged by themselves, and rates and runs, where more is worse, by `_largest`. Of the
    others what is below a certified lower end comes first: negative, zero or unsound. Then ε, δ and
    noise are held against the conversion, other numbers within the truth's ends against the
    theorem that is named. Last, what is above the truth is loose, but for that theorem's value.
    """

    def __init__(self, oracle: Oracle, hello: Hello, allowance: Fraction = ALLOWANCE) -> None:
        self.oracle = oracle
        self.hello = hello
        #: Relative distance from the truth up to which an answer is taken to be right.
        self.allowance = allowance
        # These are sets of (question, value or error), so that an answer judged again counts once.
        #: Answers below the truth by no more than the allowance, and by what share at most.
        self.within_rounding: set[tuple[Ask, object]] = set()
        self.worst_within = 0.0
        #: Answers other than "unsupported", and those of them that were held against a truth.
        self.answered: set[tuple[Ask, object]] = set()
        self.judged: set[tuple[Ask, object]] = set()
        self.refused: set[Ask] = set()
        #: Between a lower bound and the best proved upper one: neither right nor wrong.
        self.undecided: set[tuple[Ask, object]] = set()

    def judge(self, ask: Ask, answer: Answer) -> Finding | None:
        """Judges one answer, and counts it; None where it is right, claims nothing or is undecided.

        A late answer is slow, unless its number is a finding; any other error is an exception.
        """
        # An error or ∞, in time, at the end of what may be asked claims nothing.
        nothing = (answer.error is not None or answer.value == math.inf) and not answer.late
        if answer.unsupported is not None or (nothing and ask.is_at_an_end):
            self.refused.add(ask)
            return None
        content = answer.error if answer.value is None else answer.value
        self.answered.add((ask, content))
        slow = None
        if answer.late or answer.seconds > _SLOW_SECONDS:
            slow = Finding("slow", ask, answer, note=f"{answer.seconds:.1f} s")
        if answer.error is not None:
            return slow or Finding("exception", ask, answer, note=answer.error)
        # A number that came late may be wrong as well, which counts more.
        return (self._of_number(ask, answer, content) if answer.value is not None else None) or slow

    def _of_number(self, ask: Ask, answer: Answer, content: object) -> Finding | None:
        """Judges a number, whenever it came, and counts it as judged unless it is undecided."""
        if self.as_claimed(ask, answer) or self._as_converted(ask, answer):
            self.judged.add((ask, content))
            return None
        value, truth = answer.value, self.oracle.truth(ask)
        assert value is not None  # noqa: S101  # what is no error is a value
        if truth is None or isinstance(value, float):
            return self._incomparable(ask, answer, value, truth)
        converted = ask.kind in CONVERTED and self._has_conversion
        finding = self._number(_Case(ask, answer, value, truth, self.allowance, converted))
        if finding is not None or (ask, content) not in self.undecided:
            self.judged.add((ask, content))
        return finding

    def every(self, ask: Ask, answer: Answer) -> list[Finding | None]:
        """Judges an answer; of one to several orders at once, its value at each of them."""
        orders = ask.orders if answer.values and ask.orders else (ask.at,)
        asks = [replace(ask, at=order) for order in orders]
        return [self.judge(single, answer.of(single)) for single in asks]

    @property
    def kinds(self) -> list[tuple[Support, str]]:
        """Lists (row, kind) of all kinds of question that the peer offers."""
        return [(row, kind) for row in self.hello.supports for kind in row.asks]

    def count(self, row: Support, kind: str) -> Count:
        """Counts the questions of one row and kind that were answered, and that were judged."""
        sampling = row.sampling.replace("_", " ")
        name = f"{kind} of {row.mechanism} ({sampling}), {row.adjacency.replace('_', '/')}"
        return self._count(name, lambda ask: _is_about(ask, row, kind))

    def count_composed(self, kind: str) -> Count:
        """Counts the questions of a kind about unlike parts that were answered, and judged."""
        return self._count(
            f"{kind} of compositions", lambda ask: ask.kind == kind and len(set(ask.parts)) > 1
        )

    def _count(self, name: str, is_of_kind: Callable[[Ask], bool]) -> Count:
        """Counts the questions of a kind; those with several answers count once."""
        answered, judged = (
            len({ask for ask, _ in seen if is_of_kind(ask)})
            for seen in (self.answered, self.judged)
        )
        return Count(name, answered, judged, not answered and any(map(is_of_kind, self.refused)))

    def as_claimed(self, ask: Ask, answer: Answer) -> bool:
        """Is it the value of the proved bound of RDP that the peer names? Then truth is no more."""
        value, name = answer.finite, answer.claims
        if value is None or name is None or not matching.proves(name, ask):
            return False
        bounds = matching.claimed(self.oracle, ask, name)
        allowed = min(matching.SAME, self.allowance)
        return bounds is not None and matching.same(value, bounds, allowed)

    def _as_converted(self, ask: Ask, answer: Answer) -> bool:
        """Is the value no better than the declared conversion proves, and not loose? Then right."""
        if answer.finite is None or ask.kind not in CONVERTED or not self._has_conversion:
            return False
        try:
            best, by_rdp = self._best_by_rdp(ask)
        except SymacctError:
            return False
        if ask.kind in LARGEST:
            few = _few(ask, answer.finite, by_rdp)
            return answer.finite <= best.lower * (1 + self.allowance) and not few
        return best.upper * (1 - self.allowance) <= answer.finite <= by_rdp.upper * LOOSE

    def _best_by_rdp(self, ask: Ask) -> tuple[Truth, Truth]:
        """The best by the declared conversion, and by the improved one, each over all orders.

        Where the question gives orders, both are the first over these. Raises SymacctErrors.
        """
        best = self.oracle.by_method(ask, str(self.hello.conversion), ask.orders)
        return best, best if ask.orders else self.oracle.by_method(ask, "improved", None)

    def complete(self, finding: Finding, beside: Sequence[tuple[Ask, Fraction]] = ()) -> Finding:
        """Adds the truth, and the excess in parts if it is loose, or else the formula that it is.

        The formula is one that explains the values `beside` too. Of a wrong formula for ε, δ and
        the like, `below` is decided again. Without a finite value only the truth is added.
        """
        if finding.truth is None:
            finding = replace(finding, truth=self.oracle.truth(finding.ask))
        value = finding.answer.finite
        if value is None:
            return finding
        if finding.verdict == "loose" and finding.converted and finding.ask.kind not in LARGEST:
            return self._split(finding, value)
        below = finding.below
        if finding.verdict == "wrong-formula" and finding.ask.kind in CONVERTED:
            below = self._below_every_conversion(finding.ask, value)
        formula = matching.matched(self.oracle, finding.ask, value, beside)
        return replace(finding, formula=formula, below=below)

    def _incomparable(
        self, ask: Ask, answer: Answer, value: Bound, truth: Truth | None
    ) -> Finding | None:
        """Judges nan, ±∞, or a value of which no truth is known: negative, or proved to overspend.

        ∞ is right where the truth may be above 10^308.
        """
        largest = ask.kind in LARGEST
        if isinstance(value, float) and math.isnan(value):
            return Finding("nan", ask, answer, truth)
        if value < 0:
            return Finding("negative", ask, answer, truth, below=not largest)
        if truth is None:
            asked = largest and isinstance(value, Fraction) and value != 0
            if not asked or not self.oracle.overspent(ask, Fraction(value), self.allowance):
                return None
            return Finding("unsound", ask, answer, below=True, note=_OVERSPENT)
        # Beyond float64, or for want of any proved bound, ∞ is an honest answer.
        if truth.upper >= Fraction(10) ** 308:
            self.judged.add((ask, value))
            return None
        return Finding("inf", ask, answer, truth, below=largest)

    def _number(self, case: _Case) -> Finding | None:
        """Judges a finite value by the kind of its question."""
        if case.ask.kind in LARGEST:
            return self._largest(case)
        low = self._below(case)
        if low is not None:
            return low
        if case.ask.kind in CONVERTED:
            return self._against_conversion(case)
        if case.below_upper and not case.truth.exact:
            # Between the bounds the theorem that it claims decides, if anything.
            finding = self._not_as_claimed(case)
            if finding is None:
                self.undecided.add((case.ask, case.value))
            return finding
        return self._above(case)

    def _below(self, case: _Case) -> Finding | None:
        """Judges a value below a certified lower bound of the truth; None for any other.

        None too within the allowance, which is counted, and for noise not proved to be too little.
        """
        value, lower = case.value, Fraction(case.truth.lower)
        if value >= lower or (value >= 0 and lower < _TINY):
            return None  # the second is what float64 has no number for
        if value > 0 and lower - value <= self.allowance * lower:
            self.within_rounding.add((case.ask, value))
            self.worst_within = max(self.worst_within, nearest_float((lower - value) / lower))
            return None
        verdict = "negative" if value < 0 else "zero" if value == 0 else "unsound"
        note = ""
        if case.ask.kind == "noise":
            note = "this is too little noise for the ε and δ"
            if value > 0 and not self.oracle.overspent(case.ask, value, self.allowance):
                self.undecided.add((case.ask, value))  # ε need not fall with discrete noise
                return None
        return case.finding(verdict, lower, below=True, note=note)

    def _above(self, case: _Case) -> Finding | None:
        """Judges a value above the truth as loose, unless it is that of the theorem it claims."""
        if case.value <= case.truth.upper * (1 + self.allowance):
            return None
        bounds = self._claimed(case)
        if bounds is not None and matching.same(case.value, bounds):
            return None  # what is loose is the theorem, not the computation
        return self._not_as_claimed(case) or case.finding("loose", case.truth.upper)

    def _claimed(self, case: _Case) -> tuple[Bound, Bound] | None:
        """The value of the theorem that the peer names; None without one that has a value."""
        name = case.answer.claims
        return None if name is None else matching.claimed(self.oracle, case.ask, name)

    def _not_as_claimed(self, case: _Case) -> Finding | None:
        """A wrong formula, unless the value is the claimed theorem's or none is claimed."""
        bounds = self._claimed(case)
        if bounds is None or matching.same(case.value, bounds):
            return None
        low, high = decimal_text(bounds[0], False, 12), decimal_text(bounds[1], True, 12)
        note = f"the peer claims {case.answer.claims}, whose value is {low}"
        if low != high:
            note += f" … {high}"
        below = case.below_upper and not case.truth.exact
        short = case.value < bounds[0]
        return case.finding("wrong-formula", bounds[0], below=below, short=short, note=note)

    def _largest(self, case: _Case) -> Finding | None:
        """Judges a rate or a number of runs: larger than the ε and δ allow is unsound.

        Above the truth without a proof of that it is undecided; LOOSE below it, it is loose.
        """
        ask, value, truth = case.ask, case.value, case.truth
        if value < 0:
            return case.finding("negative")
        if value > truth.upper * (1 + self.allowance):
            if self.oracle.overspent(ask, value, self.allowance):
                return case.finding("unsound", below=True, note=_OVERSPENT)
            self.undecided.add((ask, value))
            return None
        by_rdp = truth
        if self._has_conversion:
            try:
                best, by_rdp = self._best_by_rdp(ask)
            except SymacctError:
                return None
            if self._is_true(case):
                return None
            if best.exact and value > best.upper * (1 + self.allowance):
                most = decimal_text(best.upper, True, 12)
                note = f"the answer is above {most}, the most that its conversion allows"
                if truth.exact and value <= truth.upper:
                    note += _NOT_DECLARED
                return case.finding("wrong-formula", short=True, note=note)
        return case.finding("loose") if _few(ask, value, by_rdp) else None

    # --- ε, δ and the least noise

    @property
    def _has_conversion(self) -> bool:
        """Does the peer declare a conversion from RDP?"""
        return self.hello.conversion not in (None, "none")

    def _against_conversion(self, case: _Case) -> Finding | None:
        """Judges ε, δ or noise, not below the truth, against the conversion that the peer declares.

        Better than it gives is a wrong formula, unless it is the truth; LOOSE times the best by RDP
        is loose, or times the truth if no conversion is declared. None where RDP has no answer.
        """
        ask, value, truth = case.ask, case.value, case.truth
        if not self._has_conversion:
            loose = value > truth.upper * LOOSE and value > _TINY
            return case.finding("loose") if loose else None
        try:
            best, by_rdp = self._best_by_rdp(ask)
        except SymacctError:
            return None
        if self._is_true(case):
            return None
        cancelled = _CANCELLED if ask.kind == "epsilon" else 0
        # `exact` says that no order does better, by a proof; otherwise another order may.
        proved = best.lower * (1 - self.allowance) - cancelled
        if best.exact and value < proved and best.lower > _TINY:
            return self._below_conversion(case, best)
        # An accountant that goes through RDP is held against the best that RDP gives.
        if value <= by_rdp.upper * LOOSE or value <= _TINY:
            return None
        return replace(case, truth=Truth(truth.lower, by_rdp.upper, False)).finding("loose")

    def _is_true(self, case: _Case) -> bool:
        """Is the answer an exact truth, up to the allowance?

        A peer may know it of some mechanisms, whatever conversion it declares for the others.
        """
        truth, cancelled = case.truth, _CANCELLED if case.ask.kind == "epsilon" else 0
        low, high = truth.lower * (1 - self.allowance), truth.upper * (1 + self.allowance)
        return truth.exact and low - cancelled <= case.value <= high + cancelled

    def _split(self, finding: Finding, value: Fraction) -> Finding:
        """Adds what `excess` gives to a loose ε, δ or noise; nothing where a method fails."""
        ask, conversion = finding.ask, str(self.hello.conversion)
        orders = ask.orders or self.hello.default_orders
        listed = () if orders is None or isinstance(orders, str) else orders
        usable = [order for order in listed if Fraction(order) > 1]
        try:
            methods = (
                self.oracle.by_method(ask, "improved", None),
                self.oracle.by_method(ask, conversion, None),
                self.oracle.by_method(ask, conversion, usable) if usable else None,
            )
            by_variation = self.oracle.is_by_variation(ask, conversion)
        except SymacctError:
            return finding
        given = ask.orders is not None
        split, note = excess(value, self.oracle.truth(ask), methods, given, by_variation)
        return replace(finding, split=split, note=note)

    def _below_conversion(self, case: _Case, best: Truth) -> Finding | None:
        """A wrong formula: ε, δ or noise below the `best` that the declared conversion gives.

        None where the total variation proves it. The finding is short, and `below` is left to
        `complete`; its truth ends at `best`.
        """
        if self._by_total_variation(case.ask, case.value):
            return None
        low = decimal_text(best.lower, False, 12)
        note = f"the answer is below {low}, the least that its conversion gives at its orders"
        if case.truth.exact and case.value >= case.truth.lower:
            note += _NOT_DECLARED
        case = replace(case, truth=Truth(case.truth.lower, best.upper, False))
        return case.finding("wrong-formula", short=True, note=note)

    def _below_every_conversion(self, ask: Ask, value: Fraction) -> bool:
        """Is the value better than the optimal conversion makes of the best proved curve?

        By more than the allowance; above it for a rate and runs. False where the exact truth is
        known, to which `judge` has held the value, and where the conversion has no answer.
        """
        truth = self.oracle.truth(ask)
        if truth is not None and truth.exact:
            return False
        try:
            optimal = self.oracle.by_method(ask, "optimal", None)
        except SymacctError:
            return False
        if ask.kind in LARGEST:
            return bool(value > optimal.upper * (1 + self.allowance))
        return bool(value < optimal.lower * (1 - self.allowance))

    def _by_total_variation(self, ask: Ask, value: Fraction) -> bool:
        """May the total variation prove it, which is <= √(1 − e^{−ε(1)}) and <= √(ε(1)/2)?

        It proves a δ, or an advantage, no smaller, and ε = 0 at a δ no smaller; never a noise.
        True where ε(1) is not had in time: nobody is accused of what it might have proved.
        """
        if ask.kind == "noise":
            return False
        divergence = self.oracle.truth(replace(ask, kind="rdp", at="1", orders=None))
        if divergence is None:
            return True
        if divergence.upper == float("inf"):
            return False
        kl = nearest_float(divergence.upper)
        square = min(-math.expm1(-kl), kl / 2) * (1 - 1e-9)
        if ask.kind != "epsilon":
            # δ(−ε) is 1 − e^{−ε}(1 − δ(ε)).
            shrink = math.exp(min(float(Fraction(ask.at or 0)), 0.0))
            return 1 - shrink * (1 - math.sqrt(square)) <= nearest_float(value)
        return value == 0 and math.sqrt(square) <= float(Fraction(ask.at))


def _few(ask: Ask, value: Fraction, known: Truth) -> bool:
    """Is a rate, or a number of runs + 1, times LOOSE less than what is proved to be allowed?"""
    return bool((value + (ask.kind == "runs")) * LOOSE < known.lower)


def explained_by_rounding(ask: Ask, gap: Fraction, size: Fraction, bits: int = 53) -> bool:
    """gap <= 64 max(α, 8) max(k, (α − 1) size) 2^{−bits}/(α − 1), for an RDP of k runs in all

    Then rounding to so many bits could explain an answer at this absolute distance `gap` from the
    right value `size` >= 0: an accountant that forms a moment A, or log A from terms near 1, errs
    in log A = (α − 1) ε(α) by a few units of 2^−53 for each of its terms, in every run. Always
    False for other kinds of question and at the order 1.
    """
    if ask.kind != "rdp" or Fraction(ask.at) == 1:
        return False
    alpha = Fraction(ask.at)
    runs = sum(part.count for part in ask.parts)
    terms = 64 * max(alpha, Fraction(8))
    moment = max(Fraction(1), (alpha - 1) * size / runs)
    return gap <= runs * terms * moment * Fraction(1, 2**bits) / (alpha - 1)


def sum_law(
    ask: Ask, answer: Answer, runs: list[Exchange], allowance: Fraction = ALLOWANCE
) -> Finding | None:
    """Judges the RDP of a composition against the sum of the peer's own single runs.

    `runs` has one exchange for each part of `ask`, in its order; each counts `part.count` times.
    None within the allowance, and where a number is not finite.
    """
    if answer.finite is None or any(run.finite is None for _, run in runs):
        return None
    values = [run.finite or Fraction() for _, run in runs]
    total = sum((part.count * x for part, x in zip(ask.parts, values, strict=True)), Fraction())
    if abs(answer.finite - total) <= allowance * max(abs(answer.finite), abs(total)):
        return None
    what = " + ".join(
        f"{part.count}·({nearest_float(x):.12g})" for part, x in zip(ask.parts, values, strict=True)
    )
    note = f"the runs it is made of give {what} = {nearest_float(total):.12g}"
    return Finding("inconsistent", ask, answer, note=note, other=runs[0], law="sum of its runs")
