"""Lower bounds of the true ε(δ) and δ(ε), not by way of RDP: exact for Gaussian noise alone.

Whatever a composition contains, each of its parts alone is a post-processing of it, so the
privacy profile of a part is a lower bound. With e^{ε′} = 1 + (e^ε − 1)/γ, Poisson sampling at rate
γ has δ(ε) = γ δ₀(ε′) in the direction that removes a record (P̂ = (1−γ)Q + γP against Q).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from symacct.accountant import Accountant, certified_number
from symacct.arithmetic import BALL
from symacct.baselines.gaussian import hockey_stick, hockey_stick_inverse
from symacct.claims import Claim, Kind
from symacct.errors import SymacctError
from symacct.verify.bounds import Truth, ends
from symacct.verify.protocol import Ask, Part

_DIGITS = 15


@dataclass(frozen=True)
class Profile:
    """δ(ε) of one run of noise and its inverse, in balls."""

    delta: Callable[[arb], arb]
    epsilon: Callable[[arb], arb]


def lower(ask: Ask, accountant: Accountant) -> Truth | None:
    """The largest lower bound of the ε or δ asked for, among those of the parts; enclosed."""
    found = [
        least
        for profile, exact in _profiles(ask)
        if (least := _enclosed(profile, ask, accountant, exact)) is not None
    ]
    return max(found, key=lambda least: least.lower, default=None)


def _profiles(ask: Ask) -> list[tuple[Profile, bool]]:
    """(profile, is it the whole composition?)"""
    noise = [p for p in ask.parts if p.mechanism == "Gaussian" and p.sampling == "none"]
    rest = [p for p in ask.parts if p not in noise]
    profiles = [(profile, False) for p in rest if (profile := _single(p, ask.adjacency))]
    if noise:
        square = sum(
            (p.count / Fraction(dict(p.parameters)["sigma"]) ** 2 for p in noise), Fraction()
        )
        profiles.append((_gaussian(square), not rest))
    return profiles


def _gaussian(square: Fraction) -> Profile:
    """k runs with noise σ are one with s² = k/σ²."""

    def ratio() -> arb:
        s: arb = BALL.number(square)
        return s.sqrt()

    return Profile(
        lambda eps: hockey_stick(eps, ratio()), lambda delta: hockey_stick_inverse(delta, ratio())
    )


def _single(part: Part, adjacency: str) -> Profile | None:
    """One run of a part, sampled or not; None where no profile is known here."""
    base = _base(part.mechanism, dict(part.parameters))
    if base is None or part.sampling == "none":
        return base
    # Replacing a record by one that contributes nothing is a removal, without replacement too.
    return _sampled(base, part.rate)


def _base(mechanism: str, parameters: dict[str, str]) -> Profile | None:
    if mechanism == "Gaussian":
        return _gaussian(1 / Fraction(parameters["sigma"]) ** 2)
    if mechanism == "Laplace":
        rate = 1 / Fraction(parameters["b"])
        # δ(ε) = 1 − e^{(ε−Δ/b)/2} for ε <= Δ/b
        return Profile(
            lambda eps: _floor(-((eps - BALL.number(rate)) / 2).expm1()),
            lambda delta: _floor(BALL.number(rate) + 2 * (-delta).log1p()),
        )
    if mechanism == "PureDP":
        return _two_answers(lambda: BALL.number(Fraction(parameters["epsilon"])))
    if mechanism == "RandomizedResponse":
        p = Fraction(parameters["p"])
        return _two_answers(lambda: abs(BALL.number(p / (1 - p)).log()))
    return None


def _two_answers(pure: Callable[[], arb]) -> Profile:
    """δ(ε) = (e^{ε₀} − e^ε)/(e^{ε₀} + 1), ε₀ the pure bound of randomized response."""

    def delta(eps: arb) -> arb:
        return _floor((pure().exp() - eps.exp()) / (pure().exp() + 1))

    def epsilon(delta: arb) -> arb:
        inside = pure().exp() - delta * (pure().exp() + 1)
        return inside.log().max(arb(0)) if inside > 1 else arb(0)

    return Profile(delta, epsilon)


def _sampled(base: Profile, gamma: Fraction) -> Profile:
    """The sampled profile: δ(ε) = γ δ₀(log(1 + (e^ε − 1)/γ))."""

    def delta(eps: arb) -> arb:
        rate: arb = BALL.number(gamma)
        return rate * base.delta((eps.expm1() / rate).log1p())

    def epsilon(given: arb) -> arb:
        rate: arb = BALL.number(gamma)
        if not given < rate:
            return arb(0)
        return (rate * base.epsilon(given / rate).expm1()).log1p()

    return Profile(delta, epsilon)


def _floor(x: arb) -> arb:
    return x.max(arb(0))


def _enclosed(profile: Profile, ask: Ask, accountant: Accountant, exact: bool) -> Truth | None:
    given = Fraction(ask.at)
    question = profile.epsilon if ask.kind == "epsilon" else profile.delta

    def value(_: Accountant) -> tuple[arb, Claim]:
        return question(BALL.number(given)), Claim(Kind.LOWER)

    try:
        x = certified_number(accountant, value, _DIGITS, "a lower bound")
        return Truth(*ends(x), exact)
    except (SymacctError, OverflowError):
        return None
