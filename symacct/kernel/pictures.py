"""The pictures of a node, which are those that `symacct.plot` and its neighbours draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from symacct.kernel import upward
from symacct.kernel.arguments import By
from symacct.kernel.exact import Numeric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from symacct.kernel.node import Node


class Pictures:
    """A node as a picture. Each needs matplotlib, and raises MissingPackageError without it."""

    def plot(
        self,
        orders: Iterable[Numeric] | None = None,
        by: Sequence[str] = (),
        axes: Axes | None = None,
        *,
        pinned: By = None,
    ) -> Figure:
        """Draw ε(α) against the order; see `symacct.plot`, which draws several expressions as well.

        >>> from symacct import Gaussian
        >>> Gaussian(5).plot([2, 4, 8]).savefig("rdp.pdf")  # doctest: +SKIP
        """
        return upward.plots.plot(cast("Node", self), orders, by, axes, pinned=pinned)

    def plot_profile(
        self, epsilons: Iterable[Numeric] | None = None, axes: Axes | None = None
    ) -> Figure:
        """Draw δ against ε: the true profile, and what Rényi orders prove; see `plot_profile`."""
        return upward.plots.plot_profile(cast("Node", self), epsilons, axes)

    def plot_runs(
        self, delta: Numeric, counts: Iterable[int] | None = None, axes: Axes | None = None
    ) -> Figure:
        """Draw ε at a δ against the number of runs; see `symacct.plot_runs`."""
        return upward.plots.plot_runs(cast("Node", self), delta, counts, axes)
