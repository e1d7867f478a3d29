"""Certified balls: python-flint's arb at its current precision, signs, remainders and integrals.

Signs are decided exactly. Remainders are enclosed, integrals and results come to a stated accuracy,
and what floats guess for them is said where they may leave their range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm
from operator import methodcaller
from typing import Any

import flint
import numpy as np
from flint import acb, arb, ctx

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic.context import PlainGaps
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.errors import LimitError, PrecisionError, SymacctError, echo
from symacct.kernel.exact import INFINITY, Exact, Numeric, exact, sympy
from symacct.kernel.memory import new_lock

# --- balls

# flint's precision belongs to the process, so one certified evaluation runs at a time.
_flint = new_lock(flint.ctx.default)
#: The largest precision, in bits; a number of more would not fit into memory. More are refused by
#: PrecisionError.
_MOST_BITS = 2**31


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls at `bits` bits within the block, in this thread only; other threads wait for its end.

    The precision before it comes back at its end. PrecisionError above _MOST_BITS.
    """
    deadline.check()
    if bits > _MOST_BITS:
        raise PrecisionError(f"found a precision of {echo(bits)} bits, needed at most {_MOST_BITS}")
    with _flint:
        before, flint.ctx.prec = flint.ctx.prec, bits
        try:
            yield
        finally:
            flint.ctx.prec = before


def ends_of(x: arb) -> tuple[arb, arb]:
    """The lower and the upper end of a ball, as exact balls rounded outwards to the precision."""
    return x.lower(), x.upper()


def floor(x: arb) -> int:
    """⌊lower end⌋ of a finite ball: the largest whole number that none in it is below."""
    return _whole(x.lower().floor())


def ceiling(x: arb) -> int:
    """⌈upper end⌉ of a finite ball: the smallest whole number that none in it is above."""
    return _whole(x.upper().ceil())


def _whole(x: arb) -> int:
    """The integer that a finite exact ball is, which its caller knows to be whole."""
    mantissa, exponent = x.mid().man_exp()
    return int(mantissa) << int(exponent)


def float_above(x: arb) -> float:
    """A float64 above every number in a ball: the one after its upper end at the precision.

    ∞ where that is beyond the floats; NaN for a ball that is NaN.
    """
    return math.nextafter(float(x.upper()), math.inf)


def accuracy(x: arb) -> float:
    """The significant decimal digits that a ball has, relative to its midpoint; may be a fraction.

    ∞ for an exact number, 0 or less where no digit is known, −∞ where the ball is not finite.
    """
    if not x.is_finite():
        return -math.inf
    if x.is_exact():
        return math.inf
    return (x.rel_accuracy_bits() - 1) * math.log10(2)  # the width is twice the radius


def doubled(bits: int, limit: int | None = None) -> Iterator[int]:
    """The precisions bits, 2·bits, 4·bits, … up to `limit`, else to the limit on bits in force.

    None where the first is beyond it. The time is looked at before each.
    """
    while bits <= (limit or limits.current().bits):
        deadline.check()
        yield bits
        bits *= 2


class BallArithmetic(PlainGaps):
    """Balls of arb: every value encloses the true one, roundings included."""

    certified = True

    @property
    def bits(self) -> int:
        return int(flint.ctx.prec)

    def number(self, value: Numeric) -> arb:
        """A ball that encloses an exact value, at the current precision; a whole number exactly."""
        if isinstance(value, int):
            return arb(value)
        if isinstance(value, Fraction):
            return arb(value.numerator) / value.denominator  # sooner than by a fmpq, the same bits
        if value == INFINITY:
            return arb("inf")
        value = exact(value)
        return self.number(value) if isinstance(value, Fraction) else evaluate(self, value)

    pi = staticmethod(arb.pi)
    exp = staticmethod(methodcaller("exp"))
    expm1 = staticmethod(methodcaller("expm1"))
    log = staticmethod(methodcaller("log"))
    log1p = staticmethod(methodcaller("log1p"))
    sqrt = staticmethod(methodcaller("sqrt"))
    log_gamma = staticmethod(methodcaller("lgamma"))
    digamma = staticmethod(methodcaller("digamma"))

    def power(self, x: arb, y: arb) -> arb:
        return x if x == 0 and y > 0 else arb(x) ** y

    def binomial(self, n: int, k: int) -> arb:
        """C(n,k) rounded to no precision, 0 <= k <= n; LimitError above the limit on orders."""
        limits.check("order", n, "order alpha")
        return arb(flint.fmpz.bin_uiui(n, k))

    def minimum(self, smallest: arb, *others: arb) -> arb:
        """The ball of the smallest; where balls overlap it holds each that may be it."""
        for x in others:
            smallest = smallest.min(x)
        return smallest

    def maximum(self, largest: arb, *others: arb) -> arb:
        """The ball of the largest; where balls overlap it holds each that may be it."""
        for x in others:
            largest = largest.max(x)
        return largest

    def is_infinite(self, x: arb) -> bool:
        """Is the ball certainly ∞? False for NaN and for a ball of infinite radius."""
        return not x.is_finite() and bool(x > 0)


#: The arithmetic of balls, at flint's current precision.
BALL = BallArithmetic()
#: The largest binary exponent of a ball whose fraction is formed; a longer one fills the memory,
#: and is refused by LimitError.
_MOST_EXPONENT = 2**30


def rational(x: arb) -> Fraction:
    """The midpoint of a ball as the binary fraction that it is, which bounds nothing by itself.

    LimitError where it is not finite or too long for a fraction: FLINT ends the process where an
    exponent is beyond a machine's words.
    """
    if not x.is_finite() or abs(int(x.mid().man_exp()[1])) >= _MOST_EXPONENT:
        raise LimitError("found a number too far from 1 to be written as a fraction")
    fraction = x.mid().fmpq()
    return Fraction(int(fraction.p), int(fraction.q))


def rational_ends(value: Exact, bits: int) -> tuple[Fraction, ...]:
    """The rational number itself; of an irrational one a rational below it and one above.

    The two are alike to more than 2·bits bits. What is monotone in a parameter lies between its
    values at them. PrecisionError for a constant too near to 0.
    """
    if isinstance(value, Fraction):
        return (value,)
    for finer in doubled(2 * bits + 64, 64 * (bits + 64)):
        with precision(finer):
            ball = BALL.number(value)
            if ball.rel_accuracy_bits() > 2 * bits:
                return tuple(map(rational, ends_of(ball)))
    raise PrecisionError(
        f"found {echo(value)}, too near to 0 to compute", remedy="write it as a rational number"
    )


def nearest_rational(value: Exact, bits: int) -> Fraction:
    """The rational number itself, else one below it that agrees with it to over 2·bits bits."""
    return rational_ends(value, bits)[0]


def decide(holds: Callable[[arb], bool | None], value: sympy.Expr) -> bool | None:
    """What balls of a constant say by `holds`, at the first of 64 to 4096 bits that decides it.

    `holds` gives None where its ball does not decide; so does this where none of them does.
    """
    for bits in doubled(64, 4096):
        with precision(bits):
            answer = holds(BALL.number(value))
        if answer is not None:
            return answer
    return None


# --- signs
#
# Signs that are decided exactly: no precision chosen beforehand tells a log x + b log y from 0.

#: Bits of a rational power up to which it is formed to decide an equality; beyond, none is looked
#: for, and balls decide or refuse.
_EXACT_POWER_BITS = 2**22


def log_sign(a: Fraction, x: Fraction, b: Fraction, y: Fraction) -> int:
    """The exact sign, 1, 0 or −1, of a log x + b log y for rationals a, b and x, y > 0.

    PrecisionError where balls do not decide it up to the limit on bits.
    """
    if a == 0 or x == 1:
        return _sign(b) * _sign(y - 1)
    if b == 0 or y == 1:
        return _sign(a) * _sign(x - 1)
    scale = lcm(a.denominator, b.denominator)
    first, second = int(a * scale), int(b * scale)
    common = gcd(first, second)
    if _cancel(x, first // common, y, second // common):
        return 0
    for bits in doubled(64):
        with precision(bits):
            value = first * BALL.number(x).log() + second * BALL.number(y).log()
            if value > 0 or value < 0:
                return 1 if value > 0 else -1
    limit = limits.current().bits
    raise PrecisionError(f"whether {x}^{first} exceeds {y}^{-second}: not decided at {limit} bits")


def _cancel(x: Fraction, a: int, y: Fraction, b: int) -> bool:
    """Is x^a y^b = 1, for whole a and b without a common factor, and x, y other than 1?

    Then x is a b-th power of a rational and y an a-th power, so that a and b are small. False also
    where x^a has more than _EXACT_POWER_BITS bits.
    """
    sizes_ = [max(v.numerator.bit_length(), v.denominator.bit_length()) for v in (x, y)]
    if abs(b) > sizes_[0] or abs(a) > sizes_[1] or abs(a) * sizes_[0] > _EXACT_POWER_BITS:
        return False
    return x**a * y**b == 1


def _sign(value: Fraction) -> int:
    """1, 0 or −1."""
    return (value > 0) - (value < 0)


# --- remainders and integrals

#: The number of evaluations, each for more bits, after which an accuracy is refused. More take
#: longer before a PrecisionError.
_MOST_EVALUATIONS = 12


@contextmanager
def within_floats(finding: str, where: str = "", remedy: str = "") -> Iterator[None]:
    """Turns a float's ArithmeticError or ValueError in the decorated function to a PrecisionError.

    Floats that choose steps may leave their range; the error has the finding, where and remedy.
    Arrays that do are ∞ or NaN without a warning.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except SymacctError:
        raise
    except (ArithmeticError, ValueError) as error:
        raise PrecisionError(finding, where=where, remedy=remedy) from error


#: Decorates an integral whose steps are chosen by floats, which may overflow.
steered_by_floats = within_floats(
    "an integral: found parameters beyond the range of the floats that choose its "
    "steps, about 10⁻³⁰⁰ to 10³⁰⁰; needed less extreme ones, or a whole order"
)


def ball(x: Fraction) -> arb:
    """The rational x as a ball that encloses it, at the current precision."""
    return arb(x.numerator) / x.denominator


#: ½, and a float just above 1/√(2π), so that the bound by Mills' ratio is not rounded down.
_HALF, _MILLS = arb(0.5), arb(0.3989422804014327)


#: From this x on flint's erfc of a ball is wide: it bounds the slope e^{−x²} by an x² of 30 bits.
#: Both ways are enclosures; from there on the other one is narrower.
_FAR = 2**8


def normal_tail(x: arb) -> arb:
    """P(Z > x) for a standard normal Z, as a ball at the current precision."""
    x = x / arb(2).sqrt()
    if x > _FAR:
        return x.lower().erfc().union(x.upper().erfc()) / 2  # it falls
    return x.erfc() / 2


def tilted_tail(log_tilt: arb, x: arb) -> arb:
    """An upper bound of e^m P(Z > x), Z standard normal, which is at most about twice it.

    It is e^m e^{−x²/2} min(1/2, 1/(x√(2π))), and e^m where x is not certainly above 0.
    """
    if not x > 0:
        return log_tilt.exp()
    return (log_tilt - x * x / 2).exp() * (_MILLS / x).min(_HALF)


def rounded_down(x: float, bits: int = 16) -> float:
    """The finite float x, rounded down to so many significant bits.

    Multiples of a step of few bits are then exact at low precision.
    """
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)


def within(error: arb) -> arb:
    """The ball [−error, error] of a remainder whose modulus is at most error ≥ 0.

    Of an error that is itself a ball the upper end counts.
    """
    return arb(0, error)


def acb_within(error: arb) -> acb:
    """The box about 0 that holds all complex numbers whose modulus is at most error ≥ 0."""
    return acb(within(error), within(error))


def up_to(bound: arb) -> arb:
    """The ball [0, bound] of a remainder that is not negative, up to the bound's upper end."""
    return arb(0).union(bound)


def geometric_tail(first: arb, ratio: arb) -> arb:
    """An upper bound first/(1 − ratio) of terms that each are at most `ratio` times the last.

    ∞ where the ratio is not certainly below 1.
    """
    return first / (1 - ratio) if ratio < 1 else arb("inf")


def integral(
    integrand: Callable[[acb, bool], acb], low: arb | int, high: arb | int, **options: Any
) -> acb:
    """The rigorous integral of flint over a real interval, at the current precision.

    `integrand(x, analytic)` encloses the function on a box, and is NaN there if `analytic` and it
    is not analytic. Each call looks at the time. The first error it raises is raised as it was;
    `options` are flint's, tolerances among them.
    """

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
    """evaluate(bits), with bits raised until the ball's relative radius is at most 2^(2−prec).

    `evaluate` works at a precision of its own that gives about so many bits. PrecisionError where
    _MOST_EVALUATIONS do not do, as for a value that is 0 and no exact ball.
    """
    wanted = ctx.prec - 2
    extra = 6
    for _ in range(_MOST_EVALUATIONS):
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


#: The largest number of nodes of a rule: of more, one root of the polynomial may take seconds. More
#: are refused by LimitError.
_MOST_NODES = 2**22


@lru_cache(32)
def legendre(count: int, bits: int) -> list[tuple[arb, arb]]:
    """The nodes and weights of Gauss's rule of `count` nodes on [−1, 1], as balls of `bits` bits.

    The nodes u >= 0 come first, then their negatives. LimitError above _MOST_NODES.
    """
    if count > _MOST_NODES:
        raise LimitError(f"found Gauss's rule of {count:,} nodes, needed at most {_MOST_NODES:,}")
    with ctx.workprec(bits):
        places = deadline.each(range((count + 1) // 2))
        half = [arb.legendre_p_root(count, k, weight=True) for k in places]
        return half + [(-u, w) for u, w in half[: count // 2]]


@lru_cache(8)
def legendre_floats(count: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes and weights of Gauss's rule on [−1, 1] in float64, for what only steers."""
    return np.polynomial.legendre.leggauss(count)


# --- magnitudes
#
# Logarithms in float64 that choose steps, windows and precision; no result rests on them.

LOG2 = math.log(2)
#: The CGF order λ at which K(λ)/λ stands for ε(1). It steers.
_KL_ORDER = 2.0**-40
#: The smallest CGF order λ of a magnitude, below which float64 would underflow to 0. It steers.
_LEAST_LAMBDA = 1e-200


def cgf_order(alpha: Fraction) -> float:
    """λ = α − 1 as a float, at least _LEAST_LAMBDA."""
    return max(float(alpha - 1), _LEAST_LAMBDA)


def log_mixture(log_ratio: float, rate: float, rest: float) -> float:
    """log(1−q+q e^w) in floats, w = log_ratio, q = rate > 0, 1−q = rest, without overflow."""
    if log_ratio < -1:
        return math.log(rest + rate * math.exp(log_ratio))
    if log_ratio < 700:
        return math.log1p(rate * math.expm1(log_ratio))
    return math.log(rate) + log_ratio + math.log1p(rest / rate * math.exp(-log_ratio))


def log_convex_excess(log_base: float, lam: float) -> float:
    """log(m^α − 1 − α(m−1)) in floats, for α = 1 + λ, λ > 0, and m = e^log_base > 1."""
    growth = (1 + lam) * log_base
    if growth > 30:
        return growth + math.log(-math.expm1(-lam * log_base))
    if growth < 1e-3:
        return math.log((1 + lam) * lam / 2) + 2 * math.log(log_base)
    rise = math.expm1(lam * log_base)
    return math.log(math.exp(log_base) * rise - lam * math.expm1(log_base))


def log_normal_tail(x: float) -> float:
    """About log P(Z > x) in floats for a standard normal Z, x ≥ 0; by Mills' ratio from 25 on."""
    if x < 25:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi))


def crossing(rate: float, rest: float, sigma: float) -> float:
    """The point z₁ = 1/2 + σ² log((1−q)/q) where both parts of the mixture weigh the same."""
    return 0.5 + sigma * sigma * math.log(rest / rate)


def reach_of(drop: float) -> float:
    """√(2·drop), the x > 0 at which e^{−x²/2} has fallen to e^{−drop}; at least 1."""
    return math.sqrt(2 * max(drop, 0.5))


def _upper_peak(alpha: float, middle: float, sigma: float) -> float:
    """About the largest z with z = α·logistic((z − z₁)/σ²), by three steps down from α.

    There m^α φ(z/σ) has its upper peak, m the sampled ratio; `middle` is z₁.
    """
    z = alpha
    for _ in range(3):
        z = alpha / (1 + math.exp(min((middle - z) / sigma**2, 700.0)))
    return z


def log_gaussian_excess(alpha: Fraction, q: Fraction, sigma: Fraction) -> float:
    """About, and mostly below, log(A_α − 1) of the sampled Gaussian at the rate q, in floats.

    A_α = E_Q[m^α], and by Markov's inequality A_α − 1 >= F(m(z))·P(N(0,σ²) > z) for z > 1/2, where
    F(m) = m^α − 1 − α(m−1); six likely z are tried. ValueError where none of them is in range.
    """
    lam, rate, rest, scale = cgf_order(alpha), float(q), float(1 - q), float(sigma)
    middle = crossing(rate, rest, scale)
    peak = _upper_peak(1 + lam, middle, scale)
    points = (1.5 * scale, 1.0, 2.0, 1 + lam, middle, peak)
    return max(
        log_convex_excess(log_base, lam) + log_normal_tail(z / scale)
        for z in points
        if z > 0.5 and (log_base := log_mixture((z - 0.5) / scale**2, rate, rest)) > 0
    )


def log_laplace_excess(alpha: Fraction, gamma: Fraction, b: Fraction) -> float:
    """About the log of a lower bound of A_α − 1 of sampled Laplace noise, in floats.

    It is the part of the mean at which the ratio is e^{1/b}, of mass e^{−1/b}/2.
    """
    log_base = log_mixture(float(1 / b), float(gamma), float(1 - gamma))
    return log_convex_excess(log_base, cgf_order(alpha)) - float(1 / b) - LOG2


def log_laplace_kl(gamma: Fraction, b: Fraction) -> float:
    """About log E_Q[m log m] of sampled Laplace noise in floats, by an order just above 1."""
    return log_laplace_excess(1 + Fraction(_KL_ORDER), gamma, b) - math.log(_KL_ORDER)


# --- minima

#: The steps, in nats, in which the logarithm at a minimum is looked for, in turn. They steer.
_LOG_STEPS = (2.0, 0.5, 0.1)
#: The largest modulus of a logarithm from which another step is tried, in nats: what is asked at
#: e^{±200}, and its square, are floats, which end at e^{709}. It steers.
_LARGEST_LOG = 200.0


def lowest(size: Callable[[float], float], start: float) -> float:
    """The logarithm at which `size`, a function of one valley of it, is about smallest.

    It only steers: walks down from `start`, in steps that get smaller.
    """
    best, best_height = start, size(start)
    for step in _LOG_STEPS:
        for way in (step, -step):
            while abs(best) < _LARGEST_LOG and (there := size(best + way)) < best_height:
                best, best_height = best + way, there
    return best
