"""A law given by the formula of its density, and the integral of one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import isfinite
from typing import Any, Self

from flint import arb

from symacct.analysis.densities import Cut, Kernel, Side, corners, mass, plain_mass, sides
from symacct.analysis.jets import log_of
from symacct.kernel import parameters, symbols
from symacct.kernel.arithmetic import (
    Arithmetic,
    BallArithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.errors import DomainError, PrecisionError, echo
from symacct.kernel.exact import (
    INFINITY,
    Exact,
    Numeric,
    expression,
    is_infinite,
    sympy,
    text,
    typed_value,
)
from symacct.kernel.formula import parse_formula
from symacct.kernel.memory import cached_property
from symacct.laws.law import Law

# --- integrals
#
# The integral of a density that is given by its formula, in each arithmetic.


def log_mass(ctx: Arithmetic, kernel: Kernel) -> Number:
    """log ∫ e^log of a density given by its formula, certified in balls alone.

    DomainError for an arithmetic without integrals.
    """
    if isinstance(ctx, BallArithmetic):
        return _log_mass(kernel, ctx.bits)
    if isinstance(ctx, MpmathArithmetic):
        return ctx.log(plain_mass(ctx, kernel))
    if isinstance(ctx, SymbolicArithmetic):
        return sympy.log(written.Integral(sympy.exp(kernel.log), interval_of(kernel)))
    raise no_integrals(ctx)


def interval_of(kernel: Kernel) -> tuple[sympy.Symbol, sympy.Expr, sympy.Expr]:
    """x and the ends of what a formula integrates over."""
    ends = (kernel.cuts[0], kernel.cuts[-1])
    low, high = (expression(Fraction(c)) if isfinite(c) else c * sympy.oo for c in ends)
    return symbols.x, low, high


def no_integrals(ctx: Arithmetic) -> DomainError:
    """The error, to be raised, of an arithmetic that cannot integrate."""
    return DomainError(
        f"a pair of laws: found the arithmetic {type(ctx).__name__}, which cannot integrate",
        remedy="ask for the value, or for the formula",
    )


@lru_cache(256)
def _log_mass(kernel: Kernel, bits: int) -> Any:
    """log ∫ e^log in a ball; the last 256 are remembered, as every order of a pair asks for it."""
    return mass(kernel, bits).log()


# --- the law
#
# A law given by the formula of its density.

#: Bits to which the integral of a density is compared with the mass that is stated: 30 digits. A
#: law whose mass is proved to be another one is refused.
_CHECK_BITS = 100
#: The most operations of a formula, so that multiplying it out stays small. More are refused: it
#: saves time.
_MOST_OPERATIONS = 400
#: The largest product of whole exponents in each other, so that multiplying out stays small. Larger
#: ones are refused: it saves time.
_LARGEST_EXPONENT = 64
#: The functions that a density's text may use beyond other formulas, in which `gamma` is a symbol.
_FURTHER_FUNCTIONS = ("cosh", "sinh", "tanh", "gamma")


@dataclass(frozen=True, repr=False)
class Density(Law):
    """The law of density f(x) between the first and the last of `cuts`, 0 elsewhere.

    `f` is a formula in x, or its text, positive between the cuts. Its functions are +, −, *, /,
    rational powers, exp, log, sqrt, cosh, sinh, tanh, Abs, Min and Max of formulas in x, and gamma
    of constants, beside the constants pi and E. A cut is needed where f is 0 or infinite; where it
    is not smooth one helps (those of Abs, Min and Max of lines are found). ∫f has to be `mass`,
    which is checked to 30 digits; f is divided by its integral, so that "any" takes every finite
    one. Raises DomainError, and PrecisionError if the integral is not found. Positivity is checked
    at some points of each piece.

    >>> from symacct import DistributionPair, laws
    >>> P = laws.Density("exp(-Abs(x))/2")
    >>> print(DistributionPair(P, laws.Normal(0, 1)).divergence(1, digits=12))
    0.225791352644
    """

    f: Any
    cuts: Any = ("-inf", "inf")
    mass: Any = 1

    def __post_init__(self) -> None:
        """Read the formula, and check that it is positive and has the stated mass."""
        formula, written = _formula(self.f)
        object.__setattr__(self, "f", text(written))
        object.__setattr__(self, "cuts", _checked_cuts(self.cuts))
        object.__setattr__(self, "mass", _checked_mass(self.mass))
        self.__dict__["formula"] = formula
        _check_positive(self)
        _check_mass(self)

    @cached_property
    def kernel(self) -> Kernel:
        """log f with hyperbolic functions written out, and where it is cut."""
        return Kernel(log_of(self.__dict__["formula"]), self.cuts)

    def log_total(self, ctx: Arithmetic) -> Number:
        """log ∫f, by which f is divided; in a formula log of the mass stated as a number."""
        if isinstance(ctx, SymbolicArithmetic) and self.mass != "any":
            return ctx.log(ctx.number(self.mass))
        return log_mass(ctx, self.kernel)

    def is_swapped_with(self, other: Self) -> bool:
        """Does a reflection of the line swap both formulas?"""
        return isinstance(other, Density) and _mirrors(self.kernel, other.kernel)


def _formula(value: Numeric) -> tuple[sympy.Expr, sympy.Expr]:
    """The formula in x with hyperbolic functions written out, and as it was written.

    DomainError for other symbols, too many operations or too large powers.
    """
    if isinstance(value, str):
        value = parse_formula(value, symbols.x, _FURTHER_FUNCTIONS)
    formula = expression(typed_value(value, "Density, f"))
    formula = formula.xreplace(
        {s: symbols.x for s in formula.free_symbols if s.name == symbols.x.name}
    )
    others = formula.free_symbols - {symbols.x}
    if others:
        raise DomainError(f"Density: found the symbol {min(map(str, others))}, needed x alone")
    if formula.count_ops() > _MOST_OPERATIONS:
        raise DomainError(
            f"Density: found {formula.count_ops()} operations, needed <= {_MOST_OPERATIONS}"
        )
    _check_exponents(log_of(formula), 1)
    return _in_exponentials(formula), formula


def _in_exponentials(formula: sympy.Expr) -> sympy.Expr:
    """The formula with cosh, sinh and tanh written out in exponentials, cancelled after tanh."""
    plain = formula.replace(sympy.cosh, lambda u: (sympy.exp(u) + sympy.exp(-u)) / 2)
    plain = plain.replace(sympy.sinh, lambda u: (sympy.exp(u) - sympy.exp(-u)) / 2)
    if not plain.has(sympy.tanh):
        return plain
    # Cancelled, as 1 + tanh x, which is tiny far to the left, is 2e^{2x}/(1 + e^{2x}).
    plain = plain.replace(sympy.tanh, lambda u: 1 - 2 / (1 + sympy.exp(2 * u)))
    return sympy.cancel(plain)


def _check_exponents(formula: sympy.Expr, outer: int) -> None:
    """Raise DomainError where whole exponents, `outer` times those inside, are too large."""
    if isinstance(formula, sympy.Pow):
        exponent = formula.exp
        outer *= abs(int(exponent)) if exponent.is_Integer else 1
        if outer > _LARGEST_EXPONENT:
            raise DomainError(f"Density: found a power of {outer}, needed <= {_LARGEST_EXPONENT}")
    for argument in formula.args:
        _check_exponents(argument, outer)


def _checked_cuts(values: object) -> tuple[Cut, ...]:
    """Two or more rising cuts, rational or ±∞; DomainError for others."""
    cuts = tuple(map(_cut, parameters.ordered_members(values, "Density, cuts", "[0, 'inf']")))
    if len(cuts) < 2 or any(low >= high for low, high in pairwise(cuts)):
        raise DomainError(
            f"Density, cuts: found {echo([str(cut) for cut in cuts])}, needed two or more, rising"
        )
    return cuts


def _cut(value: Numeric) -> Cut:
    """A cut as a rational number, or as the float ±∞; DomainError for another."""
    if is_infinite(value):
        return INFINITY
    number_like = isinstance(value, float | sympy.Number) or hasattr(value, "_mpf_")
    if number_like and value == -INFINITY:
        return -INFINITY
    if isinstance(value, str) and is_infinite(value.strip().lstrip("-")):
        return -INFINITY
    number = typed_value(value, "Density, cuts")
    if isinstance(number, sympy.Expr):
        raise DomainError(f"Density, cuts: found {echo(number)}, needed rational numbers or ±inf")
    return number


def _checked_mass(value: Numeric) -> Exact | str:
    """The mass, a rational number > 0, or "any"; DomainError for another."""
    if isinstance(value, str) and value == "any":
        return value
    mass = typed_value(value, "Density, mass")
    if isinstance(mass, sympy.Expr) or mass <= 0:
        raise DomainError(
            f"Density, mass: found {echo(value)}, needed a rational number > 0, or 'any'"
        )
    return mass


def _check_positive(law: Density) -> None:
    """Raise DomainError where f is not positive at some points of a piece, a dozen on each side.

    It says a wrong sign plainly, and proves nothing between these points.
    """
    with precision(64):
        for side in sides(law.kernel, law.kernel):
            # The logarithm of a negative number is imaginary.
            if sympy.sympify(side.exponents[0]).has(sympy.I) or not all(
                map(side.is_positive, _samples(side))
            ):
                raise DomainError(
                    f"Density: found {law.f}, which is not positive between its cuts "
                    f"{[str(cut) for cut in law.cuts]}",
                    remedy="give the points where it is 0 as cuts",
                )


def _samples(side: Side) -> list[arb]:
    """Distances T at which a side is tried: 2^k/3, or equally spaced ones up to its extent."""
    if side.is_infinite:
        return [arb(2) ** k / 3 for k in range(-3, 8)]
    extent = float(side.extent)
    return [arb(extent) * k / 17 for k in range(1, 17)]


def _check_mass(law: Density) -> None:
    """Raise DomainError unless ∫f is finite, and the stated mass to 30 digits unless that is "any".

    PrecisionError where the integral is not found.
    """
    with precision(_CHECK_BITS):
        try:
            integral = mass(law.kernel, _CHECK_BITS)
        except PrecisionError as error:
            raise PrecisionError(f"{echo(law)}: {error}") from None
        if not integral.is_finite():
            raise DomainError(f"{echo(law)}: found an infinite integral, needed a finite one")
        wanted = law.mass
        if wanted == "any":
            return
        if not (integral * wanted.denominator - wanted.numerator).contains(0):
            raise DomainError(
                f"Density: found {echo(law.f)} with the integral "
                f"{integral.str(12, radius=False)}, needed "
                f"{echo(wanted)}",
                remedy="correct it, or pass mass='any' to divide by the integral",
            )


def _mirrors(first: Kernel, second: Kernel) -> bool:
    """Is a reflection x ↦ c − x proved to turn each density into the other?"""
    return any(
        first.cuts == tuple(c - cut for cut in reversed(second.cuts))
        and not sympy.expand(
            first.log - second.log.xreplace({symbols.x: expression(c) - symbols.x})
        ).has(symbols.x)
        for c in _centres(first, second)
    )


def _centres(first: Kernel, second: Kernel) -> set[Fraction]:
    """Candidates c of a reflection x ↦ c − x: from ends and corners, or from two polynomials.

    They only propose, and one that is missed costs a symmetry, not a proof.
    """
    places = [
        sorted({Fraction(c) for c in (*k.cuts, *corners(k.log)) if isfinite(c)})
        for k in (first, second)
    ]
    centres = {a + b for a in places[0][:1] for b in places[1][-1:]}
    for polynomial, mirror in product(*(_polynomials(k.log) for k in (first, second))):
        (a, a_next, *_), (b, b_next, *_) = polynomial.all_coeffs(), mirror.all_coeffs()
        c = -(a_next + b_next) / (mirror.degree() * b)
        if a == b and isinstance(c, sympy.Rational):
            centres.add(Fraction(int(c.p), int(c.q)))
    return centres


def _polynomials(log: sympy.Expr) -> list[sympy.Poly]:
    """The polynomials in x of degree >= 2 that the exponent is, or that stand in its logarithms."""
    inner = [node.args[0] for node in log.atoms(sympy.log)]
    polynomials = [sympy.expand(formula).as_poly(symbols.x) for formula in [log, *inner]]
    return [p for p in polynomials if p is not None and p.domain.is_Exact and p.degree() >= 2]
