"""The noise multiplier of a training run that meets a target (ε, δ), as a float."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from symacct.explore.threshold import Target, neighbours
from symacct.kernel import arguments
from symacct.kernel.answer import rational_float
from symacct.kernel.claims import Adjacency
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import progress
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node
from symacct.kernel.parameters import rational
from symacct.operations import dp_sgd


@progress("noise")
def noise(
    *,
    n: Numeric,
    batch_size: Numeric,
    epsilon: Numeric,
    delta: Numeric,
    epochs: Numeric | None = None,
    steps: Numeric | None = None,
    sampling: str = "poisson",
    adjacency: str | Adjacency | None = None,
    digits: int = 6,
    conversion: str = BEST,
) -> float:
    """The least noise multiplier for which a DP-SGD run is (ε, δ)-DP, as a float rounded up.

    The noise multiplier is the standard deviation of the noise over the norm that gradients are
    clipped to. `n`, `batch_size`, `epochs` or `steps`, `sampling` and `adjacency` are those of
    `dp_sgd`, and `epsilon`, `delta` and `conversion` those of `Node.epsilon`. The run with one unit
    less in the last of `digits` significant digits is proved to miss the target by the same
    conversion. Raises the errors of `dp_sgd` and `calibrate`. `epsilon` is in nats.

    >>> noise(n=60_000, batch_size=256, epochs=15, epsilon=2, delta="1e-5", digits=3)
    0.8390000000000001
    """
    run = {"n": n, "batch_size": batch_size, "epochs": epochs, "steps": steps}
    how = {"conversion": conversion, "orders": None, "by": None}
    sought = _RunTarget(
        run | {"sampling": sampling, "adjacency": adjacency}, epsilon, delta, digits, how
    )
    found = [value for value in neighbours(sought, sought.shown) if sought.met(value)]
    return rational_float(found[0])


class _RunTarget(Target):
    """The question whether a run with a noise multiplier is (ε, δ)-DP; no symbol is needed."""

    def __init__(
        self,
        run: dict[str, Any],
        epsilon: Numeric,
        delta: Numeric,
        digits: int,
        how: dict[str, Any],
    ) -> None:
        self.shown = arguments.digits(digits)
        self.run = run
        self.prepare(rational(epsilon, "epsilon"), delta, self.shown, how)
        self.symbol: Any = SimpleNamespace(name="noise_multiplier")
        self.is_whole = False

    def at(self, value: Fraction) -> Node:
        return dp_sgd(noise_multiplier=value, **self.run)
