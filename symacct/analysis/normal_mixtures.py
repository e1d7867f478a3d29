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
from symacct.kernel.arithmetic.ball import BALL
from symacct.kernel.sums.balls import ball, steered_by_floats, to_relative_accuracy, up_to, within

_WIDEST = 2.8  # of θ, below π
_SHARES = (1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.05)  # of the widest d, that are tried
_SPARE = 12  # nats
_SPARE_BITS = 64  # of sums of a few exponents

#: (weight, c) of each part, c in units of σ.
Parts: TypeAlias = list[tuple[arb, arb]]


@dataclass(frozen=True)
class NormalParts:
    """A mixture is Σ w N(m, σ²) of rational weights, means and variance."""

    weights: tuple[Fraction, ...]
    means: tuple[Fraction, ...]
    variance: Fraction

    def parts(self) -> Parts:
        """The means in units of σ."""
        sigma = ball(self.variance).sqrt()
        return [(ball(w), ball(m) / sigma) for w, m in zip(self.weights, self.means, strict=True)]

    # Proved in docs/proofs/sampling.md, Lemma mixture-infinity.
    def reaches_beyond(self, other: NormalParts) -> bool:
        """Is a mean outside of all the other's, so that no ratio bounds this law by the other?"""
        low, high = min(other.means), max(other.means)
        return min(self.means) < low or high < max(self.means)

    def mixed(self, other: NormalParts, gamma: Fraction) -> NormalParts:
        """This law with probability γ, else the other."""
        shares: dict[Fraction, Fraction] = {}
        for law, share in ((self, gamma), (other, 1 - gamma)):
            for w, m in zip(law.weights, law.means, strict=True):
                shares[m] = shares.get(m, Fraction(0)) + share * w
        kept = {m: w for m, w in shares.items() if w}
        return NormalParts(tuple(kept.values()), tuple(kept), self.variance)


@dataclass(frozen=True)
class TrapezoidStrip:
    """A strip has a step h and a height d, which compare sums of that step with integrals."""

    step: float
    height: float
    first: int
    last: int

    def share(self) -> arb:
        """Compute 2e^{d²/2}/(e^{2πd/h} − 1), the relative error of a sum."""
        height = arb(self.height)
        return 2 * (height**2 / 2).exp() / (2 * arb.pi() * height / arb(self.step)).expm1()


@steered_by_floats
def power_integral(p: NormalParts, q: NormalParts, a: Fraction, bits: int) -> arb:
    """A trapezoidal sum encloses the integral of a power of the ratio of two mixtures.

    ∫ p^a q^{1−a} for a > 1 or a < 0: at least 1.
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
    """A trapezoidal sum encloses the Kullback–Leibler divergence of two mixtures.

    ∫ p log(p/q)
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
    """The Kullback–Leibler divergence of two sampled normal laws takes the cheaper way.

    ∫ m log(m/n) of (1−γ)N(0) + γN(1) and (1−γ)N(0) + γN(other), the variance `ratio` squared.

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
    """Far apart, each part of A is about as if it were alone.

    ∫ φA log(A/B) where about each part of A one of A and one of B are all that counts.

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
    """Bound e^{−d²/2} ∫|φA log(A/B)| on x + id: |log A| <= M|x| + M²/2 + Md − log cos(θ/2)."""
    largest, half = _largest(laws), BALL.maximum(*map(_width, laws)) * height / 2
    return 2 * largest * (largest + 1) + largest**2 + 2 * (largest * height - half.cos().log())


def _entropy_left_out(laws: tuple[Parts, Parts], strip: TrapezoidStrip) -> arb:
    """At least h Σ φA|log(A/B)| over the nodes left out."""
    largest = _largest(laws)
    tails = sum((_wide_tails(strip, c) for _, c in laws[0]), arb(0))
    return (4 * largest + 3 * largest**2) * tails


def _largest(laws: tuple[Parts, Parts]) -> arb:
    """M, the largest |c|."""
    return BALL.maximum(*(abs(c) for law in laws for _, c in law))


def _summed(
    p: NormalParts, q: NormalParts, strip: TrapezoidStrip, value: Callable[[arb, arb], arb]
) -> arb:
    """h Σ φ(jh) value(log A, log B) over the nodes."""
    h = arb(strip.step)
    total = arb(0)
    logs = (_logs(law.parts(), strip) for law in (p, q))
    for j, log_p, log_q in zip(range(strip.first, strip.last), *logs, strict=True):
        deadline.check()
        total += (-((h * j) ** 2) / 2).exp() * value(log_p, log_q)
    return total * h / (2 * arb.pi()).sqrt()


def _logs(parts: Parts, strip: TrapezoidStrip) -> Iterator[arb]:
    """log A at the nodes."""
    h = arb(strip.step)
    terms = [w * (c * h * strip.first - c**2 / 2).exp() for w, c in parts]
    ratios = [(c * h).exp() for _, c in parts]
    for _ in range(strip.first, strip.last):
        yield sum(terms, arb(0)).log()
        terms = [term * ratio for term, ratio in zip(terms, ratios, strict=True)]


def _strip(
    laws: tuple[Parts, Parts], powers: tuple[Fraction, Fraction], bits: int, wide: float = 1.0
) -> TrapezoidStrip:
    """Choose the widest step whose error is far below 2^{−bits}, and the nodes that matter."""
    need = bits * math.log(2) + _SPARE
    widest = max(float(_width(law)) for law in laws)
    free = math.sqrt(2 * need)
    limit = min(free, _WIDEST / widest) if widest else free

    def nats(height: float) -> float:
        turned = float(_turned(laws, powers, height).log())
        return need + height**2 / 2 + turned

    height = min((share * limit for share in _SHARES), key=lambda d: nats(d) / d)
    step = 2 * math.pi * height / nats(height)
    ends = []
    for log_factor, centre in _centres(laws, powers):
        reach = wide * math.sqrt(2 * max(need + float(log_factor), need))
        ends += [float(centre) - reach, float(centre) + reach]
    first, last = math.floor(min(ends) / step), math.ceil(max(ends) / step) + 1
    limits.check("order", last - first, "nodes of a mixture of normal laws")
    return TrapezoidStrip(step, height, first, last)


def _turned(laws: tuple[Parts, Parts], powers: tuple[Fraction, Fraction], height: float) -> arb:
    """Bound how much larger A^a B^b can be on the strip's rim: cos(θ/2)^a where a < 0."""
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
    """List (log C, μ) with φ A^a B^b <= Σ Cφ(x − μ).

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
    """h Σ Cφ(jh − μ) over the nodes left out: at most C e^{−t²/2}(h + 1), t >= 0 from μ."""
    h = arb(strip.step)
    ends = (h * strip.last - centre, centre - h * (strip.first - 1))
    if not all(t >= 0 for t in ends):
        return arb.pos_inf()
    return sum(((log_factor - t**2 / 2).exp() * (h + 1) for t in ends), arb(0))


def _wide_tails(strip: TrapezoidStrip, centre: arb) -> arb:
    """h Σ e^{−t²/4} over the nodes left out: at most e^{−t²/4}(h + 2), t >= 0 from c."""
    h = arb(strip.step)
    ends = (h * strip.last - centre, centre - h * (strip.first - 1))
    if not all(t >= 0 for t in ends):
        return arb.pos_inf()
    return sum(((-(t**2) / 4).exp() * (h + 2) for t in ends), arb(0))


def _working_bits(strip: TrapezoidStrip, bits: int) -> int:
    """Bits for sums of so many nodes, of exponents of that size."""
    farthest = max(abs(strip.first), abs(strip.last)) * strip.step
    return bits + 2 * int(math.log2(farthest + 2)) + (strip.last - strip.first).bit_length() + 20
