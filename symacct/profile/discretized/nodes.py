"""P-masses at equally spaced losses, and their profile: two sums from each node on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb, arb_poly

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ends_of
from symacct.kernel.memory import cached_property

_BLOCK = 256  # nodes that are summed at once


@dataclass(frozen=True, eq=False)
class Nodes:
    """The masses times 2^bits at the losses first + j·step."""

    first: arb
    step: arb
    masses: list[Any]  # whole numbers, Python's or flint's
    bits: int

    def profile(self, y: arb) -> arb:
        """Σ p(1 − e^{y−ℓ}) over ℓ > y: the largest from any node on, where balls don't tell."""
        at = (y - self.first) / self.step
        least, most = map(self._place, ends_of(at))
        return BALL.maximum(*(self._beyond(j, y) for j in range(least, most + 1)))

    def _place(self, at: arb) -> int:
        """The first node beyond this place, counted in steps."""
        return max(0, min(int(float(at.floor())) + 1, len(self.masses)))

    def _beyond(self, j: int, y: arb) -> arb:
        """Σ p(1 − e^{y−ℓ}) over the nodes from the j-th on."""
        block, place = divmod(j, _BLOCK)
        whole, fallen = self._blocks
        rest, x = arb_poly(self.masses[j : (block + 1) * _BLOCK]), (-self.step).exp()
        far = rest(x) + x ** (_BLOCK - place) * fallen[block + 1]
        near = (y - self.first - self.step * j).exp()
        return (rest(1) + whole[block + 1] - near * far) / arb(2) ** self.bits

    @cached_property
    def _blocks(self) -> tuple[list[arb], list[arb]]:
        """Σ p and Σ pe^{−ih}, i counted from its first node, over the nodes from each block on."""
        x = (-self.step).exp()
        falls, whole, fallen = x**_BLOCK, [arb(0)], [arb(0)]
        for first in range(len(self.masses) // _BLOCK * _BLOCK, -1, -_BLOCK):
            own = arb_poly(self.masses[first : first + _BLOCK])
            whole.append(whole[-1] + own(1))
            fallen.append(own(x) + falls * fallen[-1])
        return whole[::-1], fallen[::-1]
