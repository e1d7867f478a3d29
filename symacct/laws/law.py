"""Law: what every family of distributions says of itself, for pairs of two of its laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

from symacct.analysis.densities import Kernel, Progression
from symacct.analysis.normal_mixtures import NormalParts
from symacct.kernel import symbols
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, Exact, expression, sympy
from symacct.kernel.formula import value_text
from symacct.laws.direction import Direction

#: (value, name) ↦ the exact value, or DomainError.
Domain: TypeAlias = Callable[[Any, str], Exact]

#: What a law of no family is written as, for messages.
OTHER_LAWS = (
    "a law such as laws.Normal(0, 1), or one of your own by its density in x, as in "
    "laws.Density('exp(-Abs(x))/2')"
)


def log_x() -> sympy.Expr:
    """log x, of the variable of a density."""
    return sympy.log(symbols.x)


class Law:
    """A distribution: its family and its parameters, which are rational numbers."""

    #: Every family by its name.
    families: ClassVar[dict[str, type[Law]]] = {}

    #: What each parameter may be, of those that are one number.
    domains: ClassVar[dict[str, Domain]] = {}

    def __init_subclass__(cls, **domains: Domain) -> None:
        super().__init_subclass__()
        cls.domains = domains
        Law.families[cls.__name__] = cls

    def __post_init__(self) -> None:
        self._settle(
            **{
                name: domain(getattr(self, name), f"{type(self).__name__}, {name}")
                for name, domain in self.domains.items()
            }
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments, in order, in their exact form."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def expressions(self) -> tuple[sympy.Expr, ...]:
        """The parameters that are one number, for SymPy."""
        return tuple(expression(getattr(self, name)) for name in self.domains)

    @property
    def probabilities(self) -> tuple[Fraction, ...] | None:
        """The probabilities of the outcomes, where there are finitely many."""
        return None

    def masses_against(self, other: Self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        """(p, q) of this law and another for finitely many events that tell the two apart."""
        if self.probabilities is None or other.probabilities is None:
            return None
        return tuple(zip(self.probabilities, other.probabilities, strict=True))

    @property
    def kernel(self) -> Kernel | None:
        """The density on the line up to its constant; None where there is none."""
        return None

    def log_total(self, ctx: Arithmetic) -> Number:
        """The logarithm of the integral of e^kernel."""
        raise NotImplementedError

    @property
    def normal_parts(self) -> NormalParts | None:
        """The weights and means of the normal laws of one variance that it is a mixture of."""
        return None

    @property
    def log_progression(self) -> Progression | None:
        """The probabilities of 0, 1, 2, … where the law lives there."""
        return None

    def why_no_closed_form(self, other: Self) -> str | None:
        """What a pair of this law and another of its family needs beyond that, if it lacks it."""
        return None

    def is_swapped_with(self, other: Self) -> bool:
        """Does an involution of the outcomes that preserves the measure swap the two laws?"""
        return False

    def against(self, other: Self) -> Direction:
        """D_α of this law from another of its family."""
        raise NotImplementedError

    def __repr__(self) -> str:
        arguments = ", ".join(map(value_text, self.parameters.values()))
        return f"laws.{type(self).__name__}({arguments})"

    def _settle(self, **values: Any) -> None:
        """Keep the checked values of the parameters; they have to be rational."""
        for name, value in values.items():
            _refuse_irrational(value, f"{type(self).__name__}, {name}")
            object.__setattr__(self, name, value)


value_text.register(Law, repr)


def _refuse_irrational(value: Any, what: str) -> None:
    for one in value if isinstance(value, tuple) else [value]:
        if isinstance(one, tuple):
            _refuse_irrational(one, what)
        elif not isinstance(one, Fraction):
            raise DomainError(f"{what}: found {echo(one)}, needed a rational number")


def kernel_of(
    log: sympy.Expr, low: Exact | float = -INFINITY, high: Exact | float = INFINITY
) -> Kernel:
    """e^log from low to high."""
    return Kernel(log, (low, high) if isinstance(low, float) else (Fraction(low), high))
