"""Baseline: an (ε, δ) statement that is not made from an RDP curve; what all of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from symacct.kernel.accountant import certified_number
from symacct.kernel.answer import Bound, bound
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import geometric_tail, precision, up_to
from symacct.kernel.claims import ALL_ORDERS, EITHER, Adjacency, Claim, Kind, Orders, Source
from symacct.kernel.errors import DomainError, OrderError, echo
from symacct.kernel.exact import INFINITY, Exact, Numeric, order
from symacct.kernel.parameters import nonnegative, positive
from symacct.kernel.sums.halving import halved_whole

#: Into so many equal parts the largest ε is cut where one is searched for: nine digits of it. The
#: end of a step is taken that is proved: more take longer.
STEPS = 2**30
#: Bits of the balls that such a search decides by, beside twice those of δ. What these leave open
#: counts as too large: fewer are as sound, and ε may be larger.
SEARCH_BITS = 64


@dataclass(frozen=True)
class Baseline:
    """(ε, δ)-DP by a published bound; a `status` of "conjecture" is no guarantee."""

    name: str
    epsilon: Bound
    delta: Bound
    source: Source
    status: str = "proved"

    @classmethod
    def of(
        cls,
        name: str,
        source: Source,
        digits: int,
        kind: Kind,
        epsilon: Callable[[], arb] | Fraction,
        delta: Callable[[], arb] | Fraction,
    ) -> Baseline:
        """Both numbers enclosed to these significant digits; for Kind.NEITHER it is a conjecture.

        A ball-valued function is evaluated at rising precision. PrecisionError where the digits are
        not found.
        """
        sound = kind is not Kind.NEITHER
        eps, d = (
            enclose(value, source, digits, f"{name}, {letter}", kind, certified=sound)
            for letter, value in (("ε", epsilon), ("δ", delta))
        )
        return cls(name, eps, d, source, "proved" if sound else "conjecture")

    def __str__(self) -> str:
        trust = "" if self.status == "proved" else f" ({self.status})"
        return f"({self.epsilon.rounded(10)}, {self.delta.rounded(10)})-DP, {self.name}{trust}"


def enclose(
    value: Callable[[], arb] | Fraction,
    source: Source,
    digits: int,
    what: str,
    kind: Kind,
    adjacency: Adjacency = EITHER,
    orders: Orders = ALL_ORDERS,
    certified: bool = True,
) -> Bound:
    """The Bound of a number or a ball-valued formula, at a precision that gives the digits.

    `what` names it in errors. PrecisionError where the digits are not found.
    """
    claim = Claim(kind, adjacency, orders, sources=(source,), certified=certified)
    ball = value if callable(value) else lambda: BALL.number(value)
    return bound(certified_number(lambda _: (ball(), claim), digits, what), kind)


def probability_or_zero(value: Numeric, name: str) -> Fraction:
    """A rational number in [0, 1); DomainError otherwise."""
    number = nonnegative(value, name)
    if not isinstance(number, Fraction) or number >= 1:
        raise DomainError(f"{name}: found {echo(value)}, needed a rational number in [0, 1)")
    return number


def positive_delta(value: Numeric, reason: str = "") -> Fraction:
    """A rational δ in (0, 1); DomainError for another, with the `reason` why 0 is none."""
    delta = probability_or_zero(value, "delta")
    if delta == 0:
        raise DomainError(f"delta: found 0, needed delta > 0{reason}")
    return delta


def finite_order(alpha: Numeric, what: str) -> int | Fraction:
    """A rational order in (1, ∞); OrderError, which names `what`, for another."""
    at = order(alpha)
    if at in (1, INFINITY) or not isinstance(at, int | Fraction):
        raise OrderError(f"{what}: found alpha = {echo(alpha)}, needed 1 < alpha < ∞")
    return at


def noise_of(sigma: Numeric, smallest: Fraction, largest: Fraction | float = INFINITY) -> Exact:
    """A σ from `smallest` to `largest`; DomainError for others, and for free symbols.

    Next to 0 sums would take long for no privacy.
    """
    noise = positive(sigma, "sigma")
    is_open = not isinstance(noise, Fraction) and noise.free_symbols
    if is_open or not smallest <= noise <= largest:
        needed = f"a number >= {smallest}"
        if largest != INFINITY:
            needed = f"{smallest} <= sigma <= {largest:,}"
        raise DomainError(f"sigma: found {echo(sigma)}, needed {needed}")
    return noise


# --- sums and searches


def falling_sum(first: arb, terms: Iterable[tuple[arb, arb]]) -> arb:
    """Σ w_i f_i in a ball, of factors f_i in [0, 1] and weights w_{i+1} = q_i w_i, the q_i falling.

    The `terms` are (f_i, q_i), and w_0 = `first` >= 0. Once what is left, at most w/(1−q), is below
    2^{−bits−8} of the sum, it is put into the radius.
    """
    weight, total, tiny = first, arb(0), arb(2) ** -(BALL.bits + 8)
    for factor, quotient in terms:
        total += weight * factor
        weight = weight * quotient
        rest = geometric_tail(weight, quotient)
        if rest < total * tiny:
            return total + up_to(rest)
    return total


def least_epsilon(
    allowed: Fraction, most: Fraction, delta: Callable[[Fraction, arb], arb]
) -> Fraction:
    """The least multiple of most/2³⁰ at which δ(ε) is proved to be at most `allowed`; δ(most) is 0.

    `delta` is given ε, and the allowed δ as a ball. The answer was asked itself, or is `most`:
    where balls leave gaps it suffices all the same.
    """
    with precision(SEARCH_BITS + 2 * allowed.denominator.bit_length()):
        ball = BALL.number(allowed)
        before = halved_whole(0, STEPS, lambda step: not delta(most * step / STEPS, ball) <= ball)
    return most * (before + 1) / STEPS
