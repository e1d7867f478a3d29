"""A_α − 1 of a sampled pair by Newton's series in the order, about a whole one (docs/proofs.md, 8).

With u = γ(P/Q − 1), A_α = E_Q[(1+u)^α] = Σ_k C(α,k) E_Q[u^k], which converges at no order and
yet has a remainder far below the digits asked where γ^k e^{k²/(2σ²)} gets small enough.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_mat, arb_poly, ctx, fmpz, fmpz_mat, fmpz_poly

from symacct.core import deadline
from symacct.numerics.normal.magnitude import LOG2
from symacct.numerics.sums.local import Local
from symacct.numerics.sums.refine import ball, within

_MOST = 96  # terms, up to which a sum over them costs less than an integral
_TABLES = 32  # of orders, each some thousand whole numbers
_ROOM = 24  # bits for what rounding adds up


def log_second_term(middle: int, rate: float, slope: float) -> float:
    """log C(α,2) E_Q[u²] for the least order about the middle: about that of the sum, or less."""
    log_square = 2 * (math.log(rate) + slope) + math.log(-math.expm1(-2 * slope))
    return log_square + math.log((middle - 0.5) * (middle - 1.5) / 2)


def newton_length(middle: int, rate: float, slope: float, log_tolerance: float) -> int | None:
    """The even number of terms that leave less than the tolerance; None where there is none.

    log E_Q[u^k] is taken to be k log γ + slope·k(k−1), of which it is seldom above.
    """
    if not 0 < rate < 1:
        return None  # beyond floats
    last, log_rate, log_rest = _even_beyond(middle), math.log(rate), math.log1p(-rate)
    beyond = last * (log_rate + slope * (last - 1))
    log_term = 0.0  # of |C(α,k)| at most, over the orders about the middle
    for k in range(_MOST):
        deadline.check()
        if k > 0 and k % 2 == 0:
            tail = k * (log_rate + slope * (k - 1))
            if k < last:
                tail = max(tail, beyond) + (last - k) * LOG2
            else:
                tail += (middle - 1 - k) * log_rest
            if log_term + tail < log_tolerance:
                return k
        if k > middle and log_rate + 2 * slope * k > 0:
            return None  # from here on the terms grow
        log_term += math.log((abs(middle - k) + 0.5) / (k + 1))
    return None


def _even_beyond(middle: int) -> int:
    """The first even number above all orders about the middle."""
    return middle + 2 - middle % 2


def newton_local(middle: int, rate: Fraction, growth: Fraction, length: int) -> Local:
    """E_Q[(1+u)^α] − 1 where log E_Q[(P/Q)^i] = growth·i(i−1), by an even number of terms."""
    with ctx.workprec(ctx.prec + _guard(middle, ball(rate), ball(growth))):
        gamma, slope = ball(rate), ball(growth)
        differences = _differences(gamma, slope, length)
        table, most = _falling_factorials(middle, length)
        row = arb_mat(1, length, differences[:length]) * table
        rest = most * _remainder(differences[length], middle, gamma, slope, length)
        return Local(arb_poly(row.entries()), within(rest))


def _remainder(difference: arb, middle: int, gamma: arb, slope: arb, length: int) -> arb:
    """What bounds E_Q[abs((1+u)^α − Σ_{k<N} C(α,k) u^k)], divided by N! abs(C(α,N)).

    E_Q[u^N]/N! is the difference. For α <= N it is multiplied by (1−γ)^{α−N}, as u >= −γ; else
    with an even L >= α it is 2^{L−N} (E_Q[u^N] + E_Q[u^L])/N!, and u^L <= γ^L (1 + (P/Q)^L).
    """
    last = _even_beyond(middle)
    bound: arb = difference / (1 - gamma) ** max(0, length + 1 - middle)
    if length < last:
        top = gamma**last * (1 + (slope * (last * (last - 1))).exp())
        bound += 2 ** (last - length) * (difference + top / math.factorial(length))
    return bound


def _guard(middle: int, gamma: arb, slope: arb) -> int:
    """Bits that the differences cancel, of a sum that is slope·γ² at least."""
    lost = middle * (1 + 2 * gamma).log() - slope.log().min(arb(0))
    return _ROOM + int(float(lost) / LOG2) if lost.is_finite() else _ROOM


def _differences(gamma: arb, slope: arb, length: int) -> list[arb]:
    """E_Q[u^k]/k! for 0 <= k <= length, 0 in the place of the first: e^{−γx} Σ m_i (γx)^i/i!"""
    growth = (2 * slope).exp()
    weights, moments, moment, ratio = [arb(1), gamma], [arb(0), arb(0)], arb(1), arb(1)
    for i in range(2, length + 1):
        deadline.check()
        ratio *= growth
        moment *= ratio
        weights.append(weights[-1] * gamma / i)
        moments.append((moment - 1) * weights[-1])
    decay = arb_poly([-one if i % 2 else one for i, one in enumerate(weights)])
    return (arb_poly(moments) * decay).truncate(length + 1).coeffs()


@lru_cache(_TABLES)
def _falling_factorials(middle: int, length: int) -> tuple[arb_mat, fmpz]:
    """The coefficients of (n+t)(n+t−1)…(n+t−k+1) in t, a row each; what bounds them for k = N."""
    rows, product, most = [], fmpz_poly([1]), 1
    for k in range(length):
        rows.append(product.coeffs() + [0] * (length - k - 1))
        product *= fmpz_poly([middle - k, 1])
        most *= 2 * abs(middle - k) + 1
    return arb_mat(fmpz_mat(rows)), -(-fmpz(most) // 2**length)
