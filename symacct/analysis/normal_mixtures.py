"""Expectations over two mixtures of normal laws of one variance are trapezoidal sums in balls.

In units of σ each law is φ(x)A(x), A(x) = Σ w e^{cx − c²/2}. On x + id the terms of A lie within an
angle θ = d·(largest c − smallest c) < π, so cos(θ/2) A(x) <= |A(x+id)| <= A(x), and what a sum of
step h is off is at most a share of the integral itself (docs/proofs/sampling.md, Lemma
normal-mixtures).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import arb, ctx

from symacct.analysis import sampled_gaussian
from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic.ball import (
    BALL,
    ball,
    steered_by_floats,
    to_relative_accuracy,
    up_to,
    within,
)

#: The widest θ in radians, below π. The proof needs that; a narrower one takes more nodes.
_WIDEST_ANGLE = 2.8
#: The shares of the widest height d that are tried, for the fewest nodes. Each share up to 1 has
#: its proved error; more save time.
_HEIGHT_SHARES = (1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.05)
#: Nats by which each error is aimed below 2^−bits; bounds do not rest on it.
_SPARE_NATS = 12
#: Bits beyond those asked for, of a sum of few exponentials. Where they are too few, the ball is
#: wider.
_SPARE_BITS = 64

#: (weight, c) of each part, c in units of σ.
Parts: TypeAlias = list[tuple[arb, arb]]


@dataclass(frozen=True)
class NormalParts:
    """A mixture is Σ w N(m, σ²) of rational weights, means and variance."""

    weights: tuple[Fraction, ...]
    means: tuple[Fraction, ...]
    variance: Fraction

    def parts(self) -> Parts:
        """The weights, and the means in units of σ, in balls at the current precision."""
        sigma = ball(self.variance).sqrt()
        return [(ball(w), ball(m) / sigma) for w, m in zip(self.weights, self.means, strict=True)]

    # Proved in docs/proofs/sampling.md, Lemma mixture-infinity.
    def reaches_beyond(self, other: NormalParts) -> bool:
        """Is a mean outside of the other's range, so that sup of this law over the other is ∞?"""
        low, high = min(other.means), max(other.means)
        return min(self.means) < low or high < max(self.means)

    def mixed(self, other: NormalParts, gamma: Fraction) -> NormalParts:
        """γ·this law + (1−γ)·the other, equal means joined; both have one variance, 0 <= γ <= 1."""
        shares: dict[Fraction, Fraction] = {}
        for law, share in ((self, gamma), (other, 1 - gamma)):
            for w, m in zip(law.weights, law.means, strict=True):
                shares[m] = shares.get(m, Fraction(0)) + share * w
        kept = {m: w for m, w in shares.items() if w}
        return NormalParts(tuple(kept.values()), tuple(kept), self.variance)


@dataclass(frozen=True)
class TrapezoidStrip:
    """A strip has a step h and a height d in units of σ, and nodes jh, first <= j < last."""

    step: float
    height: float
    first: int
    last: int

    def share(self) -> arb:
        """2e^{d²/2}/(e^{2πd/h} − 1), a bound of the relative error of a sum of positive terms."""
        height = arb(self.height)
        return 2 * (height**2 / 2).exp() / (2 * arb.pi() * height / arb(self.step)).expm1()


@steered_by_floats
def power_integral(p: NormalParts, q: NormalParts, a: Fraction, bits: int) -> arb:
    """∫ p^a q^{1−a} in a ball, for a > 1 or a < 0, where it is at least 1, by a trapezoidal sum.

    Both laws have one variance. The error is about 2^−bits; NaN where no strip bounds it.
    """
    with ctx.workprec(64):
        strip = _strip((p.parts(), q.parts()), (a, 1 - a), bits)
        centres = _centres((p.parts(), q.parts()), (a, 1 - a))
        left_out = sum((_tails(strip, *centre) for centre in centres), arb(0))
        share = strip.share() * _turned((p.parts(), q.parts()), (a, 1 - a), strip.height)
        if not share < 1:
            return arb.nan()
    with ctx.workprec(_working_bits(strip, bits)):
        first, second = ball(a), ball(1 - a)
        total = _summed(p, q, strip, lambda log_p, log_q: (first * log_p + second * log_q).exp())
        return (total + within(left_out)) / (1 + within(share))


# Proved in docs/proofs/sampling.md, Lemma mixture-order-one.
@steered_by_floats
def relative_entropy(p: NormalParts, q: NormalParts, bits: int) -> arb:
    """∫ p log(p/q) in nats in a ball, by a trapezoidal sum; both laws have one variance.

    The absolute error is about 2^−bits. Far apart parts are told one by one, without a sum.
    """
    with ctx.workprec(bits + _SPARE_BITS):
        entropy = _entropy_far_apart((p.parts(), q.parts()))
        if entropy.rad() * 2**bits < 1:
            return entropy
    powers = (Fraction(1), Fraction(0))
    with ctx.workprec(64):
        laws = (p.parts(), q.parts())
        strip = _strip(laws, powers, bits, wide=1.5)
        error = strip.share() * _entropy_on_the_rim(laws, strip.height)
        error += _entropy_left_out(laws, strip)
    with ctx.workprec(_working_bits(strip, bits)):
        total = _summed(p, q, strip, lambda log_p, log_q: log_p.exp() * (log_p - log_q))
        return total + within(error)


def sampled_relative_entropy(gamma: Fraction, ratio: Fraction, other: int = 0) -> arb:
    """∫ m log(m/n) in nats of (1−γ)N(0) + γN(1) and (1−γ)N(0) + γN(other), of variance ratio².

    To the current relative precision, by the cheaper of two proved ways; 0 < γ <= 1.

    Against N(0) it is the larger of the two directions: E_Q[m^α] ≥ E_Q[m^{1−α}] for α > 1
    (Mironov–Talwar–Zhang 2019, Theorem 5); subtract 1, divide by α − 1 and let α fall to 1.
    """
    n = sampled_gaussian.terms(gamma, ratio, ctx.prec)
    if n is not None:
        return to_relative_accuracy(
            lambda bits: sampled_gaussian.relative_entropy(gamma, ratio, other, n, bits)
        )
    base, *shifted = (NormalParts((Fraction(1),), (Fraction(c),), ratio**2) for c in (0, 1, other))
    first, second = (law.mixed(base, gamma) for law in shifted)
    # It is about γ²(e^{1/ratio²} − 1) where that is small, and about γ/(2 ratio²) where γ is.
    lost = 2 * math.ceil(ratio / gamma).bit_length()
    lost -= min(math.floor(1 / ratio**2), math.ceil(1 / gamma).bit_length())
    return to_relative_accuracy(lambda bits: relative_entropy(first, second, bits + max(0, lost)))


def _entropy_far_apart(laws: tuple[Parts, Parts]) -> arb:
    """∫ φA log(A/B) in a ball, sharp where about each part of A one of A and one of B count alone.

    About c a law is v e^{dx − d²/2} times 1 + Σ r, over its other parts, and 0 <= log(1 + Σ r)
    <= Σ √r, of which the normal law about c expects an exponential.
    """
    total = arb(0)
    for weight, c in laws[0]:
        for law, sign in zip(laws, (1, -1), strict=True):
            logs = [(w.log() + b * c - b**2 / 2, w, b) for w, b in law]
            top, v, d = max(logs, key=lambda part: float(part[0]))
            off = [
                (((w / v).log() + (b - d) * c - (b**2 - d**2) / 2) / 2 + (b - d) ** 2 / 8).exp()
                for _, w, b in logs
                if b is not d
            ]
            total += sign * weight * (top + up_to(sum(off, arb(0))))
    return total


def _entropy_on_the_rim(laws: tuple[Parts, Parts], height: float) -> arb:
    """An upper bound of e^{−d²/2} ∫|φA log(A/B)| on x + id, d = `height`.

    |log A| <= M|x| + M²/2 + Md − log cos(θ/2), M the largest |c|.
    """
    largest, half = _largest(laws), BALL.maximum(*map(_width, laws)) * height / 2
    return 2 * largest * (largest + 1) + largest**2 + 2 * (largest * height - half.cos().log())


def _entropy_left_out(laws: tuple[Parts, Parts], strip: TrapezoidStrip) -> arb:
    """An upper bound of h Σ φA|log(A/B)| over the nodes left out."""
    largest = _largest(laws)
    tails = sum((_wide_tails(strip, c) for _, c in laws[0]), arb(0))
    return (4 * largest + 3 * largest**2) * tails


def _largest(laws: tuple[Parts, Parts]) -> arb:
    """M, the largest |c| of both laws, in units of σ."""
    return BALL.maximum(*(abs(c) for law in laws for _, c in law))


def _summed(
    p: NormalParts, q: NormalParts, strip: TrapezoidStrip, value: Callable[[arb, arb], arb]
) -> arb:
    """h Σ φ(jh) value(log A, log B) over the nodes, in a ball."""
    h = arb(strip.step)
    total = arb(0)
    logs = (_logs(law.parts(), strip) for law in (p, q))
    for j, log_p, log_q in zip(range(strip.first, strip.last), *logs, strict=True):
        deadline.check()
        total += (-((h * j) ** 2) / 2).exp() * value(log_p, log_q)
    return total * h / (2 * arb.pi()).sqrt()


def _logs(parts: Parts, strip: TrapezoidStrip) -> Iterator[arb]:
    """log A at the nodes, from left to right."""
    h = arb(strip.step)
    terms = [w * (c * h * strip.first - c**2 / 2).exp() for w, c in parts]
    ratios = [(c * h).exp() for _, c in parts]
    for _ in range(strip.first, strip.last):
        yield sum(terms, arb(0)).log()
        terms = [term * ratio for term, ratio in zip(terms, ratios, strict=True)]


def _strip(
    laws: tuple[Parts, Parts], powers: tuple[Fraction, Fraction], bits: int, wide: float = 1.0
) -> TrapezoidStrip:
    """The strip of the widest step whose error is far below 2^{−bits}, in float64: it steers.

    `wide` makes the window of nodes wider. LimitError for more nodes than the limit "order".
    """
    need = bits * math.log(2) + _SPARE_NATS
    widest = max(float(_width(law)) for law in laws)
    free = math.sqrt(2 * need)
    limit = min(free, _WIDEST_ANGLE / widest) if widest else free

    def nats(height: float) -> float:
        turned = float(_turned(laws, powers, height).log())
        return need + height**2 / 2 + turned

    height = min((share * limit for share in _HEIGHT_SHARES), key=lambda d: nats(d) / d)
    step = 2 * math.pi * height / nats(height)
    ends = []
    for log_factor, centre in _centres(laws, powers):
        reach = wide * math.sqrt(2 * max(need + float(log_factor), need))
        ends += [float(centre) - reach, float(centre) + reach]
    first, last = math.floor(min(ends) / step), math.ceil(max(ends) / step) + 1
    limits.check("order", last - first, "nodes of a mixture of normal laws")
    return TrapezoidStrip(step, height, first, last)


def _turned(laws: tuple[Parts, Parts], powers: tuple[Fraction, Fraction], height: float) -> arb:
    """A bound of |A^a B^b| on the strip's rim over its value at x: cos(θ/2)^a where a < 0."""
    factor = arb(1)
    for law, power in zip(laws, powers, strict=True):
        if power < 0:
            factor *= (_width(law) * height / 2).cos() ** ball(power)
    return factor


def _width(parts: Parts) -> arb:
    """The largest c less the smallest."""
    centres = [c for _, c in parts]
    return BALL.maximum(*centres) - BALL.minimum(*centres)


def _centres(laws: tuple[Parts, Parts], powers: tuple[Fraction, Fraction]) -> list[tuple[arb, arb]]:
    """(log C, μ) of normal densities with φ A^a B^b <= Σ Cφ(x − μ) everywhere.

    A^a is at most the sum of all e^{a(cx − c²/2)} for a >= 0, and w^a e^{a(cx − c²/2)} of any one
    part for a < 0.
    """
    chosen = []
    for law, power in zip(laws, powers, strict=True):
        if power < 0:
            w, c = max(law, key=lambda part: float(part[0]))
            chosen.append([(ball(power) * w.log(), c)])
        else:
            chosen.append([(arb(0), c) for _, c in law])
    a, b = map(ball, powers)
    return [
        (u + v + ((a * c + b * d) ** 2 - a * c**2 - b * d**2) / 2, a * c + b * d)
        for u, c in chosen[0]
        for v, d in chosen[1]
    ]


def _tails(strip: TrapezoidStrip, log_factor: arb, centre: arb) -> arb:
    """An upper bound of h Σ Cφ(jh − μ) over the nodes left out, by C e^{−t²/2}(h + 1) on a side.

    t is how far from μ they begin; ∞ unless it is proved >= 0.
    """
    h = arb(strip.step)
    ends = (h * strip.last - centre, centre - h * (strip.first - 1))
    if not all(t >= 0 for t in ends):
        return arb.pos_inf()
    return sum(((log_factor - t**2 / 2).exp() * (h + 1) for t in ends), arb(0))


def _wide_tails(strip: TrapezoidStrip, centre: arb) -> arb:
    """An upper bound of h Σ e^{−(jh−c)²/4} over the nodes left out, by e^{−t²/4}(h + 2) on a side.

    t is how far from c they begin; ∞ unless it is proved >= 0.
    """
    h = arb(strip.step)
    ends = (h * strip.last - centre, centre - h * (strip.first - 1))
    if not all(t >= 0 for t in ends):
        return arb.pos_inf()
    return sum(((-(t**2) / 4).exp() * (h + 2) for t in ends), arb(0))


def _working_bits(strip: TrapezoidStrip, bits: int) -> int:
    """Bits for a sum of so many nodes, of exponents of that size, to about 2^−bits."""
    farthest = max(abs(strip.first), abs(strip.last)) * strip.step
    return bits + 2 * int(math.log2(farthest + 2)) + (strip.last - strip.first).bit_length() + 20
