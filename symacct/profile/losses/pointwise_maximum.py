"""A pair has at every ε the largest of some one-run pairs' profiles.

A pointwise maximum of profiles is a profile (Zhu, Dong and Wang 2022), so that this pair dominates
whichever of them a run has; its moments are not known (docs/proofs/pairs.md, Lemma envelope).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from symacct.kernel.arithmetic import BALL
from symacct.kernel.exact import Exact
from symacct.profile.part import Floats, Part, ProfileOnly

if TYPE_CHECKING:
    from symacct.profile.losses.density import DensityLoss


def largest_of(parts: frozenset[Part]) -> Part:
    """Make the pair with the largest profile of some pairs at every ε.

    Of two that are one pair either way round its own loss may be known, with moments.
    """
    for part in parts:
        known = part.either_way
        if known is not None and parts == {part, part.exchanged}:
            return known
    return PointwiseMaximum(parts)


@dataclass(frozen=True)
class PointwiseMaximum(ProfileOnly):
    """The pointwise maximum of some one-run pairs has D(y) = max D_i(y), in either direction.

    It is a pair of one run, P(L = ∞) the largest of theirs.
    """

    parts: frozenset[Part]

    @property
    def symmetric(self) -> bool:
        """Is every pair, exchanged, one of them again?"""
        return all(part.symmetric or part.exchanged in self.parts for part in self.parts)

    @property
    def alternatives(self) -> Sequence[Part]:
        """The pairs in an order that does not depend on hashes."""
        return sorted(self.parts, key=repr)

    def density_pairs(self, reverse: bool) -> Sequence[tuple[DensityLoss, tuple[bool, ...]]]:
        """List the pairs of densities; two that are each other exchanged are one, both ways.

        There are none where some pair is not of densities.
        """
        pairs_of_parts = [part.density_pairs(reverse) for part in self.alternatives]
        if not all(pairs_of_parts):
            return []
        pairs = list(itertools.chain(*pairs_of_parts))
        if len(pairs) == 2 and pairs[0][0].exchanged == pairs[1][0]:
            return [(pairs[0][0], (False, True))]
        return pairs

    def sampled(self, gamma: Exact) -> Part:
        """Sample each pair: H_a of a sample grows with one H_b of its pair, the largest with it."""
        return PointwiseMaximum(frozenset(part.sampled(gamma) for part in self.parts))

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate the moments from below, by the pair of the largest log F at each order."""
        moments, variances = map(
            np.array, zip(*(p.float_moments(orders) for p in self.parts), strict=True)
        )
        best = moments.argmax(axis=0), np.arange(len(orders))
        return moments[best], variances[best]

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y), the largest of the parts'."""
        return BALL.maximum(*(part.hockey_stick(y, reverse) for part in self.parts))

    def largest(self, reverse: bool) -> arb:
        """Compute the largest loss of the parts."""
        return BALL.maximum(*(part.largest(reverse) for part in self.parts))

    def exact_largest(self, reverse: bool) -> Exact | None:
        """Return the largest loss where one exact number is known of all pairs; else None."""
        known = {part.exact_largest(reverse) for part in self.parts}
        return known.pop() if len(known) == 1 else None

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """Return the largest P(L = ∞) of the pairs, to which D(y) falls."""
        return max(part.mass_at_infinity(reverse) for part in self.parts)
