"""What a leaf declares of its neighbours: the laws that one run has on two neighbouring datasets.

Each kind of laws is one class, which whoever wants more than a Rényi curve reads: the exact profile
has a loss for each kind that has numbers. What else is asked of neighbours are facts that the
classes state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

from symacct.kernel.claims import Kind
from symacct.kernel.exact import Exact, exact, expression, sympy

#: The probabilities (p, q) of every outcome, under either law.
Masses = tuple[tuple[Exact, Exact], ...]


class Neighbours:
    """The laws of one run on neighbouring datasets."""

    #: EXACT where some neighbours have these laws, UPPER where theirs are dominated.
    kind: Kind = Kind.EXACT
    #: Is it noise on a query that two records may move the opposite ways? Then a record replaced
    #: is one of twice the sensitivity.
    of_query: bool = False
    #: Δ/σ of one query with normal noise, fixed beforehand, where it is rational.
    side: Fraction | None = None
    #: (Δ/σ)² of normal noise on vectors, of which three may be equally far apart; else 0.
    squared_side: Exact = Fraction(0)

    @property
    def fixed(self) -> tuple[Neighbours, ...]:
        """Laws that some neighbours have in all runs, any of which bounds the truth from below."""
        return (self,)

    def for_group(self, size: int) -> Neighbours | None:
        """The laws of datasets so many steps apart, where they are of this kind."""
        return None


@dataclass(frozen=True)
class Unknown(Neighbours):
    """Laws that are not known of this mechanism, and what would be `needed` of it."""

    needed: str


@dataclass(frozen=True)
class Alike(Neighbours):
    """One law: no record changes the answer."""


# --- noise that a record moves


@dataclass(frozen=True)
class NormalShift(Neighbours):
    """N(Δ, σ²) against N(0, σ²), Δ = `sensitivity`."""

    sensitivity: Exact
    sigma: Exact
    kind: Kind = Kind.EXACT
    of_query: bool = True
    #: Is all of the query fixed beforehand?
    is_one_query: bool = False
    #: May records move the answer in any direction?
    is_of_vectors: bool = False

    @property
    def ratio(self) -> Exact:
        """(Δ/σ)², a fraction wherever it is one."""
        square: Exact = exact(self.sensitivity**2) / exact(self.sigma**2)
        return square

    @property
    def side(self) -> Fraction | None:  # type: ignore[override]
        """Δ/σ of one query where it is rational, else None."""
        apart = self.sensitivity / self.sigma
        return apart if self.is_one_query and isinstance(apart, Fraction) else None

    @property
    def squared_side(self) -> Exact:  # type: ignore[override]
        """(Δ/σ)² of exact noise on vectors, else 0."""
        return self.ratio if self.is_of_vectors and self.kind is Kind.EXACT else Fraction(0)

    def of_two_laws(self) -> Self:
        """Two laws that are given, of no query: they are of two records, and there is no third."""
        return replace(self, of_query=False, is_one_query=False, is_of_vectors=False)


@dataclass(frozen=True)
class LaplaceShift(Neighbours):
    """Laplace laws of scale 1 that are `shift` = Δ/b apart."""

    shift: Exact
    of_query: bool = True

    def of_two_laws(self) -> Self:
        """Two laws that are given, of no query."""
        return replace(self, of_query=False)


@dataclass(frozen=True)
class WholeNumberShift(Neighbours):
    """Symmetric log-concave `noise` on whole numbers, and that noise moved by its sensitivity.

    The noise says its own masses (`IntegerSums` of mechanisms/integer_noise.py).
    """

    noise: Any
    of_query: bool = True


# --- finitely many outcomes


@dataclass(frozen=True)
class FinitePair(Neighbours):
    """Two laws by their masses; `pure` where all losses are equally far apart, from −ε to ε."""

    masses: Masses
    pure: Exact | None = None
    of_query: bool = False


@dataclass(frozen=True)
class FinitePairs(Neighbours):
    """Some pairs of finite laws, of which each run may have another one."""

    pairs: tuple[Masses, ...]

    @property
    def fixed(self) -> tuple[Neighbours, ...]:
        """One of the pairs in all runs."""
        return tuple(map(FinitePair, self.pairs))


def two_answers(p: Exact) -> Masses:
    """Randomized response: the first answer with probability p, or 1 − p."""
    return ((p, 1 - p), (1 - p, p))


# --- densities


@dataclass(frozen=True)
class TwoDensities(Neighbours):
    """Two densities, and whether either may be that with the record.

    `overlap` is what is integrated over both (`Overlap` of mechanisms/pair.py).
    """

    overlap: Any
    either_way: bool


# --- what is stated of a mechanism's privacy


@dataclass(frozen=True)
class AnyPure(Neighbours):
    """Any ε-DP mechanism, ε = `pure`: randomized response is the worst one."""

    pure: Exact

    @property
    def masses(self) -> Masses:
        """Of the true answer with probability e^ε/(1 + e^ε)."""
        return two_answers(1 / (1 + sympy.exp(-expression(self.pure))))

    def for_group(self, size: int) -> AnyPure:
        """An (ε·size)-DP mechanism."""
        return AnyPure(size * self.pure)


@dataclass(frozen=True)
class AnyApproximate(Neighbours):
    """Any (ε, δ)-DP mechanism: the worst one tells with probability δ which law it is."""

    epsilon: Exact
    delta: Exact

    @property
    def masses(self) -> Masses:
        """Of the two outcomes that tell it, and of randomized response."""
        epsilon, delta = self.epsilon, self.delta
        p = 1 / (1 + sympy.exp(-expression(epsilon))) if epsilon else Fraction(1, 2)
        rest = (((1 - delta) * p, (1 - delta) * q) for p, q in two_answers(p))
        return ((delta, Fraction(0)), (Fraction(0), delta), *rest)


@dataclass(frozen=True)
class AnyOfRange(Neighbours):
    """Any mechanism whose log-ratios of probabilities are at most ε = `pure` apart."""

    pure: Exact


# --- many laws under one


@dataclass(frozen=True)
class Dominated(Neighbours):
    """Laws that are below `above`; some neighbours have those that `least` gives, when asked."""

    above: Neighbours
    least: Callable[[], Neighbours]

    kind = Kind.UPPER

    @property
    def fixed(self) -> tuple[Neighbours, ...]:
        """What some neighbours have."""
        return (self.least(),)


@dataclass(frozen=True)
class Worst(Neighbours):
    """Many laws, of which each test of `of` by a threshold is a test of some of them.

    So one run has the profile of `of`. Some neighbours have the laws that `least` gives.
    """

    of: Neighbours
    least: Callable[[], Neighbours]

    @property
    def fixed(self) -> tuple[Neighbours, ...]:
        """What some neighbours have."""
        return (self.least(),)
