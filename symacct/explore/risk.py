"""What an attacker can do at most with what a mechanism tells, from its certified profile."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import arb

from symacct.accountant.currencies.concentrated import zcdp
from symacct.accountant.currencies.gdp import gdp, no_looser, or_fewer_digits, regret, squared_mu
from symacct.accountant.currencies.tradeoff import (
    CurveProfile,
    nearest_first,
    profile_of_curve,
    profile_or_curve,
)
from symacct.explore.plots import FPRS, roc
from symacct.export.cards import grid
from symacct.export.description import about, is_open, neighbours, pictured, sensitivity
from symacct.kernel import limits, parameters
from symacct.kernel.accountant import certified_number, refuse_symbols
from symacct.kernel.answer import Bound, bound, from_ball, given, rational_text, to_fraction
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, precision
from symacct.kernel.claims import Adjacency, Claim, Kind, Relation
from symacct.kernel.deadline import Budget, time_words
from symacct.kernel.errors import (
    AssumptionError,
    DomainError,
    InfiniteError,
    LimitError,
    PrecisionError,
    SoundnessError,
    SymacctError,
    echo,
)
from symacct.kernel.exact import INFINITY, Numeric, typed_value
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import rational
from symacct.kernel.sources import DRS22, SYMACCT
from symacct.profile import Profile, profile_below
from symacct.profile.below import products_below
from symacct.profile.selected import BestOfRuns
from symacct.profile.tradeoff import HockeySticks, largest_power, smallest_mu
from symacct.results.screen import Note, Part, Tabled, aligned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# --- sentences
#
# What the numbers of a risk mean, a plain sentence for each; percents are rounded up.

#: The note on a table of which all numbers come from a Rényi curve.
CURVE_ALONE = (
    "Only a Rényi curve is known: each number is the most that the curve implies, and no test "
    "need reach it."
)
#: A number in a sentence is rounded up to this many significant digits.
_WORD_DIGITS = 3
#: A share that was given is written in percent, rounded up to this many significant digits.
_SHARE_DIGITS = 6
#: An exact number is written in full in a sentence if that takes at most this many characters.
_MOST_EXACT_CHARACTERS = 8
#: Sentences below a table are wrapped at this many columns.
_WIDTH = 80


def _sentences(
    rows: Iterable[tuple[str, str | None, Bound | str]],
    m: Node,
    relation: Adjacency,
    least_error: str,
) -> tuple[str, ...]:
    """Write a sentence for each number that is known, and one more for a relation left open.

    A row is (name, argument, the number or the reason why there is none).
    """
    of_values = relation.relation is Relation.REPLACE_ONE or m._is_local
    listed_words = [
        in_words(name, argument, most, least_error, of_values)
        for name, argument, most in rows
        if isinstance(most, Bound)
    ]
    if listed_words and is_open(relation, m):
        listed_words.append(OF_EITHER)
    return tuple(listed_words)


def in_words(
    name: str, argument: str | None, most: Bound, least_error: str, of_values: bool = False
) -> str:
    """Write the sentence on one risk: that it is at most this number, rounded up.

    `argument` is the rate, prior or baseline that it is asked at, or None, and `least_error` is as
    it is shown. With `of_values` neighbours differ in the value of a record, and not in who has
    one. The number has to be an upper bound or exact.
    """
    share = Fraction(0) if argument is None else Fraction(typed_value(argument))
    shares = {} if name in _NO_SHARES else {"most": f"{_rounded(most, 100)} %"}
    templates = _SENTENCES | _OF_VALUES if of_values else _SENTENCES
    return templates[name].format(
        share=_percent(share),
        blind=_percent(max(share, 1 - share)),
        points=shares.get("most", "").removesuffix(" %"),
        number=_rounded(most),
        error=least_error,
        **shares,
    )


def _rounded(most: Bound, times: int = 1) -> str:
    """Round `times` the number up to few digits; an exact one that is short is in full."""
    if most.exactly is not None:
        full = given(times * most.exactly)
        if len(full) <= _MOST_EXACT_CHARACTERS:
            return full
    return rational_text(times * to_fraction(most.upper), _WORD_DIGITS, up=True)


def listed(sentences: Iterable[str]) -> list[str]:
    """Write the sentences as a list below a table; no line where there are none."""
    lines = [f"- {sentence}" for sentence in sentences]
    return ["in words:", *lines] if lines else []


def wrapped(line: str) -> str:
    """Wrap a line of the list between words, at 80 columns."""
    return textwrap.fill(line, _WIDTH, subsequent_indent="  ")


#: The end of a sentence that explains a μ.
_NORMAL = (
    "tells the two datasets apart better than the best test tells a normal law of mean 0 from one "
    "of mean {number}, both of variance 1."
)
#: What each risk means, in a sentence with its number.
_SENTENCES = {
    "advantage": "The share of the people in the data whom an attacker recognises is at most "
    "{points} percentage points above the share of others whom the attacker wrongly accuses.",
    "tpr": "An attacker who wrongly accuses at most {share} of the people who are not in the data "
    "recognises at most {most} of those who are.",
    "bayes_success": "An attacker who believes at first with probability {share} that a person is "
    "in the data guesses right with probability at most {most}; without the output it is {blind}.",
    "reconstruction": "An attacker who would guess a record right with probability {share} without "
    "the output reconstructs it with probability at most {most}.",
    "mu": "No test whose two errors are both {error} or more " + _NORMAL,
    "regret": "These normal laws overstate how often the best guess is right by at most {most}.",
    "mu_of_all": "No test, however small its errors are, " + _NORMAL,
    "rho": "The Rényi divergence of every order α is at most {number} times α.",
}
#: What each risk means where neighbours are two values of one record.
_OF_VALUES = {
    "advantage": "An attacker who has to tell which of two values a person's record has recognises "
    "the one value at most {points} percentage points more often than the attacker takes the other "
    "for it.",
    "tpr": "An attacker who has to tell which of two values a person's record has, and takes the "
    "one for the other in at most {share} of cases, recognises the other in at most {most}.",
    "bayes_success": "An attacker who believes at first with probability {share} that a person's "
    "record has the one of two values guesses right with probability at most {most}; without the "
    "output it is {blind}.",
}
#: The note where the relation is left open.
OF_EITHER = (
    "If neighbours differ by replacing one record, these sentences are about which of two values a "
    "person's record has, and not about who is in the data."
)
#: These risks are no probabilities, and are not written in percent.
_NO_SHARES = ("mu", "mu_of_all", "rho")


def _percent(share: Fraction) -> str:
    """Write a share that was stated in percent, such as 0.1 %; a long one is rounded up."""
    return f"{rational_text(100 * share, _SHARE_DIGITS, up=True)} %"


def _bound_cell(value: Bound | str | None) -> str:
    return value.rounded() if isinstance(value, Bound) else "–"


# --- the rows of the table
#
# What is asked, and what was had of it in time.

#: The table asks at these false positive rates, priors and baselines.
_FPRS, _PRIORS, _BASELINES = ("1/10", "1/100", "1/1000", "1e-6"), ("1/2", "1/10"), ("1/10", "1e-3")
#: The reason that stands for the regret of a μ that a Rényi curve gave.
_NO_REGRET = "the μ above is from the Rényi curve, which does not say how good a test is at least"
#: A Rényi curve bounds these risks from above.
_BOUNDED = ("advantage", "tpr", "bayes_success", "reconstruction", "mu")


class Row(NamedTuple):
    """One risk of the table; the reason stands in the place of a number that was not had.

    `what` is what the table calls it, `name` the attribute of `Risk`, `argument` the number that
    it is asked at, or None. `least` is None where no other number is known from below, or asked.
    """

    what: str
    name: str
    argument: str | None
    most: Bound | str
    least: Bound | str | None
    of_curve: bool  # whether `most` comes from the Rényi curve, as the profile did not tell it


def rows_of(risks: Risk) -> list[Row]:
    """Compute the rows: half of `limits(seconds=…)` is for the profile, half for the Rényi curve.

    The curve is asked only for what the profile did not tell.
    """
    rows = []
    half = limits.current().seconds / 2
    budget = Budget(half)
    for what, name, argument, has_lower in _questions(risks):
        lower = _in_time(budget, risks.lower, name, argument) if has_lower and risks.lower else None
        # ρ is read from the curve, whatever the profile has taken.
        most = _in_time(Budget(half) if name == "rho" else budget, risks, name, argument)
        rows.append(Row(what, name, argument, most, lower, False))
    return _filled(rows, risks, Budget(half)) if risks.has_curve_beside else rows


def _in_time(budget: Budget, of: Risk, name: str, argument: str | None) -> Bound | str:
    """Ask for the number, or for why there is none: an error, or that the time is over."""

    def number() -> Bound:
        risk: Bound = getattr(of, name) if argument is None else getattr(of, name)(argument)
        return risk

    try:
        return budget.ask(1, number) or f"not {time_words()}"
    except SymacctError as error:
        if isinstance(error, AssumptionError) and name == "mu_of_all" and not of.is_of_curve:
            error_floor = given(of.least_error)
            return f"not known for this noise; the μ above is for errors from {error_floor}"
        return str(error).removeprefix(f"{name}: ").removeprefix("gdp: ")


def _filled(rows: list[Row], risks: Risk, budget: Budget) -> list[Row]:
    """Fill the rows without a number with what the Rényi curve implies.

    A regret is then left out if the μ above it comes from the curve.
    """

    def has_number(row: Row) -> bool:
        return isinstance(row.most, Bound) or row.name not in _BOUNDED

    curve = None if all(map(has_number, rows)) else budget.ask(1, lambda: risks.by_curve)
    if curve is None:
        return rows

    def filled(row: Row) -> Row:
        if has_number(row):
            return row
        most = _in_time(budget, curve, row.name, row.argument)
        return row if isinstance(most, str) else row._replace(most=most, of_curve=True)

    rows = list(map(filled, rows))
    is_of_curve = {row.name for row in rows if row.of_curve}
    return [
        row._replace(most=_NO_REGRET) if row.name == "regret" and "mu" in is_of_curve else row
        for row in rows
    ]


def note_of(rows: list[Row], digits: int) -> str:
    """Say which numbers come from the Rényi curve though there is a profile; empty if none does.

    Rows of kind upper are named by that, unless rows of the profile are upper bounds as well.
    """
    taken = [row for row in rows if row.of_curve]
    if not taken:
        return ""
    others = [row.most for row in rows if not row.of_curve and isinstance(row.most, Bound)]
    is_marked = not any(most.claim.kind is Kind.UPPER for most in others)
    which = "Rows marked upper" if is_marked else "These rows"
    end = "." if is_marked else ": " + "; ".join(row.what for row in taken)
    return (
        f"{which} come from the Rényi curve, because the exact profile was not had to "
        f"{digits} digits within {limits.current().seconds} s{end}"
    )


def _questions(of: Risk) -> Iterator[tuple[str, str, str | None, bool]]:
    """Yield what the table calls each risk, its name and argument, and whether it has a `least`.

    ρ is asked only where the curve is steepest at α = ∞, so that it has one.
    """
    yield "advantage, TPR − FPR", "advantage", None, True
    for fpr in _FPRS:
        yield f"TPR at FPR {_share_text(fpr)}", "tpr", fpr, True
    for prior in _PRIORS:
        yield f"best guess right, prior {_share_text(prior)}", "bayes_success", prior, True
    for baseline in _BASELINES:
        yield f"reconstruction, baseline {_share_text(baseline)}", "reconstruction", baseline, False
    yield f"μ of GDP, errors from {given(of.least_error)}", "mu", None, True
    yield "regret of that μ", "regret", None, False
    yield "μ of GDP, all tests", "mu_of_all", None, False
    if of.node._rewritten._steepest_up_to == INFINITY:
        yield "ρ of zCDP", "rho", None, False


def _share_text(share: str) -> str:
    return given(Fraction(typed_value(share)))


# --- risks

#: By default μ holds for tests of which both errors are at least this probability.
LEAST_ERROR = "1e-10"
#: A point of a picture is computed to this many significant digits.
_DRAWN_DIGITS = 5
#: Every number of a table rests on these, besides what the profile rests on.
_SOURCES = (
    DRS22.at("trade-off functions"),
    SYMACCT.at("docs/proofs/currencies.md, tests-and-guesses"),
)
#: A hockey-stick divergence by a grid is asked to this many digits: each more costs ten times.
_FEW_DIGITS = 1.5
#: Balls of this many bits are enough for so few digits.
_FEW_DIGITS_BITS = 96

#: This computes a number from the hockey-stick divergences of a profile.
Value = Callable[[HockeySticks], arb]


def risk(
    m: Node,
    digits: int = 6,
    least_error: Numeric = LEAST_ERROR,
    adjacency: str | Adjacency | None = None,
) -> Risk:
    """The risks of m: how much an attacker who sees the output can learn at most.

    The attacker may know everything else. Each number is certified and rounded up. `digits` are
    significant digits; if the profile has fewer, the answer has those. `least_error` is the least
    error of a test for which μ holds. `adjacency` says for which neighbours the parameters of m
    were stated, "add_remove" or "replace_one", if m leaves that open. If only a Rényi curve is
    known, as for zCDP, the numbers are the upper bounds that it implies. No lower bounds are known
    then. Raises InfiniteError if the curve implies nothing, and DomainError for symbols without a
    value. ε is in nats.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> found = risk(2000 * PoissonSubsample(Gaussian("9.4"), "0.328"))
    >>> print(found.advantage, found.tpr("1/100"), found.mu, found.regret)
    0.565052 0.222757 1.56848 0.00102316
    """
    return Risk(m, digits, least_error, adjacency=adjacency)


class Risk:
    """The privacy risks of a mechanism, which print as a table.

    The numbers are of kind `exact` if the profile is known, and otherwise of kind `upper`; then
    `lower` holds the lower bounds. The neighbours are those of the mechanism m. `digits` and
    `least_error` are those of `risk`, and so is `adjacency`. `known` is a profile to use in place
    of the mechanism's own. Raises the errors of `risk`.

    >>> from symacct import RandomizedResponse
    >>> found = risk(RandomizedResponse("3/4"))
    >>> print(found.bayes_success("1/2"), found.reconstruction("1/10"))
    0.750000 0.300001
    """

    def __init__(
        self,
        m: Node,
        digits: int = 6,
        least_error: Numeric = LEAST_ERROR,
        known: Profile | None = None,
        adjacency: str | Adjacency | None = None,
    ) -> None:
        self.node = as_node(m, "risk")
        refuse_symbols(m)
        self.digits = parameters.digits(digits)
        self.least_error = rational(least_error, "risk, least_error")
        if not 0 < self.least_error < Fraction(1, 2):
            stated = echo(least_error)
            raise DomainError(f"risk, least_error: found {stated}, needed 0 < least_error < 1/2")
        claim = self.node.claim
        self._relation = claim.adjacency if adjacency is None else claim.under(adjacency).adjacency
        self._known = profile_or_curve(self.node, "risk") if known is None else known

    @property
    def kind(self) -> Kind:
        """The numbers have this kind; a reconstruction is an upper bound in any case.

        It is `lower` for the risks that `lower` returns.
        """
        return self._known.claim.kind

    # --- the numbers

    @cached_property
    def advantage(self) -> Bound:
        """The largest true positive rate less false positive rate of a test of membership.

        It is the total variation, δ at ε = 0.
        """
        return _of_probability(self._ask(lambda height: height(Fraction(1)), "advantage"))

    def tpr(self, fpr: Numeric) -> Bound:
        """The largest true positive rate of a membership test with this false positive rate.

        Either of two neighbours may be the one with the record. The kind is `upper` if the profile
        is that of many pairs of laws and no one pair is known to have the best test. Raises
        DomainError for a rate above 1 or below 0.
        """
        level = _share(fpr, "tpr, fpr")

        def value(height: HockeySticks) -> arb:
            return BALL.maximum(
                *(largest_power(direction, level, back) for direction, back in height.each_way)
            )

        what = f"tpr at {echo(fpr)}"
        return bound(_of_probability(self._ask(value, what)), HockeySticks(self._known).kind)

    def bayes_success(self, prior: Numeric = "1/2") -> Bound:
        """The probability that the best guess of membership is right.

        `prior` is the probability of one of the two neighbouring datasets, whichever is the worse.
        Raises DomainError for a prior above 1 or below 0.
        """
        share = _share(prior, "bayes_success, prior")
        less, more = sorted((share, 1 - share))

        def value(height: HockeySticks) -> arb:
            if not less:
                return arb(1)
            return ball(more) + ball(less) * height(more / less)

        return _of_probability(self._ask(value, f"bayes_success at {echo(prior)}"))

    # Proved in docs/proofs/currencies.md, Lemma reconstruction.
    def reconstruction(self, baseline: Numeric) -> Bound:
        """An upper bound of the probability that an attacker reconstructs a record.

        `baseline` is the probability that the best blind guess succeeds. The bound holds for every
        prior of the record, for every error that counts as a success, and for an attacker who knows
        all other records (reconstruction robustness). Raises SoundnessError for risks from below.
        """
        if self.kind is Kind.LOWER:
            raise SoundnessError("reconstruction: found a lower bound of the profile, from which "
                                 "none follows; needed risk(m)")  # fmt: skip
        level = _share(baseline, "reconstruction, baseline")
        if self._known.has_fixed_pair:
            return bound(self.tpr(level), Kind.UPPER)
        what = f"reconstruction at {echo(baseline)}"
        power = self._ask(lambda height: largest_power(height, level), what)
        return bound(_of_probability(power), Kind.UPPER)

    @cached_property
    def mu(self) -> Bound:
        """The smallest μ of Gaussian DP for tests of which both errors are at least least_error.

        A guess is right more often than under it by no more than that, at any prior.
        """
        if squared_mu(self.node._rewritten) is not None:
            return gdp(self.node, self.digits)

        def ask(digits: int) -> Bound:
            found = self._ask(
                lambda height: smallest_mu(height, self.least_error, digits), "mu", digits
            )
            return bound(found, HockeySticks(self._known).kind)

        if self.kind is Kind.LOWER:
            return or_fewer_digits(ask, self.digits)
        return no_looser(lambda: or_fewer_digits(ask, self.digits), self.node, self.digits)

    @cached_property
    def regret(self) -> Bound:
        """By how much more often a guess may be right under `mu` than it is: the largest of priors.

        It says how far the Gaussian trade-off curve is below the true one, and is an upper bound
        where that is not known. Raises AssumptionError where only a Rényi curve is known, and
        SoundnessError for risks from below.
        """
        if self.kind is Kind.LOWER:
            raise SoundnessError("regret: found a lower bound of the profile, from which none "
                                 "follows; needed risk(m)")  # fmt: skip
        if self.is_of_curve:
            raise AssumptionError(
                f"regret: found {echo(self.node)}, of which only a bound on the Rényi curve is "
                "known, needed the privacy profile: such a bound does not say how good the best "
                "test is at least"
            )
        return or_fewer_digits(lambda digits: regret(self.node, self.mu, digits), self.digits)

    @cached_property
    def mu_of_all(self) -> Bound:
        """The μ of Gaussian DP for all tests, however small their errors are; see `Node.gdp`."""
        return gdp(self.node, self.digits)

    @cached_property
    def rho(self) -> Bound:
        """The ρ of zero-concentrated differential privacy; see `Node.zcdp`."""
        return zcdp(self.node, self.digits)

    @property
    def is_of_curve(self) -> bool:
        """Is only a Rényi curve known, and no privacy profile?"""
        return isinstance(self._known, CurveProfile)

    @property
    def has_curve_beside(self) -> bool:
        """May the Rényi curve bound a risk that the profile leaves open? Not one from below."""
        return not self.is_of_curve and self.kind is not Kind.LOWER

    @property
    def note(self) -> str:
        """Which numbers of the table a Rényi curve gave, and why; empty if it gave none."""
        return CURVE_ALONE if self.is_of_curve else note_of(self._table, self.digits)

    @cached_property
    def by_curve(self) -> Risk:
        """The risks that the Rényi curve alone implies, each of them an upper bound.

        Raises InfiniteError if the curve implies nothing.
        """
        known = profile_of_curve(self.node)
        return Risk(self.node, self.digits, self.least_error, known, self._relation)

    @cached_property
    def lower(self) -> Risk | None:
        """Risks from below, rounded down, of what post-processing leaves.

        None where they are exact, and where nothing is known from below.
        """
        node = self.node._rewritten
        if self.kind is not Kind.UPPER or not any(each.runs for each in products_below(node)):
            return None
        known = profile_below(node)
        return Risk(self.node, self.digits, self.least_error, known, self._relation)

    def _ask(self, value: Value, what: str, digits: int | None = None) -> Bound:
        """Certify the number that `value` computes from the profile, with its claim.

        `digits` are by default those of the risks. Where a profile may cost more than its curve,
        the number has the few digits that one pass gives: PrecisionError if these are none.
        """
        kind = self.kind
        sources = (*_SOURCES, *self._known.claim.sources)
        claim = Claim(kind, self._relation, None, sources=sources)

        # One selection has one pair of finitely many outcomes, whose digits cost nothing.
        if not self._known.may_exceed_curve or isinstance(self._known, BestOfRuns):
            heights = HockeySticks(self._known)
            enclosure = certified_number(
                lambda _: (value(heights), claim), digits or self.digits, what
            )
            return bound(enclosure, kind)
        # A grid of losses, or many of them: each digit takes ten times as long.
        with precision(_FEW_DIGITS_BITS):
            few = self._of_few(value)
        if not few.is_finite():
            raise PrecisionError(f"{what}: found a profile of too few digits, needed fewer runs")
        return bound(from_ball(few, claim, self.digits, True), kind)

    def _of_few(self, value: Value) -> arb:
        """Compute the number from few digits of the profile, by its cheapest form that answers."""
        first, *others = nearest_first(self._known)
        for other in others:
            with suppress(PrecisionError, LimitError):
                return value(HockeySticks(first, _FEW_DIGITS))
            first = other
        return value(HockeySticks(first, _FEW_DIGITS))

    # --- the table

    @cached_property
    def _table(self) -> list[Row]:
        return rows_of(self)

    @property
    def rows(self) -> list[tuple[str, Bound | str, Bound | str | None]]:
        """The rows of the table: what the risk is called, what it is at most, and at least.

        A reason stands for a number that was not had, and None for a lower end that is the same
        number or is not asked. The profile has half of the time `limits(seconds=…)` for all of
        them. What it does not tell by then is what the Rényi curve implies, or the reason if that
        is nothing.
        """
        return [(row.what, row.most, row.least) for row in self._table]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """A plain sentence for each number that is known, in the order of the table.

        Each says what the risk is at most. Risks from below have no sentences.

        >>> from symacct import Gaussian
        >>> risk(Gaussian(50)).words[2].partition("not in the data ")[2]
        'recognises at most 1.06 % of those who are.'
        """
        if self.kind is Kind.LOWER:
            return ()
        rows = [(row.name, row.argument, row.most) for row in self._table]
        return _sentences(rows, self.node, self._relation, given(self.least_error))

    @property
    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The headers and the rows of the table, with each number rounded to its safe side.

        The one number of risks from below stands under "at least".
        """
        first = "at least" if self.kind is Kind.LOWER else "at most"
        headers, rows = ["risk", first, "kind"], []
        for name, most, lower in self.rows:
            kind = str(most.claim.kind) if isinstance(most, Bound) else "not known"
            rows.append([name, _bound_cell(most), kind])
            if self.lower is not None:
                rows[-1].insert(2, _bound_cell(lower))
        if self.lower is not None:
            headers.insert(2, "at least")
        return tuple(headers), list(map(tuple, rows))

    @property
    def open_ends(self) -> list[tuple[str, str]]:
        """The numbers that are not known, each with the reason."""
        return [(name, most) for name, most, _ in self.rows if isinstance(most, str)]

    def __str__(self) -> str:
        """Write the table of risks, the relation, and each risk in a sentence."""
        lines = aligned(*self.cells)
        lines.append(f"relation: {about(self.node, self._relation)}")
        lines += map(wrapped, listed(self.words))
        return "\n".join([*lines, self.note] if self.note else lines)

    def _screen_(self) -> Iterator[Part]:
        """The table, the relation, the table in words, and what is not known and why."""
        yield Tabled(*self.cells)
        about_whom = neighbours(self._relation, self.node), sensitivity(self.node)
        yield f"relation: {'; '.join(filter(None, about_whom))}"
        yield from filter(None, [*listed(self.words), self.note])
        yield from (Note(f"{name}: {why}") for name, why in self.open_ends)

    def __repr__(self) -> str:
        return f"<Risk of {self.node!r}: advantage {self.advantage}, μ {self.mu}; {self.kind}>"

    def _repr_html_(self) -> str:
        """Lay the risks in a table for a notebook."""
        below = filter(None, [f"relation: {about(self.node, self._relation)}", self.note])
        words = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.words)
        return grid(*self.cells, "; ".join(below)) + f"<ul>{words}</ul>"

    def as_dict(self) -> dict[str, Any]:
        """Return the table for JSON; the one number of risks from below is "at_least"."""
        first = "at_least" if self.kind is Kind.LOWER else "at_most"
        return {
            "expression": repr(self.node),
            "relation": str(self._relation),
            **({"note": self.note} if self.note else {}),
            "risks": [
                {
                    "risk": name,
                    **({first: most.as_dict()} if isinstance(most, Bound) else {"why": most}),
                    **({"at_least": lower.as_dict()} if isinstance(lower, Bound) else {}),
                }
                for name, most, lower in self.rows
            ],
        }

    def drawn(self, fprs: list[Fraction]) -> list[Bound]:
        """Compute `tpr` at each rate, all by the Rényi curve if the profile lacks some in time.

        The time is `limits(seconds=…)`.
        """
        if self.has_curve_beside:
            budget = Budget(limits.current().seconds)
            with suppress(PrecisionError, LimitError):
                if rates := budget.ask(1, lambda: list(map(self.tpr, fprs))):
                    return rates
            with suppress(InfiniteError):
                return list(map(self.by_curve.tpr, fprs))
        return list(map(self.tpr, fprs))

    def plot(self, fprs: Iterable[Numeric] | None = None, axes: Axes | None = None) -> Figure:
        """Draw the true positive rate against the false one; see `plot_risk`."""
        return plot_risk(self.node, fprs, axes, self._relation)


def plot_risk(
    m: Node | Mapping[str, Node],
    fprs: Iterable[Numeric] | None = None,
    axes: Axes | None = None,
    adjacency: str | Adjacency | None = None,
) -> Figure:
    """Draw the largest true positive rate of a membership test against its false positive rate.

    m is a node, or a mapping from names to nodes. Both axes are logarithmic and begin at 1e-6,
    unless `fprs` gives the false positive rates. `axes` are axes of your own to draw into. If the
    profile is not known, a lower bound is drawn as well. `adjacency` is that of `risk`.
    Raises the errors of `risk`, and MissingPackageError without matplotlib.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> figure = plot_risk(1000 * PoissonSubsample(Gaussian(2), "1/100"), ["1e-3", "1e-2", "0.1"])
    """
    nodes = {"the best test": m} if isinstance(m, Node) else dict(
        parameters.mapping(m, "plot_risk", "{'run': Gaussian(5)}")
    )  # fmt: skip
    if not nodes:
        raise DomainError("plot_risk: found no mechanism, needed one at least")
    rates = FPRS if fprs is None else parameters.members(fprs, "plot_risk, fprs", "['1e-3', 0.1]")
    at = [_share(x, "plot_risk, fprs") for x in rates]
    tests = []
    for name, node in nodes.items():
        risks = Risk(node, _DRAWN_DIGITS, adjacency=adjacency)
        tests.append((str(name), risks.drawn(at)))
        if risks.lower is not None:
            tests.append((f"{name}, from below", list(map(risks.lower.tpr, at))))
    return roc(tests, at, pictured(*nodes.values(), adjacency=adjacency), axes)


def _share(value: Numeric, name: str) -> Fraction:
    """Return a probability as a fraction; DomainError outside [0, 1]."""
    share = rational(value, name)
    if share > 1:
        raise DomainError(f"{name}: found {echo(value)}, needed a probability, from 0 to 1")
    return share


def _of_probability(probability: Bound) -> Bound:
    """Cut both ends of a probability at 1, which a ball's radius may pass."""
    unit = probability.upper.context.mpf(1)
    return replace(
        probability, lower=min(probability.lower, unit), upper=min(probability.upper, unit)
    )
