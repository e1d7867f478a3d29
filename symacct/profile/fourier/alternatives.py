"""Where a contour needs many nodes: one of the pairs exchanged, or beside a little Gaussian noise.

The loss of noise of a small sample jumps rarely, so that M(c) grows fast and small orders are all
there is; R >= 1 − γ, so that of the pairs exchanged D′ has moments at every order, and
D(y) = 1 − e^y + e^y D′(−y).

Where moments fall too slowly, with D_μ the profile beside noise of Δ/σ = μ, and r > 1,

D_μ − e^{r²μ²/8}(D_{rμ} − D_μ)/(r−1) <= D <= D_μ (docs/proofs.md, section 16),

so that the digits are few: they grow with the logarithm of the number of nodes.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import acb, arb, ctx

from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import up_to
from symacct.profile.fourier.contour import Contour, FloatContour
from symacct.profile.fourier.plan import ContourPlan, plan
from symacct.profile.fourier.shape import Moments, shift
from symacct.profile.losses.gaussian import GaussianLoss

_MANY = 1000  # nodes, above which fewer may do of the pairs exchanged
_ROOM = 5.0  # times y: a root is looked for up to four
_MANY_BESIDE = 20_000  # nodes, above which fewer may do beside noise
_MOST_DIGITS = 13.0  # for which some 10^{d/2} nodes are enough
_MORE = Fraction(5, 4)  # r
_LOST = 1.0  # digits, of a difference of two sums that is grown by 1/(r−1)
_SHARE = 0.25  # of the error that is wanted
_FINEST = 200  # halvings of μ²


class ExchangedContour(Contour):
    """A contour of the exchanged pairs, of which nothing is lost either way."""

    def delta(self, y: arb) -> arb:
        """D(y) of the pairs that are not exchanged."""
        return y.exp() * super().delta(-y) - y.expm1()

    @cached_property
    def in_floats(self) -> FloatContour:
        """The sum in float64: D(y) = 1 − e^y + Re Σ e^{log_term + (s+1)y}."""
        found = super().in_floats
        shifts = np.concatenate([[0, -1], -1 - found.shifts])
        log_terms = np.concatenate([[0, math.pi * 1j], found.log_terms])
        return FloatContour(shifts, log_terms, found.taper, -1)


@dataclass(frozen=True)
class SmoothedContour(Contour):
    """A contour of runs of which the last is the noise, with its (Δ/σ)²."""

    noise: Fraction

    def delta(self, y: arb) -> arb:
        """D(y) of the runs without the noise, less what is lost at L = ∞."""
        above, wider = super().delta(y), self._wider.delta(y)
        more = arb(_MORE.numerator) / _MORE.denominator
        most = (more * more * self._ratio / 8).exp() / (more - 1) * (wider - above)
        return above - up_to(most.max(arb(0)))

    @property
    def _ratio(self) -> arb:
        """μ²."""
        return arb(self.noise.numerator) / self.noise.denominator

    @cached_property
    def _wider(self) -> Contour:
        """Beside noise of rμ, at the same nodes: F(1+s) of noise is e^{s(s+1)μ²/2}, as F(−s) is."""
        noise = GaussianLoss(_MORE**2 * self.noise)
        found = Contour((*self.runs[:-1], (noise, 1)), self.plan, self.reverse, self.at)
        with ctx.workprec(self.plan.bits):
            c, h, more = arb(self.plan.c), arb(self.plan.h), _MORE**2 - 1
            half = self._ratio * more.numerator / (2 * more.denominator)
            shifts = (acb(c, h * n) for n in range(len(self.nodes)))
            grown = [
                x * (s * (s + 1) * half).exp() for x, s in zip(self.nodes, shifts, strict=True)
            ]
        vars(found)["nodes"] = grown
        return found


def smoothed(
    found: Moments, y: float, log_delta: float, digits: float, two_ways: bool = False
) -> tuple[Moments, ContourPlan]:
    """The moments and the plan of the fewest nodes, beside noise where too many need not be."""
    if digits > _MOST_DIGITS:
        return found, plan(found, y, log_delta, digits, two_ways)
    try:
        plain = plan(found, y, log_delta, digits, two_ways)
    except LimitError as error:
        plain, refused = None, error
    if plain is not None and plain.last <= _MANY_BESIDE:
        return found, plain
    with_noise = _beside_noise(found, y, digits)
    try:
        smooth = plan(with_noise, y, log_delta, digits + _LOST, two_ways)
    except LimitError:
        if plain is None:
            raise refused from None
        return found, plain
    if plain is not None and plain.last <= smooth.last:
        return found, plain
    return with_noise, smooth


def _beside_noise(found: Moments, y: float, digits: float) -> Moments:
    """D_μ − D is about μ²/2 times the density of the loss at y, and that about c(c+1)D."""
    c = shift(found.saddle(y))
    log_ratio = math.log(_SHARE / (c * (c + 1))) - digits * math.log(10)
    halvings = min(math.ceil(-log_ratio / math.log(2)), _FINEST)
    return found.with_noise(GaussianLoss(Fraction(2) ** -halvings))


def moments_and_plan(
    found: Moments, y: float, log_delta: float, digits: float, two_ways: bool = False
) -> tuple[Moments, ContourPlan]:
    """The moments and the plan of the fewest nodes, of pairs exchanged where others are many."""
    refused: Exception | None = None
    try:
        moments, chosen = smoothed(found, y, log_delta, digits, two_ways)
        if chosen.last <= _MANY:
            return moments, chosen
    except (LimitError, PrecisionError) as error:
        refused = error
    if all(part.jumps_rarely for part, _ in found.runs):
        with suppress(LimitError, PrecisionError):
            log_kept = math.log(-math.expm1(-y)) if y > 0 else -math.inf
            log_other = float(np.logaddexp(log_delta - y, log_kept))
            more = (log_other + y - log_delta) / math.log(10)
            exchanged = replace(found.exchanged, room=(_ROOM - 1) * y)
            other = plan(exchanged, -y, log_other, digits + more)
            if refused is not None or other.last < chosen.last:
                return exchanged, other
    if refused is not None:
        raise refused
    return moments, chosen


def contour(found: Moments, chosen: ContourPlan, at: float, plain: Moments) -> Contour:
    """As it was planned for these moments: of the plain runs, exchanged, or beside noise."""
    if found is plain:
        return Contour(found.factors, chosen, found.reverse, at)
    if found.reverse != plain.reverse:
        return ExchangedContour(found.factors, chosen, found.reverse, at)
    ratio = found.runs[-1][0].gaussian_ratio
    assert ratio is not None  # noqa: S101  # the noise stands last
    runs = (*plain.factors, found.runs[-1])
    return SmoothedContour(runs, chosen, found.reverse, at, Fraction(ratio))
