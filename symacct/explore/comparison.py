"""Every theorem that speaks of an expression, side by side, lower bounds first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import mpmath

from symacct.explore.grids import axis_values
from symacct.export.cards import grid
from symacct.export.description import KIND_LABELS, about, kind_label
from symacct.kernel import limits
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, format_shared, order_text
from symacct.kernel.claims import Kind
from symacct.kernel.conversion import conversions
from symacct.kernel.deadline import Budget, progress, time_words
from symacct.kernel.errors import (
    DomainError,
    NoNumberError,
    OrderError,
    SoundnessError,
    SymacctError,
    echo,
)
from symacct.kernel.exact import Numeric, Order, order, sympy
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import By, given_delta
from symacct.kernel.theorem_registry import PROVED, Theorem, is_about, theorems
from symacct.results.screen import Part, Tabled, aligned

#: The ends of a ratio have this many bits, of which five digits are shown.
_RATIO_BITS = 128
#: A value in a table has this many significant digits.
_DIGITS = 6
#: The repr of a comparison shows this many rows.
_REPR_ROWS = 3
#: This name stands in the column of conversions for a lower bound, which is by none of them.
_LOWER_BOUND = "lower bound"
#: The rows beside the one to report have at least this many seconds, if that one took them all.
_LEAST_SECONDS = 0.5
#: One row may have this many times an equal part of the seconds left: most rows need none.
_SHARES = 4
#: Rows are ordered by kind in this order.
_PLACE = {Kind.LOWER: 0, Kind.EXACT: 1, Kind.UPPER: 2, Kind.NEITHER: 3}


@dataclass(frozen=True)
class TheoremRow:
    """What one theorem says at each order: an Enclosure, or the reason why it says nothing.

    `theorem` is None for the default answer, and `name` is then "default".
    """

    theorem: Theorem | None
    name: str
    kind: Kind
    values: tuple[Enclosure | str, ...]
    #: Each value over the exact one, or over the best lower bound; None where there is neither.
    ratios: tuple[Enclosure | None, ...] = ()

    @property
    def applies(self) -> bool:
        """Does the theorem say something at any of the orders?"""
        return any(isinstance(value, Enclosure) for value in self.values)

    @property
    def status(self) -> str:
        """ "proved", or what else the theorem is: a conjecture, an approximation, refuted."""
        return self.theorem.status if self.theorem else PROVED

    @property
    def reason(self) -> str:
        """Say why it says nothing at some order; empty where it says something at all of them.

        What it needs of the expression comes before what it needs of the orders.
        """
        reasons = [value for value in self.values if isinstance(value, str)]
        return min(reasons, key=lambda text: " holds at " in text, default="")

    def __repr__(self) -> str:
        return f"<{' '.join(self.cells)}>"

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a table are the name and, for each order, the value with its ratio."""
        times = self.ratios or (None,) * len(self.values)
        return self.name, *(_cell(x, r) for x, r in zip(self.values, times, strict=True))

    @property
    def wide_cells(self) -> tuple[str, ...]:
        """The cells of a wide table have each ratio in a column of its own; ratios are needed."""
        status = KIND_LABELS[self.kind] if self.status == PROVED else self.status
        pairs = zip(self.values, self.ratios, strict=True)
        return self.name, status, *(cell for x, r in pairs for cell in (_rounded(x), _times(r)))

    @property
    def silence(self) -> str:
        """Say why it says nothing at any order."""
        return f"{self.name} does not apply: {self.reason}"

    def as_dict(self) -> dict[str, Any]:
        """Return the row for JSON; a ratio is null where there is none."""
        return {
            "theorem": self.name,
            "kind": str(self.kind),
            "status": self.status,
            "source": str(self.theorem.source) if self.theorem else None,
            "values": [
                value.as_dict() if isinstance(value, Enclosure) else {"reason": value}
                for value in self.values
            ],
            "ratios": [ratio and ratio.as_dict() for ratio in self.ratios],
        }


@progress("compare")
def compare(
    m: Node,
    orders: Iterable[Numeric] | Numeric,
    digits: int = 10,
    accountant: Accountant | None = None,
) -> Comparison[TheoremRow]:
    """Compare what each theorem about m's operations gives at the Rényi orders `orders`.

    The first row is the default answer. Lower bounds come before upper ones, and theorems that are
    not proved come last. A theorem that does not apply gives its reason. Each value also has its
    ratio to the exact value, or to the best proved lower bound. Raises DomainError for orders below
    1, and OrderError for an order with a symbol. `digits` are significant digits of the values, and
    `accountant` remembers them; with one of your own, its digits count. Values are in nats.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> rows = compare(PoissonSubsample(Gaussian(5), "1/1000"), 8)
    >>> {row.name: row.ratios[0].rounded_up(5) for row in rows if row.name == "ZW19-T5"}
    {'ZW19-T5': '1.1101'}
    """
    as_node(m, "compare")
    alphas = [order(alpha) for alpha in axis_values(orders, "compare, orders")]
    for alpha in alphas:
        if isinstance(alpha, sympy.Expr):
            raise OrderError(f"compare, orders: found {echo(alpha)}, needed numbers")
    if accountant is None:
        accountant = Accountant(digits=digits)
    elif not isinstance(accountant, Accountant):
        raise DomainError(f"compare: found {echo(accountant)}, needed an Accountant")
    rows = [
        TheoremRow(t, t.name, t.kind, tuple(_ask(accountant, m, alpha, t) for alpha in alphas))
        for t in _others(m)
    ]
    answers = tuple(_ask(accountant, m, alpha) for alpha in alphas)
    kinds = {answer.claim.kind for answer in answers if isinstance(answer, Enclosure)}
    # The default row has the common kind of its answers, else upper; without one that of m's claim.
    kind = kinds.pop() if len(kinds) == 1 else Kind.UPPER if kinds else m.claim.kind
    rows = [TheoremRow(None, "default", kind, answers), *sorted(rows, key=_rank)]
    below = [_reference(accountant, m, alpha, i, rows) for i, alpha in enumerate(alphas)]
    rated = (replace(row, ratios=tuple(map(ratio, row.values, below))) for row in rows)
    headers = ("theorem", *(f"ε({order_text(alpha)})" for alpha in alphas))
    return Comparison(headers, rated, about(m))


#: The ratio of a value to the best known one is shown with this many significant digits.
_RATIO_DIGITS = 5
_R = TypeVar("_R", bound="TheoremRow | ConvertedEpsilon")


class Comparison(tuple[_R, ...]):
    """The rows of a comparison, in their order; shown as a table."""

    #: The names of the columns of `cells`.
    headers: tuple[str, ...]
    #: The relation between neighbours, and the sensitivity of the noise.
    about: str

    def __new__(cls, headers: tuple[str, ...], rows: Iterable[_R], of: str) -> Comparison[_R]:
        made = super().__new__(cls, rows)
        made.headers, made.about = headers, of
        return made

    def __str__(self) -> str:
        lines = aligned(self.headers, [row.cells for row in self])
        return "\n".join([*lines, *self._faults(), f"relation: {self.about}"])

    def _screen_(self) -> Iterator[Part]:
        """Yield the table with a column for the side of the truth, and why rows are silent."""
        rows = [row for row in self if row.applies]
        by_theorem = [row.wide_cells for row in rows if isinstance(row, TheoremRow)]
        converted = [row for row in rows if isinstance(row, ConvertedEpsilon)]
        if by_theorem:
            pairs = (column for header in self.headers[1:] for column in (header, "× best known"))
            yield Tabled(("theorem", "bound", *pairs), by_theorem)
        if converted:
            measure = next((row for row in converted if row.measures), converted[0])
            headers = ("conversion", "theorem", "ε, rounded safely", "bound")
            cells = (row.wide_cells(measure.epsilon) for row in converted)
            yield Tabled((*headers, f"× {measure.conversion}"), cells)
        yield f"relation: {self.about}"
        yield from (row.silence for row in self if not row.applies)

    def _faults(self) -> Iterator[str]:
        """Yield a line for each theorem of a user that returned what is no number."""
        for row in self:
            reason = row.reason if isinstance(row, TheoremRow) else ""
            if reason.startswith(f"{row.name} returned "):
                yield f"{row.name} does not answer: {reason.removeprefix(f'{row.name} ')}"

    def __repr__(self) -> str:
        """Write the first rows that apply, and how many more there are."""
        lines = [f"<Comparison of {len(self)} rows: {', '.join(self.headers)}; {self.about}>"]
        lines += [" ".join(row.cells) for row in self if row.applies][:_REPR_ROWS]
        rest = len(self) - len(lines) + 1
        return "\n  ".join([*lines, f"… and {rest} more, which print shows"] if rest > 0 else lines)

    def _repr_html_(self) -> str:
        """Lay the comparison in a table for a notebook."""
        silent = ", ".join(row.name for row in self if not row.applies)
        rows = (row.cells for row in self if row.applies)
        below = f"relation: {self.about}" + (f"; no answer: {silent}" if silent else "")
        below = "; ".join([below, *self._faults()])
        return grid(self.headers, rows, below)


def _cell(value: Enclosure | str, times: Enclosure | None = None) -> str:
    """Write a value on its safe side, its kind, and its ratio to the best known; or a dash."""
    if isinstance(value, str):
        return "–"
    ratio = "" if times is None else f", × {times_text(times)}"
    return f"{value.rounded(_DIGITS)} ({value.claim.kind}{ratio})"


def _rounded(value: Enclosure | str) -> str:
    return "–" if isinstance(value, str) else value.rounded()


def _times(times: Enclosure | None) -> str:
    return "–" if times is None else times_text(times)


def times_text(times: Enclosure) -> str:
    """Write a ratio with the digits that both of its ends share, five at most.

    An exact ratio is rounded to five digits.
    """
    if times.exactly is not None:
        return times.rounded(_RATIO_DIGITS)
    return format_shared(times.lower, times.upper, _RATIO_DIGITS)


@dataclass(frozen=True)
class ConvertedEpsilon:
    """ε at one δ by a conversion, or the reason why there is none.

    `theorem` is the one that is pinned, or None.
    """

    conversion: str
    theorem: str | None
    epsilon: Enclosure | str

    def __repr__(self) -> str:
        return f"<{' '.join(self.cells)}>"

    @property
    def name(self) -> str:
        """The name is that of the theorem pinned, or else of the conversion."""
        return self.theorem or self.conversion

    @property
    def applies(self) -> bool:
        """Has the row an ε, and not a reason?"""
        return isinstance(self.epsilon, Enclosure)

    @property
    def measures(self) -> bool:
        """Is it the true ε or a lower bound of it, to which the ratios of the others are taken?"""
        kinds = (Kind.EXACT, Kind.LOWER)
        return isinstance(self.epsilon, Enclosure) and self.epsilon.claim.kind in kinds

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a table are the conversion, the theorem or "all", and ε."""
        return self.conversion, self.theorem or "all", _cell(self.epsilon)

    def wide_cells(self, known: Enclosure | str) -> tuple[str, ...]:
        """Write the cells with the side of the truth and the ratio to `known`, for a row with ε."""
        assert isinstance(self.epsilon, Enclosure)  # noqa: S101  # a row that applies
        times = ratio(self.epsilon, known if isinstance(known, Enclosure) else None)
        label = kind_label(self.epsilon.claim)
        return self.conversion, self.theorem or "all", _rounded(self.epsilon), label, _times(times)

    @property
    def silence(self) -> str:
        """Say why the row has no ε."""
        return f"{self.name} has no answer: {self.epsilon}"

    def as_dict(self) -> dict[str, Any]:
        """Return the row for JSON, with a reason in the place of an ε that it has not."""
        epsilon = self.epsilon
        shown = epsilon.as_dict() if isinstance(epsilon, Enclosure) else {"reason": epsilon}
        return {"conversion": self.conversion, "theorem": self.theorem, "epsilon": shown}


@progress("compare")
def compare_epsilon(
    m: Node, delta: Any, digits: int = 10, accountant: Accountant | None = None
) -> Comparison[ConvertedEpsilon]:
    """Compare ε(δ) by every conversion, and by each theorem that bounds m.

    The smallest proved ε comes first, which is the one to report. If the true ε is known, it is
    that one. If it is not known, the best lower bound comes after the other values. Rows without a
    value come last and give their reason. `delta` is the given δ, and ε is in nats, with `digits`
    significant digits. `accountant` remembers the values. The one to report has the time of a
    question, and all others have what is left of it; one that it does not reach says so. Raises
    DomainError if m is no mechanism, or if there is no such δ.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> rows = compare_epsilon(100 * PoissonSubsample(Gaussian(5), "1/1000"), "1e-8", 5)
    >>> rows[0].conversion, rows[0].epsilon.rounded_up(5)
    ('exact', '0.0086222')
    """
    as_node(m, "compare")
    given_delta(delta)  # no δ is refused once, and not by each row
    ask = accountant or Accountant(digits=digits)
    budget = Budget(limits.current().seconds)
    best = None
    with contextlib.suppress(SymacctError):
        best = ask.epsilon(m, delta)
    budget = Budget(max(_LEAST_SECONDS, budget.remaining()))
    known: list[tuple[str, str | None]] = [(c.name, None) for c in conversions()]
    upper = [t for t in _others(m) if t.kind is not Kind.LOWER and t.status == PROVED]
    pinned = [("improved", t.name) for t in upper if _is_one_of_several(t, m)]
    rows = [ConvertedEpsilon(best.conversion, None, best.asked)] if best else []
    left = [row for row in (*known, *pinned) if not best or row != (best.conversion, None)]
    for place, (conversion, by) in enumerate(left):
        share = min(Fraction(1), Fraction(_SHARES, len(left) - place))
        one = budget.ask(share, lambda: _epsilon(ask, m, delta, conversion, by))  # noqa: B023
        rows.append(ConvertedEpsilon(conversion, by, one or f"not {time_words()}"))
    if not best or best.kind is not Kind.EXACT:
        with contextlib.suppress(SymacctError):
            lower = budget.ask(1, lambda: ask.lower_epsilon(m, delta))
            if lower is None or lower.lower > 0:
                rows.append(ConvertedEpsilon(_LOWER_BOUND, None, lower or f"not {time_words()}"))
    return Comparison(("conversion", "theorem", "ε"), sorted(rows, key=_best_first), about(m))


def _epsilon(
    accountant: Accountant, m: Node, delta: Any, conversion: str, by: By = None
) -> Enclosure | str:
    """Ask for ε(δ) by one conversion, with a theorem pinned or None; an error gives its finding."""
    try:
        return accountant.epsilon(m, delta, conversion, by=by).asked
    except SymacctError as error:
        return error.finding


def _best_first(row: ConvertedEpsilon) -> tuple[int, Any]:
    """Sort upper bounds and the true ε by their upper end; then lower bounds; then reasons.

    Of equal ones the order stays, in which the one to report is the first.
    """
    epsilon = row.epsilon
    if isinstance(epsilon, str):
        return 2, 0
    return int(epsilon.claim.kind is Kind.LOWER), epsilon.upper


def _others(m: Node) -> list[Theorem]:
    """List the theorems about each operation in m that more than one theorem is about."""
    known = theorems()
    shared = {
        type(node) for node in m.walk() if sum(is_about(theorem, node) for theorem in known) > 1
    }
    return [t for t in known if any(is_about(t, n) for n in m.walk() if type(n) in shared)]


def _is_one_of_several(theorem: Theorem, m: Node) -> bool:
    """May the theorem give something else than the default answer, or a reason?

    It may where it does not apply to some part of m that it is about, or another theorem applies
    there as well. A theorem that is alone everywhere gives the default answer once more.
    """
    about = [node for node in m.walk() if is_about(theorem, node)]
    if any(theorem.applies(node) for node in about):
        return True
    return any(
        is_about(other, node) and other.applies(node) is None
        for other in theorems()
        for node in about
        if other is not theorem
    )


def _ask(
    accountant: Accountant, m: Node, alpha: Order, by: Theorem | None = None
) -> Enclosure | str:
    """Ask for ε(α) by one theorem, or by default, or for the reason why it says nothing there."""
    from symacct.export.tables import in_full  # with all that writes formulas

    name = None if by is None else by.name
    try:
        value = accountant.rdp(m, alpha, by=name)
        return in_full(value, m, alpha, name, accountant.digits)
    except SoundnessError as error:
        if by is not None and by.kind is Kind.LOWER:
            return "it reads a curve that is only an upper bound, of which a lower one says nothing"
        return error.finding
    except NoNumberError as error:
        return str(error)
    except SymacctError as error:
        return error.finding


def _reference(
    accountant: Accountant, m: Node, alpha: Order, column: int, rows: list[TheoremRow]
) -> Enclosure | None:
    """Choose what the values at an order are divided by: the exact one, else the best lower bound.

    `column` is the place of the order in the rows. None stands for neither.
    """
    values = [row.values[column] for row in rows]
    proved = [x for x in values if isinstance(x, Enclosure) and x.claim.certified]
    exact = [x for x in proved if x.claim.kind is Kind.EXACT]
    if exact:
        return exact[0]
    lower = [x for x in proved if x.claim.kind is Kind.LOWER]
    with contextlib.suppress(SymacctError):
        lower.append(accountant.lower_bound(m, alpha))
    return max(lower, key=lambda x: x.lower, default=None)


def ratio(value: Enclosure | str, below: Enclosure | None) -> Enclosure | None:
    """Enclose value / below between ends that are rounded outwards.

    None stands for no value, and for a divisor that may be 0 or is infinite. The claim is that of
    the value.
    """
    if below is None or isinstance(value, str) or below.lower <= 0 or mpmath.isinf(below.upper):
        return None
    low = mpmath.fdiv(value.lower, below.upper, prec=_RATIO_BITS, rounding="d")
    high = mpmath.fdiv(value.upper, below.lower, prec=_RATIO_BITS, rounding="u")
    times = replace(value, lower=low, upper=high, exactly=None)
    if value is below:
        return times.known_to_be(Fraction(1))
    if value.exactly is not None and below.exactly is not None:
        return times.known_to_be(value.exactly / below.exactly)
    return times


def _rank(row: TheoremRow) -> tuple[Any, ...]:
    """Sort rows that apply before others, proved ones before others, then by kind and value.

    The value is the upper end at the first order that has one.
    """
    values = [value.upper for value in row.values if isinstance(value, Enclosure)]
    return (not row.applies, row.status != PROVED, _PLACE[row.kind], values[:1], row.name)
