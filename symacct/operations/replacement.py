"""Samples drawn with replacement, as a pair of mixtures; proofs.md, section 33."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from symacct.kernel import limits
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.claims import ADD_REMOVE, REPLACE_ONE, Adjacency
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import AdjacencyError, DomainError, echo
from symacct.kernel.exact import Numeric, exact
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import whole
from symacct.laws import Normal, NormalMixture
from symacct.mechanisms import DistributionPair, Gaussian
from symacct.operations.either import Either
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import SubsampleWithoutReplacement
from symacct.operations.truncated import binomial_mass, tails

_BITS, _DIGITS = 256, 20  # of the chances, and of the numbers that are written
_TOLD_DIGITS = 9  # of the chances that a coin has
_NAME = "sample_with_replacement"


def sample_with_replacement(
    mechanism: Node, n: Numeric, batch: Numeric, adjacency: str | Adjacency = "add_remove"
) -> Node:
    """The mechanism on a sample that is drawn with replacement: `batch` draws from n records.

    A record that is drawn j times, with j ~ Bin(batch, 1/n), moves the query by jΔ. `mechanism` is
    Gaussian noise with the sensitivity of replacing one record of the batch. The result is exact
    for add/remove neighbours, where n is the size of the larger dataset, and a bound for
    replace-one neighbours. It is no smaller for fewer records: GroupPrivacy wants the size at the
    start of its last step, and no sampling, which leaves fewer records, may be put above it. The
    possible numbers of draws are told apart up to the limit "terms". For (ε, δ), conversion="exact"
    gives the truth, because Rényi orders also pay for numbers of draws that never occur.
    `baselines.with_replacement` is a bound for many steps, for larger batches and for a replaced
    record. `adjacency` names the neighbours. ε(α) is in nats. Raises DomainError, LimitError.

    >>> from symacct import Gaussian
    >>> print(sample_with_replacement(Gaussian(4), 1000, 10).rdp(2, digits=6))
    6.45318e-6
    """
    noise = as_node(mechanism, f"{_NAME}, mechanism")
    draws = whole(batch, f"{_NAME}, batch", least=1)
    records = whole(n, f"{_NAME}, n", least=2)
    limits.check("terms", draws + 1, f"{_NAME}, numbers of times that a record may be drawn")
    return moved_by_draws(noise, chances(records, draws, draws)[0], adjacency, records)


def moved_by_draws(
    noise: Node,
    weights: tuple[Fraction, ...],
    adjacency: str | Adjacency,
    records: int | None = None,
) -> Node:
    """Noise moved by jΔ with the j-th weight, against noise, or against it moved the other way."""
    if not isinstance(noise, Gaussian) or not noise.is_one_query:
        raise DomainError(
            f"{_NAME}, mechanism: found {echo(noise)}, needed Gaussian noise on one query"
        )
    relation = named_adjacency(adjacency)
    if relation not in (ADD_REMOVE, REPLACE_ONE):
        raise AdjacencyError(
            f"{_NAME}: found adjacency {relation}, needed 'add_remove' or 'replace_one'"
        )
    variance = exact(noise.sigma**2)
    moves = [j * noise.sensitivity for j in range(len(weights))]
    P = NormalMixture(moves, weights, variance)  # noqa: N806
    if relation == ADD_REMOVE:
        return DistributionPair(P, Normal(0, variance), ADD_REMOVE, "P", records)
    other = NormalMixture([-x for x in moves], weights, variance)
    return PostProcess(DistributionPair(P, other, REPLACE_ONE, records=records))


def told_draws(noise: Gaussian, weights: tuple[Fraction, ...], spare: Fraction) -> Node:
    """What a batch tells of a record replaced, by a coin that tells j >= 1 with probability λ_j.

    The record is then drawn j times with probability p_j/λ_j, else never. λ_j is
    P[J = j | J >= 1], and `spare`, at most P[J = 0], goes to more draws than one.
    """
    unit, drawn = 10**_TOLD_DIGITS, 1 - weights[0]
    told = [
        Fraction(math.ceil(unit * ((1 - spare) * p / drawn + spare / 2**j)), unit)
        for j, p in enumerate(weights[2:], 1)
    ]
    shares = (1 - sum(told, Fraction(0)), *told)
    moved = (Gaussian(noise.sigma, j * noise.sensitivity) for j in range(1, len(weights)))
    parts = zip(shares, weights[1:], moved, strict=True)
    return _by_a_coin([(s, SubsampleWithoutReplacement(m, p / s)) for s, p, m in parts])


def _by_a_coin(parts: Sequence[tuple[Fraction, Node]]) -> Node:
    """One of them, with their chances, as few coins above each other as can be."""
    if len(parts) == 1:
        return parts[0][1]
    middle = len(parts) // 2
    first, every = (sum(share for share, _ in some) for some in (parts[:middle], parts))
    return Either(_by_a_coin(parts[:middle]), _by_a_coin(parts[middle:]), first / every)


def chances(n: int, draws: int, most: int) -> tuple[tuple[Fraction, ...], Fraction]:
    """P[J = j | J <= most], J ~ Bin(draws, 1/n), rounded to the largest j, and P[J > most]."""
    share = Fraction(1, n)
    if most >= draws:
        every = range(draws + 1)
        exactly = (math.comb(draws, j) * share**j * (1 - share) ** (draws - j) for j in every)
        return tuple(exactly), Fraction(0)
    with precision(_BITS):
        lost, kept = tails(draws, share, most + 1)
        parts = [binomial_mass(draws, share, j) / kept for j in range(most + 1)]
        unit = Fraction(1, 10 ** (_DIGITS - math.floor(float(parts[-1].log()) / math.log(10))))
        lower = [math.floor(rational(part.lower()) / unit) * unit for part in parts[:-1]]
        above = math.ceil(rational(lost.upper()) / unit) * unit
    return (*lower, 1 - sum(lower, Fraction(0))), above
