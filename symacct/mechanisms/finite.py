"""FiniteMechanism: finitely many laws on finitely many outcomes, any two of them neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import permutations
from typing import Any

from flint import fmpq, fmpq_poly

from symacct.kernel import limits, parameters
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ANY_OF_SEVERAL, SWAPPED, Adjacency, AttainedBy, Kind
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric, Order, typed_value
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Mechanism
from symacct.kernel.parameters import whole
from symacct.kernel.sources import VEH14
from symacct.laws.law import FiniteDirection
from symacct.laws.neighbours import FinitePairs
from symacct.laws.normal import rational
from symacct.mechanisms.pair import Given, probabilities

#: The probabilities (p, q) of every outcome under two laws.
Masses = tuple[tuple[Fraction, Fraction], ...]


class FiniteMechanism(Mechanism):
    """A mechanism whose output has one of the given laws, any two of which may be neighbours:

    ε(α) = max D_α(P_i‖P_j) over i ≠ j.

    Each of the `laws` lists the exact probabilities of the same outcomes. The list says that no
    other law occurs, so the effect of sampling is known as well; a DistributionPair does not say
    so. Which two of the laws the neighbours have may change from run to run. `adjacency` says which
    neighbours these are. Raises DomainError, LimitError. ε(α) is in nats. Source: VEH14, Definition
    2.

    >>> print(FiniteMechanism([["1/2", "1/2"], ["1/3", "2/3"]]).rdp("inf", digits=10))
    0.4054651081
    """

    laws: tuple[tuple[Fraction, ...], ...]
    adjacency: Adjacency
    kind = Kind.EXACT
    _stated_by = "laws"
    words = (
        "a mechanism whose answer is drawn with one of these lists of probabilities, which "
        "the data choose: {laws}"
    )
    source = VEH14.at("Definition 2")
    _makers = ("randomized_response", "exponential", "permute_and_flip")
    premises = ("on every dataset the answer has one of the laws listed",)

    def __new__(
        cls, laws: Iterable[Given], adjacency: str | Adjacency = "either"
    ) -> FiniteMechanism:
        return cls._intern(laws=_laws(laws), adjacency=named_adjacency(adjacency))

    @classmethod
    def randomized_response(
        cls, answers: Numeric, odds: Numeric, adjacency: str | Adjacency = "either"
    ) -> FiniteMechanism:
        """One of k = `answers` answers; the true one is `odds` = e^{ε₀} times as likely as others.

        `odds` is a rational number > 0. Raises DomainError, LimitError.

        >>> FiniteMechanism.randomized_response(2, 3)
        FiniteMechanism([['3/4', '1/4'], ['1/4', '3/4']])
        """
        count = whole(answers, "randomized_response, answers", least=2)
        limits.check("outcomes", count**2, "randomized_response, laws and answers")
        scores = [[int(i == j) for j in range(count)] for i in range(count)]
        return cls.exponential(scores, odds, adjacency)

    @classmethod
    def exponential(
        cls,
        scores: Iterable[Iterable[Numeric]],
        base: Numeric,
        adjacency: str | Adjacency = "either",
    ) -> FiniteMechanism:
        """The exponential mechanism, with a list of the answers' whole scores for each dataset:

        each answer has a probability in proportion to base^score, base = e^{ε₀/(2Δ)} rational. Any
        two of the datasets count as neighbours. Raises DomainError, LimitError.
        """
        weights = _weights(scores, base, "exponential")
        return cls([[w / sum(row) for w in row] for row in weights], adjacency)

    @classmethod
    def permute_and_flip(
        cls,
        scores: Iterable[Iterable[Numeric]],
        base: Numeric,
        adjacency: str | Adjacency = "either",
    ) -> FiniteMechanism:
        """Permute-and-flip, with a list of the answers' whole scores for each dataset:

        each answer in a random order is taken by a coin of base^(score − largest), base rational,
        so an answer of the coin p_i with probability p_i ∫₀¹ Π_{j≠i} (1 − p_j t) dt (MS20). Any two
        of the datasets count as neighbours. Raises DomainError, LimitError.

        >>> FiniteMechanism.permute_and_flip([[0, 0], [1, 0]], 2)
        FiniteMechanism([['1/2', '1/2'], ['3/4', '1/4']])
        """
        return cls([_flipped(row) for row in _weights(scores, base, "permute_and_flip")], adjacency)

    @cached_property
    def pairs(self) -> tuple[Masses, ...]:
        """The ordered pairs of laws as (p, q) of every outcome, those of equal masses but once."""
        return alike_once(tuple(zip(p, q, strict=True)) for p, q in permutations(self.laws, 2))

    @property
    def neighbours(self) -> FinitePairs:
        """Any two of the laws, in either order, and another pair in each run."""
        return FinitePairs(self.pairs, self.laws)

    @cached_property
    def _swap_symmetric(self) -> bool:
        """Have all ordered pairs the same masses up to the order of outcomes?"""
        return len(self.pairs) == 1

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """Any two of the laws, in either order; one pair where a symmetry swaps it."""
        return SWAPPED if self._swap_symmetric else ANY_OF_SEVERAL

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ the largest D_α over the pairs of laws"""
        curves = [FiniteDirection(masses).curve(ctx) for masses in self.pairs]
        return lambda alpha: ctx.maximum(*(curve(alpha) for curve in curves))

    def at_one(self, ctx: Arithmetic) -> Number:
        """The largest Kullback–Leibler divergence over the pairs of laws."""
        return ctx.maximum(*(FiniteDirection(masses).at_one(ctx) for masses in self.pairs))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """The largest log ratio over the pairs of laws."""
        return ctx.maximum(*(FiniteDirection(masses).at_infinity(ctx) for masses in self.pairs))


def alike_once(lists: Iterable[tuple[tuple[Any, ...], ...]]) -> tuple[Any, ...]:
    """The lists in their order, each with its entries sorted and without those seen before."""
    return tuple(dict.fromkeys(tuple(sorted(entries, key=_place)) for entries in lists))


def _place(entry: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    """The key by which an entry is sorted: rationals by size, others by their text.

    Python writes no long integers, so that rationals cannot be compared as text.
    """
    return [(False, x) if isinstance(x, int | Fraction) else (True, str(x)) for x in entry]


def _weights(scores: Iterable[Iterable[Numeric]], base: Numeric, what: str) -> list[list[Fraction]]:
    """base^score for every answer of every dataset, exactly.

    DomainError for a base that is no rational number > 0, or a score that is not whole; LimitError
    for too many answers or too long powers.
    """
    ratio = typed_value(base, f"{what}, base")
    if not isinstance(ratio, Fraction) or ratio <= 0:
        raise DomainError(f"{what}, base: found {base}, needed a rational number > 0")
    size = max(ratio.numerator.bit_length(), ratio.denominator.bit_length())
    weights = []
    for row in parameters.ordered_members(scores, f"{what}, scores", "[[0, 1], [1, 0]]"):
        listed = parameters.ordered_members(row, f"{what}, scores of a dataset", "[0, 1]")
        limits.check("outcomes", len(listed) ** 2, f"{what}, pairs of answers")
        powers = [_score(score, f"{what}, score") for score in listed]
        limits.check(
            "parameter_bits", max(map(abs, powers), default=0) * size, f"{what}, base**score"
        )
        weights.append([ratio**power for power in powers])
    return weights


def _score(value: Numeric, name: str) -> int:
    """The whole score; DomainError for another number."""
    score = typed_value(value, name)
    if not isinstance(score, Fraction) or score.denominator != 1:
        raise DomainError(f"{name}: found {echo(value)}, needed a whole number")
    return int(score)


def _flipped(weights: list[Fraction]) -> list[Fraction]:
    """p_i ∫₀¹ Π_{j≠i} (1 − p_j t) dt for each answer i, p_i its weight over the largest weight."""
    coins = [weight / max(weights) for weight in weights]
    return [
        p * _integral([other for j, other in enumerate(coins) if j != i])
        for i, p in enumerate(coins)
    ]


def _integral(coins: list[Fraction]) -> Fraction:
    """∫₀¹ Π (1 − p t) dt"""
    product = fmpq_poly([1])
    for p in coins:
        product *= fmpq_poly([1, -fmpq(p.numerator, p.denominator)])
    return rational(product.integral()(1))


def _laws(values: object) -> tuple[tuple[Fraction, ...], ...]:
    """Two or more different laws on the same outcomes, repeated ones dropped.

    DomainError for fewer, or lists of different lengths; LimitError for too many.
    """
    laws: dict[tuple[Fraction, ...], None] = {}
    example = "[['1/2', '1/2'], ['1/3', '2/3']]"
    for law in parameters.ordered_members(values, "FiniteMechanism, laws", example):
        laws[probabilities(law, f"FiniteMechanism, law {len(laws) + 1}")] = None
        limits.check("outcomes", len(laws) ** 3, "FiniteMechanism, triples of laws")
    lengths = {len(law) for law in laws}
    if len(lengths) != 1 or len(laws) < 2:
        raise DomainError(
            f"FiniteMechanism: found {len(laws)} different laws with {sorted(lengths)} outcomes, "
            "needed two or more of the same outcomes",
            remedy="give those that a law lacks the probability 0",
        )
    return tuple(laws)
