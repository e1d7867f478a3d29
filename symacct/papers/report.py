"""The number to report, in rows: what is guaranteed, of which neighbours, and how it was found."""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symacct.accountant.currencies.concentrated import zcdp_at_once
from symacct.explore.comparison import ratio
from symacct.export.cards import card
from symacct.export.citation import source_line
from symacct.export.description import (
    OWN_CURVE,
    in_few_words,
    kind_label,
    neighbours,
    own_premises,
    pressing_premises,
)
from symacct.export.explanation import Explanation, explain_order, explain_profile
from symacct.kernel import limits
from symacct.kernel.accountant import (
    BY_ORDERS,
    Accountant,
    asked_of,
    default_accountant,
    notes_lower_bound,
)
from symacct.kernel.answer import (
    Bound,
    Enclosure,
    Guarantee,
    found_order,
    given,
    rational_text,
    to_fraction,
)
from symacct.kernel.attached import question
from symacct.kernel.claims import Kind
from symacct.kernel.deadline import Budget, progress, time_words
from symacct.kernel.errors import DomainError, SymacctError
from symacct.kernel.exact import Numeric, text
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node, as_node
from symacct.operations.repeat import NUMBER_OF_RUNS
from symacct.results.screen import Labelled, Part

#: A printed report has this many columns.
_WIDTH = 80
#: A headline has at most this many notes.
_HEADLINE_NOTES = 2
#: What is known of the true number has this many significant digits.
_PROFILE_DIGITS = 6
#: The exact number beside a pinned one has this share of the time.
_EXACT_SHARE = Fraction(1, 2)
#: This stands above what Rényi orders give beside a number that is not by them.
COMPARED = "by Rényi orders, for comparison"
#: A δ from this on is large whatever the number of records is.
_LARGE_DELTA = Fraction(1, 100)
#: A ratio below this is nearly 1: four digits rounded up would call it 1.001.
_NEARLY_ONE = 1.0005
#: A δ below this is below one over any number of records.
_TINY_DELTA = 1e-300
#: log10 e is rounded down, so that a power of ten is not overstated.
_LOG10_OF_E = Fraction(4342944819, 10**10)
#: 10 to this power is more than there are people.
_PEOPLE_POWER = 10
#: No larger power of ten is printed.
_MOST_POWER = 10**6
Row = tuple[str, str]


@dataclass(frozen=True, repr=False)
class PrivacyReport:
    """The number to report, its relation, what it is of and how it was found.

    `guarantee` is the best guarantee that is proved in time. The report prints as these four rows,
    with a note where one is due, and as a table in a notebook; `details()` has what it rests on
    and what Rényi orders give, which `by_orders` is. A note says what a δ of 1/100 or more means,
    or an ε of 23.03 or more. ε is in nats.

    >>> from symacct import Gaussian
    >>> found = Gaussian(5).report("1e-5")
    >>> str(found).splitlines()[0]
    'report this  ε = 0.725522 at δ = 1e-5  (rounded up)'
    >>> print(found.epsilon, found.by_orders.epsilon)
    0.725522 0.794315
    """

    guarantee: Guarantee
    #: The number of records of the data, where that is known.
    records: int | None = None
    #: Why the relation is this one, where more is known than the expression.
    relation_why: str = ""
    #: What was done, in other words than those of the expression.
    of: str = ""
    #: Further notes, where more is known than the expression.
    also: tuple[str, ...] = ()

    @cached_property
    def by_orders(self) -> Guarantee | None:
        """The guarantee by Rényi orders and the improved conversion, or None.

        It is the guarantee itself if that is by orders, and None if the guarantee is not the best
        of all, or orders give none.
        """
        g = self.guarantee
        if not g.is_best or g.mechanism is None:
            return None
        if not g.needs_no_order:
            return g
        digits, accountant = g.asked.digits_asked, default_accountant()
        ask = accountant.epsilon if g.epsilon is g.asked else accountant.delta
        try:
            return ask(g.mechanism, g.given, BY_ORDERS, digits=digits)
        except SymacctError:
            return None

    @property
    def epsilon(self) -> Bound | Any:
        """The ε to report, or the one that was given."""
        return self.guarantee.epsilon

    @property
    def delta(self) -> Bound | Any:
        """The δ to report, or the one that was given."""
        return self.guarantee.delta

    @property
    def how(self) -> str:
        """How the number was found, in a sentence."""
        g, letter = self.guarantee, self.guarantee.letter
        sentence = f"This is an upper bound on {letter}, from "
        if g.kind is Kind.EXACT:
            sentence = (
                f"No smaller {letter} is true: this one is from the exact privacy profile ({{}})"
            )
        elif g.needs_no_order:
            sentence += "the profile of a dominating pair ({})"
        else:
            order = found_order(g.alpha)
            sentence += f"Rényi order {order} by {{}} and the {g.conversion} conversion"
        certified = g.asked.certified and g.claim.certified
        trust = "every digit is proved" if certified else "not certified"
        return f"{sentence.format(', '.join(g.claim.theorems) or OWN_CURVE)}; {trust}."

    def headline(self) -> list[Row]:
        """List the number, whom it is for, what it is of, how it was found, and two notes."""
        g = self.guarantee
        return [
            ("report this", f"{_pair(g)}  ({g.asked.how_rounded()})"),
            ("relation", "; ".join(filter(None, [self._relation, self.relation_why]))),
            *([] if g.mechanism is None else [("of", self.of or in_few_words(g.mechanism))]),
            ("how", self.how),
            *(("note", note) for note in self._all_notes[:_HEADLINE_NOTES]),
        ]

    @property
    def _all_notes(self) -> list[str]:
        """All notes, of which the headline has no more than two."""
        return list(filter(None, [self._not_final, *self.notes, *self._assumed, *self.also]))

    @property
    def _assumed(self) -> list[str]:
        """A note on the premises that many a run does not meet; none where there are none."""
        g = self.guarantee
        if g.mechanism is None:
            return []
        assumed = pressing_premises(g.mechanism, g.claim.adjacency)
        return [f"Assumed: {'; '.join(assumed)}."] if assumed else []

    @property
    def notes(self) -> list[str]:
        """The notes on a large δ and a large ε."""
        return list(filter(None, [self.large_delta, self.large_epsilon]))

    @property
    def large_epsilon(self) -> str:
        """A note on an ε whose e^ε is above 10¹⁰, the odds of one in all people; else empty.

        An ε that was given is nobody's answer: what δ it has is.
        """
        if not isinstance(epsilon := self.guarantee.epsilon, Enclosure):
            return ""
        power = min(math.floor(to_fraction(epsilon.lower) * _LOG10_OF_E), _MOST_POWER)
        if power < _PEOPLE_POWER:
            return ""
        return (
            f"e^ε is above 10^{power}: an outcome may be so many times as likely with a record as "
            f"without it, and 10^{_PEOPLE_POWER} is enough to pick one person out of all who live. "
            "At this δ the guarantee says next to nothing."
        )

    @property
    def large_delta(self) -> str:
        """A note on a δ that is at least 1/n for n records, or at least 1/100; else empty.

        Dwork and Roth (2014, Section 2.3) say that δ has to be far below it, by this mechanism.
        """
        g, n = self.guarantee, self.records
        if isinstance(g.delta, Enclosure) and g.delta.upper < _TINY_DELTA:
            return ""  # as a fraction it may not fit into memory
        delta = to_fraction(g.delta.lower) if isinstance(g.delta, Enclosure) else g.delta
        if delta < (_LARGE_DELTA if n is None else min(_LARGE_DELTA, Fraction(1, n))):
            return ""
        shown, group = (_shown(g.delta), g.claim.adjacency.group)
        chance = shown if group == 1 else f"{shown}/{group}"
        met = f"a mechanism that publishes each record with probability {chance} meets it at ε = 0"
        if n is None:
            size, bound = f"δ = {shown} is large", "one over the number of records"
        else:
            size = f"δ = {shown} is not below 1/n = {text(Fraction(1, n))}"
            about = rational_text(n * delta / group, 3, up=False)
            met += f", and publishes about {about} record{'s' * (about != '1')}"
            bound = "1/n"
        return f"{size}: {met}. Choose δ far below {bound}."

    def behind(self) -> Iterator[Row]:
        """Yield the rows that say what the headline rests on."""
        g = self.guarantee
        if g.not_exact:
            yield "exact profile", g.not_exact
        if g.needs_no_order:
            yield "sources", source_line(g.claim.sources)
        else:
            yield from _order_facts(g)
        rho = None if g.mechanism is None else zcdp_at_once(g.mechanism, g.asked.digits_asked)
        if rho is not None:
            yield "ρ of zCDP", rho.rounded()
        if g.mechanism is not None and NUMBER_OF_RUNS in own_premises(g.mechanism):
            yield "assumed", NUMBER_OF_RUNS

    def comparison(self) -> Iterator[Row]:
        """Yield the rows that say what Rényi orders give, beside a headline that is not by them."""
        if (other := self.by_orders) is None or other is self.guarantee:
            return
        times = _times(other.asked, self.guarantee.asked)
        yield other.letter, f"{other.asked.rounded()}{times}"
        yield from _order_facts(other)

    def _truth(self) -> Iterator[Row]:
        """Yield the true number beside a pinned one, or what it is at least if it is not known.

        What takes longer than the question's time is left out, and a row says so.
        """
        g = self.guarantee
        m = g.mechanism
        if g.kind is Kind.EXACT or notes_lower_bound(g) or m is None:
            return
        budget, accountant = Budget(limits.current().seconds), Accountant(_PROFILE_DIGITS)
        is_epsilon = g.epsilon is g.asked
        ask = accountant.epsilon if is_epsilon else accountant.delta
        ask_least = accountant.lower_epsilon if is_epsilon else accountant.lower_delta
        if not g.is_best and not g.needs_no_order:
            with contextlib.suppress(SymacctError):
                known = budget.ask(_EXACT_SHARE, lambda: ask(m, g.given, "exact"))
                if known is None:
                    yield "exact", f"not {time_words()}"
                elif known.kind is Kind.EXACT:
                    yield "exact", _compared(g.asked, known.asked)
                    return
                elif known.asked.upper < g.asked.lower:
                    yield "at most", _compared(g.asked, known.asked)
        with contextlib.suppress(SymacctError):
            lower = budget.ask(1, lambda: ask_least(m, g.given))
            if lower is None:
                yield f"true {g.letter}", f"its lower bound was not {time_words()}"
            elif lower.lower > 0:
                ends = f"between {lower.rounded(_PROFILE_DIGITS)} and {g.asked.rounded()}"
                times = ratio(g.asked, lower)
                loose = "" if times is None else f", a factor of {times:.4g}"
                yield f"true {g.letter}", f"{ends}{loose}"

    def _screen_(
        self, more: bool = False, first: Iterable[Row] = (), last: Iterable[Row] = ()
    ) -> Iterator[Part]:
        """Yield the rows of the headline, and with `more` all that stands behind them.

        `first` are rows of the headline's own, such as the noise that was found, and `last` are
        facts that the number rests on.
        """
        number, *rest = self.headline()
        yield Labelled([number, *first, *rest])
        if not more:
            return
        yield Labelled([*self.behind(), *self.further(), *last], "what it rests on")
        if rows := list(self.comparison()):
            yield Labelled(rows, COMPARED)
        if rows := list(self._truth()):
            yield Labelled(rows, f"what is known of the true {self.guarantee.letter}")

    def explain(self) -> Explanation:
        """Explain what the number rests on, part by part: the profile, or theorems at its order.

        Raises DomainError for a guarantee without its mechanism.
        """
        g = self.guarantee
        number, *_ = self.headline()
        m = as_node(g.mechanism, "explain")
        rows = (("number", number[1]), ("relation", self._relation), ("how", self.how))
        if g.needs_no_order:
            return explain_profile(m, (*rows, ("sources", source_line(g.claim.sources))))
        return explain_order(m, g.alpha, rows)

    def statement(self, form: str = "text", preface: str = "") -> str:
        """Write a paragraph on this number for a privacy section; see `Guarantee.statement`."""
        return self.guarantee.statement(form, self.guarantee.asked.digits_asked, preface)

    def cite(self) -> str:
        """Write BibTeX of the works behind this number."""
        return self.guarantee.cite()

    def latex(self) -> str:
        """Write the formula of this number as a LaTeX display; see `Guarantee.latex`."""
        return self.guarantee.latex()

    @property
    def _relation(self) -> str:
        return neighbours(self.guarantee.claim.adjacency, self.guarantee.mechanism)

    @property
    def _not_final(self) -> str:
        """A note on what more time or other limits may give; empty where the answer is final."""
        note = self.guarantee.note
        return f"{note[0].upper()}{note[1:]}." if note else ""

    def __str__(self) -> str:
        return "\n".join(_lines(self.headline()))

    def details(self) -> str:
        """Write the report with what it rests on and what Rényi orders give, as text."""
        others = list(self.comparison())
        below = [f"{COMPARED}:", *_lines(others)] if others else []
        return "\n".join([*_lines([*self.headline(), *self.behind(), *self.further()]), *below])

    def further(self) -> list[Row]:
        """List the notes that the headline has no room for."""
        return [("note", note) for note in self._all_notes[_HEADLINE_NOTES:]]

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card(self.headline())

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON: its own number stands at the top."""
        g = self.guarantee
        report = f"{_pair(g)}: {self._relation}"
        notes = {
            "relation_why": self.relation_why,
            "not_final": self._not_final,
            "large_delta": self.large_delta,
            "large_epsilon": self.large_epsilon,
            "assumed": "".join(self._assumed),
            "also": list(self.also),
        }
        known = {name: note for name, note in notes.items() if note}
        return {"report": report, "how": self.how, **known, **g.as_dict()}


@question(Node, "report")
@progress("report")
def report(
    m: Node,
    delta: Numeric | None = None,
    epsilon: Numeric | None = None,
    digits: int = 6,
    adjacency: str | None = None,
) -> PrivacyReport:
    """Report the smallest proved ε for `delta`, or δ for `epsilon`.

    It is the number of `epsilon` or `delta`, printed with its relation, what it is of and how
    it was found. Its `guarantee` is the Guarantee; `details()` has what it rests on and what
    Rényi orders give. `adjacency`, "add_remove" or "replace_one", says for which neighbours the
    parameters were stated, if the expression leaves that open. Raises DomainError unless one of
    `delta` and `epsilon` is given, AdjacencyError if the relation does not hold, and
    SoundnessError if only a lower bound is known.

    >>> from symacct import Gaussian
    >>> print(Gaussian(5).report("1e-5").epsilon, Gaussian(5).epsilon("1e-5", digits=6).epsilon)
    0.725522 0.725522
    """
    g = asked_of(as_node(m, "report"), delta, epsilon, digits=digits)
    return PrivacyReport(g if adjacency is None else g.under(adjacency))


@question(Node, "explain")
def explain(
    m: Node,
    alpha: Numeric | None = None,
    *,
    delta: Numeric | None = None,
    epsilon: Numeric | None = None,
) -> Explanation:
    """Make the tree of what was done, with theorem, source, assumptions and kind of each part.

    It explains ε(α) at the order `alpha`, or the number to report at `delta` or `epsilon`,
    which may come from the exact privacy profile. Raises DomainError for several of them.
    """
    if delta is None and epsilon is None:
        return explain_order(m, alpha)
    if alpha is not None:
        raise DomainError("explain: found alpha with delta or epsilon, needed one of them")
    return report(m, delta, epsilon).explain()


def _pair(g: Guarantee) -> str:
    """Write the number that was asked, at the one that was given."""
    letter, other = ("ε", "δ") if g.epsilon is g.asked else ("δ", "ε")
    return f"{letter} = {_shown(g.asked)} at {other} = {_shown(g.given)}"


def _shown(x: Enclosure | Fraction) -> str:
    """Write a number that was found on its safe side, and one that was given as it is."""
    return x.rounded() if isinstance(x, Enclosure) else given(x)


def _order_facts(g: Guarantee) -> Iterator[Row]:
    """Yield the Rényi order, the conversion, the theorems and the curve.

    There are none for a number that needs no order.
    """
    if g.needs_no_order:
        return
    yield "order α", found_order(g.alpha)
    yield "best order", "proved" if g.optimal else "sound, not proved the best"
    yield "conversion", g.conversion
    yield "theorems", ", ".join(g.claim.theorems) or OWN_CURVE
    yield "sources", source_line(g.claim.sources)
    yield "curve", kind_label(g.claim)


def _compared(value: Enclosure, truth: Enclosure) -> str:
    """Write the true number, and how many times that the answer is."""
    times = ratio(value, truth)
    loose = "" if times is None else f"; the answer is {times:.4g} times that"
    return f"{truth.rounded(_PROFILE_DIGITS)}{loose}"


def _times(more: Enclosure, less: Enclosure) -> str:
    """Say how many times the headline `less` a number is; empty where that is not known."""
    if more.rounded() == less.rounded():
        return "  (the same)"
    times = ratio(more, less)
    if times is not None and float(times) < _NEARLY_ONE:
        return "  (nearly the same)"
    return "" if times is None else f"  ({times:.4g} times the number to report)"


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield names beside what belongs to them, wrapped between words; there is at least one row."""
    rows = list(rows)
    room = max(len(name) for name, _ in rows) + 2
    for name, value in rows:
        yield textwrap.fill(
            value,
            _WIDTH,
            initial_indent=name.ljust(room),
            subsequent_indent=" " * room,
            break_long_words=False,
            break_on_hyphens=False,
        )
