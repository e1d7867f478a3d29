"""Poisson batches that are cut to a largest size, as an expression; proofs.md, section 27."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from symacct.kernel import limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import floor, precision, rational
from symacct.kernel.claims import ADD_REMOVE, REPLACE_ONE, Adjacency
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric, text
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import rate, whole
from symacct.kernel.sums.balls import up_to
from symacct.operations.either import Either
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement

_BITS, _DIGITS = 256, 20  # of the sums, and of the numbers that are written
_MOST_RECORDS = 10**7
_CUT = (
    "each of the {n} records is kept independently with probability {gamma}; if more than {batch} "
    "are kept, {batch} of them are drawn at random; each batch is drawn anew, and which records it "
    "has is kept secret (symacct, docs/proofs.md, section 27)"
)


def truncated_poisson(
    mechanism: Node,
    gamma: Numeric,
    n: Numeric,
    batch: Numeric,
    adjacency: str | Adjacency = "add_remove",
) -> Node:
    """A Poisson sample of n records that is cut to `batch` random records if it has more.

    The result is an upper bound for add/remove neighbours, where n is the size of the larger
    dataset, or for a replaced record. With the probability that a batch is cut, the bound counts
    the noise for a record that takes another's place, and otherwise the sampled noise. `mechanism`
    is noise for the sensitivity of one record, `gamma` is the rate of the sample, and `adjacency`
    is "add_remove" or "replace_one". No sampling may be put above it. ε(α) is in nats. Raises
    DomainError.

    >>> from symacct import Gaussian
    >>> truncated_poisson(Gaussian(1), "1/2", 4, 4)
    PoissonSubsample(Gaussian(1), '1/2')
    >>> print(truncated_poisson(Gaussian(4), "1/100", 1000, 30).rdp(8, digits=4))
    0.00002589
    """
    noise = as_node(mechanism, "truncated_poisson, mechanism")
    replaced = noise.for_group(2)
    if replaced is None:
        raise DomainError(
            f"truncated_poisson, mechanism: found {echo(mechanism)}, needed noise such as "
            "Gaussian(5), for which the cost of a replaced record is known"
        )
    share = rate(gamma, "truncated_poisson, gamma")
    records = whole(n, "truncated_poisson, n", least=1)
    most = whole(batch, "truncated_poisson, batch", least=1)
    if not isinstance(share, Fraction) or 1 - Fraction(1, 10**_DIGITS) < share < 1:
        raise DomainError(
            f"gamma: found {echo(gamma)}, needed a rational number that is not close to 1"
        )
    if records > _MOST_RECORDS:
        raise DomainError(f"n: found {echo(n)}, needed n <= {_MOST_RECORDS:,}")
    relation = named_adjacency(adjacency)
    if relation not in (ADD_REMOVE, REPLACE_ONE):
        raise DomainError(
            f"truncated_poisson, adjacency: found {echo(adjacency)}, needed 'add_remove' or "
            "'replace_one'"
        )
    if most >= records or share == 0:
        return PoissonSubsample(noise, share, relation)
    in_a_place = SubsampleWithoutReplacement if relation == REPLACE_ONE else PoissonSubsample
    premise = _CUT.format(n=records, gamma=text(share), batch=most)
    if share == 1:
        return PostProcess(in_a_place(replaced, Fraction(most, records)), records, premise)
    cut, rate_of_cut, grown = _rounded_up(share, records, most)
    sampled = PoissonSubsample(noise, grown, relation)
    return PostProcess(Either(in_a_place(replaced, rate_of_cut), sampled, cut), records, premise)


def _rounded_up(gamma: Fraction, n: int, batch: int) -> tuple[Fraction, Fraction, Fraction]:
    """P[J >= B], γ̄ = B P[Bin(n, γ) > B]/(n P[J >= B]), J ~ Bin(n−1, γ), and γ, to so many digits.

    What rounding the first adds to one part, what is added to γ gives the other one more.
    """
    with precision(_BITS):
        cut, kept = tails(n - 1, gamma, batch)
        bits = floor(-cut.min(kept).log() / arb.const_log2())
        limits.check("parameter_bits", bits, "truncated_poisson, chance of a cut batch in bits")
        more, _ = tails(n, gamma, batch + 1)
        rate_of_cut = (batch * more / (n * cut)).min(arb(1))
        step = _unit(rational(cut.min(kept).lower()))
        share = _up(cut, step)
        grown = gamma * (1 + Fraction(4, 10**_DIGITS))
        return min(share, Fraction(1)), _up(rate_of_cut, _unit(rational(rate_of_cut))), grown


def _unit(x: Fraction) -> Fraction:
    """10^k, not above x/10^digits."""
    return Fraction(10) ** (math.floor(_log10(x) - 1e-6) - _DIGITS)


def _log10(x: Fraction) -> float:
    return math.log10(x.numerator) - math.log10(x.denominator)


def _up(x: arb, unit: Fraction) -> Fraction:
    return math.ceil(rational(x.upper()) / unit) * unit


def tails(count: int, gamma: Fraction, first: int) -> tuple[arb, arb]:
    """P[Bin(count, γ) >= first] and the rest, the smaller one summed: its quotients fall."""
    odds = BALL.number(gamma / (1 - gamma))
    if first > count * gamma:
        mass, steps = binomial_mass(count, gamma, first), range(first, count + 1)
        above = _summed(mass, (odds * (count - k) / (k + 1) for k in steps))
        return above, 1 - above
    mass, steps = binomial_mass(count, gamma, first - 1), range(first - 1, -1, -1)
    below = _summed(mass, (arb(k) / ((count - k + 1) * odds) for k in steps))
    return 1 - below, below


def binomial_mass(count: int, gamma: Fraction, k: int) -> arb:
    """C(count, k) γ^k (1−γ)^{count−k}"""
    ways = arb(count + 1).lgamma() - arb(k + 1).lgamma() - arb(count - k + 1).lgamma()
    rate_log, kept_log = BALL.number(gamma).log(), BALL.number(1 - gamma).log()
    return (ways + k * rate_log + (count - k) * kept_log).exp()


def _summed(mass: arb, quotients: Iterable[arb]) -> arb:
    """The sum of terms whose quotients fall, the first being `mass`; a geometric rest."""
    total, least = arb(0), arb(2) ** -_BITS
    for quotient in quotients:
        total += mass
        if quotient < 1 and mass < total * least:
            return total + up_to(mass * quotient / (1 - quotient))
        mass *= quotient
    return total
