"""Statements about (ε, δ) beside RDP: |χ|^α-DP (WBK19 App. F) and sampling (Lemmas 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from symacct.kernel.accountant import certified_number
from symacct.kernel.answer import Enclosure
from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.claims import ABOVE_ONE, EITHER, Claim, Kind
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric, is_infinite
from symacct.kernel.parameters import above_one, nonnegative, positive, rate, rational
from symacct.kernel.sources import WBK19, ZW19

#: The claim of `chi_to_delta`.
_CHI = Claim(Kind.UPPER, EITHER, ABOVE_ONE, sources=(WBK19.at("Lemma 31, corrected"),))
#: The claim of `subsampled_dp`. It is attained where the sampled law is P with the record and Q
#: without it, for an (ε, δ) that P and Q meet: E[(γP + (1−γ)Q − e^{ε′}Q)₊] = γ E[(P − e^ε Q)₊].
_SAMPLED = Claim(Kind.EXACT, EITHER, sources=(ZW19.at("Lemma 4"), WBK19.at("Lemma 3")))


def chi_delta(ctx: Arithmetic, xi: Number, alpha: Number, epsilon: Number) -> Number:
    """δ = ξ^α (α−1)^{α−1} / (α^α (e^ε−1)^{α−1}), for E_Q[|P/Q−1|^α] <= ξ^α, α > 1 and ε > 0.

    (x−t)₊ <= x^α · (α−1)^{α−1}/(α^α t^{α−1}) for x >= 0, with equality at x = αt/(α−1); then
    δ = E_Q[(P/Q − e^ε)₊] with x = P/Q − 1 and t = e^ε − 1. The printed Lemma 31 has
    (ξ/(e^ε−1))^α, which is a probability under Q and not under P: it is refuted by P = (19, 81),
    Q = (1, 99) in hundredths at α = 2, e^ε = 10, where δ is 0.09 and the printed bound 0.0404.
    """
    lam = alpha - 1
    log_share = lam * ctx.log(lam) - alpha * ctx.log(alpha)
    return ctx.exp(alpha * ctx.log(xi) + log_share - lam * ctx.log(ctx.expm1(epsilon)))


def chi_to_delta(xi: Numeric, alpha: Numeric, epsilon: Numeric, digits: int = 30) -> Enclosure:
    """The δ of a ξ-binary-|χ|^α-DP mechanism at ε > 0 nats, at most 1; real α > 1 (`chi_delta`).

    ξ > 0. Raises DomainError.

    >>> print(chi_to_delta(2, 2, "3", digits=10))
    0.05239569649
    """
    xi, epsilon = positive(xi, "chi_to_delta, xi"), positive(epsilon, "chi_to_delta, epsilon")
    alpha = above_one(alpha, "chi_to_delta, alpha")

    def delta() -> arb:
        bound: arb = chi_delta(BALL, *map(BALL.number, (xi, alpha, epsilon)))
        return bound.min(arb(1))

    return certified_number(lambda _: (delta(), _CHI), digits, "chi_to_delta")


def subsampled_dp(
    epsilon: Numeric, delta: Numeric, gamma: Numeric, digits: int = 30
) -> tuple[Enclosure, Enclosure]:
    """(log(1+γ(e^ε−1)), γδ): an (ε, δ)-DP mechanism sampled at rate γ (WBK19 Lem. 3, ZW19 Lem. 4).

    Of fixed size under replace-one, Poisson under add/remove. ε >= 0 in nats, 0 <= δ <= 1 and
    0 <= γ <= 1. Raises DomainError.

    >>> epsilon, delta = subsampled_dp(1, "1e-5", "1/100", digits=6)
    >>> print(epsilon, delta)
    0.0170368 1.00000e-7
    """
    epsilon = nonnegative(epsilon, "subsampled_dp, epsilon")
    if is_infinite(delta) or rational(delta, "subsampled_dp, delta") > 1:
        raise DomainError(f"subsampled_dp, delta: found {echo(delta)}, needed 0 <= delta <= 1")
    delta, gamma = nonnegative(delta, "delta"), rate(gamma, "subsampled_dp, gamma")

    def enclosed(value: Callable[[], arb], what: str) -> Enclosure:
        return certified_number(lambda _: (value(), _SAMPLED), digits, what)

    return (
        enclosed(
            lambda: (BALL.number(gamma) * BALL.number(epsilon).expm1()).log1p(), "subsampled ε"
        ),
        enclosed(lambda: BALL.number(gamma * delta), "subsampled δ"),
    )
