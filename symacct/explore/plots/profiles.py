"""Pictures of the true (ε, δ) beside what is proved of it by other ways."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symacct.baselines import naive, optimal
from symacct.explore.plots import lines
from symacct.explore.plots.drawing import Drawing
from symacct.explore.plots.lines import PlotLine, line
from symacct.export.description import pictured
from symacct.kernel import arguments
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, bound, shortened, to_fraction
from symacct.kernel.claims import Kind
from symacct.kernel.errors import (
    AssumptionError,
    DomainError,
    LimitError,
    OrderError,
    PrecisionError,
)
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Compose
from symacct.kernel.parameters import probability, rational, whole
from symacct.kernel.questions import question

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 24
_LEAST = Fraction(1, 10**10)
_COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_EXACT, _ORDERS = "exact", "improved"
_TRUE, _BELOW, _RENYI = "the profile", "by post-processing", "by Rényi orders"


@question(Node, "plot_profile")
def plot_profile(
    m: Node, epsilons: Iterable[Numeric] | None = None, axes: Axes | None = None
) -> Figure:
    """Draw δ against ε: the true profile of m, and what Rényi orders prove.

    If the output laws of m are not known, a lower bound takes the place of the true profile.
    `epsilons` are the places to draw; by default they end where the δ of Rényi orders is 1e-10.
    `axes` are axes of your own to draw into. ε is in nats. Raises DomainError if there is nothing
    to draw, and MissingPackageError without matplotlib.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> figure = plot_profile(1000 * PoissonSubsample(Gaussian(2), "1/100"))
    """
    node, accountant = as_node(m, "plot_profile"), Accountant(lines.DIGITS)
    if epsilons is None:
        last = to_fraction(accountant.epsilon(node, _LEAST, _ORDERS).epsilon.upper)
        epsilons = [last * i / _POINTS for i in range(_POINTS + 1)]
    given = arguments.members(epsilons, "plot_profile, epsilons", "[0, 1]")
    at = [rational(x, "plot_profile, epsilons") for x in given]
    drawing = Drawing(axes, r"$\epsilon$", r"$\delta$", pictured(node))
    if _is_known(accountant, node):
        drawing.add(_line(_TRUE, lambda x: accountant.delta(node, x, _EXACT).asked, at))
    else:
        drawing.add(_line(_BELOW, lambda x: accountant.lower_delta(node, x), at))
    drawing.add(_line(_RENYI, lambda x: accountant.delta(node, x, _ORDERS).asked, at))
    return drawing.finished()


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
    node, accountant = as_node(m, "plot_runs"), Accountant(lines.DIGITS)
    given = probability(delta, "plot_runs, delta")
    if counts is None:
        node, counts = _one_run(node)
    ks = [
        whole(k, "plot_runs, counts", 1) for k in arguments.members(counts, "plot_runs", "[1, 10]")
    ]
    about = f"of {shortened(repr(node))}: {pictured(node)}"
    drawing = Drawing(axes, "number of runs", rf"$\epsilon$ at $\delta$ = {delta}", about)
    known = _is_known(accountant, node)

    def once(share: Fraction) -> Fraction:
        one = accountant.epsilon(node, share, _EXACT if known else _ORDERS)
        return to_fraction(one.epsilon.upper)

    if known:
        drawing.add(_line(_TRUE, lambda k: accountant.epsilon(k * node, given, _EXACT).asked, ks))
    else:
        drawing.add(_line(_BELOW, lambda k: accountant.lower_epsilon(k * node, given), ks))
    drawing.add(_line(_RENYI, lambda k: accountant.epsilon(k * node, given, _ORDERS).asked, ks))
    for name, compose in (("optimal composition", _optimal), ("naive composition", _naive)):
        drawing.add(_line(name, functools.partial(compose, once, given), ks))
    return drawing.finished()


def _one_run(m: Node) -> tuple[Node, list[int]]:
    """(what is run again and again in m, how many runs of it are drawn)."""
    most = _COUNTS[-1]
    if isinstance(m, Compose) and len(m.terms) == 1:
        [(m, count)] = m.terms.items()
        most = whole(count, "plot_runs, the runs of m", 1)
    return m, [*(k for k in _COUNTS if k < most), most]


def _naive(once: Callable[[Fraction], Fraction], delta: Fraction, k: int) -> Enclosure:
    """k times the ε of one run at δ/k."""
    return naive(once(delta / k), delta / k, k, lines.DIGITS).epsilon


def _optimal(once: Callable[[Fraction], Fraction], delta: Fraction, k: int) -> Enclosure:
    """The best for k runs with the ε of one at δ/2k, or at δ/k, where it is the naive one."""
    share = delta / (2 * k)
    found = optimal(once(share), share, k, delta, lines.DIGITS)
    by_half = bound(found.epsilon, Kind.UPPER)  # exact of all that have this (ε, δ)
    return min(by_half, _naive(once, delta, k), key=lambda x: x.upper)


def _is_known(accountant: Accountant, node: Node) -> bool:
    """Are the laws behind it known?"""
    try:
        accountant.delta(node, 1, _EXACT)
    except AssumptionError:
        return False
    except (LimitError, PrecisionError):
        return True
    return True


def _line(name: str, value: Callable[[Any], Enclosure], at: Iterable[Any]) -> PlotLine:
    """A line, with a gap where the digits can't be had."""

    def point(x: Any) -> Enclosure | OrderError:
        try:
            return value(x)
        except (LimitError, PrecisionError, DomainError) as error:
            return OrderError(error.finding, where=error.where, remedy=error.remedy)

    return line(name, [(x, point(x)) for x in at])
