"""Gauss's rule on an interval, in balls."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from flint import arb, ctx


@lru_cache(32)
def legendre(count: int, bits: int) -> list[tuple[arb, arb]]:
    """Nodes and weights of Gauss's rule on [−1, 1], at a precision; they come in pairs ±u."""
    with ctx.workprec(bits):
        half = [arb.legendre_p_root(count, k, weight=True) for k in range((count + 1) // 2)]
        return half + [(-u, w) for u, w in half[: count // 2]]


@lru_cache(8)
def legendre_floats(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss's rule on [−1, 1], in float64."""
    return np.polynomial.legendre.leggauss(count)
