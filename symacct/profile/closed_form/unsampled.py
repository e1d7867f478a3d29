"""Laplace noise of any kinds beside Gaussian noise, none of it sampled: D(y) in closed form.

√(PQ) of Laplace noise has the transform e^{−s/2}(e^{ps}(½ + 1/4p) + e^{−ps}(½ − 1/4p)): of all runs
it is a polynomial in 1/p at each of some knots, and powers of 1/p are powers of l − l_j, which
e^{l/2} D_G(y−l) is integrated against, D_G the profile of the Gaussian noise (docs/proofs.md,
section 16).
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache, partial

from flint import arb, fmpz_poly

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.exact import Exact
from symacct.kernel.sums.balls import normal_tail
from symacct.profile.part import Runs
from symacct.profile.roots import Value

Noise = tuple[tuple[Exact, int], ...]  # shifts, and how often each is run

_TERMS, _TERMS_BESIDE = 10_100, 100  # of Laplace noise, and beside Gaussian noise, which falls


def unsampled_form(runs: Runs, reverse: bool) -> Value | None:
    """D of few runs of unsampled Laplace noise, also beside Gaussian noise; alike both ways."""
    shifts, ratio = _unsampled(runs) or ((), Fraction(0))
    counts = [k for _, k in shifts]
    most = _TERMS if ratio == 0 else _TERMS_BESIDE
    is_few = 0 < math.prod(k + 1 for k in counts) * sum(counts) <= most
    return partial(profile, shifts, ratio) if is_few else None


def _unsampled(runs: Runs) -> tuple[Noise, Exact] | None:
    """The shifts of Laplace noise, and Δ²/σ² of all Gaussian noise, where nothing else is run."""
    shifts, ratio = [], Fraction(0)
    for part, k in runs:
        if part.laplace_shift is not None:
            shifts.append((part.laplace_shift, k))
        elif part.gaussian_ratio is not None:
            ratio += k * part.gaussian_ratio
        else:
            return None
    return tuple(shifts), ratio


def profile(noise: Noise, ratio: Exact, y: arb) -> arb:
    """D(y), for |y| below the largest loss where there is no Gaussian noise."""
    shifts, counts = [BALL.number(s) for s, _ in noise], [k for _, k in noise]
    top = sum((k * s for s, k in zip(shifts, counts, strict=True)), arb(0))
    mu, count, total = BALL.number(ratio).sqrt(), sum(counts), arb(0)
    for places, ways in _knots(tuple(counts)):
        deadline.check()
        knot = sum((j * s for j, s in zip(places, shifts, strict=True)), arb(0))
        up, down = (knot / 2).exp(), (y - knot / 2).exp()
        if ratio == 0:
            start = (y - knot).max(arb(0))
            rising, falling = _integrals(start, top - knot, count)
            total += ways[0] * (up - down).max(arb(0))
        else:
            rising, falling = _smoothed(y - knot, top - knot, mu, count)
            away = (y - knot) / mu
            total += ways[0] * (up * normal_tail(away - mu / 2) - down * normal_tail(away + mu / 2))
        for m in range(1, count + 1):
            total += ways[m] * (up * rising[m - 1] - down * falling[m - 1])
    return total * (-top / 2).exp() / arb(4) ** count


@lru_cache(16)
def _knots(counts: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """(Σ ±1 of each kind, the coefficients of Π C(k, j) (2+x)^{k−j}(2−x)^j), for all j."""
    above, below, found = fmpz_poly([2, 1]), fmpz_poly([2, -1]), []
    for chosen in itertools.product(*(range(k + 1) for k in counts)):
        deadline.check()
        product = fmpz_poly([1])
        for k, j in zip(counts, chosen, strict=True):
            product *= above ** (k - j) * below**j * math.comb(k, j)
        places = [2 * j - k for k, j in zip(counts, chosen, strict=True)]
        found.append((places, [int(product[m]) for m in range(sum(counts) + 1)]))
    return found


def _integrals(start: arb, end: arb, count: int) -> tuple[list[arb], list[arb]]:
    """∫ e^{u/2} u^{m−1}/(m−1)! du from start to end, and with e^{−u/2}, for 1 <= m <= count."""
    ups, downs = (end / 2).exp(), (start / 2).exp()
    rising, falling = [2 * (ups - downs)], [2 * (1 / downs - 1 / ups)]
    high, low = arb(1), arb(1)
    for m in range(1, count):
        high, low = high * end / m, low * start / m
        rising.append(2 * (ups * high - downs * low) - 2 * rising[-1])
        falling.append(2 * (low / downs - high / ups) + 2 * falling[-1])
    return rising, falling


def _smoothed(v: arb, end: arb, mu: arb, count: int) -> tuple[list[arb], list[arb]]:
    """∫ e^{u/2} u^{m−1}/(m−1)! Φ((u−v)/μ + μ/2) du from 0 to end, and with −u, −μ: by parts.

    e^{±u/2}φ((u−v)/μ ± μ/2) = e^{±v/2−μ²/8}φ((u−v)/μ), of which the powers' integrals are known.
    """
    near, far, half = -v / mu, (end - v) / mu, end / 2
    up, down = 2 * (v / 2 - mu * mu / 8).exp(), 2 * (-v / 2 - mu * mu / 8).exp()
    ups, downs = half.exp() * normal_tail(-far - mu / 2), (-half).exp() * normal_tail(mu / 2 - far)
    first, last = ((-x * x / 2).exp() / (2 * arb.pi()).sqrt() for x in (near, far))
    before, bell, power = arb(0), normal_tail(near) - normal_tail(far), arb(1)
    rising = [2 * (ups - normal_tail(-near - mu / 2)) - up * bell]
    falling = [2 * (normal_tail(mu / 2 - near) - downs) + down * bell]
    for m in range(1, count):
        edge = power * last - (first if m == 1 else 0)
        before, bell = bell, (v * bell + mu * mu * before - mu * edge) / m
        power = power * end / m
        rising.append(2 * ups * power - 2 * rising[-1] - up * bell)
        falling.append(2 * falling[-1] + down * bell - 2 * downs * power)
    return rising, falling
