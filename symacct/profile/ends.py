"""F of Laplace noise far from the real axis: what is next to the two atoms of its loss.

F(z) = e^{zL₁}A(z) + e^{zL₀}B(z), A and B nearly constant (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import acb, acb_poly, arb, arb_series, ctx

from symacct.arithmetic import BALL
from symacct.forking import cached_property
from symacct.profile.laplace import LaplaceLoss

_FAR = 1.1  # times as far as where the terms of a series in 1/z are small enough


@dataclass(frozen=True)
class End:
    """One end L of the loss: e^{zL}(atom ± Σ c_m e^{−(m+½)L}/(z−m−½)), c_m >= 0, is in F(z).

    `density` is Σ c_m e^{−(m+½)L}; `gap` is 1−x, x = (1−γ)e^{−L}.
    """

    loss: arb
    atom: arb
    density: arb
    gap: arb
    sign: int

    def at(self, z: acb) -> acb:
        """What e^{zL} is multiplied by: far from 0 a series, else 2F1 after Euler.

        Where nothing is sampled x = 0, and one term is all.
        """
        if self.gap == 1:
            return self.atom + self.sign * self.density / (z - 0.5)
        fallen = float((abs(z) * -(1 - self.gap).log()).mid()) / math.log(2)
        if fallen > _FAR * ctx.prec:
            return self.atom + self.sign * self._far(z)
        with ctx.extraprec(math.ceil(fallen)):  # about what cancels
            whole = acb(1 - self.gap).hypgeom_2f1(acb(1), -z, acb(1.5) - z)
        return self.atom + self.sign * self.density * self.gap * whole / (z - 0.5)

    def _far(self, z: acb) -> acb:
        """Σ G_n/z^{n+1}, G_n = Σ c_m (m+½)^n e^{−(m+½)L}, as |z−m−½| >= |Im z|."""
        *series, last = self._slopes
        w = 1 / z
        rest = (last * abs(w) ** len(series) / abs(z.imag)).upper()
        return w * acb_poly(series)(w) + acb(arb(0, rest), arb(0, rest))

    @cached_property
    def _slopes(self) -> list[arb]:
        """G_0, G_1, …: n! times the coefficients in τ of the density at L−τ,

        which is e^{τ/2}((1−xe^τ)/(1−x))^{−3/2} times that at L.
        """
        length, before = ctx.prec * 3 // 4 + 8, ctx.cap
        try:
            ctx.cap = length
            tau = arb_series([0, 1], prec=length)
            fallen = (1 - (1 - self.gap) * tau.exp()) / self.gap
            found = (tau / 2).exp() * (fallen.log() * arb(-1.5)).exp()
        finally:
            ctx.cap = before
        scale, slopes = self.density, []
        for n, coefficient in enumerate(found.coeffs()):
            scale *= max(n, 1)
            slopes.append(scale * coefficient)
        return slopes

    def most(self, height: arb) -> arb:
        """A bound of it for |Im z| >= height."""
        return self.atom + self.density / height


def ends(part: LaplaceLoss) -> tuple[End, End]:
    """L₀ and L₁ at flint's current precision."""
    s, gamma = BALL.number(part.shift), BALL.number(part.gamma)
    found = []
    for sign, atom, log_density in ((-1, arb(0.5), s), (1, (-s).exp() / 2, -2 * s)):
        grown = (sign * s).exp()
        ratio = 1 - gamma + gamma * grown
        density = (log_density).exp() * ratio / (4 * gamma)
        gap = arb(1) if part.gamma == 1 else gamma * grown / ratio
        found.append(End(ratio.log(), atom, density, gap, sign))
    return found[0], found[1]
