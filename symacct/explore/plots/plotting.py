"""A picture of bounds in one line: plot and plot_sweep."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, TypeAlias

import sympy

from symacct.explore.grids import axis_values
from symacct.explore.plots import lines
from symacct.explore.plots.default_orders import default_orders
from symacct.explore.plots.drawing import Drawing
from symacct.explore.plots.landmarks import phase_transition, takeover
from symacct.explore.sweeps import Values, sweep
from symacct.explore.sweeps.worker import NEEDED
from symacct.export.description import pictured
from symacct.kernel import arguments, exact
from symacct.kernel.arguments import By
from symacct.kernel.claims import Kind
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import INFINITY, Numeric, Order
from symacct.kernel.node import Node, as_node
from symacct.kernel.questions import question
from symacct.kernel.theorem_registry import all_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What is drawn: a node, several, or a mapping from names to nodes.
Curves: TypeAlias = Node | Iterable[Node] | Mapping[str, Node]

_LANDMARKS = {
    phase_transition: "nearly linear to here",
    takeover: r"saves log 1/$\gamma$ from here",
}
#: Numbers and parameters of an expression as Python has them, which a picture shows without quotes.
_QUOTED = re.compile(r"Symbol\('(\w+)'[^()]*\)|'([^']*)'")
_BEST = r"best order at $\delta$ = 1e-5"
_ORDER, _CURVE = r"order $\alpha$", r"$\epsilon(\alpha)$"
_SIGNS = {name: rf"$\{name}$" for name in ("sigma", "gamma", "delta", "epsilon")}
_SIGNS["alpha"] = _ORDER
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
    to draw; by default they end at about ten times the one that is best at δ = 1e-5. `by` lists
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
    named, about_all = _told_apart(curves)
    chosen = {name: _orders(node, orders, pinned) for name, node in named.items()}
    drawing = Drawing(axes, _ORDER, _CURVE, about_all)
    by = arguments.members(by, "plot, by", "['ZW19-T5']")
    for name, node in named.items():
        title = ", ".join([name, *(theorem.name for theorem in all_named(pinned))])
        finite, best = chosen[name]
        answer = lines.of_orders(title, node, finite, pinned)
        colour = drawing.add(answer)
        below = lines.known_below(node, finite) if answer.kind is Kind.UPPER else None
        if below is not None:
            drawing.band(below, answer, colour)
        asked = finite if orders is not None else [one for one in finite if type(one) is int]
        for theorem in by:
            drawing.add(lines.of_orders(f"{name}, {theorem}", node, asked, theorem))
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
        for key, value in arguments.mapping(over, "plot, over", "{'sigma': [1, 2]}").items()
    }
    arguments.one_of(ask, "ask", NEEDED)
    varied = [name for name, found in values.items() if len(found) > 1]
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
        f"{_SIGNS.get(name, name)} = {x}"
        for name in values
        if name not in varied
        for x in values[name]
    ]
    at = f" at {', '.join(fixed)}" if fixed else ""
    if ask != "rdp" and conversion != BEST:
        at += f", {conversion} conversion"
    named, about_all = _told_apart(curves)
    drawing = Drawing(axes, _SIGNS.get(axis, axis), _ASKED.get(ask, ask) + at, about_all)
    ask_all = functools.partial(
        sweep, ask=ask, digits=lines.DIGITS, by=by, conversion=conversion, orders=orders,
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
        family = next((one for one in families if one in wanted), None)
        for x in values[family] if family else ():
            title = f"{family} = {x}" if len(named) == 1 else f"{name}, {family} = {x}"
            drawing.add(lines.of_records(title, axis, ask_all(node, used | {family: [x]})))
        if family is None:
            drawing.add(lines.of_records(name, axis, ask_all(node, used)))
    return drawing.finished(on_a_grid=True)


def _orders(
    node: Node, orders: Iterable[Numeric] | None, by: By
) -> tuple[list[Order], Order | None]:
    """The finite orders to draw, and the best one where none were given."""
    if orders is None:
        return default_orders(node, by)
    given = arguments.members(orders, "plot, orders", "[2, 4, 8]")
    finite = sorted({alpha for alpha in map(exact.order, given) if alpha != INFINITY})
    if not finite:
        raise DomainError("plot: found no finite order, needed at least one")
    return finite, None


def _named(curves: Curves) -> dict[str, Node]:
    """The curves by the names that the legend gives them."""
    if isinstance(curves, Mapping):
        return {str(name): as_node(node, "plot") for name, node in curves.items()}
    return {
        _QUOTED.sub(r"\1\2", repr(node)): node
        for node in (as_node(one, "plot") for one in axis_values(curves, "plot"))
    }


def _told_apart(curves: Curves) -> tuple[dict[str, Node], str]:
    """(the curves by their names, what all of them are about), or each with its own relation."""
    named = _named(curves)
    found = {name: pictured(node) for name, node in named.items()}
    if len(set(found.values())) == 1:
        return named, next(iter(found.values()))
    return {f"{name}, {found[name]}": node for name, node in named.items()}, ""
