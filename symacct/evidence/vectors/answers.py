"""What a question of the files means, and its answer between two proved ends."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
)
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from symacct.explore.calibration import calibrate
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ends_of, precision, rational
from symacct.kernel.claims import Claim, Kind, Source
from symacct.kernel.conversion import Conversion, conversions
from symacct.kernel.errors import PrecisionError, SoundnessError, divided
from symacct.kernel.exact import INFINITY, exact, sympy
from symacct.kernel.node import Node
from symacct.mechanisms import DiscreteGaussian, Gaussian, Laplace, RandomizedResponse
from symacct.operations import Compose, PoissonSubsample, SubsampleWithoutReplacement

# --- numbers as the files write them
#
# Numbers as the files write them: doubles in two forms, ends as thirty outward rounded digits.

#: The two ends of what encloses a number, exact.
Ends: TypeAlias = tuple[Fraction, Fraction]

#: An end has this many significant digits. Published files rest on it.
DIGITS = 30
#: A number is asked to so many digits, until thirty are decided. One that the last do not tell from
#: a decimal of thirty digits has the units on either side of that as its ends, which are proved.
TRIES = (36, 60, 100)
#: An enclosure whose ends differ by more than this share decides nothing at the last try.
_EQUAL_SHARE = Fraction(1, 10**60)
#: Decimals of thirty digits, of any size.
_CONTEXT = Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)


def both_forms(x: float) -> list[str]:
    """Write the shortest decimal that reads back as the double, and its exact value in base 16.

    >>> both_forms(0.1), both_forms(2.0)
    (['0.1', '0x1.999999999999ap-4'], ['2', '0x1p+1'])
    """
    if x == float("inf"):
        return ["Infinity", "Infinity"]
    mantissa, power = x.hex().split("p")
    return [repr(x).removesuffix(".0"), f"{mantissa.rstrip('0').rstrip('.')}p{power}"]


def outward(enclose: Callable[[int], Ends]) -> tuple[str, str]:
    """Write the ends of a number, of thirty digits, whatever ends `enclose(digits)` gives.

    A number strictly between two neighbouring decimals of thirty digits has these for ends; one
    that is such a decimal, or is not told from it by the last try, has those on both sides of it,
    and 0 itself where it is proved. So what is printed depends on the number and not on how wide
    an enclosure of it is. PrecisionError where the last try decides nothing.

    >>> outward(lambda digits: (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**digits)))
    ('3.33333333333333333333333333333e-1', '3.33333333333333333333333333334e-1')
    >>> outward(lambda digits: (Fraction(1), Fraction(1)))
    ('9.99999999999999999999999999999e-1', '1.00000000000000000000000000001e0')
    """
    for digits in TRIES:
        low, high = enclose(digits)
        if low == high == 0:
            return "0", "0"
        if low > 0:
            below = divided(low, DIGITS, ROUND_FLOOR)
            above = _CONTEXT.next_plus(below)
            if below < low and high < above:
                return scientific(below), scientific(above)
        if low == high:
            break
    if low <= 0 or high - low > _EQUAL_SHARE * low:
        raise PrecisionError("found an enclosure that is too wide, needed thirty digits")
    decimal = divided(high, DIGITS)
    return scientific(_CONTEXT.next_minus(decimal)), scientific(_CONTEXT.next_plus(decimal))


def scientific(x: Decimal) -> str:
    """Write thirty digits with one before the point."""
    return f"{x:.{DIGITS - 1}e}".replace("+", "")


# --- the answers

#: A question: doubles as [decimal, base 16], whole numbers, words, and the `parts` composed.
Question = Mapping[str, Any]
#: The ends as text, the theorems by name and the works that prove them.
Answer = tuple[tuple[str, str], frozenset[str], frozenset[Source]]

#: The class of each mechanism's name in a vector, and the name of its scale.
MECHANISMS: dict[str, tuple[Callable[..., Node], str]] = {
    "gaussian": (Gaussian, "sigma"),
    "laplace": (Laplace, "b"),
    "randomized_response": (RandomizedResponse, "p"),
    "discrete_gaussian": (DiscreteGaussian, "sigma"),
}
#: The class of each sampling's name in a vector.
SAMPLINGS = {"poisson": PoissonSubsample, "fixed_size": SubsampleWithoutReplacement}

#: What each kind of question asks for, for the schema.
MEANINGS = {
    "rdp": "The largest Rényi divergence of the order `order` over all neighbouring datasets under "
    "the relation, of the composition of all parts: ε(α) in nats. The order 1 is the "
    "Kullback–Leibler divergence, Infinity the largest loss.",
    "epsilon": "The least ε >= 0, in nats, such that the composition of all parts is (ε, δ)-"
    "differentially private under the relation, with δ = `delta`. It is of the privacy "
    "profile itself and not of a bound by Rényi orders.",
    "delta": "The least δ such that the composition of all parts is (ε, δ)-differentially private "
    "under the relation, with ε = `epsilon`. It is of the privacy profile itself and not "
    "of a bound by Rényi orders.",
    "conversion_epsilon": "The least that the conversion says of each point [α, ε(α)] of `curve`, "
    "no less than 0: ε for δ = `delta`, in nats.",
    "conversion_delta": "The least that the conversion says of each point [α, ε(α)] of `curve`, "
    "no more than 1: δ for ε = `epsilon`.",
    "calibration": "The least σ such that Gaussian noise of the standard deviation σ on a value of "
    "the sensitivity `sensitivity` is (ε, δ)-differentially private, with ε = `epsilon` and "
    "δ = `delta`.",
}


def answer(asks: str, question: Question) -> Answer:
    """Answer a question of the kind `asks`; SoundnessError where a bound is all that is known."""
    if asks == "calibration":
        return _calibrated(question)
    if asks in ("conversion_epsilon", "conversion_delta"):
        return _converted(asks, question)
    node, claims = node_of(question), set[Claim]()

    def enclose(digits: int) -> Ends:
        value = _enclosure(asks, node, question, Accountant(digits))
        if value.claim.kind is not Kind.EXACT or not value.certified:
            raise SoundnessError(f"vectors: found a {value.claim.kind} bound, needed the truth")
        claims.add(value.claim)
        return _fraction(value.lower), _fraction(value.upper)

    ends = outward(enclose)
    names = frozenset(name for claim in claims for name in claim.theorems)
    return ends, names, frozenset(source for claim in claims for source in claim.sources)


def _enclosure(asks: str, node: Node, question: Question, accountant: Accountant) -> Enclosure:
    """Enclose ε(α), ε(δ) or δ(ε) of a node, the last two by the exact profile."""
    if asks == "rdp":
        return accountant.rdp(node, double(question["order"]))
    if asks == "epsilon":
        return accountant.epsilon(node, double(question["delta"]), conversion="exact").asked
    return accountant.delta(node, double(question["epsilon"]), conversion="exact").asked


def double(forms: list[str]) -> Fraction | float:
    """Read the exact value of the double that a question gives in both forms, or infinity."""
    return INFINITY if forms[1] == "Infinity" else Fraction(float.fromhex(forms[1]))


def node_of(question: Question) -> Node:
    """Make the composition that a question is about, under its relation."""
    terms: dict[Node, int] = {}
    for part in question["parts"]:
        made, name = MECHANISMS[part["mechanism"]]
        m = made(double(part[name]), **{k: double(part[k]) for k in ("sensitivity",) if k in part})
        if "sampling" in part:
            m = SAMPLINGS[part["sampling"]](m, double(part["rate"]), question["relation"])
        terms[m] = terms.get(m, 0) + part.get("count", 1)
    ((m, count), *others) = terms.items()
    return Compose(terms) if others or count > 1 else m


def _fraction(x: Any) -> Fraction:
    """Return a finite end of an enclosure exactly."""
    number = exact(x)
    assert isinstance(number, Fraction)  # noqa: S101  # an end of an enclosure
    return number


def _calibrated(question: Question) -> Answer:
    """Answer with a σ that just misses the target and one that meets it; never by a bound."""
    noise = Gaussian(sympy.Symbol("sigma"), double(question["sensitivity"]))
    epsilon, delta = double(question["epsilon"]), double(question["delta"])
    calibration = calibrate(noise, epsilon, delta, digits=DIGITS, conversion="exact")
    if calibration.guarantee.kind is not Kind.EXACT:
        raise SoundnessError(
            f"vectors: found a {calibration.guarantee.kind} bound, needed the truth"
        )
    ends = (
        scientific(divided(calibration.fails, DIGITS, ROUND_FLOOR)),
        scientific(divided(calibration.meets, DIGITS, ROUND_CEILING)),
    )
    return ends, frozenset(), frozenset(calibration.guarantee.claim.sources)


def _converted(asks: str, question: Question) -> Answer:
    """Answer with what a conversion implies at the best of the curve's points."""
    (conversion,) = (c for c in conversions() if c.name == question["conversion"])
    assert isinstance(conversion, Conversion)  # noqa: S101  # those asked for are of one order
    is_epsilon = asks == "conversion_epsilon"
    formula = conversion.epsilon if is_epsilon else conversion.log_delta
    points = [tuple(map(double, point)) for point in question["curve"]]
    target = double(question["delta" if is_epsilon else "epsilon"])

    def ends(digits: int) -> Ends:
        with precision(8 * digits):
            values = (
                formula(BALL, BALL.number(eps), BALL.number(order), BALL.number(target))
                for order, eps in points
            )
            lowest: arb = functools.reduce(arb.min, values)
            low, high = ends_of(lowest.max(arb(0)) if is_epsilon else lowest.min(arb(0)).exp())
            return rational(low), rational(high)

    return outward(ends), frozenset(), frozenset({conversion.source})
