"""Plots of bounds: exact curves, upper and lower bounds drawn apart. They need matplotlib."""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from symacct.baselines import naive, optimal
from symacct.explore.grids import axis_values
from symacct.explore.sweeps import NEEDED, Values, sweep
from symacct.export.description import pictured
from symacct.export.figures import legend_above, matplotlib_module, picture
from symacct.kernel import limits, parameters
from symacct.kernel.accountant import BY_ORDERS, Accountant, refuse_symbols
from symacct.kernel.answer import Bound, Enclosure, bound, rational_float, shortened, to_fraction
from symacct.kernel.attached import question
from symacct.kernel.claims import Kind
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import Budget, progress
from symacct.kernel.errors import (
    AssumptionError,
    DomainError,
    GapWarning,
    InfiniteError,
    LimitError,
    OrderError,
    PrecisionError,
    SymacctError,
    echo,
    warn,
)
from symacct.kernel.exact import INFINITY, Numeric, Order, exact, is_infinite, order, sympy
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Compose
from symacct.kernel.parameters import By, probability, rational, whole
from symacct.kernel.sums.halving import halved_whole
from symacct.kernel.theorem_registry import all_named
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


# --- lines
#
# What is drawn of a curve, each point a certified value.

#: A point is computed to this many significant digits: more than a screen shows of a float64.
DIGITS = 8
#: A legend names each kind by these words.
_KINDS = {
    Kind.EXACT: "exact",
    Kind.UPPER: "upper bound",
    Kind.LOWER: "lower bound",
    Kind.NEITHER: "no bound",
}
#: A line is as weak as the weakest of its points, the weakest kind first.
_WEAKEST = (Kind.NEITHER, Kind.LOWER, Kind.UPPER, Kind.EXACT)


@dataclass(frozen=True)
class PlotLine:
    """One curve of a picture: points (x, value), each on its sound side, or NaN for a gap.

    `kind` is the weakest of the points' kinds, and `certified` is true if all of them are.
    """

    name: str
    kind: Kind
    certified: bool
    points: tuple[tuple[float, float], ...]
    #: Why the first gap is one; empty where there is no gap.
    why: str = ""

    @property
    def drawn(self) -> list[tuple[float, float]]:
        """The points that have a value."""
        return [point for point in self.points if not math.isnan(point[1])]

    @property
    def label(self) -> str:
        """The legend names the line with its kind, and says whether it is not certified."""
        trust = "" if self.certified else ", not certified"
        return f"{self.name} ({_KINDS[self.kind]}{trust})"


def line(name: str, points: Iterable[tuple[Order, Enclosure | OrderError]]) -> PlotLine:
    """Make the line through values, with gaps where there is none or it is infinite.

    Each value is the float64 next to it on its sound side. Raises DomainError for an x above 1e308.
    """
    places: list[tuple[float, float]] = []
    values, why = [], ""
    for x, value in points:
        place = _place(x)
        if isinstance(value, Enclosure) and value.upper < INFINITY:
            values.append(value)
            places.append((place, float(value)))
        else:
            why = why or (f"at {x} it is infinite" if isinstance(value, Enclosure) else str(value))
            places.append((place, math.nan))
    certified = all(value.certified for value in values)
    return PlotLine(
        name, _weakest(value.claim.kind for value in values), certified, tuple(places), why
    )


def _place(x: Order) -> float:
    """Return x as the nearest float64; DomainError beyond its range."""
    try:
        return float(x)
    except OverflowError:
        raise DomainError(f"plot: found {echo(x)}, needed values below 1e308 on an axis") from None


def _weakest(kinds: Iterable[Kind]) -> Kind:
    """Choose the weakest of the kinds; exact where there is none."""
    drawn = set(kinds)
    return next((kind for kind in _WEAKEST if kind in drawn), Kind.EXACT)


def of_orders(name: str, m: Node, orders: Sequence[Order], by: By = None) -> PlotLine:
    """Make the line of ε(α) over the orders, with gaps where the theorem does not speak.

    Raises the last OrderError if it speaks at none of them, and any other error at once.
    """
    accountant, points = Accountant(DIGITS), list[tuple[Order, Enclosure | OrderError]]()
    for alpha in orders:
        try:
            points.append((alpha, accountant.rdp(m, alpha, by=by)))
        except OrderError as error:
            points.append((alpha, error))
    refused = [value for _, value in points if isinstance(value, OrderError)]
    if len(refused) == len(points):
        raise refused[-1]
    return line(name, points)


def known_below(m: Node, orders: Sequence[Order]) -> PlotLine | None:
    """Make the line of the best proved lower bound; None where one of the orders has none."""
    accountant = Accountant(DIGITS)
    try:
        points = [(alpha, accountant.lower_bound(m, alpha)) for alpha in orders]
    except SymacctError:
        return None
    return replace(line("best lower bound", points), kind=Kind.LOWER)


def of_records(name: str, axis: str, records: Iterable[dict[str, Any]]) -> PlotLine:
    """Make the line of a sweep's answers over the parameter `axis`, with gaps where there is none.

    Records at an infinite value of the parameter are left out. Raises DomainError where the
    records have no such parameter, and where none of them has an answer.
    """
    records = list(records)
    if any(axis not in record for record in records):
        raise DomainError(
            f"plot: found {name}, in which {axis} does not occur; needed it as a parameter"
        )
    finite_records = [record for record in records if not is_infinite(record[axis])]
    answered = [record for record in finite_records if "value" in record]
    errors = [f"at {axis} = {r[axis]}: {r['error']}" for r in finite_records if "error" in r]
    if errors and not answered:
        raise DomainError(
            f"plot: {name}: none of {len(finite_records)} points has an answer; {errors[0]}"
        )
    finite = [record for record in answered if record["value"] != "inf"]
    infinite = [f"at {axis} = {r[axis]} it is infinite" for r in answered if r["value"] == "inf"]
    return PlotLine(
        name,
        _weakest(Kind(record["kind"]) for record in finite),
        all(record["certified"] for record in finite),
        tuple(sorted((float(exact(record[axis])), _drawn(record)) for record in finite_records)),
        next(iter([*errors, *infinite]), ""),
    )


def _drawn(record: dict[str, Any]) -> float:
    """Return the value as the float64 next to it on its sound side: down for a lower bound.

    It is NaN where there is no value, or an infinite one.
    """
    if record.get("value", "inf") == "inf":
        return math.nan
    exactly = Fraction(record["value"])
    below = Kind(record["kind"]) is Kind.LOWER
    return -rational_float(-exactly) if below else rational_float(exactly)


# --- the picture
#
# Axes that read well, a style for each kind of statement.

#: The colours are Okabe and Ito's, which every eye tells apart, neighbours in the list also in
#: grey. Curves also differ in the sign of an exact curve, and in how the sign of a bound is filled:
#: there are as many of each.
_COLOURS = ("#0072B2", "#E69F00", "#000000", "#D55E00", "#56B4E9", "#009E73")
_SIGNS = ("", "o", "s", "D", "P", "*")
_FILLS = ("full", "none", "left", "top", "right", "bottom")
#: Each kind of line has its own stroke, widths in points, and a bound its own sign.
_STYLES: dict[Kind, dict[str, Any]] = {
    Kind.EXACT: {"linestyle": "-", "linewidth": 2.4},
    Kind.UPPER: {"linestyle": "-", "linewidth": 1.2, "marker": "v"},
    Kind.LOWER: {"linestyle": "--", "linewidth": 1.2, "marker": "^"},
    Kind.NEITHER: {"linestyle": ":", "linewidth": 1.2, "marker": "x"},
}
#: A line has about this many signs, by which curves are told apart in grey.
_SIGNS_A_LINE = 12
#: Landmarks are told apart by these strokes, from left to right.
_LANDMARK_STROKES = (":", "-.", "--")
#: An axis is logarithmic if the ratio of its ends is above this.
_LOG_RATIO = 10
#: A grid counts as even if its largest step is below this many times its smallest one.
_EVEN_RATIO = 1.25
#: A logarithmic axis holds at least two powers of ten if the ratio of its ends is this or more.
_TWO_POWERS_RATIO = 100
#: Beside a linear axis of numbers from this on, or up to its inverse, matplotlib writes a factor.
_FACTOR_FROM = 1000


class Drawing:
    """Lines, bands and landmarks on one pair of axes.

    `across` and `up` are the axes' names, and `about` is what holds of all lines, in the legend.
    Raises DomainError for `axes` that are none; None stands for new ones.
    """

    def __init__(self, axes: Axes | None, across: str, up: str, about: str) -> None:
        self.axes = picture((6.4, 4.2)).add_subplot() if axes is None else axes
        if not hasattr(self.axes, "set_xlabel"):
            raise DomainError(f"plot, axes: found {echo(axes)}, needed the axes of a figure")
        self.axes.set_xlabel(across)
        self.axes.set_ylabel(up)
        self._about = about
        self._looks = cycle(zip(_COLOURS, _SIGNS, _FILLS, strict=True))
        self._lines: list[PlotLine] = []
        self._marks: set[tuple[float, str]] = set()

    def add(self, line: PlotLine) -> str:
        """Draw a line, and return its colour; a line without points takes a colour too.

        A line with gaps warns of them, by a GapWarning.
        """
        colour, sign, fill = next(self._looks)
        if line.drawn:
            style = {"marker": sign, "fillstyle": fill} | _STYLES[line.kind]
            if line.kind is Kind.EXACT:
                style["fillstyle"] = "full"
            if not line.certified:
                style["linestyle"] = ":"
            every = max(1, len(line.points) // _SIGNS_A_LINE)
            x, y = zip(*line.points, strict=True)
            self.axes.plot(
                x,
                y,
                label=_plain(line.label),
                color=colour,
                markersize=4,
                markevery=every,
                **style,
            )
            self._isolated(line, colour, style["marker"] or "o")
            self._lines.append(line)
        if line.why:
            gaps = len(line.points) - len(line.drawn)
            warn(
                f"plot: {line.name}: {gaps:,} of {len(line.points):,} points are gaps; {line.why}",
                GapWarning,
            )
        return colour

    def _isolated(self, line: PlotLine, colour: str, marker: str) -> None:
        """Draw the points between two gaps, which a line does not show."""
        drawn = [False, *(not math.isnan(y) for _, y in line.points), False]
        triples = zip(drawn, drawn[1:], drawn[2:], line.points, strict=False)
        alone = [point for *three, point in triples if three == [False, True, False]]
        for x, y in alone:
            self.axes.plot([x], [y], color=colour, marker=marker, markersize=4, linestyle="none")

    def band(self, below: PlotLine, above: PlotLine, colour: str) -> None:
        """Shade what is not decided between two bounds, at the places that both of them have."""
        low, high = dict(below.points), dict(above.points)
        x = sorted(low.keys() & high.keys())
        if x:
            low_values, high_values = [low[at] for at in x], [high[at] for at in x]
            self.axes.fill_between(
                x, low_values, high_values, color=colour, alpha=0.15, linewidth=0
            )
            self._lines.append(below)

    def mark(self, x: float, text: str) -> None:
        """Keep a landmark on the horizontal axis, which `finished` draws and the legend names."""
        self._marks.add((x, text))

    def finished(self, on_a_grid: bool = False) -> Figure:
        """Return the figure, with its scales and its legend. DomainError if nothing was drawn.

        With `on_a_grid` the places are somebody's own: even steps then have a linear axis, however
        far they go.
        """
        points = [point for line in self._lines for point in line.drawn]
        if not points:
            raise DomainError("plot: found no finite value, needed at least one to draw")
        is_even = on_a_grid and _is_even([x for x, _ in self._lines[0].points])
        is_wide = _is_wide([x for x, _ in points]) and not is_even
        self.axes.set_xscale("log" if is_wide else "linear")
        self.axes.set_yscale("log" if _is_wide([y for _, y in points]) else "linear")
        for axis in (self.axes.xaxis, self.axes.yaxis):
            _name_few(axis)
        self.axes.grid(alpha=0.3)
        for (x, text), stroke in zip(sorted(self._marks), cycle(_LANDMARK_STROKES), strict=False):
            self.axes.axvline(x, color="0.5", ls=stroke, lw=1, label=f"{text} {x:g}")
        legend_above(self.axes, _plain(self._about))
        return cast("Figure", self.axes.figure)  # the axes were made on a figure


def _plain(label: str) -> str:
    """Replace the signs that matplotlib or, in a pgf file, LaTeX gives a meaning by spaces.

    An underscore stays, except in the first place, where matplotlib would hide the line.
    """
    return label.translate(dict.fromkeys(map(ord, "$#&\\{}^~%"), " ")).lstrip("_")


def _is_wide(values: list[float]) -> bool:
    """Are the values all > 0, with a ratio that asks for a logarithmic axis?"""
    return min(values) > 0 and max(values) > _LOG_RATIO * min(values)


def _is_even(grid: list[float]) -> bool:
    """Are three numbers or more about equally far apart, as those of a rounded grid are?"""
    steps = [abs(y - x) for x, y in pairwise(grid)]
    return len(steps) > 1 and max(steps) < _EVEN_RATIO * min(steps)


def _name_few(axis: Axis) -> None:
    """Write few numbers at an axis: of those between powers of ten, 2 and 5 alone.

    matplotlib writes four of them where there is one power of ten, which run into each other. It
    writes a common factor of small or large numbers in the place of the legend.
    """
    low, high = axis.get_view_interval()
    ticker = matplotlib_module().ticker
    plain = ticker.FuncFormatter(lambda x, _: f"{x:g}")
    if axis.get_scale() == "log" and high < _TWO_POWERS_RATIO * low:
        axis.set_minor_locator(ticker.LogLocator(subs=(2, 5)))
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(plain)
    elif axis.get_scale() == "linear" and not 1 / _FACTOR_FROM < max(-low, high) < _FACTOR_FROM:
        axis.set_major_formatter(plain)


# --- landmarks
#
# Orders at which the curve of a sampled mechanism changes its character.

#: A landmark is looked for up to this order, unless another one is asked.
_LAST_ORDER = 2**17
#: An ε that decides where a landmark is, or which orders are drawn, has this many digits.
_DIGITS = 6


def phase_transition(m: Node, largest: int = _LAST_ORDER) -> int | None:
    """Find the first whole order α >= 2 with γ α e^{ε(α)} >= 1; ε is the curve that m samples.

    Up to about this order ε′(α) = O(αγ²(e^{ε(2)} − 1)) (WBK19, section 1). The order is computed in
    floats. The answer is None if m does not sample exactly one mechanism, or if there is no such
    order up to `largest`. ε is in nats. Raises DomainError if m is no mechanism, or if the sample
    has a symbol without a value.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> phase_transition(PoissonSubsample(Gaussian(5), "1/1000"))
    111
    """
    return _first_order(m, largest, lambda alpha, log_rate, eps: log_rate + math.log(alpha) + eps)


def takeover(m: Node, largest: int = _LAST_ORDER) -> int | None:
    """Find the first whole order α >= 2 with γ e^{ε(α)} >= 1, where sampling stops helping.

    From there on the last term γ^α e^{(α−1)ε(α)} of the sum dominates, and ε′(α) is near ε(α) + log
    γ. `m` and `largest` are those of `phase_transition`. ε is in nats. Raises the DomainError of
    `phase_transition`.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> takeover(PoissonSubsample(Gaussian(5), "1/1000"))
    346
    """
    return _first_order(m, largest, lambda alpha, log_rate, eps: log_rate + eps)


def _first_order(
    m: Node, largest: int, log_ratio: Callable[[int, float, float], float]
) -> int | None:
    """Find the first whole order >= 2 at which a quantity that grows with the order is >= 0.

    `log_ratio` computes the quantity from the order, log γ and ε(α), in floats. None stands for
    no such order, for γ = 0, and for an m that does not sample exactly one mechanism.
    """
    as_node(m, "landmark")
    largest = whole(largest, "largest", least=1)
    schemes = (PoissonSubsample, SubsampleWithoutReplacement)
    sampled = [node for node in m.walk() if isinstance(node, schemes)]
    if len(sampled) != 1 or sampled[0].gamma == 0:
        return None
    [step] = sampled
    refuse_symbols(step)
    accountant, rate = Accountant(_DIGITS), step.gamma
    log_rate = (
        math.log(rate.numerator) - math.log(rate.denominator)  # which may be beyond the floats
        if isinstance(rate, Fraction)
        else math.log(rate)
    )

    def is_beyond(alpha: int) -> bool:
        eps = float(accountant.rdp(step.mechanism, alpha).upper)
        return log_ratio(alpha, log_rate, eps) >= 0

    below, beyond = 1, 2
    while not is_beyond(beyond):
        below, beyond = beyond, 2 * beyond
        if below >= largest:
            return None
    first = halved_whole(below, beyond, lambda alpha: not is_beyond(alpha)) + 1
    return first if first <= largest else None


# --- the orders that are drawn
#
# Where none are given, those that a usual δ asks for.


@dataclass(frozen=True)
class _DrawnOrders:
    """Which orders a picture shows; every point on them is certified, whichever they are."""

    #: The best order is looked for at this δ, as in the papers on training.
    delta: Fraction = Fraction(1, 10**5)
    #: The search for it has this share of a question's time.
    share: Fraction = Fraction(1, 2)
    #: These orders between 1 and 2 are drawn.
    near_one: tuple[Fraction, ...] = tuple(map(Fraction, ("1.1", "1.25", "1.5", "1.75")))
    #: This many whole orders are drawn to an octave that has so many: the lines look smooth.
    steps: int = 8
    #: A step over which ε grows by more than this ratio is cut into `parts`.
    steep: float = 1.5
    parts: int = 4
    #: The last order is this many times the best one, where `largest` allows it.
    beyond: int = 10
    #: The orders end where ε is above this many times that of the best order: no usual δ makes
    #: use of a larger ε.
    far: int = 100
    #: The orders end as well where ε is above this share of its value at the last order: a curve
    #: that is bounded is flat there.
    almost: float = 0.99
    #: The last order is at least this.
    least: int = 16
    #: The last order is this where no best order is known or it is ∞, and at most the larger of
    #: this and twice the best order where it is.
    largest: int = 1024


#: The numbers that choose which orders are drawn.
_ORDERS_DRAWN = _DrawnOrders()


def default_orders(m: Node, by: By = None) -> tuple[list[Order], Order | None]:
    """Choose the orders to draw, from 1.1 to about ten times the best one, and return both.

    The best order is that at δ = 1e-5, and None if it is not among them. The orders end at 1024, or
    at twice the best one if that is more, and before that where ε is a hundred times that of the
    best order, or within 1 % of its value at the last one. They end at 1024 too if the best order
    is ∞, or not known within half a question's time. Orders without an answer are left out, unless
    none has one. Where ε grows steeply the orders lie closer.
    """
    accountant = Accountant(_DIGITS)

    def value(alpha: Order) -> float:
        try:
            return float(accountant.rdp(m, alpha, by=by))
        except SymacctError:
            return math.inf

    def best_order() -> Order:
        try:
            return accountant.epsilon(m, _ORDERS_DRAWN.delta, BY_ORDERS, by=by).alpha
        except SymacctError:
            return INFINITY

    best = Budget(limits.current().seconds).ask(_ORDERS_DRAWN.share, best_order)
    if best is None:
        return [*_whole(_ORDERS_DRAWN.largest)], None
    last = _ORDERS_DRAWN.largest
    if best != INFINITY:
        last = max(
            _ORDERS_DRAWN.least,
            min(_ORDERS_DRAWN.beyond * int(best), max(_ORDERS_DRAWN.largest, 2 * int(best))),
        )
    orders: list[Order] = [*_whole(last)]
    most = min(_ORDERS_DRAWN.far * value(best), _ORDERS_DRAWN.almost * value(orders[-1]))
    orders = orders[: bisect_right(orders, most, key=value) + 1]
    orders = [alpha for alpha in orders if value(alpha) < math.inf] or orders
    steep = [
        pair for pair in pairwise(orders) if value(pair[1]) > _ORDERS_DRAWN.steep * value(pair[0])
    ]
    more = [
        *_ORDERS_DRAWN.near_one,
        *(alpha for low, high in steep for alpha in _between(low, high)),
    ]
    orders = sorted({*orders, *(alpha for alpha in more if value(alpha) < math.inf)})
    orders = orders[: bisect_right(orders, most, key=value) + 1]
    return orders, best if orders and 1 < best <= orders[-1] else None


def _between(low: Order, high: Order) -> list[Order]:
    """Cut a step between two orders into equal parts, at whole orders where it is a long one."""
    cut = [
        low + (high - low) * Fraction(part, _ORDERS_DRAWN.parts)
        for part in range(1, _ORDERS_DRAWN.parts)
    ]
    return [*cut] if high - low < _ORDERS_DRAWN.parts else [round(alpha) for alpha in cut]


def _whole(last: int) -> list[int]:
    """List whole orders from 2 to the last, about eight to an octave, each once."""
    steps = range(_ORDERS_DRAWN.steps, math.ceil(_ORDERS_DRAWN.steps * math.log2(last)) + 1)
    return [*dict.fromkeys(min(last, round(2 ** (step / _ORDERS_DRAWN.steps))) for step in steps)]


# --- curves

#: What is drawn: a node, several, or a mapping from names to nodes.
Curves: TypeAlias = Node | Iterable[Node] | Mapping[str, Node]

#: The landmarks of one sampled mechanism, with the words at their lines.
_LANDMARKS = {
    phase_transition: "nearly linear up to order",
    takeover: r"saves log 1/$\gamma$ from order",
}
#: This matches numbers and symbols as Python writes them; a picture shows them without quotes.
_QUOTED = re.compile(r"Symbol\('(\w+)'[^()]*\)|'([^']*)'")
_BEST = r"best at $\delta$ = 1e-5: order"  # the words at its landmark
#: The names of axes: of the order and its curve, of a parameter, of what a sweep asks.
_ORDER, _CURVE = r"order $\alpha$", r"$\epsilon(\alpha)$"
_AXIS_NAMES = {name: rf"$\{name}$" for name in ("sigma", "gamma", "delta", "epsilon")}
_AXIS_NAMES["alpha"] = _ORDER
_ASKED = {"rdp": _CURVE, "epsilon": r"$\epsilon$", "delta": r"$\delta$"}


@question(Node, "plot")
@progress("plot")
def plot(
    curves: Curves,
    orders: Iterable[Numeric] | None = None,
    by: Sequence[str] = (),
    axes: Axes | None = None,
    *,
    pinned: By = None,
) -> Figure:
    """Draw ε(α) of one or more expressions against the order, as a matplotlib Figure.

    `curves` is a node, a list of nodes, or a mapping from names to nodes. `orders` are the orders
    to draw, of which ∞ is left out; by default they end at about ten times the one that is best at
    δ = 1e-5, or before where ε has grown a hundredfold or become flat. `by` lists
    theorems that are drawn as well. `pinned` names a theorem that is drawn in place of the best
    answer. `axes` are axes of your own to draw into. ε is in nats.

    Every point is certified, and is a float rounded in its sound direction. If the answer is an
    upper bound and a lower bound is known, the gap between them is shaded. For one sampled
    mechanism the picture marks its `phase_transition`, the order up to which ε(α) grows about in
    proportion to α, and its `takeover`, from which sampling saves only log 1/γ a run, unless other
    curves are beside it. Where ε grows steeply the default orders lie closer. Raises DomainError if
    there is nothing to draw, MissingPackageError without matplotlib, and the error of `rdp` if a
    theorem applies at no order.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> figure = plot(PoissonSubsample(Gaussian(5), "1/1000"), by=["ZW19-T5"])
    >>> figure.savefig("rdp.pdf")  # doctest: +SKIP
    """
    named, about_all = _distinguished(curves)
    if orders is None:
        chosen = {name: default_orders(node, pinned) for name, node in named.items()}
    else:
        listed = parameters.members(orders, "plot, orders", "[2, 4, 8]")
        given = sorted({alpha for alpha in map(order, listed) if alpha != INFINITY})
        if not given:
            raise DomainError("plot: found no finite order, needed at least one")
        chosen = dict.fromkeys(named, (given, None))
    drawing = Drawing(axes, _ORDER, _CURVE, about_all)
    by = parameters.members(by, "plot, by", "['ZW19-T5']")
    for name, node in named.items():
        title = ", ".join([name, *(theorem.name for theorem in all_named(pinned))])
        finite, best = chosen[name]
        answer = of_orders(title, node, finite, pinned)
        colour = drawing.add(answer)
        below = known_below(node, finite) if answer.kind is Kind.UPPER else None
        if below is not None:
            drawing.band(below, answer, colour)
        asked = finite if orders is not None else [alpha for alpha in finite if type(alpha) is int]
        for theorem in by:
            drawing.add(of_orders(f"{name}, {theorem}", node, asked, theorem))
        for find, says in _LANDMARKS.items() if len(named) == 1 else ():
            at = find(node, int(finite[-1]))
            if at is not None and finite[0] < at <= finite[-1]:
                drawing.mark(at, says)
        if best is not None and len(named) == 1:
            drawing.mark(float(best), _BEST)
    return drawing.finished()


def plot_sweep(
    curves: Curves,
    over: Mapping[sympy.Symbol | str, Values],
    ask: str = "epsilon",
    *,
    by: By = None,
    orders: str | Iterable[Numeric] | None = None,
    conversion: str = BEST,
    executor: Executor | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw ε, δ or ε(α) against one parameter, as a matplotlib Figure.

    `over` gives values to the parameters, as in `sweep`. The first of them with several values is
    the horizontal axis: the noise, the rate, the number of runs, δ, ε or α. If a second one has
    several values, there is a line for each of these. `curves` and `axes` are those of `plot`.
    `ask`, `by`, `orders`, `conversion` and `executor` are those of `sweep`. ε is in nats. Raises
    DomainError, MissingPackageError.

    >>> import sympy
    >>> from symacct import Gaussian
    >>> over = {"sigma": [1, 2, 4], "delta": "1e-6"}
    >>> figure = plot_sweep(Gaussian(sympy.Symbol("sigma")), over)
    """
    values = {
        str(getattr(key, "name", key)): axis_values(value, "plot, over")
        for key, value in parameters.mapping(over, "plot, over", "{'sigma': [1, 2]}").items()
    }
    parameters.one_of(ask, "ask", NEEDED)
    varied = [name for name, listed in values.items() if len(listed) > 1]
    if len(varied) not in (1, 2):
        [name, *_] = varied or [*(set(values) - {NEEDED[ask]}), NEEDED[ask]]
        remedy = f"give one to {', '.join(varied[2:])}" if varied else f"give several to {name}"
        raise DomainError(
            f"plot: found several values for {', '.join(varied) or 'nothing'}, needed one "
            f"parameter with several, for the axis, or a second one for the lines",
            remedy=remedy,
        )
    axis, *families = varied
    fixed = [
        f"{_AXIS_NAMES.get(name, name)} = {x}"
        for name in values
        if name not in varied
        for x in values[name]
    ]
    at = f" at {', '.join(fixed)}" if fixed else ""
    if ask != "rdp" and conversion != BEST:
        at += f", {conversion} conversion"
    named, about_all = _distinguished(curves)
    drawing = Drawing(axes, _AXIS_NAMES.get(axis, axis), _ASKED.get(ask, ask) + at, about_all)
    ask_all = functools.partial(
        sweep, ask=ask, digits=DIGITS, by=by, conversion=conversion, orders=orders,
        executor=executor,
    )  # fmt: skip
    needed = [
        *sorted({symbol.name for m in named.values() for symbol in m.free_symbols}),
        NEEDED[ask],
    ]
    if set(values) != set(needed):
        raise DomainError(
            f"plot: found values for {', '.join(sorted(values))}, needed them for "
            f"{', '.join(needed)}"
        )
    for name, node in named.items():
        wanted = {NEEDED[ask], *(symbol.name for symbol in node.free_symbols)}
        used = {key: value for key, value in values.items() if key in wanted}
        family = next((candidate for candidate in families if candidate in wanted), None)
        for x in values[family] if family else ():
            title = f"{family} = {x}" if len(named) == 1 else f"{name}, {family} = {x}"
            drawing.add(of_records(title, axis, ask_all(node, used | {family: [x]})))
        if family is None:
            drawing.add(of_records(name, axis, ask_all(node, used)))
    return drawing.finished(on_a_grid=True)


def _named(curves: Curves) -> dict[str, Node]:
    """Name the curves as the legend does: by the user's names, or by their expressions."""
    if isinstance(curves, Mapping):
        return {str(name): as_node(node, "plot") for name, node in curves.items()}
    return {
        _QUOTED.sub(r"\1\2", repr(node)): node
        for node in (as_node(curve, "plot") for curve in axis_values(curves, "plot"))
    }


def _distinguished(curves: Curves) -> tuple[dict[str, Node], str]:
    """Name the curves, and say the relation and the noise that all of them are about.

    Where these differ, each curve says its own after its name, and there is nothing for all.
    """
    named = _named(curves)
    abouts = {name: pictured(node) for name, node in named.items()}
    if len(set(abouts.values())) == 1:
        return named, next(iter(abouts.values()))
    return {f"{name}, {abouts[name]}": node for name, node in named.items()}, ""


# --- profiles
#
# The true (ε, δ) beside what is proved of it by other ways.

#: A profile is drawn at this many evenly spaced values of ε above 0, and at 0.
_PROFILE_STEPS = 24
#: The axis of a profile ends where the δ that Rényi orders prove is the first of these that they
#: can prove: that of a mechanism which may fail is never below its probability to fail.
_LAST_DELTAS = tuple(Fraction(1, 10**power) for power in (10, 8, 6, 4, 2))
#: These numbers of runs are drawn, up to those that there are.
_COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_EXACT, _ORDERS = "exact", "improved"
_TRUE, _BELOW, _RENYI = "the profile", "by post-processing", "by Rényi orders"


@question(Node, "plot_profile")
def plot_profile(
    m: Node, epsilons: Iterable[Numeric] | None = None, axes: Axes | None = None
) -> Figure:
    """Draw δ against ε: the true profile of m, and what Rényi orders prove.

    If the output laws of m are not known, a lower bound takes the place of the true profile.
    `epsilons` are the places to draw; by default they end where the δ of Rényi orders is 1e-10, or
    the first of 1e-8, 1e-6, … that a mechanism which may fail has, or at 1. `axes` are axes of your
    own to draw into. ε is in nats. Raises DomainError if there is nothing
    to draw, and MissingPackageError without matplotlib.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> figure = plot_profile(1000 * PoissonSubsample(Gaussian(2), "1/100"))
    """
    node, accountant = as_node(m, "plot_profile"), Accountant(DIGITS)
    if epsilons is None:
        last = _last_epsilon(accountant, node)
        epsilons = [last * i / _PROFILE_STEPS for i in range(_PROFILE_STEPS + 1)]
    listed = parameters.members(epsilons, "plot_profile, epsilons", "[0, 1]")
    at = [rational(x, "plot_profile, epsilons") for x in listed]
    drawing = Drawing(axes, r"$\epsilon$", r"$\delta$", pictured(node))
    if _is_known(accountant, node):
        drawing.add(_points(_TRUE, lambda x: accountant.delta(node, x, _EXACT).asked, at))
    else:
        drawing.add(_points(_BELOW, lambda x: accountant.lower_delta(node, x), at))
    drawing.add(_points(_RENYI, lambda x: accountant.delta(node, x, _ORDERS).asked, at))
    return drawing.finished()


def _last_epsilon(accountant: Accountant, node: Node) -> Fraction:
    """The ε at the first of some δ at which Rényi orders have a finite one, 1 where none has."""
    for delta in _LAST_DELTAS:
        with suppress(InfiniteError):
            return to_fraction(accountant.epsilon(node, delta, _ORDERS).epsilon.upper)
    return Fraction(1)


@question(Node, "plot_runs")
def plot_runs(
    m: Node, delta: Numeric, counts: Iterable[int] | None = None, axes: Axes | None = None
) -> Figure:
    """Draw ε at a δ against the number of runs: the true ε, and what other methods prove.

    The other methods are Rényi orders, and naive and optimal composition of the true (ε, δ) of one
    run. Naive composition divides all of δ among the runs, and adds their ε. Optimal composition
    divides all or half of δ among them, whichever proves less, and so is never above the naive one.
    `delta` is the δ, and `counts` are numbers of runs of m. By default, if m is n runs of one
    mechanism, the picture shows 1 to n runs of that one, and otherwise 1 to 1000 runs of m. `axes`
    are axes of your own to draw into. ε is in nats. Raises the errors of `plot_profile`.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> figure = plot_runs(PoissonSubsample(Gaussian(2), "1/100"), "1e-5", counts=[1, 10, 100])
    """
    node, accountant = as_node(m, "plot_runs"), Accountant(DIGITS)
    share_of_all = probability(delta, "plot_runs, delta")
    if counts is None:
        most = _COUNTS[-1]
        if isinstance(node, Compose) and len(node.terms) == 1:
            [(node, runs)] = node.terms.items()
            most = whole(runs, "plot_runs, the runs of m", 1)
        counts = [*(k for k in _COUNTS if k < most), most]
    ks = [
        whole(k, "plot_runs, counts", 1) for k in parameters.members(counts, "plot_runs", "[1, 10]")
    ]
    about = f"of {shortened(repr(node))}: {pictured(node)}"
    drawing = Drawing(axes, "number of runs", rf"$\epsilon$ at $\delta$ = {delta}", about)
    known = _is_known(accountant, node)

    def once(share: Fraction) -> Fraction:
        guarantee = accountant.epsilon(node, share, _EXACT if known else _ORDERS)
        return to_fraction(guarantee.epsilon.upper)

    def naively(k: int) -> Enclosure:
        return naive(once(share_of_all / k), share_of_all / k, k, DIGITS).epsilon

    def optimally(k: int) -> Enclosure:
        """Compose optimally with half of δ for the runs, or naively, whichever proves less."""
        share = share_of_all / (2 * k)
        composed = optimal(once(share), share, k, share_of_all, DIGITS)
        by_half = bound(composed.epsilon, Kind.UPPER)  # exact of all that have this (ε, δ)
        return min(by_half, naively(k), key=lambda x: x.upper)

    if known:
        drawing.add(
            _points(_TRUE, lambda k: accountant.epsilon(k * node, share_of_all, _EXACT).asked, ks)
        )
    else:
        drawing.add(_points(_BELOW, lambda k: accountant.lower_epsilon(k * node, share_of_all), ks))
    drawing.add(
        _points(_RENYI, lambda k: accountant.epsilon(k * node, share_of_all, _ORDERS).asked, ks)
    )
    drawing.add(_points("optimal composition", optimally, ks))
    drawing.add(_points("naive composition", naively, ks))
    return drawing.finished()


def _is_known(accountant: Accountant, node: Node) -> bool:
    """Are the laws behind the node known, so that it has an exact profile?

    A profile that is not computed within the limits, or to the digits, is known all the same.
    """
    try:
        with suppress(LimitError, PrecisionError):
            accountant.delta(node, 1, _EXACT)
    except AssumptionError:
        return False
    return True


def _points(name: str, value: Callable[[Any], Enclosure], at: Iterable[Any]) -> PlotLine:
    """Make the line of `value` at each place, with a gap for a limit, few digits or no answer.

    Raises every other error, such as AssumptionError.
    """

    def point(x: Any) -> Enclosure | OrderError:
        try:
            return value(x)
        except (LimitError, PrecisionError, DomainError) as error:
            return OrderError(error.finding, where=error.where, remedy=error.remedy)

    return line(name, [(x, point(x)) for x in at])


# --- the tests of an attacker
#
# How many members are found for how many false alarms.

#: False positive rates go from one in a million, three to a power of ten, up to nearly all.
FPRS = (
    *(Fraction(x, 10**power) for power in range(6, 0, -1) for x in (1, 2, 5)),
    *(Fraction(x, 100) for x in (65, 80, 99)),
)


def roc(
    tests: Iterable[tuple[str, Iterable[Bound]]],
    fprs: list[Fraction],
    relation: str,
    axes: Axes | None,
) -> Figure:
    """Draw the true positive rates of each named test against the rates `fprs`.

    `relation` says in the legend what all of them are about, and `axes` are None for new ones.
    """
    drawing = Drawing(axes, "false positive rate", "true positive rate", relation)
    for name, rates in tests:
        drawing.add(line(name, list(zip(fprs, rates, strict=True))))
    blind = list(map(float, fprs))
    drawing.axes.plot(blind, blind, ":", color="0.5", label="a blind guess")
    return drawing.finished()
