"""D(y) of two runs of sampled Laplace noise by one integral, which the library does without.

D₂(y) = E_P[D₁(y − L)], and D₁ is in closed form on each side of the ends of L: all but the integral
of e^{−x}√(R(e^y − (1−γ)R)) between two points is elementary (docs/proofs/losses.md, Lemma
two-laplace).
"""

from __future__ import annotations

from flint import acb, arb

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import integral, within
from symacct.profile.losses.laplace import LaplaceLoss


def two_runs(part: LaplaceLoss, reverse: bool, y: arb) -> arb:
    """D(y), y any real number."""
    pair = _Pair(part)
    return pair.exchanged(y) if reverse else pair.straight(y)


class _Pair:
    """R(x) = 1−γ + γe^{2x−s}, 0 <= x <= s, in balls; the loss lies from `low` to `high`."""

    def __init__(self, part: LaplaceLoss) -> None:
        self.part = part
        self.shift, self.gamma = BALL.number(part.shift), BALL.number(part.gamma)
        self.rest, self.fallen = BALL.number(1 - part.gamma), (-self.shift).exp()
        self.least = self.gamma * self.fallen
        self.low, self.high = -part.largest(True), part.largest(False)

    def straight(self, y: arb) -> arb:
        """D(y) of (P, Q); D₁(y − L(x)) is 0 up to `first`, 1 − e^y/R from `last` on."""
        grown, first, last = y.exp(), self._place(y - self.high), self._place(y - self.low)
        atoms = self.low.exp() * self.part.hockey_stick(y - self.low, False)
        atoms += self.fallen * self.high.exp() * self.part.hockey_stick(y - self.high, False)
        beyond = (self.rest - grown) * _down(last, self.shift) + self.least * _up(last, self.shift)
        between = self.rest * _down(first, last) + self.least * _up(first, last)
        return (atoms + beyond + self.gamma * between - self._root(grown, first, last)) / 2

    def exchanged(self, y: arb) -> arb:
        """D(y) of (Q, P); D₁(y + L(x)) is 1 − e^yR up to `first`, 0 from `last` on."""
        grown, first, last = y.exp(), self._place(-y - self.high), self._place(-y - self.low)
        atoms = self.part.hockey_stick(y + self.low, True)
        atoms += self.fallen * self.part.hockey_stick(y + self.high, True)
        before = (1 - grown * self.rest) * _down(arb(0), first)
        before -= grown * self.least * _up(arb(0), first)
        between = (1 - grown * self.rest**2) * _down(first, last)
        between -= grown * self.rest * self.least * _up(first, last)
        return (atoms + before + between - grown * self._root(1 / grown, first, last)) / 2

    def _place(self, loss: arb) -> arb:
        """x in [0, s] where the loss is this, or next to it."""
        ratio = (loss.expm1() / self.gamma + 1).max(self.fallen).min(1 / self.fallen)
        return ((self.shift + ratio.log()) / 2).max(arb(0)).min(self.shift)

    def _root(self, grown: arb, first: arb, last: arb) -> arb:
        """√(γe^{−s}) ∫ e^{−x}√(R(e^y − (1−γ)R)) dx; at most e^{(y+L₁)/2} is integrated."""

        def integrand(x: acb, analytic: bool) -> acb:
            ratio = self.rest + self.least * (2 * x).exp()
            return (-x).exp() * (ratio * (grown - self.rest * ratio)).sqrt(analytic)

        found = integral(integrand, first.mid(), last.mid()).real
        most = (grown * self.high.exp()).sqrt()
        return self.least.sqrt() * (found + within((first.rad() + last.rad()) * most))


def _down(first: arb, last: arb) -> arb:
    """∫ e^{−x} dx."""
    return (-first).exp() - (-last).exp()


def _up(first: arb, last: arb) -> arb:
    """∫ e^x dx."""
    return last.exp() - first.exp()
