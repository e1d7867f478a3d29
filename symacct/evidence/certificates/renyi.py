"""The proof of an (ε, δ) guarantee at one Rényi order: a bound of each part, and a conversion."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from symacct.evidence.certificates.expression import (
    LAWS,
    LEAVES,
    SAMPLES,
    above,
    end_as_fraction,
    no_certificate,
    number_text,
    parts_of,
    upper,
)
from symacct.kernel.answer import Bound, Guarantee
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.conversion import Conversion, named
from symacct.kernel.errors import PrecisionError, SymacctError
from symacct.kernel.exact import INFINITY
from symacct.kernel.node import Node
from symacct.theory.conversion.asoodeh21 import TwoPointPairs

#: The checker proves a theorem on samples by the one on the right, which has the same number.
SAMPLED = {
    "MTZ19-EXACT": "MTZ19-EXACT",
    "PAIR-EXACT": "PAIR-EXACT",
    "S22-POISSON": "S22-POISSON",
    "TRIPLE-DOMINATED": "TRIPLE-DOMINATED",
    "TRIPLE-FINITE": "TRIPLE-FINITE",
    "TRIPLE-LINE": "TRIPLE-LINE",
    "TRIPLE-PURE": "TRIPLE-PURE",
    "TRIPLE-PURE-UPPER": "TRIPLE-PURE",
    "ZW19-T8": "S22-POISSON",
}
#: Each conversion rests on this theorem.
CONVERSIONS = {"classic": "MIR17-P3", "improved": "CKS20-P12", "optimal": "ALCKS21"}
#: The number asked for is claimed to at most this many significant digits. Any number is sound:
#: more make certificates longer.
CLAIMED_DIGITS = 12
#: A part's ε(α) is rounded up to this many significant digits. Any number is sound: of fewer the
#: bound is larger.
_BOUND_DIGITS = 22
#: The place whose tangent proves the optimal conversion has this many digits.
_PLACE_DIGITS = 40
#: The logarithm of a moment is at most this: the checker computes no larger one. A larger one is
#: refused.
_LARGEST_LOG_MOMENT = 2_000_000
#: A conversion is evaluated in balls of this many bits, before its digits are cut. Any number is
#: sound, as digits are cut to the safe side.
_BITS = 256


def claimed_digits(guarantee: Guarantee) -> int:
    """Return how many digits the number that was asked for is claimed to."""
    return min(guarantee.asked.digits_asked, CLAIMED_DIGITS)


def by_renyi(guarantee: Guarantee, m: Node) -> tuple[Fraction, Fraction, set[str], dict[str, Any]]:
    """Return ε and δ that are claimed, the theorems, and the proof at the guarantee's order.

    DomainError for what the checker does not know, and at the order ∞ or δ = 0.
    """
    if guarantee.conversion not in CONVERSIONS:
        raise no_certificate(f"the conversion {guarantee.conversion!r}")
    if guarantee.alpha == INFINITY or not guarantee.given:
        raise no_certificate("a guarantee at the order ∞, or at δ = 0")
    alpha = Fraction(guarantee.alpha)
    theorems, bounds, total = {CONVERSIONS[guarantee.conversion]}, [], Fraction(0)
    parts = parts_of(m)
    for part, count in parts:
        below = parts_of(part.mechanism) if isinstance(part, SAMPLES) else [(part, 1)]
        for leaf, _ in below:
            if type(leaf) in LAWS:
                raise no_certificate(f"{leaf!r} by its Rényi curve", "ask with conversion exact")
        name, bound = _bound(part, alpha, guarantee.claim.theorems)
        if (alpha - 1) * bound > _LARGEST_LOG_MOMENT:
            beyond = f"a moment beyond e^{_LARGEST_LOG_MOMENT}"
            raise no_certificate(f"{beyond}, as at the order {float(alpha):g}")
        theorems |= {name, *(LEAVES[type(leaf)].curve for leaf, _ in below)}
        if sum(times for _, times in below) > 1:
            theorems.add("MIR17-P1")
        bounds.append({"theorem": name, "epsilon": number_text(bound)})
        total += count * bound
    if sum(count for _, count in parts) > 1:
        theorems.add("MIR17-P1")
    proof = {
        "method": "renyi",
        "order": number_text(alpha),
        "conversion": guarantee.conversion,
        "bounds": bounds,
    }
    epsilon, delta = _claim(guarantee, alpha, total)
    if guarantee.conversion == "optimal":
        proof["place"] = number_text(_place(alpha, epsilon, delta))
    return epsilon, delta, theorems, proof


def _bound(part: Node, alpha: Fraction, used: Iterable[str]) -> tuple[str, Fraction]:
    """Find the theorem of those `used` that bounds a part best, and its bound, rounded up."""
    if not isinstance(part, SAMPLES):
        value = part.rdp(alpha, digits=_BOUND_DIGITS + 4).upper
        return LEAVES[type(part)].curve, above(end_as_fraction(value), _BOUND_DIGITS)
    bounds: list[tuple[Fraction, str]] = []
    for name in used:
        if name in SAMPLED:
            try:
                value = part.rdp(alpha, digits=_BOUND_DIGITS + 4, by=name).upper
                bound = end_as_fraction(value)
            except SymacctError:  # the theorem is about another part, or says nothing of this one
                continue
            bounds.append((above(bound, _BOUND_DIGITS), SAMPLED[name]))
    if not bounds:
        by = ", ".join(name for name in used if name not in {*SAMPLED, "MIR17-P1"})
        raise no_certificate(f"{part!r} by {by or 'its curve'}")
    bound, name = min(bounds)
    return name, bound


def _claim(guarantee: Guarantee, alpha: Fraction, total: Fraction) -> tuple[Fraction, Fraction]:
    """Return ε and δ; the one asked for is rounded up from what the bounds imply at this order.

    `total` is the sum of the parts' bounds. PrecisionError where balls do not tell.
    """
    conversion, target = named(guarantee.conversion), guarantee.given
    assert isinstance(conversion, Conversion)  # noqa: S101  # one of CONVERSIONS
    asks_epsilon = isinstance(guarantee.epsilon, Bound)
    formula = conversion.epsilon if asks_epsilon else conversion.log_delta
    with precision(_BITS):
        x = formula(BALL, BALL.number(total), BALL.number(alpha), BALL.number(target))
        x = x if asks_epsilon else x.exp()
        if not x.is_finite():
            raise PrecisionError("certificate: what the order implies can't be told in balls")
        value = above(max(Fraction(0), upper(x)), claimed_digits(guarantee))
    if not asks_epsilon and not 0 < value < 1:
        raise no_certificate(f"a δ of {value}")
    return (value, target) if asks_epsilon else (target, value)


def _place(alpha: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Find a place next to the lowest of H, whose tangent proves the optimal conversion.

    Floats steer the search (Asoodeh 2021); the checker proves what the place gives.
    """
    with precision(_BITS):
        pairs = TwoPointPairs(*map(BALL.number, (alpha, epsilon, delta)))
        low, high = Fraction(0), 1 - delta
        for _ in range(_BITS):
            v = above((low + high) / 2, _PLACE_DIGITS)
            if not low < v < high:
                break
            low, high = (v, high) if pairs.slope(BALL.number(v)).mid() < 0 else (low, v)
    return low if high == 1 - delta else high
