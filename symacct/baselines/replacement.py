"""Steps of Gaussian noise on samples drawn with replacement: (ε, δ), and no tail of draws in ε.

That a record is drawn more than `most` times in a step is paid for in δ: what is left has few
components, and a curve that is finite wherever it is asked (docs/proofs/allocations.md, Lemma
few-draws). For a record replaced that is the least of several.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from symacct.baselines.result import Baseline, noise_of, positive_delta
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import REPLACE_ONE, Adjacency, Kind
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node
from symacct.kernel.parameters import whole
from symacct.kernel.sources import SYMACCT
from symacct.mechanisms import Gaussian
from symacct.operations.recipes import chances, moved_by_draws, told_draws

#: The smallest σ per record replaced: next to 0 sums take long for no privacy. A smaller one is
#: refused.
_SMALLEST_NOISE = Fraction(1, 1000)
#: Draws of a record in one step that are told apart, each a component of a mixture. More are
#: refused, as they take too long.
_MOST_DRAWS = 60
#: The largest n and batch; larger ones are refused. It only limits sizes, and no bound rests on it.
_MOST_RECORDS = 10**12
#: Numbers of draws from which on δ pays that are tried, of which the one of the least ε is taken.
#: More take longer, and may make it smaller.
_CUTS_TRIED = 2
#: Shares that a coin gives to more draws than one: less costs less where many draws are no danger.
#: Each is a proved bound.
_SPARE_SHARES = (Fraction(1, 1000), Fraction(1, 10))


def with_replacement(
    delta: Numeric,
    sigma: Numeric,
    n: Numeric,
    batch: Numeric,
    steps: Numeric = 1,
    adjacency: str | Adjacency = "add_remove",
    digits: int = 10,
) -> Baseline:
    """An upper bound of ε(δ) in nats of `steps` steps, `batch` draws with replacement in each.

    σ is the noise per record replaced, n the size of the larger dataset. Raises DomainError.

    >>> print(with_replacement("1e-6", 4, 60000, 256, 1000).epsilon.rounded_up(5))
    0.17438
    """
    d, count = positive_delta(delta), whole(steps, "steps", least=1)
    records, draws = whole(n, "n", least=2), whole(batch, "batch", least=1)
    if max(records, draws) > _MOST_RECORDS:
        raise DomainError(f"n, batch: found {echo(n)}, {echo(batch)}, needed <= {_MOST_RECORDS:,}")
    noise = Gaussian(noise_of(sigma, _SMALLEST_NOISE))
    spent = [
        (lost, (count * step).epsilon(d - count * lost, digits, "improved"))
        for kept, lost in _few(records, draws, d / count)
        for step in _steps(noise, kept, named_adjacency(adjacency))
    ]

    def value() -> arb:
        every = (
            BALL.number(guarantee.epsilon.upper) - count * (-BALL.number(lost)).log1p()
            for lost, guarantee in spent
        )
        return BALL.minimum(*every)

    source = SYMACCT.at("docs/proofs/allocations.md, few-draws")
    return Baseline.of("drawn with replacement", source, digits, Kind.UPPER, value, d)


def _steps(noise: Gaussian, weights: tuple[Fraction, ...], relation: Adjacency) -> list[Node]:
    """Expressions each of which costs at least as much as one step.

    For a replaced record there are several, of which the least ε counts.
    """
    pair = moved_by_draws(noise, weights, relation)
    if relation != REPLACE_ONE:
        return [pair]
    spares = [spare for spare in _SPARE_SHARES if 2 * spare <= weights[0]]
    return [pair, *(told_draws(noise, weights, spare) for spare in spares)]


def _few(n: int, batch: int, allowed: Fraction) -> list[tuple[tuple[Fraction, ...], Fraction]]:
    """(P[J = j | J <= m], P[J > m]) for the least m with P[J > m] < `allowed`, and for m + 1.

    J is how often a record is drawn in a step. With one draw more, more of δ is left for ε.
    DomainError where m would exceed `_MOST_DRAWS`.
    """
    cuts = []
    for most in range(1, min(batch, _MOST_DRAWS) + 1):
        kept, lost = chances(n, batch, most)
        if lost < allowed:
            cuts.append((kept, lost))
        if len(cuts) == _CUTS_TRIED:
            break
    if not cuts:
        raise DomainError(
            f"batch: found {batch:,} draws from {n:,} records, needed fewer: a record may be drawn "
            f"{_MOST_DRAWS} times too easily"
        )
    return cuts
