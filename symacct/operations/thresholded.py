"""Sums that are released by key, each with noise and only if it passes a threshold."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch

from flint import arb

from symacct.kernel import deadline, parameters
from symacct.kernel.answer import decimal_exponent
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import doubled, floor, precision, rational, up_to
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Exact, Numeric, exact, sympy, text
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import positive, probability, signed_rational, whole
from symacct.kernel.sums.halving import halved_whole
from symacct.mechanisms import DiscreteLaplace, Gaussian, VectorLaplace
from symacct.mechanisms.integer_noise import IntegerNoise, LatticeNoise
from symacct.operations.failing import Failing
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import PoissonSubsample

#: The function's name in errors.
_NAME = "thresholded"
#: Significant digits that a probability of failing is rounded up to. Any number is sound: more
#: lengthen what is printed.
_DIGITS = 40
#: A smaller probability of failing is rounded up to one of so many decimal places. Any number is
#: sound: it keeps fractions short.
_PLACES = 300
#: Bits of the balls that the probability is computed in at first. Where they are too few, twice as
#: many are taken: it costs time alone.
_FIRST_BITS = 256
#: Nats by which the first window of whole numbers that are summed reaches. Where they are too few,
#: twice as many are taken. It costs time alone.
_FIRST_NATS = 64.0
#: A tail that is bounded by 2^−4096 is not summed: a probability of failing is rounded up to
#: 10^−300 or more. It costs time: the bound stands for the tail.
_NO_BITS = 4096
#: What of a tail is not summed is a share of at most 2^−_REST_BITS of it. It is bounded, and added.
#: It has to be more than `_DIGITS` in bits, or no chance has its digits and all are taken for 1.
_REST_BITS = 160
#: What is assumed, with the values of the arguments.
_PREMISE = (
    "each user has at most {keys} and adds at most {contribution} to the sum of each, in absolute "
    "value; each sum has noise of its own; the sum of a key that some user has is released if with "
    "noise it is {passing} {threshold}, and nothing is told of other keys (symacct, "
    "docs/proofs/conversions.md, Lemma thresholded)"
)


# Proved in docs/proofs/conversions.md, Lemma thresholded.
def thresholded(
    noise: Node,
    threshold: Numeric,
    keys: Numeric = 1,
    contribution: Numeric = 1,
    strict: bool = True,
) -> Node:
    """Noisy sums by key, of which those above a threshold are released with their keys.

    A key is a group of a table, a word or a place, and which keys there are is secret: the program
    takes the keys that some user has, adds noise to the sum of each, and releases it if it is above
    `threshold`, or at least that if not `strict`. Each user has at most `keys` keys, and adds at
    most `contribution` to each sum. So keys that only one user has show with probability at most
    d = 1 − (1 − P[c + Z > τ])^k, and this bounds the rest by noise on k sums. The result is
    `Failing` of that noise with d, rounded up at the 40th digit, and an upper bound for users who
    are added or removed. `noise` is that of one sum: Gaussian, Laplace, or one on whole numbers
    such as DiscreteLaplace, with its own sensitivity left at 1. `threshold` and `contribution` are
    in the units of its scale. `calibrate_thresholded` finds the threshold and the noise for (ε, δ).
    Raises DomainError. ε(α) is infinite, and ε of (ε, δ) is in nats.
    Source: docs/proofs/conversions.md, Lemma thresholded.

    >>> from symacct import DiscreteLaplace
    >>> m = thresholded(DiscreteLaplace(1), 5, strict=False)
    >>> print(m.epsilon("1/10").epsilon.rounded(6), m.delta(1).delta.rounded(6))
    0.872076 0.0133899
    """
    sums, moved = of_one_sum(noise, keys, contribution, _NAME)
    _without_symbols(noise, _NAME)
    tau = signed_rational(threshold, f"{_NAME}, threshold")
    above = parameters.flag(strict, f"{_NAME}, strict")
    stated = _PREMISE.format(
        keys=f"{sums:,} key{'s' if sums > 1 else ''}",
        contribution=text(moved),
        passing="above" if above else "at least",
        threshold=text(tau),
    )
    fails = _chance(noise, tau - moved, sums, above)
    if fails == 1:
        raise DomainError(
            f"{_NAME}, threshold: found {echo(threshold)}, which the keys of one user all but "
            "surely pass, needed a larger one"
        )
    return PostProcess(Failing(noise_of_keys(noise, sums, moved), fails), premise=stated)


def least_threshold(
    noise: Node,
    delta: Numeric,
    keys: Numeric = 1,
    contribution: Numeric = 1,
    strict: bool = True,
    digits: int = 6,
) -> Fraction:
    """The least threshold τ for which keys of one user show with probability at most `delta`.

    That is the d of `thresholded`, of which `noise`, `keys`, `contribution` and `strict` are. τ is
    rounded up to `digits` significant digits or one more, and to a whole number for noise on whole
    numbers. Raises DomainError.

    >>> from symacct import Gaussian, Laplace
    >>> print(least_threshold(Laplace(2), "1e-6"), float(least_threshold(Gaussian(1), "1e-6", 8)))
    2724473/100000 6.157702
    """
    name = "least_threshold"
    sums, moved = of_one_sum(noise, keys, contribution, name)
    _without_symbols(noise, name)
    most = probability(delta, f"{name}, delta")
    above, places = parameters.flag(strict, f"{name}, strict"), parameters.digits(digits)

    def meets(tau: Fraction) -> bool:
        deadline.check()
        return _chance(noise, tau - moved, sums, above) <= most

    if most < Fraction(1, 10**_PLACES):
        raise DomainError(f"{name}, delta: found {echo(delta)}, needed at least 1e-{_PLACES}")
    first = meets(moved)
    low = high = moved
    scale = next(iter(noise.fields().values()))
    step = Fraction(max(1, floor(BALL.number(scale))))
    while meets(low if first else high) is first:
        low, high = (low - step, low) if first else (high, high + step)
        step *= 2
    unit = Fraction(1)
    if not isinstance(noise, IntegerNoise):
        unit = Fraction(10) ** (decimal_exponent(max(abs(low), abs(high))) - places)
    ends = math.floor(low / unit), math.ceil(high / unit)
    return (halved_whole(*ends, lambda count: not meets(count * unit)) + 1) * unit


def of_one_sum(
    noise: Node, keys: Numeric, contribution: Numeric, name: str
) -> tuple[int, Fraction]:
    """The numbers of keys and of what a user adds to one; DomainError for other noise."""
    node = as_node(noise, f"{name}, noise")
    if not _is_of_one_sum(node) or node.fields()["sensitivity"] != 1:
        raise DomainError(
            f"{name}, noise: found {echo(noise)}, needed noise of one sum at sensitivity 1, such "
            "as Laplace(2): Gaussian, Laplace, or one on whole numbers"
        )
    added = f"{name}, contribution"
    moved = signed_rational(positive(contribution, added), added)
    if isinstance(node, IntegerNoise):
        moved = Fraction(whole(moved, added, least=1))
    return whole(keys, f"{name}, keys", least=1), moved


def _is_of_one_sum(node: Node) -> bool:
    """Is it noise with a scale and a sensitivity, whose tail is known?

    A kind of Gaussian noise with other parameters is that of several queries.
    """
    is_known = isinstance(node, Gaussian | VectorLaplace | DiscreteLaplace | LatticeNoise)
    return is_known and len(node.fields()) == 2 and "sensitivity" in node.fields()


def _without_symbols(noise: Node, name: str) -> None:
    """DomainError for noise whose scale is left open."""
    if noise.free_symbols:
        raise DomainError(
            f"{name}, noise: found {echo(noise)}, a parameter without a value, needed a number",
            remedy="calibrate_thresholded finds it, with the threshold",
        )


# --- the noise of all of a user's sums


@singledispatch
def noise_of_keys(noise: Node, keys: int, contribution: Exact) -> Node:
    """Noise on `keys` sums, each moved by at most `contribution`, of users added or removed.

    Each sum has its own noise, so that it is as many runs.
    """
    moved = type(noise)(**{**noise.fields(), "sensitivity": contribution})
    return keys * PoissonSubsample(moved, 1)


@noise_of_keys.register
def _(noise: Gaussian, keys: int, contribution: Exact) -> Node:
    """Noise on a vector, which all keys move by √k times as much in the Euclidean norm."""
    norm = exact(contribution * sympy.sqrt(keys))
    return PoissonSubsample(Gaussian(noise.sigma, norm), 1)


# --- the chance that a key of one user shows


def _chance(noise: Node, gap: Fraction, keys: int, strict: bool) -> Fraction:
    """1 − (1 − P[Z > τ − c])^k, or with >= if not `strict`, rounded up at the 40th digit; or 1.

    `gap` is τ − c. A chance below 10^−300 is rounded up to that.
    """
    for bits in doubled(_FIRST_BITS):
        with precision(bits):
            fails = -(keys * (-_tail(noise, gap, strict)).log1p()).expm1()
            if fails < arb(10) ** -_PLACES:
                return Fraction(1, 10**_PLACES)
            if fails.rel_accuracy_bits() > _REST_BITS - 20:
                exponent = decimal_exponent(rational(fails.lower()))
                unit = Fraction(10) ** -min(_DIGITS - 1 - exponent, _PLACES)
                return min(math.ceil(rational(fails.upper()) / unit) * unit, Fraction(1))
    return Fraction(1)


@singledispatch
def _tail(noise: Node, gap: Fraction, strict: bool) -> arb:
    """P[Z > gap], or P[Z >= gap] if not `strict`, in a ball at the current precision."""
    raise TypeError(f"no tail of {type(noise).__name__}")


@_tail.register
def _(noise: Gaussian, gap: Fraction, strict: bool) -> arb:
    """erfc(x/(σ√2))/2"""
    return (BALL.number(gap) / (BALL.number(noise.sigma) * arb(2).sqrt())).erfc() / 2


@_tail.register
def _(noise: VectorLaplace, gap: Fraction, strict: bool) -> arb:
    """e^{−x/b}/2, and by symmetry below 0."""
    half = (-BALL.number(abs(gap)) / BALL.number(noise.b)).exp() / 2
    return half if gap >= 0 else 1 - half


@_tail.register
def _(noise: IntegerNoise, gap: Fraction, strict: bool) -> arb:
    """P[Z >= m] with the least m that passes, and by symmetry below 1."""
    least = math.floor(gap) + 1 if strict else math.ceil(gap)
    return _from(noise, least) if least > 0 else 1 - _from(noise, 1 - least)


@singledispatch
def _from(noise: Node, least: int) -> arb:
    """P[Z >= m] of noise on whole numbers, m > 0."""
    raise TypeError(f"no tail of {type(noise).__name__}")


@_from.register
def _geometric(noise: DiscreteLaplace, least: int) -> arb:
    """e^{−mt}/(1 + e^{−t}), t = 1/b"""
    t = 1 / BALL.number(noise.b)
    return (-least * t).exp() / (1 + (-t).exp())


@_from.register
def _summed(noise: LatticeNoise, least: int) -> arb:
    """The sum of a window of outcomes, and a bound of what is beyond it in the radius.

    What is left out is counted twice there, on both sides. Far out nothing is summed, as there may
    be no end of masses up to there.
    """
    need = _FIRST_NATS
    while True:
        deadline.check()
        end = noise.outcomes(0.0, 1.0, need)[-1]
        if least > end:
            whole = noise.left_out(0.0, range(1 - least, least)) / 4
            if whole < arb(2) ** -_NO_BITS:
                return up_to(whole)
        last = max(end, least)
        total = sum((q for q, _ in noise.weighted_losses(range(least, last + 1))), arb(0))
        rest = noise.left_out(0.0, range(-last, last + 1)) / 4
        if rest < total * arb(2) ** -_REST_BITS:
            return total + up_to(rest)
        need *= 2
