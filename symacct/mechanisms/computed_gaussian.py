"""What is a Gaussian mechanism of a sensitivity that is worked out and not given."""

from __future__ import annotations

from fractions import Fraction

from symacct.kernel.claims import SWAPPED, Kind
from symacct.kernel.exact import Exact, expression, sympy
from symacct.mechanisms.gaussian import Gaussian


class ComputedGaussian(Gaussian):
    """Gaussian noise of σ on what one record moves by at most Δ."""

    attained = SWAPPED  # as of any Gaussian

    @property
    def squared_sensitivity(self) -> tuple[Fraction, bool]:
        """Δ², and whether it is attained."""
        raise NotImplementedError

    @property
    def sensitivity(self) -> Exact:  # type: ignore[override]
        """Δ, a fraction wherever it is one."""
        found = sympy.sqrt(expression(self.squared_sensitivity[0]))
        return Fraction(int(found.p), int(found.q)) if isinstance(found, sympy.Rational) else found

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return Kind.EXACT if self.squared_sensitivity[1] else Kind.UPPER

    def symbolic_parameters(self) -> list[sympy.Expr]:
        """The numbers of the pair that are no fractions; what is computed is one of them."""
        return [x for x in (self.sigma, self.sensitivity) if isinstance(x, sympy.Expr)]
