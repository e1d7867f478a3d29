"""Expectations over the nodes (hi, kj) of u = a·x and v = b·x, x ~ N(0, I), a and b independent.

m is a function of i and n one of j, and what ties i to j in the density is e^{ijchk/D}, c = a·b,
D = |a|²|b|² − c². As 2ij = i² + j² − (i−j)², the sum is a product of polynomials (docs/proofs.md,
section 15).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb, arb_poly, ctx

from symacct.core.errors import LimitError
from symacct.core.forking import cached_property
from symacct.numerics.normal.magnitude import LOG2
from symacct.numerics.sums.refine import (
    ball,
    normal_tail,
    steered_by_floats,
    to_relative_accuracy,
    within,
)
from symacct.numerics.triangles.plane import line_excess, line_log_excess
from symacct.numerics.triangles.triple import Gram, Triple, log_gap_of, log_total

_BOUND_BITS = 64
_FLOAT_BITS = 46
_MOST_NODES = 4_000_000
_MOST_FLOAT_NODES = 1_000_000
_MOST_WORK = 2**39  # nodes times the square of their bits: some ten seconds
_WIDEST_ANGLE = 3.1  # below π, where m and n may vanish
_TRIED = np.geomspace(1e-4, 60, 100)  # heights of the strips, in deviations


class Power(NamedTuple):
    """X^p Y^q x^a y^b, x = γX/m and y = γY/n"""

    p: int = 0
    q: int = 0
    a: int = 0
    b: int = 0


class LatticeBell(NamedTuple):
    """e^c times the density of u and v about other means."""

    log_factor: arb
    centre: tuple[arb, arb]


@steered_by_floats
def triple_excess(triple: Triple) -> arb:
    """E[m^α n^{1−α}] − 1 to the current precision; 0 < γ < 1."""
    if triple.on_a_line:
        return line_excess(triple)

    def evaluate(bits: int) -> arb:
        return lattice_of(triple, bits).expectations()[Power()] - 1

    return to_relative_accuracy(evaluate)


@steered_by_floats
def triple_log_excess(triple: Triple, bits: int = _FLOAT_BITS) -> float:
    """log(E[…] − 1) by the nodes of so many bits, in float64: nothing is proved of it.

    What is summed, n(r^α − 1 − α(r−1)) with r = m/n, is at most m^α n^{1−α} + (α−1)n.
    """
    if triple.on_a_line:
        return line_log_excess(triple)
    lattice = lattice_of(triple, bits)
    lattice.refuse_above(_MOST_FLOAT_NODES)
    box = lattice.reached_by([*lattice.bells[0, 0], *lattice.denominator])
    u, v = (np.array(nodes) * step for nodes, step in zip(box, lattice.steps, strict=True))
    log_density = lattice.log_density(u[:, None], v[None, :])
    first, _, second = map(float, triple.gram)
    f = triple.floats
    log_gap = log_gap_of(f.lam, f.rates, u[:, None] - first / 2, v[None, :] - second / 2)
    return log_total(log_gap + log_density)


def lattice_of(triple: Triple, bits: int) -> Lattice:
    """The widest one whose bound meets 2^(−bits−3) of the excess."""
    alpha, log_excess = triple.alpha, triple.floats.log_excess
    tolerance, size = log_excess - (bits + 3) * LOG2, max(log_excess, 0.0)
    return Lattice(triple.gram, triple.gamma, alpha, alpha - 1, (Power(),), size, tolerance)


@dataclass(frozen=True)
class Lattice:
    """Nodes for the expectations of powers times m^μ n^{−ν}, of the size e^{log_size}, so well."""

    gram: Gram
    gamma: Fraction
    mu: Fraction
    nu: Fraction
    powers: tuple[Power, ...]
    log_size: float
    log_tolerance: float

    # --- float64: where the nodes are

    @cached_property
    def heights(self) -> tuple[float, float]:
        """Of the strips that the steps are chosen for."""
        return self._widest[0]

    @cached_property
    def steps(self) -> tuple[float, float]:
        """h and k"""
        return self._widest[1]

    @cached_property
    def _widest(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The steps with the fewest nodes whose bound is about the tolerance."""
        need = self.log_size + math.log(8) - self.log_tolerance
        first, mixed, second = map(float, self.gram)
        sizes = math.sqrt(first), math.sqrt(second)
        d, e = _TRIED[:, None], _TRIED[None, :]
        tie = mixed / (sizes[0] * sizes[1])
        turned, angle = sizes[0] * d, sizes[1] * e
        with np.errstate(invalid="ignore"):
            cost = need + (d * d + 2 * abs(tie) * d * e + e * e) / (2 * (1 - tie * tie))
            for power, by in zip(self._turns, (turned, angle), strict=True):
                cost = cost - float(power) * np.log(np.cos(by / 2))
        size = np.where(np.maximum(turned, angle) < _WIDEST_ANGLE, d * e / cost**2, -1.0)
        best = np.unravel_index(np.argmax(size), size.shape)
        heights = float(_TRIED[best[0]] * sizes[0]), float(_TRIED[best[1]] * sizes[1])
        factor = 2 * math.pi / float(cost[best])
        return heights, (heights[0] * factor, heights[1] * factor)

    @cached_property
    def _turns(self) -> tuple[Fraction, Fraction]:
        """The powers to which m and n are in a denominator, at most."""
        most = max(power.a for power in self.powers), max(power.b for power in self.powers)
        return max(Fraction(0), most[0] - self.mu), self.nu + most[1]

    @property
    def nodes(self) -> int:
        """How many are summed."""
        return len(self.box[0]) * len(self.box[1])

    def refuse_above(self, most: int) -> None:
        """LimitError where more nodes than these are to be summed."""
        if self.nodes > most:
            raise LimitError(
                f"a sampled Gaussian's integral: found more than {most:,} nodes, which take too "
                "long",
                remedy="ask for a lower order, or for another theorem",
            )

    @cached_property
    def box(self) -> tuple[range, range]:
        """The nodes that are summed."""
        return self.reached_by([bell for bells in self.bells.values() for bell in bells])

    def reached_by(self, bells: list[LatticeBell]) -> tuple[range, range]:
        """The nodes at which one of these may count."""
        found = []
        for axis, (step, square) in enumerate(zip(self.steps, self.gram[::2], strict=True)):
            spans = [self._span(bell, axis, math.sqrt(square)) for bell in bells]
            low, high = min(low for low, _ in spans), max(high for _, high in spans)
            found.append(range(math.floor(low / step), math.ceil(high / step) + 1))
        return found[0], found[1]

    def _span(self, bell: LatticeBell, axis: int, deviation: float) -> tuple[float, float]:
        drop = max(0.0, float(bell.log_factor.mid()) - self.log_tolerance + 8)
        centre, reach = float(bell.centre[axis].mid()), deviation * math.sqrt(2 * drop)
        return centre - reach, centre + reach

    @cached_property
    def bits(self) -> int:
        """What rounding leaves the tolerance to."""
        self.refuse_above(_MOST_NODES)
        ends = [k * max(-r[0], r[-1]) for k, r in zip(self.steps, self.box, strict=True)]
        squares = (end * end / float(s) for end, s in zip(ends, self.gram[::2], strict=True))
        exponent = (float(self._turns[1]) + 2) * (1 + sum(ends)) + 4 * sum(squares)
        scale = (self.log_size - self.log_tolerance) / LOG2
        bits = int(scale + math.log2(exponent * (self.nodes + 4))) + 10
        if self.nodes * bits**2 > _MOST_WORK:
            raise LimitError(
                f"a sampled Gaussian's integral: found {self.nodes:,} nodes of {bits:,} bits, "
                "which take too long",
                remedy="ask for a lower order, or for another theorem",
            )
        return bits

    def log_density(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Of u and v, times hk."""
        (first, mixed, second), determinant = map(float, self.gram), float(self.gram.determinant)
        bend = (second * u * u - 2 * mixed * u * v + first * v * v) / (2 * determinant)
        scale = math.prod(self.steps) / (2 * math.pi * math.sqrt(determinant))
        return np.asarray(math.log(scale) - bend)

    # --- balls: what is proved

    def expectations(self) -> dict[Power, arb]:
        """E of each power times m^μ n^{−ν}."""
        with ctx.workprec(self.bits):
            sums = self._sums()
            return {power: total + self._error(power, total) for power, total in sums.items()}

    def _sums(self) -> dict[Power, arb]:
        """hk Σ over the box."""
        (h, k), (across, along) = map(arb, self.steps), self.box
        first, mixed, second = map(ball, self.gram)
        double = 2 * ball(self.gram.determinant)
        tie = mixed * h * k / double  # half of what ij is multiplied by
        falls = second * h * h / double - tie, first * k * k / double - tie
        rows = self._values(across, h, first, ball(self.mu), falls[0])
        columns = self._values(along, k, second, -ball(self.nu), falls[1])
        apart = range(across[0] - along[-1], across[-1] - along[0] + 1)
        kernel = arb_poly([(-tie * (d * d)).exp() for d in apart])
        met = {
            key: (kernel * arb_poly(columns(*key))).coeffs()[len(along) - 1 : len(apart)]
            for key in {(power.q, power.b) for power in self.powers}
        }
        scale = h * k / (arb.pi() * (2 * double).sqrt())
        return {
            power: scale * _dot(rows(power.p, power.a), met[power.q, power.b])
            for power in self.powers
        }

    def _values(
        self, nodes: range, step: arb, variance: arb, power: arb, fall: arb
    ) -> Callable[[int, int], list[arb]]:
        """(p, a) ↦ what the nodes of one axis have in the sum: m^μ X^p x^a e^{−fall i²} at each."""
        rate, rest = ball(self.gamma), ball(1 - self.gamma)
        ratios = [step * i - variance / 2 for i in nodes]
        parts = [rate * ratio.exp() for ratio in ratios]
        wholes = [rest + part for part in parts]
        weights = [
            power * whole.log() - fall * (i * i) for i, whole in zip(nodes, wholes, strict=True)
        ]
        shares = [part / whole for part, whole in zip(parts, wholes, strict=True)]
        return lambda p, a: [
            (weight + p * ratio).exp() * share**a
            for weight, ratio, share in zip(weights, ratios, shares, strict=True)
        ]

    def _error(self, power: Power, total: arb) -> arb:
        """What the sum over the box is off by; x and y are below 1."""
        share, lost = self._shifted, self._lost[power.p, power.q]
        if not share < 1:
            return arb.nan()
        return within((lost + share * abs(total)) / (1 - share))

    @cached_property
    def _lost(self) -> dict[tuple[int, int], arb]:
        """By p and q at least what is left out."""
        with ctx.workprec(_BOUND_BITS):
            return {
                key: sum((self._outside(bell) for bell in bells), arb(0))
                for key, bells in self.bells.items()
            }

    @cached_property
    def _shifted(self) -> arb:
        """ρ such that sums over nodes err by at most ρ∫f: Poisson's summation, shifted planes."""
        with ctx.workprec(_BOUND_BITS):
            one, other = (
                2 / (2 * arb.pi() * arb(height) / arb(step)).expm1()
                for step, height in zip(self.steps, self.heights, strict=True)
            )
            return self.growth() * (one + other + one * other)

    def growth(self) -> arb:
        """How many times larger ∫|f| is at most on the planes that are moved by the heights."""
        first, mixed, second = map(ball, self.gram)
        turned, angle = (arb(height) for height in self.heights)
        if not (turned < arb.pi() and angle < arb.pi()):
            return arb.pos_inf()
        moved = second * turned**2 + 2 * abs(mixed) * turned * angle + first * angle**2
        growth = moved / (2 * ball(self.gram.determinant))
        for turn, by in zip(self._turns, (turned, angle), strict=True):
            growth -= ball(turn) * (by / 2).cos().log()
        return growth.exp()

    def _outside(self, bell: LatticeBell) -> arb:
        """hk Σ of a bell over the nodes outside of the box."""
        h, k = (arb(step) for step in self.steps)
        sizes = [ball(square).sqrt() for square in self.gram[::2]]
        density = 1 / (2 * arb.pi() * ball(self.gram.determinant)).sqrt()
        total = arb(0)
        # Across a row of nodes a sum is at most the integral and the largest term.
        for axis, across in enumerate((1 + k * sizes[0] * density, 1 + h * sizes[1] * density)):
            step, nodes, centre = arb(self.steps[axis]), self.box[axis], bell.centre[axis]
            for away in (centre - step * nodes[0], step * nodes[-1] - centre):
                total += _tail(away / sizes[axis], step / sizes[axis]) * across
        return bell.log_factor.exp() * total

    @cached_property
    def bells(self) -> dict[tuple[int, int], list[LatticeBell]]:
        """By p and q bells that are at least X^p Y^q m^μ n^{−ν}; those that reach least far."""
        size = max(float(self.mu), 1.0)
        weights = {1 / 2, float(1 - self.gamma), 1 - 1 / (2 * size), 1 - 1 / (8 * size)}
        logs = [math.log(w) for w in weights if 0 < w < 1]
        # Where the tolerance is large, the one at which the first bell is below it.
        logs.append(min(-LOG2, (10 - self.log_tolerance) / max(size - 1, 1e-200)))
        with ctx.workprec(_BOUND_BITS):
            return {
                (p, q): min((self._bells(p, q, log_w) for log_w in logs), key=self._reach)
                for p, q in {(power.p, power.q) for power in self.powers}
            }

    @property
    def denominator(self) -> list[LatticeBell]:
        """The bells whose sum is νn."""
        nu, rate = ball(self.nu), ball(self.gamma)
        with ctx.workprec(_BOUND_BITS):
            return [
                self._bell((nu * share).log(), arb(0), arb(q))
                for q, share in enumerate((1 - rate, rate))
            ]

    def _reach(self, bells: Iterable[LatticeBell]) -> float:
        """What grows with the number of nodes that count."""
        return sum(max(0.0, float(bell.log_factor.mid()) - self.log_tolerance) for bell in bells)

    def _bells(self, p: int, q: int, log_w: float) -> list[LatticeBell]:
        """n >= κ, or n >= γY where γ > 1/2; for μ >= 1 and 0 < w < 1 m^μ is at most

        w^{1−μ}κ^μ + (1−w)^{1−μ}(γX)^μ; without the factors in w for μ <= 1.
        """
        rest, rate = (1 - ball(self.gamma)).log(), ball(self.gamma).log()
        mu, nu, back = ball(self.mu), ball(self.nu), arb(0)
        spare = (mu - 1).max(arb(0))
        share = -nu * rest
        if self.gamma > Fraction(1, 2):
            share, back = -nu * rate, nu
        far = -spare * (-arb(log_w).expm1()).log()
        return [
            self._bell(share + mu * rest - spare * log_w, arb(p), q - back),
            self._bell(share + mu * rate + far, p + mu, q - back),
        ]

    def _bell(self, log_factor: arb, p: arb, q: arb) -> LatticeBell:
        """e^c X^p Y^q times the density."""
        first, mixed, second = map(ball, self.gram)
        log_factor += (p * (p - 1) * first + q * (q - 1) * second) / 2 + p * q * mixed
        return LatticeBell(log_factor, (p * first + q * mixed, p * mixed + q * second))


def _tail(x: arb, step: arb) -> arb:
    """A bound on h Σ of the normal density over nodes from x + h on, at most 1 + h."""
    return normal_tail(x) if x > 0 else 1 + step


def _dot(xs: list[arb], ys: list[arb]) -> arb:
    """Σ x_i y_i, of lists as long as each other: a term lost would be a bound too low."""
    return sum((x * y for x, y in zip(xs, ys, strict=True)), arb(0))
