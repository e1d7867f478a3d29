"""Steps of Gaussian noise on samples drawn with replacement: (ε, δ), and no tail of draws in ε.

That a record is drawn more than `most` times in a step is paid for in δ: what is left has few
components, and a curve that is finite wherever it is asked (docs/proofs.md, section 33).
"""

from __future__ import annotations

from fractions import Fraction

from symacct.arithmetic import BALL
from symacct.baselines.result import Baseline, probability_or_zero
from symacct.claims import Adjacency, Kind
from symacct.domains import positive, whole
from symacct.errors import DomainError, echo
from symacct.exact import Numeric
from symacct.mechanisms import Gaussian
from symacct.operations.replacement import chances, moved_by_draws
from symacct.sources import SYMACCT

_MOST_DRAWS, _MOST_RECORDS = 60, 10**12
_SHARE = Fraction(1, 1000)  # of δ, for what is drawn too often


def with_replacement(
    delta: Numeric,
    sigma: Numeric,
    n: Numeric,
    batch: Numeric,
    steps: Numeric = 1,
    adjacency: str | Adjacency = "add_remove",
    digits: int = 10,
) -> Baseline:
    """ε(δ) of `steps` steps, `batch` draws in each; σ is the noise per record replaced.

    >>> print(with_replacement("1e-6", 4, 60000, 256, 1000).epsilon.rounded_up(5))
    0.20977
    """
    d, count = probability_or_zero(delta, "delta"), whole(steps, "steps", least=1)
    if d == 0:
        raise DomainError("delta: found 0, needed delta > 0")
    records, draws = whole(n, "n", least=2), whole(batch, "batch", least=1)
    if records > _MOST_RECORDS:
        raise DomainError(f"n: found {echo(n)}, needed n <= {_MOST_RECORDS:,}")
    kept, lost = _few(records, draws, d / count)
    one = moved_by_draws(Gaussian(positive(sigma, "sigma")), kept, adjacency)
    found = (count * one).epsilon(d - count * lost, digits=digits).epsilon
    source = SYMACCT.at("docs/proofs.md, section 33")
    return Baseline.of(
        "drawn with replacement",
        source,
        digits,
        Kind.UPPER,
        lambda: BALL.number(found.upper) - count * (-BALL.number(lost)).log1p(),
        d,
    )


def _few(n: int, batch: int, allowed: Fraction) -> tuple[tuple[Fraction, ...], Fraction]:
    """The chances of so many draws of a record that more have a chance of a part of `allowed`."""
    for most in range(1, min(batch, _MOST_DRAWS) + 1):
        kept, lost = chances(n, batch, most)
        if lost <= allowed * _SHARE:
            return kept, lost
    raise DomainError(
        f"batch: found {batch:,} draws from {echo(n)} records, needed fewer: a record may be drawn "
        f"{_MOST_DRAWS} times too easily"
    )
