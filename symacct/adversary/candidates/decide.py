"""One exact candidate, decided in balls of growing precision."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from symacct.adversary.candidates.finite import Candidates
from symacct.adversary.candidates.outcome import Trial
from symacct.adversary.climb import Task
from symacct.kernel.answer import Enclosure, from_ball
from symacct.kernel.arithmetic.ball import doubled, precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import SymacctError
from symacct.kernel.exact import INFINITY
from symacct.kernel.sums.balls import ball

_FIRST_BITS = 128
_DIGITS = 15


def decide(task: Task, c: Candidates) -> Trial | None:
    """The exact candidate decided in balls of growing precision; None where it is not spoken of."""
    scheme = task.scheme
    if not scheme.surely_admits(c, task.alpha) or not task.applies(c):
        return None
    for bits in doubled(min(_FIRST_BITS, scheme.last_bits), scheme.last_bits):
        with precision(bits):
            try:
                pair = task.balls(c)
            except SymacctError:
                return None
            verdict = "" if pair is None else _verdict(*pair, task.side)
            if pair is not None and (verdict or bits == scheme.last_bits):
                return _trial(task, c, verdict or "tie", bits, *pair)
    return None


def _verdict(truth: arb, bound: arb, side: Kind) -> str:
    """What is proved: "refuted" or "holds" where the balls are apart, "" where they are not."""
    low, high = (truth, bound) if side is Kind.UPPER else (bound, truth)
    return "refuted" if low > high else "holds" if low < high else ""


def _trial(task: Task, c: Candidates, verdict: str, bits: int, truth: arb, bound: arb) -> Trial:
    scheme, alpha = task.scheme, task.alpha
    exact = Claim(Kind.EXACT, task.theorem.adjacency)

    def enclosed(x: arb, claim: Claim = exact) -> Enclosure:
        return from_ball(x, claim, _DIGITS, True, signed=True)

    def divided(a: arb, b: arb) -> Enclosure | None:
        x = a / b
        return enclosed(x) if x.is_finite() else None

    ratio, moments = divided(bound, truth), None
    if scheme.by_moments and alpha not in (1, INFINITY):
        lam = ball(Fraction(alpha)) - 1
        moments = divided((lam * bound).expm1(), (lam * truth).expm1())
    return Trial(
        scheme=scheme.name,
        alpha=alpha,
        laws=scheme.laws(c),
        numbers=tuple((name, c.number(name)) for name in c.numbers),
        truth=enclosed(truth),
        bound=enclosed(bound, task.theorem.claim),
        verdict=verdict,
        bits=bits,
        ratio=ratio,
        moment_ratio=moments,
    )
