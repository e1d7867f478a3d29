"""Noise on whole numbers has a profile in closed form, where it is of few runs."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from flint import arb, ctx

from symacct.analysis.series import log_theta_ratio
from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ends_of, floor
from symacct.kernel.errors import LimitError
from symacct.kernel.sums.balls import ball, up_to, within
from symacct.mechanisms import DiscreteGaussian
from symacct.profile.losses.finite import multinomial_laws
from symacct.profile.part import Runs
from symacct.profile.roots import Value

if TYPE_CHECKING:
    from symacct.profile.losses.integer_noise import IntegerLoss


# --- discrete Gaussian noise
#
# D(y) of several runs of discrete Gaussian noise: their losses add up on one lattice.

#: What a Fourier sum leaves out is e^{−12} of the last bit of the tail. It is bounded, and added.
_SPARE_NATS = 12.0
#: A Fourier sum is worked out with so many bits more than its terms lose. Where they are too few,
#: the ball is wider.
_SPARE_BITS = 32


def discrete_gaussian_form(runs: Runs) -> Value | None:
    """Return D of runs of one discrete Gaussian noise, not sampled, alike both ways; else None."""
    if len(runs) > 1 or (noise := runs[0][0].discrete_gaussian) is None:
        return None
    return partial(several_runs, noise, runs[0][1])


# Proved in docs/proofs/mechanisms.md, Lemma gaussian-outputs.
def several_runs(noise: DiscreteGaussian, runs: int, y: arb) -> arb:
    """Compute D(y) = P(S > s) − e^y Q(S > s), S the sum of the outputs.

    The loss (2SΔ−kΔ²)/(2σ²) of s is y. Where balls leave two s open, the larger of both values is
    taken, as D is the largest over all s; NaN where they leave more.
    """
    sigma, size = BALL.number(noise.sigma), noise.sensitivity
    at = y * sigma**2 / size + arb(runs * size) / 2
    first_place, last_place = (floor(end) + 1 for end in ends_of(at))
    if last_place > first_place + 1:
        return arb.nan()
    values = (
        upper_tail(sigma, runs, s - runs * size) - y.exp() * upper_tail(sigma, runs, s)
        for s in {first_place, last_place}
    )
    return BALL.maximum(*values)


def upper_tail(sigma: arb, runs: int, s: int) -> arb:
    """Compute P(S >= s) for the sum S of so many discrete Gaussians, by a finite Fourier sum.

    With the period N = 2X+1 that of s <= r <= X is (1/N) Σ_j φ(2πj/N)^k Σ_r cos(2πjr/N), φ their
    characteristic function; what has another place modulo N, and what lies beyond X, are three
    tails, each at most e^{−(X+1)²/(2kσ²)} since φ(−it) <= e^{σ²t²/2}.
    """
    if s <= 0:
        return 1 - upper_tail(sigma, runs, 1 - s)
    spread = float(sigma) * math.sqrt(runs)
    need = ctx.prec * math.log(2) + (s / spread) ** 2 / 2 + _SPARE_NATS
    last = math.ceil(spread * math.sqrt(2 * need)) + s
    bits = math.ceil(need / math.log(2)) + last.bit_length() + _SPARE_BITS
    with ctx.workprec(bits):
        kept = _within_a_period(sigma, runs, s, last)
        beyond = (-(arb(last + 1) ** 2) / (2 * runs * sigma**2)).exp()
        kept += within(3 * beyond)
    return +kept


def _within_a_period(sigma: arb, runs: int, s: int, last: int) -> arb:
    """Compute the Fourier sum of the mass between s and the last place of one period.

    (1/N) Σ_{|j| <= (N−1)/2} φ(2πj/N)^k Σ_{r=s}^{last} cos(2πjr/N), N = 2·last + 1. By Poisson's sum
    φ(2πx) = Θ̂(x)/Θ̂(0) for the deviation 1/(2πσ), which falls up to x = ½: once it is small, so is
    the rest. LimitError where more nodes are needed than the limit "order" has.
    """
    period, width, dual = 2 * last + 1, last + 1 - s, 1 / (2 * arb.pi() * sigma)
    total, small = arb(width), arb(2) ** -ctx.prec
    for j in range(1, last + 1):
        limits.check("order", j, "nodes of the sum of discrete Gaussians")
        power = (-runs * log_theta_ratio(dual, Fraction(j, period))).exp()
        if power < small:
            total += within(power * width * period)
            break
        x = ball(Fraction(j, period))
        wave = (x * width).sin_pi() * (x * (s + last)).cos_pi() / x.sin_pi()
        total += 2 * power * wave
    return total / period


# --- noise on whole numbers
#
# D(y) of few runs of noise on whole numbers: a sum over all of their outcomes that count.

if TYPE_CHECKING:
    IntegerRuns = tuple[tuple[IntegerLoss, int], ...]

#: A sum over the outcomes of at most so many runs, and so many in all, is sooner had than a grid.
#: It costs time alone.
_MOST_RUNS, _MOST_OUTCOMES = 4, 20_000
#: The number of outcomes is counted but for e^{−100} of both laws, whatever precision is asked. It
#: chooses the strategy, and no bound rests on it.
_USUAL_NATS = 100.0
#: Outcomes of all runs are so many at most at any precision: more are refused by LimitError, as the
#: sum would take too long, and too much memory.
_MOST_SUMMED = 2**20


def integer_form(runs: IntegerRuns, reverse: bool) -> Value | None:
    """Return D of few runs of noise on whole numbers, if its outcomes are few; else None."""
    if sum(k for _, k in runs) > _MOST_RUNS:
        return None
    outcome_counts = ((len(part.noise.outcomes(0.0, 1.0, _USUAL_NATS)), k) for part, k in runs)
    is_short = math.prod(math.comb(n + k - 1, k) for n, k in outcome_counts) <= _MOST_OUTCOMES
    return partial(_profile, runs, reverse) if is_short else None


def _profile(runs: IntegerRuns, reverse: bool, y: arb) -> arb:
    """Sum (p − e^y q)₊ over the outcomes of all runs that count.

    The others make D larger by at most their P-mass, which widens the ball.
    """
    every, left_out = _every(runs, reverse, ctx.prec)
    grown, zero = y.exp(), arb(0)
    return sum(((p - grown * q).max(zero) for p, q in every), up_to(left_out))


@lru_cache(8)
def _every(runs: IntegerRuns, reverse: bool, bits: int) -> tuple[list[tuple[arb, arb]], arb]:
    """List (p, q) of every combination of outcomes, and bound the P-mass that is left out.

    `bits` is flint's current precision: about 2^{−bits} of each run is left out. LimitError for too
    many.
    """
    every = [(part.known(reverse, bits * math.log(2)), k) for part, k in runs]
    size = math.prod(math.comb(len(known) + k - 1, k) for (known, _), k in every)
    if size > _MOST_SUMMED:
        raise LimitError(
            f"found {size:,} outcomes of all runs at {bits:,} bits, needed at most "
            f"{_MOST_SUMMED:,}",
            where="conversion exact",
            remedy="ask for fewer digits, or for conversion improved",
        )
    products, left_out = [(arb(1), arb(1))], arb(0)
    for (known, rest), k in every:
        left_out += k * rest
        run_laws = multinomial_laws([(p, q) for p, q, _ in known], k)
        products = [(p * u, q * v) for p, q in deadline.each(products) for u, v in run_laws]
    return products, left_out
