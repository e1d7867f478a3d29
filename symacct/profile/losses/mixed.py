"""One of two pairs by a public coin has the mean of their profiles, and of their moments.

What is a mean of other losses shares `MixtureMoments`, which steers. `need` and `slack` are in
nats, as in profile/part.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb

from symacct.kernel.arithmetic import BALL
from symacct.kernel.exact import Exact
from symacct.profile.part import Floats, OrderLine, Part, no_pair
from symacct.profile.written_laws import BREAK, Write, WrittenLaws, factor, grouped

#: The mean of the loss is a difference of log F over so much of an order. It steers.
_ORDER_STEP = 1e-3

#: Log of a share, log c, and a part: F(z) is Σ share c^z F_part(z) over the members.
Member = tuple[float, float, Part]


class MixtureMoments:
    """The moments of a mixture steer in float64, by those of its members."""

    is_averaged = True

    @property
    def _members(self) -> list[Member]:
        """The losses whose F is averaged, in float64."""
        raise NotImplementedError

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log F and the variance of L: the mean of the variances, and that of the means.

        A mean is a difference over 0.001 of an order; both are NaN where a member's log F is ∞.
        """
        rows = []
        for log, log_c, part in self._members:
            (here, variance), (near, _) = (
                part.float_moments(orders),
                part.float_moments(orders + _ORDER_STEP),
            )
            mean = log_c + (near - here) / _ORDER_STEP
            rows.append((log + log_c * orders + here, mean, variance))
        logs, means, variances = map(np.array, zip(*rows, strict=True))
        total = np.logaddexp.reduce(logs)
        shares = np.exp(logs - total)
        mean = (shares * means).sum(axis=0)
        return total, (shares * (variances + (means - mean) ** 2)).sum(axis=0)

    def log_decay(self, a: float, t: float) -> float:
        logs = [log + a * log_c + part.log_decay(a, t) for log, log_c, part in self._members]
        return float(np.logaddexp.reduce(logs))

    def log_values(self, line: OrderLine) -> Floats:
        """Estimate log of the mixed moments on a line of orders, each with its factor c^z."""
        z = line.a + 1j * line.h * np.arange(line.last + 1)
        logs = np.array(
            [log + log_c * z + part.log_values(line) for log, log_c, part in self._members]
        )
        top = logs.real.max(axis=0)
        return np.asarray(np.log(np.exp(logs - top).sum(axis=0)) + top)


@dataclass(frozen=True)
class MixedLoss(MixtureMoments, Part):
    """A mixed loss is the pair `first` with probability `share`, else `second`; the coin is seen.

    0 < share < 1. F(z) is the mean of theirs, and so is D. Both parts must have moments for F.
    """

    first: Part
    second: Part
    share: Exact

    @property
    def decays_slowly(self) -> bool:  # type: ignore[override]
        """May the moments of either not fall?"""
        return self.first.decays_slowly or self.second.decays_slowly

    @property
    def symmetric(self) -> bool:
        """Has each of the two a symmetry that exchanges its laws?"""
        return self.first.symmetric and self.second.symmetric

    def sampled(self, gamma: Exact) -> Part:
        """Raise AssumptionError: no pair is known that says less than the coin."""
        raise no_pair(
            "found one of two mechanisms on one sample, needed the sample inside of Either"
        )

    def _weighed(self) -> tuple[tuple[arb, Part], tuple[arb, Part]]:
        """Return both losses with their probabilities in balls."""
        share = BALL.number(self.share)
        return (share, self.first), (1 - share, self.second)

    @property
    def _members(self) -> list[Member]:
        """Both losses with the logs of their weights."""
        return [(float(weight.log().mid()), 0.0, part) for weight, part in self._weighed()]

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the terms of a value, those of both losses."""
        return self.first.terms(line, need) + self.second.terms(line, need)

    # --- balls: what is proved

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Compute F on a line of orders, the weighed sum of both losses' F."""
        (first_share, first), (second_share, second) = self._weighed()
        values = zip(first.transform(line, need), second.transform(line, need), strict=True)
        return [first_share * x + second_share * y for x, y in values]

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log|F(a+is)| for s >= t by the weighed sum of both bounds."""
        bounds = (weight * part.decay(a, t, slack).exp() for weight, part in self._weighed())
        return sum(bounds, arb(0)).log()

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y), the weighed sum of both."""
        values = (weight * part.hockey_stick(y, reverse) for weight, part in self._weighed())
        return sum(values, arb(0))

    def largest(self, reverse: bool) -> arb:
        """Compute the larger of both largest losses."""
        return self.first.largest(reverse).max(self.second.largest(reverse))

    def in_latex(self, write: Write) -> WrittenLaws | None:
        """Write both laws as direct sums of the two pairs' laws."""
        first, second = self.first.in_latex(write), self.second.in_latex(write)
        if first is None or second is None:
            return None
        shares = (self.share, 1 - self.share)
        w, v = (factor(write(share)) for share in shares)
        return WrittenLaws(
            rf"{w} \, {grouped(first.P)}{BREAK} \oplus {v} \, {grouped(second.P)}",
            rf"{w} \, {grouped(first.Q)}{BREAK} \oplus {v} \, {grouped(second.Q)}",
            (
                *first.words,
                *second.words,
                r"$\oplus$ tells by which of the two laws the outcome is",
            ),
        )

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """Compute P(L = ∞), the weighed mean of both; exactly 0 where both are."""
        first_mass, second_mass = (
            self.first.mass_at_infinity(reverse),
            self.second.mass_at_infinity(reverse),
        )
        if first_mass == second_mass == 0:
            return Fraction(0)
        return self.share * first_mass + (1 - self.share) * second_mass
