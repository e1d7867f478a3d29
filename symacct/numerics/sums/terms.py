"""What a binomial sum over a curve adds up; to a low order all of it, as one polynomial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import mul
from typing import Protocol

from flint import arb, arb_poly, ctx, fmpz_poly

from symacct.arithmetic import Number
from symacct.core.exact import Order
from symacct.core.forking import cached_property
from symacct.numerics.sums.exponentials import ExponentialSum
from symacct.numerics.sums.weights import Rates, guarded

LOW = 64  # up to this order cheap terms are summed faster than most of them are proved small

Exponentials = Callable[[range], ExponentialSum | None]


class SummedCurve(Protocol):
    """A curve ε whose K_l = (l−1)ε(l) a sum asks for at whole orders."""

    @property
    def shape(self) -> str | None:
        """What is proved of K: "convex" in l with K_1 = 0, or nothing."""

    def __call__(self, alpha: Order) -> Number:
        """ε(α)."""

    def excesses(self) -> Callable[[Number], Number]:
        """l ↦ e^{K_l} − 1."""

    def exponentials(self) -> Exponentials | None:
        """The terms over a run of orders in balls; None where exponentials do not make it up."""

    def dense(self, orders: range) -> list[Number] | None:
        """The terms at each order of a run; None where a value costs more than a sum spares."""


def _itself(l: Number, excess: Number) -> Number:
    return excess


@dataclass(frozen=True)
class Terms:
    """t_l = form(l, e^{K_l} − 1), K_l = (l−1)ε(l) >= 0, with 0 <= t_l <= factor·e^{K_l}.

    If `shift` is not None the term is factor·e^K − shift.
    """

    eps: SummedCurve
    form: Callable[[Number, Number], Number] = _itself
    factor: int = 1
    shift: int | None = 1

    @cached_property
    def excess(self) -> Callable[[Number], Number]:
        """l ↦ e^{K_l} − 1."""
        return self.eps.excesses()

    def __call__(self, l: Number) -> Number:
        return self.excess(l) if self.form is _itself else self.form(l, self.excess(l))

    def at(self, l: int, log_moment: arb) -> Number:
        """The term where K_l is known."""
        return self.form(l, log_moment.expm1())

    def dense(self, orders: range) -> list[Number] | None:
        """All terms of a run, where they are cheap."""
        excesses = self.eps.dense(orders)
        if excesses is None or self.form is _itself:
            return excesses
        return list(map(self.form, orders, excesses))

    def log_moment(self, l: int) -> Number:
        """K_l."""
        return (l - 1) * self.eps(l)

    def exponentials(self) -> Exponentials | None:
        """The numbers e^{K_l} − 1 over a run of orders, where exponentials make up the terms."""
        return None if self.shift is None else self.eps.exponentials()


@cache
def _binomials(alpha: int, first: int) -> list[arb]:
    """C(α,l) for first <= l <= α."""
    return list(map(arb, (fmpz_poly([1, 1]) ** alpha).coeffs()[first:]))


def dense_sum(terms: Terms, alpha: int, rates: Rates, first: int) -> arb | None:
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} t_l at positive rates; None unless cheap and finite."""
    u, v = rates
    if not (first <= alpha <= LOW and u > 0 and v > 0):
        return None
    with ctx.workprec(guarded(LOW)):  # whatever the order, so that the terms serve the next one
        values = terms.dense(range(first, alpha + 1))
        if values is None:
            return None
        weighed = list(map(mul, values, _binomials(alpha, first)))
        if u > v:  # what is uncertain of a small v counts little in its powers
            total = u**alpha * arb_poly(weighed[::-1])(v / u)
        else:
            total = u**first * v ** (alpha - first) * arb_poly(weighed)(u / v)
    return total if total.is_finite() else None
