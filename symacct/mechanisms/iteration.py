"""Noisy iterations of which only the last is told: privacy amplification by iteration."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ends_of, precision, rational
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, Numeric, is_infinite
from symacct.kernel.memory import cached_property
from symacct.kernel.parameters import positive, whole
from symacct.kernel.parameters import rational as rational_number
from symacct.kernel.sources import SYMACCT
from symacct.mechanisms.gaussian import ComputedGaussian

#: A power c^n of at most so many bits is written out; a longer one is enclosed in balls of these
#: bits, and one below 2^{−320} lies between 0 and that. Ends are taken to the larger Δ.
_POWER_BITS = 320
#: The power below which c^n is enclosed from 0; a larger one would widen the enclosure.
_SMALLEST_POWER = Fraction(1, 2**_POWER_BITS)
#: More steps are refused; it only limits sizes, and no bound rests on it.
MOST_STEPS = 10**9
#: The largest contraction other than 1: nearer to it 1 − c and 1 − c^T lose their digits. Others
#: are refused.
_LARGEST_CONTRACTION = 1 - Fraction(1, 10**9)
#: The premises of a step in every iteration.
_OF_A_STEP = (
    "only the last iterate is released",
    "each step, before its noise, is Lipschitz with the constant {contraction}",
)
#: The premise that a record may move every step.
_EVERY_STEP = "one record moves the value of each step by at most 1, the unit of σ"
_SOURCE = SYMACCT.at("docs/proofs/mechanisms.md, shifts, after Bok, Su and Altschuler 2024")


# Proved in docs/proofs/mechanisms.md, Lemmas all-steps, last-steps and one-sample.
class NoisyDescent(ComputedGaussian):
    """The last of T = `steps` noisy iterates f(x) + N(0, σ²), where each step uses every record.

    It costs what the Gaussian mechanism of sensitivity √((1−c^T)(1+c)/((1−c)(1+c^T))) costs. For
    c = 1 this sensitivity is √T.

    Only the last iterate is published. Each f is Lipschitz with the constant c = `contraction`. A
    record moves each value of f by at most 1, which is the unit of σ. Full-batch gradient descent
    on convex losses is an example. If every iterate is projected to a set of this `diameter`, only
    the last steps count, and the curve is an upper bound. `sigma` is positive and `steps` is a
    whole number. `contraction` is in (0, 1], and `diameter` is at least 0 or "inf"; both are
    rational. Raises DomainError for other parameters, and for a contraction too close to 1.
    Sampling this mechanism means one sample for all steps. ε(α) is in nats. Source:
    docs/proofs/mechanisms.md, shifts, after Bok, Su and Altschuler 2024.

    >>> print(NoisyDescent(5, 100, "1/2").rdp(2, digits=3))
    0.120
    >>> print(NoisyDescent(5, 10**6, diameter=10).rdp(2, digits=3))
    1.60
    """

    steps: int
    contraction: Fraction
    diameter: Fraction | float
    is_of_vectors = True
    words = (
        "the last of {steps:noisy iterate} ($σ = {sigma}$, contraction {contraction}, "
        "diameter {diameter}), with each record in every step"
    )
    source = _SOURCE

    def __new__(
        cls,
        sigma: Numeric,
        steps: Numeric,
        contraction: Numeric = 1,
        diameter: Numeric = INFINITY,
    ) -> NoisyDescent:
        return cls._intern(
            sigma=positive(sigma, "NoisyDescent, sigma"),
            steps=whole(steps, "NoisyDescent, steps", least=1, most=MOST_STEPS),
            contraction=contraction_factor(contraction, "NoisyDescent, contraction"),
            diameter=_diameter(diameter),
        )

    _says_who_takes_part = True

    @property
    def premises(self) -> tuple[str, ...]:  # type: ignore[override]
        """The premises of a step, and the projection if the set has a diameter."""
        projected = (
            "every iterate is projected to a convex set of diameter {diameter}, in the unit of σ"
        )
        bounded = isinstance(self.diameter, Fraction)
        return (*_OF_A_STEP, _EVERY_STEP, *([projected] if bounded else []))

    @cached_property
    def _squared_sensitivity(self) -> tuple[Fraction, bool]:
        """An upper bound of Δ², attained where it is exact and the set has no diameter."""
        c, (low, high) = self.contraction, power(self.contraction, self.steps)
        free = _moved(c, self.steps, Fraction(0))
        if not isinstance(self.diameter, Fraction):
            return free, low == high
        ends = _best_ends(c, self.diameter, self.steps)
        return min([free, *(_moved(c, m, self.diameter) for m in ends)]), False


# Proved in docs/proofs/mechanisms.md, Lemma one-pass.
class NoisyPass(ComputedGaussian):
    """The last noisy iterate f(x) + N(0, σ²), where a record is used in one step only.

    It costs what the Gaussian mechanism of sensitivity √(c^{2m−2}(1−c²)/(1−c^{2m})) costs. For
    c = 1 this sensitivity is 1/√m.

    The record is used in the first of the last m = `steps` steps, and only the last iterate is
    published. The f are as for `NoisyDescent`. For the record of the last step m is 1, and only the
    noise of that step hides it. `sigma` is positive, `steps` is a whole number, and `contraction`
    is rational, in (0, 1]. Raises DomainError for other parameters. ε(α) is in nats. Source:
    docs/proofs/mechanisms.md, shifts, after Bok, Su and Altschuler 2024.

    >>> print(NoisyPass(5, 100).rdp(2, digits=3))
    0.0004
    """

    steps: int
    contraction: Fraction
    is_of_vectors = True
    words = (
        "the last noisy iterate ($σ = {sigma}$, contraction {contraction}), with the record "
        "in the first of the last {steps:step}"
    )
    source = _SOURCE

    def __new__(cls, sigma: Numeric, steps: Numeric, contraction: Numeric = 1) -> NoisyPass:
        return cls._intern(
            sigma=positive(sigma, "NoisyPass, sigma"),
            steps=whole(steps, "NoisyPass, steps", least=1, most=MOST_STEPS),
            contraction=contraction_factor(contraction, "NoisyPass, contraction"),
        )

    premises = (
        *_OF_A_STEP,
        "one record moves the value of its step by at most 1, the unit of σ, and no other step",
    )
    _says_who_takes_part = True

    @property
    def _squared_sensitivity(self) -> tuple[Fraction, bool]:
        """An upper bound of Δ² of the last iterate's move, attained where c^{m−1} is exact."""
        c, (low, high) = self.contraction, power(self.contraction, self.steps - 1)
        square = Fraction(1, self.steps) if c == 1 else high**2 / _squares(c, c * high)
        return square, low == high


def power(c: Fraction, steps: int) -> tuple[Fraction, Fraction]:
    """Two rationals between which c^m lies, both c^m itself where it has at most 320 bits.

    0 < c <= 1. Below 2^{−320} they are 0 and 2^{−320}.
    """
    if steps * max(c.denominator.bit_length(), 1) <= _POWER_BITS or c == 1:
        return c**steps, c**steps
    with precision(_POWER_BITS):
        enclosure = (steps * BALL.number(c).log()).exp()
        if enclosure < BALL.number(_SMALLEST_POWER):
            return Fraction(0), _SMALLEST_POWER
        low, high = ends_of(enclosure)
        return rational(low), rational(high)


def _moved(c: Fraction, steps: int, apart: Fraction) -> Fraction:
    """Δ² of m = `steps` last steps from points as far `apart`, or a little more.

    It is (p·apart + Σ_{j<m} c^j)²/Σ_{j<m} c^{2j} with p = c^m, taken at the worse end of p.
    """
    if c == 1:
        return (apart + steps) ** 2 / steps
    low, high = power(c, steps)
    moved = max(p * apart + (1 - p) / (1 - c) for p in (low, high))
    return moved**2 / _squares(c, high)


def _squares(c: Fraction, p: Fraction) -> Fraction:
    """Σ_{j<m} c^{2j} for p = c^m, c < 1; less than it for a larger p."""
    return (1 - p**2) / (1 - c**2)


def _best_ends(c: Fraction, diameter: Fraction, steps: int) -> list[int]:
    """The numbers of steps next to where Δ² is smallest, c^m = 1 − (1−c)D, or m = D for c = 1.

    None where (1−c)D >= 1. They steer: Δ² of any number of last steps is a bound.
    """
    place = diameter
    if c < 1:
        if (1 - c) * diameter >= 1:
            return []
        with precision(_POWER_BITS):
            logs = (BALL.number(x).log() for x in (1 - (1 - c) * diameter, c))
            place = rational(operator.truediv(*logs).mid())
    first = min(max(1, math.floor(place)), steps)
    return [first, min(first + 1, steps)]


def contraction_factor(c: Numeric, name: str) -> Fraction:
    """A rational contraction c in (0, 1 − 10⁻⁹], or 1; DomainError for another."""
    number = positive(c, name)
    if not isinstance(number, Fraction) or (number > _LARGEST_CONTRACTION and number != 1):
        raise DomainError(f"{name}: found {echo(c)}, needed 1, or a rational one <= 1 - 10^-9")
    return number


def _diameter(value: Numeric) -> Fraction | float:
    """The rational diameter, or ∞; DomainError for others."""
    return INFINITY if is_infinite(value) else rational_number(value, "NoisyDescent, diameter")
