"""The Gaussian mechanism itself (Balle, Wang 2018), and WBK19's approximations of its sampling."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from symacct.analysis.normal_tails import hockey_stick, hockey_stick_inverse
from symacct.baselines.result import Baseline, enclose, finite_order, positive_delta
from symacct.kernel.answer import Enclosure
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball
from symacct.kernel.claims import ABOVE_ONE, REPLACE_ONE, Kind
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import positive, rate, rational, whole
from symacct.kernel.sources import BW18, WBK19

#: The work that proves it.
_SOURCE = BW18.at("Theorem 8")


def gaussian_delta(
    epsilon: Numeric, sigma: Numeric, sensitivity: Numeric = 1, k: Numeric = 1, digits: int = 30
) -> Baseline:
    """δ(ε) = Φ(Δ/(2σ) − εσ/Δ) − e^ε Φ(−Δ/(2σ) − εσ/Δ), the exact one; k runs have σ/√k.

    ε >= 0 is rational, in nats. Raises DomainError.

    >>> print(gaussian_delta(1, 1, digits=10).delta)
    0.1269367376
    """
    eps, ratio = rational(epsilon, "epsilon"), _ratio(sigma, sensitivity, k)

    def delta() -> arb:
        return hockey_stick(ball(eps), ratio())

    return Baseline.of("exact Gaussian", _SOURCE, digits, Kind.EXACT, eps, delta)


def gaussian_epsilon(
    delta: Numeric, sigma: Numeric, sensitivity: Numeric = 1, k: Numeric = 1, digits: int = 30
) -> Baseline:
    """The ε >= 0 in nats with δ(ε) = δ, the exact privacy of k Gaussian runs; 0 < δ < 1.

    It is 0 where δ(0) is at most δ. Raises DomainError.
    """
    d = positive_delta(delta, ": the Gaussian mechanism has no finite ε")
    ratio = _ratio(sigma, sensitivity, k)

    def epsilon() -> arb:
        return hockey_stick_inverse(ball(d), ratio())

    return Baseline.of("exact Gaussian", _SOURCE, digits, Kind.EXACT, epsilon, d)


def gaussian_profile(sigma: Numeric, sensitivity: Numeric = 1) -> Callable[[arb], arb]:
    """δ₀ ↦ the exact ε₀ of one run, in balls: what `best_over_rounds` asks for."""
    ratio = _ratio(sigma, sensitivity, 1)
    return lambda delta: hockey_stick_inverse(delta, ratio())


def bad_data(
    alpha: Numeric, gamma: Numeric, sigma: Numeric, n: Numeric, digits: int = 30
) -> Enclosure:
    """WBK19 Example 28: D_α of the normal laws that approximate sampling from equal records.

    αγ²/(2σ²)·(α*−1)/(α*−α) + ½ log((α*−1)/α*) + log((α*−1)/(α*−α))/(2(α−1)), with
    α* = 1 + σ²n/(γ(n−1)); ∞ from α* on. An approximation, so its kind is neither upper nor
    lower and `certified` is False: what is enclosed is the formula. α > 1, 0 < γ <= 1 and n >= 2.
    """
    alpha, gamma, variance, n = _setting(alpha, gamma, sigma, n)
    last = 1 + variance * n / (gamma * (n - 1))
    if alpha >= last:
        return _approximate(lambda: arb("inf"), "Example 28", digits)

    def value() -> arb:
        start, room = BALL.number((last - 1) / last), BALL.number((last - 1) / (last - alpha))
        mean = BALL.number(alpha * gamma**2 / (2 * variance)) * room
        total: arb = mean + start.log() / 2 + room.log() / (2 * BALL.number(alpha - 1))
        return total

    return _approximate(value, "Example 28", digits)


def good_data(
    alpha: Numeric, gamma: Numeric, sigma: Numeric, n: Numeric, digits: int = 30
) -> Enclosure:
    """WBK19 Example 29: αγ²/(2σ² + γ(n − 1/n)/2), of records half ½ and half −½; n odd.

    An approximation, neither upper nor lower, and not certified, as `bad_data` is. Raises
    DomainError for an even n.
    """
    alpha, gamma, variance, n = _setting(alpha, gamma, sigma, n)
    if n % 2 == 0:
        raise DomainError(f"good_data, n: found {echo(n)}, needed an odd number of records")
    ratio = alpha * gamma**2 / (2 * variance + gamma * (n - Fraction(1, n)) / 2)
    return _approximate(lambda: BALL.number(ratio), "Example 29", digits)


def _approximate(value: Callable[[], arb], place: str, digits: int) -> Enclosure:
    """The formula's value, enclosed, with a claim that it bounds nothing."""
    source = WBK19.at(f"{place}, an approximation")
    return enclose(value, source, digits, place, Kind.NEITHER, REPLACE_ONE, ABOVE_ONE, False)


def _setting(
    alpha: Numeric, gamma: Numeric, sigma: Numeric, n: Numeric
) -> tuple[Fraction, Fraction, Fraction, int]:
    """(α, γ, σ², n), exact, α > 1, 0 < γ <= 1 and n >= 2; DomainError, OrderError for others."""
    noise = rational(positive(sigma, "sigma"), "sigma")
    records = whole(n, "n, the records", least=2)
    share = rational(rate(gamma, "gamma"), "gamma")
    if share == 0:
        raise DomainError("gamma: found 0, needed 0 < gamma <= 1")
    return Fraction(finite_order(alpha, "order")), share, noise**2, records


def _ratio(sigma: Numeric, sensitivity: Numeric, k: Numeric) -> Callable[[], arb]:
    """() ↦ √k Δ/σ in a ball, at the precision that is current when it is called."""
    square = (positive(sensitivity, "sensitivity") / positive(sigma, "sigma")) ** 2
    square *= whole(k, "k, the number of runs", least=1)
    return lambda: BALL.number(square).sqrt()
