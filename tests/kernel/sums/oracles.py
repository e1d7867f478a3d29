"""K_l from a function, as the terms of a sum; each order is asked for once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

from symacct.kernel.sums.binomial_sums import Exponentials, Terms, certified_mixture

Oracle = Callable[[int], arb]
Term = Callable[[int, arb], arb]


class OracleCurve:
    """A curve that is known by its K_l."""

    def __init__(
        self, log_moment: Oracle, shape: str | None, exponentials: Exponentials | None = None
    ) -> None:
        self.shape = shape
        self.log_moment = functools.cache(log_moment)
        self.exponentials = lambda: exponentials
        self.dense = lambda orders: None

    def excesses(self) -> Callable[[int], arb]:
        return lambda l: self.log_moment(l).expm1()


@dataclass(frozen=True)
class OracleTerms(Terms):
    """term(l, K_l)"""

    term: Term = lambda l, k: k.expm1()

    def at(self, l: int, log_moment: arb) -> arb:
        return self.term(l, log_moment)

    def log_moment(self, l: int) -> arb:
        return self.eps.log_moment(l)

    def __call__(self, l: int) -> arb:
        return self.term(l, self.log_moment(l))


def terms_of(
    log_moment: Oracle,
    term: Term,
    factor: int,
    shape: str | None = "convex",
    shift: int | None = None,
    exponentials: Exponentials | None = None,
) -> Terms:
    """term(l, K_l), 0 <= term(l, K) <= factor·e^K."""
    curve = OracleCurve(log_moment, shape, exponentials)
    return OracleTerms(curve, factor=factor, shift=shift, term=term)


def certified_binomial_sum(
    alpha: int,
    u: arb,
    v: arb,
    log_moment: Oracle,
    term: Term,
    factor: int,
    first: int = 2,
    shape: str | None = "convex",
    shift: int | None = None,
    exponentials: Exponentials | None = None,
) -> arb:
    """The certified sum of such terms."""
    terms = terms_of(log_moment, term, factor, shape, shift, exponentials)
    return certified_mixture(terms, alpha, u, v, first)
