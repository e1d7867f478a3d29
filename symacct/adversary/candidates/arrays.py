"""float64 arrays as an arithmetic: a bound on hundreds of candidates at once, for searching."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from symacct.adversary.candidates.finite import Pair, divergence
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.arithmetic.context import PlainGaps
from symacct.kernel.exact import Order
from symacct.kernel.theorem_registry import RDPCurve
from symacct.theory.amplification.wbk19 import differences


class ArrayArithmetic(PlainGaps):
    """Plain float64, elementwise: no bound on the error, only ever used to find candidates."""

    certified = False
    bits = 53

    def number(self, value: Number) -> Number:
        return value if isinstance(value, np.ndarray) else float(value)

    def pi(self) -> float:
        return math.pi

    exp = staticmethod(np.exp)
    expm1 = staticmethod(np.expm1)
    log = staticmethod(np.log)
    log1p = staticmethod(np.log1p)
    sqrt = staticmethod(np.sqrt)
    power = staticmethod(np.power)

    def binomial(self, n: int, k: int) -> float:
        return float(math.comb(n, k))

    def minimum(self, *xs: Number) -> Number:
        return functools.reduce(np.minimum, xs)

    def maximum(self, *xs: Number) -> Number:
        return functools.reduce(np.maximum, xs)

    def is_zero(self, x: Number) -> bool:
        return bool(np.all(x == 0))

    def is_infinite(self, x: Number) -> bool:
        return bool(np.all(np.isposinf(x)))


ARRAYS = ArrayArithmetic()


class ArrayCurve:
    """ε(α) of each candidate: what a bound asks of a curve, in float64 arrays."""

    shape = None
    node = None

    def __init__(self, value: Callable[[Order], Number]) -> None:
        self._value = value
        self._values: dict[Order, Number] = {}
        self._tables: dict[str, dict[Any, Any]] = {}

    @classmethod
    def of_pairs(
        cls, pairs: list[Pair], raised: Mapping[Order, Number] | None = None
    ) -> ArrayCurve:
        """ε(α) = max D_α(P‖Q) over the pairs, plus what is raised at α."""
        more = raised or {}
        return cls(
            lambda alpha: (
                functools.reduce(np.maximum, (divergence(p, q, alpha) for p, q in pairs))
                + more.get(alpha, 0.0)
            )
        )

    def __call__(self, alpha: Order) -> Number:
        if alpha not in self._values:
            self._values[alpha] = self._value(alpha)
        return self._values[alpha]

    def using(self, ctx: Arithmetic) -> ArrayCurve:
        return self

    def remember(self, what: str) -> dict[Any, Any]:
        return self._tables.setdefault(what, {})

    def excesses(self) -> Callable[[Order], Number]:
        """l ↦ e^{(l−1)ε(l)} − 1."""
        return lambda l: np.expm1((l - 1) * self(l))


@differences.register
def _(ctx: ArrayArithmetic, eps: RDPCurve, orders: Iterable[int]) -> Callable[[int], Number]:
    """The alternating sum of e^{(i−1)ε(i)} − 1, whose terms i = 0 and 1 vanish, for l >= 1."""
    excess = eps.excesses()

    def difference(l: int) -> Number:
        terms = [(-1) ** (l - i) * math.comb(l, i) * excess(i) for i in range(2, l + 1)]
        total, size = sum(terms), sum(np.abs(term) for term in terms)
        # Of a true curve it is not negative; one that is nearly 0 is only noise here.
        return np.where(total < -1e-9 * size, np.nan, np.maximum(total, 0.0))

    return difference
