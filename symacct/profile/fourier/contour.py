"""The profile D(y) = H_{e^y}(P‖Q) of a composition by a trapezoidal sum over complex orders.

D(y) = (1/2πi)∫ M(s) e^{−ys}/(s(s+1)) ds over Re s = c > 0, M(s) = Π F_i(1+s)^{k_i}; with P and Q
exchanged F_i(−s). The sum with step h is Σ_m e^{2πmc/h} D(y + 2πm/h), so it is too large by at
most two aliases; the nodes left out are bounded by the decay of F (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import acb, acb_mat, acb_poly, arb, ctx

from symacct.kernel import deadline
from symacct.kernel.memory import cached_property
from symacct.profile.fourier.plan import Block, ContourPlan
from symacct.profile.fourier.taper import Taper
from symacct.profile.part import FactorRuns, Floats, OrderLine, Part
from symacct.profile.sums.power_sums import powers

_BOUND_BITS = 64
_FEW = 64  # nodes
_MOST_TERMS = 2**18  # of one moment
_ALIAS_NEED = 14.0  # digits of the moment at the order λ hardly matter
# Of the search for a root in float64.
_STEPS = 40
_FAR = 4.0  # times the y that the nodes were chosen for
_NOISE = 1e-14  # of the largest terms
_NEAR = 1e-9  # of y, about what float64 leaves


@dataclass(frozen=True)
class FloatContour:
    """D(y) = d + Re Σ e^{log_term − sy}, about; d is the mass lost.

    The last ones are tapered as for y, or for −y if the `way` is −1.
    """

    shifts: Floats
    log_terms: Floats
    taper: Taper | None
    way: int = 1

    def terms(self, y: float) -> Floats:
        """What is summed."""
        terms = np.exp(self.log_terms - self.shifts * y)
        if self.taper is not None:
            terms[-self.taper.degree :] *= self.taper.rough_weights(self.way * y)
        return terms

    def log_value(self, y: float) -> float:
        """log(D(y) − d), −∞ where float64 does not tell it from 0."""
        terms = self.terms(y)
        value = float(terms.real.sum())
        return math.log(value) if value > _NOISE * float(np.abs(terms).sum()) else -math.inf

    def root(self, start: float, log_delta: float, lost: float) -> tuple[float, float]:
        """Where log D(y) = log δ, next to a start, and its slope there; NaN where D is no good."""
        y, slope = start, math.nan
        for _ in range(_STEPS):
            terms = self.terms(y)
            total = float(terms.real.sum())
            if y == start and not total > _NOISE * float(np.abs(terms).sum()):
                break
            value = lost + total
            slope = -float((terms @ self.shifts).real)
            if not value > 0 or not slope < 0:
                return y, math.nan
            slope /= value
            step = max(-0.3 * y, min(0.3 * y, (math.log(value) - log_delta) / slope))
            y -= step
            if abs(step) <= _NEAR * y or not start < _FAR * y < _FAR**2 * start:
                break
        return y, slope


@dataclass(frozen=True)
class Contour:
    """D(y) of Π (P_i, Q_i)^{k_i}, or of the exchanged pairs, from nodes chosen for y about `at`."""

    runs: FactorRuns
    plan: ContourPlan
    reverse: bool
    at: float

    def delta(self, y: arb) -> arb:
        """D(y), less what is lost at L = ∞, for any real y; a ball's from its middle.

        Asked at the plan's precision.
        """
        at = y.mid()
        value = self._sum(at)
        with ctx.workprec(_BOUND_BITS):
            above = self._left_out(at)
            below = self._left_alias + self._right_alias(at) + above
            if not y.is_exact():
                below, above = below + (moved := self._moved(y)), above + moved
        return (value - below).union(value + above)

    def _moved(self, y: arb) -> arb:
        """How far D is from its value in the middle: −D′(y) <= P(L > y) <= 1 and <= M(c)e^{−cy}.

        A sum at a ball is wider, most of all with tapered nodes.
        """
        c = arb(self.plan.c)
        above = self.nodes[0].real * c * (c + 1) * (-c * y).exp()
        return y.rad() * above.min(arb(1))

    def _sum(self, y: arb) -> arb:
        """(h/π) Re Σ' M(s)/(s(s+1)) e^{−sy}, half the first term, the last ones tapered."""
        c, h, taper = arb(self.plan.c), arb(self.plan.h), self.plan.taper
        turn = acb(0, -h * y).exp()
        total = self._untapered(turn)
        if taper is not None:
            last = zip(self.nodes[taper.first :], taper.exact_weights(y), strict=True)
            tapered = _polynomial([node * weight for node, weight in last])
            total += turn**taper.first * tapered(turn)
        return total.real * h / arb.pi() * (-c * y).exp()

    @cached_property
    def in_floats(self) -> FloatContour:
        """The contour's sum in float64."""
        plan = self.plan
        with ctx.workprec(_BOUND_BITS):
            largest = abs(self.nodes[0])
            terms = np.array([complex(node / largest) for node in self.nodes])
            terms[0] /= 2
            log_scale = float((largest * arb(plan.h) / arb.pi()).log())
        shifts = plan.c + 1j * plan.h * np.arange(plan.last + 1)
        return FloatContour(shifts, np.log(terms) + log_scale, plan.taper)

    @cached_property
    def _untapered(self) -> Callable[[acb], acb]:
        taper = self.plan.taper
        nodes = self.nodes if taper is None else self.nodes[: taper.first]
        return _polynomial([nodes[0] / 2, *nodes[1:]])

    def order(self, shift: float) -> float:
        """Re z where Re s = `shift`."""
        return -shift if self.reverse else 1 + shift

    @cached_property
    def nodes(self) -> list[acb]:
        """M(s)/(s(s+1)) at s = c + inh."""
        return [node for block in self.plan.blocks for node in self._block(block)]

    def _block(self, block: Block) -> Iterator[acb]:
        plan = self.plan
        line = OrderLine(self.order(plan.c), plan.h, block.last, block.first)
        with ctx.workprec(block.bits):
            c, h = arb(plan.c), arb(plan.h)
            for n, moment in zip(line.nodes, self._moments(line, block.need), strict=True):
                deadline.check()
                s = acb(c, h * n)
                yield (moment.conjugate() if self.reverse else moment) / (s * (s + 1))

    def _moments(self, line: OrderLine, need: float) -> list[acb]:
        product: list[acb] = []
        for part, count in self.runs:
            deadline.check()
            values = part.transform(line, need)
            raised = [value**count for value in deadline.each(values)]
            product = [x * y for x, y in zip(product, raised, strict=True)] if product else raised
        return product

    @cached_property
    def _left_alias(self) -> arb:
        """Σ_{m<0} e^{2πmc/h} D(…) <= 1/(e^{2πc/h} − 1)."""
        with ctx.workprec(_BOUND_BITS):
            return 1 / (2 * arb.pi() * arb(self.plan.c) / arb(self.plan.h)).expm1()

    def _right_alias(self, y: arb) -> arb:
        """Σ_{m>0} e^{2πmc/h} D(y + 2πm/h); nothing where that is beyond the largest loss."""
        plan = self.plan
        lam = plan.across if plan.across is not None and y < 0 else plan.lam
        if lam < math.inf:
            return (self._log_right_alias(lam) - arb(lam) * y).exp()
        largest = sum((k * part.largest(self.reverse) for part, k in self.runs), arb(0))
        return arb(0) if y + 2 * arb.pi() / arb(plan.h) >= largest else arb("inf")

    def _log_right_alias(self, lam: float) -> arb:
        """log of C(λ) M(λ)/(e^{2π(λ−c)/h} − 1); times e^{−λy} it bounds m > 0."""
        if lam not in self._aliases:
            with ctx.workprec(_BOUND_BITS):
                falls = 2 * arb.pi() * (arb(lam) - arb(self.plan.c)) / arb(self.plan.h)
                most = log_chernoff(self.runs, lam, self.reverse)
                self._aliases[lam] = most - falls.expm1().log()
        return self._aliases[lam]

    @cached_property
    def _aliases(self) -> dict[float, arb]:
        return {}

    def _left_out(self, y: arb) -> arb:
        """A bound of what the nodes beyond the last are worth."""
        plan = self.plan
        if plan.taper is None:
            return (self._log_left_out - arb(plan.c) * y).exp()
        scale = arb(plan.h) / arb.pi() * (-arb(plan.c) * y).exp()
        return scale * plan.taper.left_out(y, plan.taper.order)

    @cached_property
    def _log_left_out(self) -> arb:
        """log of Π B_i^{k_i}/(πhN), |F_i| <= B_i beyond the last node; times e^{−cy}, their bound.

        |s(s+1)| >= (nh)², and Σ_{n>N} n^{−2} <= 1/N.
        """
        plan = self.plan
        a, t = self.order(plan.c), (plan.last + 1) * plan.h
        with ctx.workprec(_BOUND_BITS):
            decays = (k * part.decay(a, t, 1 / (4 * k)) for part, k in self.runs)
            return sum(decays, arb(0)) - (arb.pi() * arb(plan.h) * plan.last).log()


def log_chernoff(runs: FactorRuns, lam: float, reverse: bool) -> arb:
    """log of C(λ) M(λ), C(λ) = λ^λ/(1+λ)^{1+λ}: times e^{−λy} it bounds D(y) − d for every y,

    as (1−e^{−u})₊ <= C(λ)e^{λu}. ∞ where the moments would be sums of too many terms.
    """
    line = OrderLine(-lam if reverse else 1 + lam, 1.0, 0)
    needs = [(part, k, _ALIAS_NEED + math.log(k)) for part, k in runs]
    if sum(part.terms(line, need) for part, _, need in needs) > _MOST_TERMS:
        return arb.pos_inf()
    log_moments = (k * part.transform(line, need)[0].real.log() for part, k, need in needs)
    x = arb(lam)
    return sum(log_moments, x * x.log() - (1 + x) * x.log1p())


def _in_rows(values: list[acb]) -> acb_mat:
    """The values row by row of a square, zeros at the end."""
    width = math.isqrt(len(values) - 1) + 1
    padded = values + [acb(0)] * (-len(values) % width)
    return acb_mat(len(padded) // width, width, padded)


def _polynomial(coefficients: list[acb]) -> Callable[[acb], acb]:
    """Σ a_n x^n on the unit circle; Horner's rule lets rectangles grow, by some bits if few."""
    if len(coefficients) <= _FEW:
        return acb_poly(coefficients)
    rows = _in_rows(coefficients)

    def value(x: acb) -> acb:
        inner = powers(x, rows.ncols())
        outer = powers(inner[-1] * x, rows.nrows())
        found: acb = (acb_mat(1, len(outer), outer) * (rows * acb_mat(len(inner), 1, inner)))[0, 0]
        return found

    return value


def float_nodes(
    runs: Sequence[tuple[Part, float]], reverse: bool, plan: ContourPlan
) -> FloatContour:
    """The nodes of a plan, all of them worked out in float64."""
    order = -plan.c if reverse else 1 + plan.c
    line = OrderLine(order, plan.h, plan.last)
    log_moment = np.zeros(plan.last + 1, dtype=complex)
    for part, k in runs:
        log_moment += k * part.log_values(line)
    s = plan.c + 1j * plan.h * np.arange(plan.last + 1)
    log_terms = (log_moment.conj() if reverse else log_moment) - np.log(s * (s + 1))
    share = np.full(plan.last + 1, plan.h / math.pi)
    share[0] /= 2
    return FloatContour(s, log_terms + np.log(share), plan.taper)
