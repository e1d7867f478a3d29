"""Exact rationals as balls, flint's integrals, and results to a stated accuracy."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

import numpy as np
from flint import acb, arb, ctx

from symacct.kernel import deadline
from symacct.kernel.errors import PrecisionError, SymacctError

# --- balls and integrals
#
# Exact rationals into balls, flint's integrals, and results to a stated relative accuracy.

_ROUNDS = 12

P = ParamSpec("P")
R = TypeVar("R")


def within_floats(
    finding: str, where: str = "", remedy: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """PrecisionError of these words where the floats that choose steps leave their range."""

    def guarded(ask: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(ask)
        def steered(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return ask(*args, **kwargs)
            except SymacctError:
                raise
            except (ArithmeticError, ValueError) as error:
                raise PrecisionError(finding, where=where, remedy=remedy) from error

        return steered

    return guarded


def steered_by_floats(integral: Callable[P, R]) -> Callable[P, R]:
    """PrecisionError where the floats that choose an integral's steps leave their range."""
    return within_floats(
        "an integral: found parameters beyond the range of the floats that choose its "
        "steps, about 10⁻³⁰⁰ to 10³⁰⁰; needed less extreme ones, or a whole order"
    )(integral)


def ball(x: Fraction) -> arb:
    """The rational x as a ball at the current precision."""
    return arb(x.numerator) / x.denominator


_HALF, _MILLS = arb(0.5), arb(0.3989422804014327)  # at least 1/√(2π)


def normal_tail(x: arb) -> arb:
    """P(Z > x) for a standard normal Z."""
    return (x / arb(2).sqrt()).erfc() / 2


def tilted_tail(log_tilt: arb, x: arb) -> arb:
    """At least e^m P(Z > x), and at most twice it: by e^{−x²/2} min(1/2, 1/(x√(2π))), x > 0."""
    if not x > 0:
        return log_tilt.exp()
    return (log_tilt - x * x / 2).exp() * (_MILLS / x).min(_HALF)


def rounded_down(x: float, bits: int = 16) -> float:
    """x, rounded down to so many bits: multiples of it are exact at few bits."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)


def within(error: arb) -> arb:
    """The ball [−error, error] for a bound error ≥ 0: all of it, if it is a ball itself."""
    return arb(0, error)


def acb_within(error: arb) -> acb:
    """A box about 0 that holds all complex numbers whose modulus is at most the bound."""
    return acb(within(error), within(error))


def up_to(bound: arb) -> arb:
    """The ball [0, bound] of a remainder that is not negative, all of the bound with it."""
    return arb(0).union(bound)


def geometric_tail(first: arb, ratio: arb) -> arb:
    """A bound of terms that fall from the first at least by this ratio; ∞ where it is not < 1."""
    return first / (1 - ratio) if ratio < 1 else arb("inf")


def integral(
    integrand: Callable[[acb, bool], acb], low: arb | int, high: arb | int, **options: Any
) -> acb:
    """The rigorous integral of flint; what the integrand raises first is raised as it was."""

    def looked(x: acb, analytic: bool) -> acb:
        deadline.check()
        return integrand(x, analytic)

    try:
        return acb.integral(looked, low, high, **options)
    except SystemError as error:
        first: BaseException = error
        while first.__cause__ is not None:
            first = first.__cause__
        raise first from None


def to_relative_accuracy(evaluate: Callable[[int], arb]) -> arb:
    """evaluate(bits) with bits raised until the ball's relative radius is ≤ 2^(2−prec)."""
    wanted = ctx.prec - 2
    extra = 6
    for _ in range(_ROUNDS):
        deadline.check()
        value = +evaluate(wanted + extra)
        missing = wanted - value.rel_accuracy_bits()
        if missing <= 0:
            return value
        extra = 2 * extra + min(missing, wanted)
    raise PrecisionError(
        f"{wanted} bits wanted, {wanted - missing} reached with {wanted + extra} asked for; "
        "the value may be 0 or the parameters beyond the float64 range of the estimates"
    )


# --- Gauss's rule
#
# Gauss's rule on an interval, in balls.


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
