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
    no_certificate,
    number_text,
    parts_of,
    upper,
)
from symacct.kernel.answer import Bound, Guarantee, to_fraction
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.conversion import Conversion, named
from symacct.kernel.errors import PrecisionError, SymacctError
from symacct.kernel.exact import INFINITY
from symacct.kernel.node import Node
from symacct.theory.conversion.asoodeh21 import TwoPointPairs

#: The theorems on samples, and by which ones, of the same number, the checker proves them.
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
#: The theorems of conversions.
CONVERSIONS = {"classic": "MIR17-P3", "improved": "CKS20-P12", "optimal": "ALCKS21"}
CLAIMED_DIGITS = 12  # at most, of the number asked for
_BOUND_DIGITS = 22  # of a part's ε(α)
#: Digits of the place whose tangent proves the optimal conversion.
_PLACE_DIGITS = 40
_LARGEST = 2_000_000  # logarithm of a moment, at most
#: Bits of the balls in which a conversion is evaluated, before its digits are cut.
_BITS = 256


def claimed_digits(guarantee: Guarantee) -> int:
    """To how many digits the number asked for is claimed."""
    return min(guarantee.asked.digits_asked, CLAIMED_DIGITS)


def by_renyi(guarantee: Guarantee, m: Node) -> tuple[Fraction, Fraction, set[str], dict[str, Any]]:
    """ε and δ that are claimed, the theorems, and the proof at the guarantee's order."""
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
        if (alpha - 1) * bound > _LARGEST:
            raise no_certificate(f"a moment beyond e^{_LARGEST}, as at the order {float(alpha):g}")
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
    """The theorem that bounds a part best of those that the guarantee rests on, and its bound."""
    if not isinstance(part, SAMPLES):
        value = part.rdp(alpha, digits=_BOUND_DIGITS + 4).upper
        return LEAVES[type(part)].curve, above(to_fraction(value), _BOUND_DIGITS)
    bounds: list[tuple[Fraction, str]] = []
    for name in used:
        if name in SAMPLED:
            try:
                value = part.rdp(alpha, digits=_BOUND_DIGITS + 4, by=name).upper
            except SymacctError:  # the theorem is about another part
                continue
            bounds.append((above(to_fraction(value), _BOUND_DIGITS), SAMPLED[name]))
    if not bounds:
        by = ", ".join(name for name in used if name not in {*SAMPLED, "MIR17-P1"})
        raise no_certificate(f"{part!r} by {by or 'its curve'}")
    bound, name = min(bounds)
    return name, bound


def _claim(guarantee: Guarantee, alpha: Fraction, total: Fraction) -> tuple[Fraction, Fraction]:
    """ε and δ, the one asked for rounded up from what the bounds imply at this order."""
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
    """Next to the lowest place of H, whose tangent proves the optimal conversion (Asoodeh 2021)."""
    with precision(_BITS):
        pairs = TwoPointPairs(*map(BALL.number, (alpha, epsilon, delta)))
        low, high = Fraction(0), 1 - delta
        for _ in range(_BITS):
            v = above((low + high) / 2, _PLACE_DIGITS)
            if not low < v < high:
                break
            low, high = (v, high) if pairs.slope(BALL.number(v)).mid() < 0 else (low, v)
    return low if high == 1 - delta else high
