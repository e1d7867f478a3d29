"""log Γ and its derivative, in the arithmetics of the few formulas that need them."""

from __future__ import annotations

from collections.abc import Callable

from symacct.arithmetic.context import Arithmetic, Number


def log_gamma(ctx: Arithmetic, x: Number) -> Number:
    """log Γ(x) for x > 0."""
    return _function(ctx, "log_gamma")(x)


def digamma(ctx: Arithmetic, x: Number) -> Number:
    """ψ(x) = Γ′(x)/Γ(x) for x > 0."""
    return _function(ctx, "digamma")(x)


def _function(ctx: Arithmetic, name: str) -> Callable[[Number], Number]:
    """The method of balls, of mpmath's numbers and of SymPy's; the others have none."""
    found: Callable[[Number], Number] | None = getattr(ctx, name, None)
    if found is None:
        raise TypeError(f"no gamma function for {type(ctx).__name__}")
    return found
