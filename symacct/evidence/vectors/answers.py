"""What a question of the files means, and its answer between two proved ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from flint import arb

from symacct.evidence.vectors.decimals import DIGITS, Ends, outward, scientific
from symacct.explore.calibration import calibrate
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ends_of, precision, rational
from symacct.kernel.claims import Claim, Kind, Source
from symacct.kernel.conversion import Conversion, conversions
from symacct.kernel.errors import SoundnessError
from symacct.kernel.exact import INFINITY, exact, sympy
from symacct.kernel.node import Node
from symacct.mechanisms import DiscreteGaussian, Gaussian, Laplace, RandomizedResponse
from symacct.operations import Compose, PoissonSubsample, SubsampleWithoutReplacement

#: A question: doubles as [decimal, base 16], whole numbers, words, and the `parts` composed.
Question = Mapping[str, Any]
#: The ends as text, the theorems by name and the works that prove them.
Answer = tuple[tuple[str, str], frozenset[str], frozenset[Source]]

MECHANISMS: dict[str, tuple[Callable[..., Node], str]] = {
    "gaussian": (Gaussian, "sigma"),
    "laplace": (Laplace, "b"),
    "randomized_response": (RandomizedResponse, "p"),
    "discrete_gaussian": (DiscreteGaussian, "sigma"),
}
SAMPLINGS = {"poisson": PoissonSubsample, "fixed_size": SubsampleWithoutReplacement}

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
    """The answer to a question of the kind `asks`; SoundnessError where it is not the truth."""
    if asks == "calibration":
        return _calibrated(question)
    if asks in ("conversion_epsilon", "conversion_delta"):
        return _converted(asks, question)
    node, claims = node_of(question), set[Claim]()

    def asked(digits: int) -> Ends:
        found = _asked(asks, node, question, Accountant(digits))
        if found.claim.kind is not Kind.EXACT or not found.certified:
            raise SoundnessError(f"vectors: found a {found.claim.kind} bound, needed the truth")
        claims.add(found.claim)
        return _fraction(found.lower), _fraction(found.upper)

    ends = outward(asked)
    names = frozenset(name for claim in claims for name in claim.theorems)
    return ends, names, frozenset(source for claim in claims for source in claim.sources)


def _asked(asks: str, node: Node, question: Question, accountant: Accountant) -> Enclosure:
    if asks == "rdp":
        return accountant.rdp(node, double(question["order"]))
    if asks == "epsilon":
        return accountant.epsilon(node, double(question["delta"]), conversion="exact").asked
    return accountant.delta(node, double(question["epsilon"]), conversion="exact").asked


def double(forms: list[str]) -> Fraction | float:
    """The exact value of the double that a question gives in both forms, or infinity."""
    return INFINITY if forms[1] == "Infinity" else Fraction(float.fromhex(forms[1]))


def node_of(question: Question) -> Node:
    """The composition that a question is about, under its relation."""
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
    found = exact(x)
    assert isinstance(found, Fraction)  # noqa: S101  # an end of an enclosure
    return found


def _calibrated(question: Question) -> Answer:
    noise = Gaussian(sympy.Symbol("sigma"), double(question["sensitivity"]))
    epsilon, delta = double(question["epsilon"]), double(question["delta"])
    found = calibrate(noise, epsilon, delta, digits=DIGITS, conversion="exact")
    if found.guarantee.kind is not Kind.EXACT:
        raise SoundnessError(f"vectors: found a {found.guarantee.kind} bound, needed the truth")
    ends = scientific(found.fails), scientific(found.meets, up=True)
    return ends, frozenset(), frozenset(found.guarantee.claim.sources)


def _converted(asks: str, question: Question) -> Answer:
    (conversion,) = (c for c in conversions() if c.name == question["conversion"])
    assert isinstance(conversion, Conversion)  # noqa: S101  # those asked for are of one order
    least = _least_epsilon if asks == "conversion_epsilon" else _least_delta
    points = [tuple(map(double, point)) for point in question["curve"]]
    given = double(question["delta" if asks == "conversion_epsilon" else "epsilon"])

    def asked(digits: int) -> Ends:
        with precision(8 * digits):
            found = least(conversion, points, BALL.number(given))
            low, high = ends_of(found)
            return rational(low), rational(high)

    return outward(asked), frozenset(), frozenset({conversion.source})


def _least_epsilon(conversion: Conversion, points: Iterable[Any], delta: arb) -> arb:
    least = arb(INFINITY)
    for order, eps in points:
        found = conversion.epsilon(BALL, BALL.number(eps), BALL.number(order), delta)
        least = least.min(found)
    return least.max(arb(0))


def _least_delta(conversion: Conversion, points: Iterable[Any], epsilon: arb) -> arb:
    least = arb(0)
    for order, eps in points:
        found = conversion.log_delta(BALL, BALL.number(eps), BALL.number(order), epsilon)
        least = least.min(found)
    return least.exp()
