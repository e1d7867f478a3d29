"""Ways to a bound of an expression's (ε, δ) that are no conversion of its curve nor its profile.

Each says of which expressions it is true, and asks about others that are sooner answered. What it
states and assumes, and where it is proved, is under its code in the table of results.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from symacct.kernel.accountant import default_accountant
from symacct.kernel.answer import Guarantee, first_bits, from_ball, to_ball
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision, rational, within_floats
from symacct.kernel.attached import question
from symacct.kernel.claims import Kind, Proof
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose, terms_of
from symacct.kernel.sources import SYMACCT
from symacct.laws import Normal, NormalMixture
from symacct.laws.law import Law
from symacct.mechanisms import DistributionPair
from symacct.operations.postprocess import PostProcess
from symacct.operations.shuffled import Shuffled
from symacct.profile.answer import ProfileAnswer, profile
from symacct.profile.grids import delta_above, epsilon_above
from symacct.profile.proofs import MANY_PARTS

#: The share of δ that rare parts may have in all: what is left out makes ε smaller and sooner
#: known, and its δ is missing elsewhere. Any share is sound.
SPENT = Fraction(1, 4)
#: The δ that stands for one not known yet, where δ(ε) is asked. It chooses what is left out: any is
#: sound.
_ASSUMED_DELTA = Fraction(1, 10**12)


@dataclass(frozen=True)
class OfferedBound:
    """A way to a bound: `proof` has its code and its place.

    `ask(True, node, δ, digits)` and `ask(False, node, ε, digits)` give a Guarantee of kind `upper`,
    or None where the way is not about the expression, or proves nothing there. `seconds` is about
    the processor time that an answer takes. What is `above_profile` is never below the exact
    profile.
    """

    proof: Proof
    seconds: float
    applies: Callable[[Node], bool]
    ask: Callable[[bool, Node, Fraction, int], Guarantee | None]
    above_profile: bool = False

    def epsilon(self, node: Node, delta: Fraction, digits: int) -> Guarantee | None:
        """Bound ε(δ)."""
        return self.ask(True, node, delta, digits)

    def delta(self, node: Node, epsilon: Fraction, digits: int) -> Guarantee | None:
        """Bound δ(ε)."""
        return self.ask(False, node, epsilon, digits)


@question(Node, "_ways")
def ways(node: Node, has_profile: bool = False) -> list[OfferedBound]:
    """The ways that are about an expression, the quickest first.

    Where its exact profile is known, none that is above that.

    >>> from symacct import Gaussian, sample_with_replacement
    >>> [way.proof.code for way in ways(9 * sample_with_replacement(Gaussian(4), 1000, 20))]
    ['RARE-PARTS', 'RARE-PARTS', 'PROFILE-MANY-PARTS']
    """
    offered = (offer for offer in WAYS if not (has_profile and offer.above_profile))
    return sorted(
        (offer for offer in offered if offer.applies(node)), key=lambda offer: offer.seconds
    )


# --- mixtures of which some normal laws are rare


@dataclass(frozen=True)
class _Shortened:
    """An expression without rare parts of its laws: at most `lost` of δ, and ε is `moved` off.

    `log_kept` are (τ, k), of k runs that lose a part of probability τ each.
    """

    node: Node
    log_kept: tuple[tuple[Fraction, int], ...]

    def moved(self) -> arb:
        """−Σ k log(1−τ) in nats, in a ball: what is added to ε."""
        each = (-k * (-BALL.number(rare)).log1p() for rare, k in self.log_kept)
        return sum(each, arb(0))

    def lost(self) -> arb:
        """1 − Π (1−τ)^k in a ball: what is added to δ."""
        return -(-self.moved()).expm1()


def _without_rare_parts(
    conversion: str, asks_epsilon: bool, node: Node, target: Fraction, digits: int
) -> Guarantee | None:
    """ε(δ) or δ(ε) by what is left without rare parts; None where none is rare.

    So it is where the target leaves nothing: δ is no more than they have, or ε than they add.
    """
    with precision(first_bits(digits)):
        rest = _shortened(node, target if asks_epsilon else _ASSUMED_DELTA)
        if rest is None:
            return None
        lost, moved = rest.lost(), rest.moved()
        taken, added = (lost, moved) if asks_epsilon else (moved, lost)
        if not taken < BALL.number(target):
            return None
        ask = default_accountant().epsilon if asks_epsilon else default_accountant().delta
        inner = ask(rest.node, target - rational(taken.upper()), conversion, digits=digits)
        value = to_ball(inner.asked.upper) + added
        claim = replace(inner.claim, kind=Kind.UPPER).by(RARE)
        least = value if asks_epsilon else value.min(arb(1))
        number = from_ball(least, claim, digits, inner.asked.certified)
        epsilon, delta = (number, target) if asks_epsilon else (target, number)
        return replace(inner, epsilon=epsilon, delta=delta, kind=Kind.UPPER, claim=claim, note="")


def _shortened(node: Node, delta: Fraction) -> _Shortened | None:
    """The expression without parts that together have at most a quarter of δ; None if none is."""
    terms = terms_of(node).items()
    allowed = SPENT * delta / max(1, sum(1 for part, _ in terms if _pair_of(part)))
    every: list[tuple[Node, int]] = []
    rare: list[tuple[Fraction, int]] = []
    for part, k in terms:
        cut, tau = _cut(part, allowed / k)
        every.append((cut, k))
        if tau:
            rare.append((tau, k))
    if not rare:
        return None
    first, *others = (k * cut for cut, k in every)
    return _Shortened(sum(others, first), tuple(rare))


def _pair_of(part: Node) -> DistributionPair | None:
    """The pair of normal laws of which one is a mixture of three or more; None for other parts.

    All means and weights are rational.
    """
    pair = part.mechanism if isinstance(part, PostProcess) else part
    if not isinstance(pair, DistributionPair):
        return None
    laws = pair.P, pair.Q
    are_normal = all(isinstance(law, Normal | NormalMixture) for law in laws)
    some = [law for law in laws if isinstance(law, NormalMixture) and len(law.means) > 2]
    are_known = all(isinstance(x, Fraction) for law in some for x in (*law.means, *law.weights))
    return pair if are_normal and some and are_known else None


def _cut(part: Node, allowed: Fraction) -> tuple[Node, Fraction]:
    """The part whose laws lose normal laws of at most `allowed` weight, and the larger weight lost.

    Those left out are the farthest from the middle of the other law.
    """
    pair = _pair_of(part)
    if pair is None:
        return part, Fraction(0)
    cuts = [_cut_law(law, other, allowed) for law, other in ((pair.P, pair.Q), (pair.Q, pair.P))]
    rare = max(tau for _, tau in cuts)
    if not rare:
        return part, Fraction(0)
    (P, _), (Q, _) = cuts  # noqa: N806
    made = DistributionPair(P, Q, pair.adjacency, pair.with_record, pair.records)
    return (PostProcess(made) if isinstance(part, PostProcess) else made), rare


def _cut_law(law: Law, other: Law, allowed: Fraction) -> tuple[Law, Fraction]:
    """The law without the components farthest from the other's mean, and their weight <= `allowed`.

    The middle of a mixture is its mean next to 0.
    """
    if not isinstance(law, NormalMixture):
        return law, Fraction(0)
    centre = other.mean if isinstance(other, Normal) else min(law.means, key=abs)
    nearest = sorted(zip(law.means, law.weights, strict=True), key=lambda x: abs(x[0] - centre))
    rare = Fraction(0)
    while len(nearest) > 1 and rare + nearest[-1][1] <= allowed:
        rare += nearest.pop()[1]
    if not rare:
        return law, rare
    means, weights = zip(*nearest, strict=True)
    return NormalMixture(list(means), [w / (1 - rare) for w in weights], law.variance), rare


# --- many parts


@within_floats("found numbers beyond the range of float64, in which many parts are laid on a grid")
def _of_many_parts(
    asks_epsilon: bool, node: Node, target: Fraction, digits: int
) -> Guarantee | None:
    """An upper bound of ε(δ) or δ(ε) by a grid of losses rounded up; None if it is not finite."""
    known = profile(node)
    directions = [direction.runs for direction in known.directions]
    value = (epsilon_above if asks_epsilon else delta_above)(directions, target)
    if not value.is_finite():
        return None
    known.claim = replace(known.claim, kind=Kind.UPPER)
    answer = ProfileAnswer(value, math.inf, MANY_PARTS)
    return known.stated(asks_epsilon, target, answer, digits)


# --- shuffled answers


def _of_randomizers(
    asks_epsilon: bool, node: Node, target: Fraction, digits: int
) -> Guarantee | None:
    """ε(δ) or δ(ε) as if it were told whose answer is which, by the randomizers' exact profile."""
    told = (
        {part.mechanism if isinstance(part, Shuffled) else part: count}
        for part, count in terms_of(node).items()
    )
    ask = default_accountant().epsilon if asks_epsilon else default_accountant().delta
    inner = ask(Compose(*told), target, "exact", digits=digits)
    claim = replace(inner.claim, kind=Kind.UPPER, adjacency=node.claim.adjacency).by(TOLD)
    name = "epsilon" if asks_epsilon else "delta"
    answer: dict[str, Any] = {name: replace(inner.asked, claim=claim)}
    return replace(inner, **answer, kind=Kind.UPPER, claim=claim)


#: The proof that answers that are shuffled tell no more than the randomizers.
TOLD = Proof("SHUFFLED-TOLD", SYMACCT.at("docs/proofs/mechanisms.md, three-clones"))
#: The proof that rare parts may be left out for a share of δ.
RARE = Proof("RARE-PARTS", SYMACCT.at("docs/proofs/conversions.md, rare-parts"))
#: The ways: answers that are not shuffled; without rare parts, by the curve of what is left, which
#: is soon known, and by its profile, which gives less; and by a grid for many parts. `seconds` are
#: measured, about.
WAYS = (
    OfferedBound(
        TOLD,
        0.1,
        lambda node: any(isinstance(part, Shuffled) for part in terms_of(node)),
        _of_randomizers,
    ),
    *(
        OfferedBound(
            RARE,
            seconds,
            lambda node: any(map(_pair_of, terms_of(node))),
            functools.partial(_without_rare_parts, conversion),
        )
        for conversion, seconds in (("improved", 0.5), ("exact", 2.0))
    ),
    OfferedBound(
        MANY_PARTS,
        3.0,
        lambda node: isinstance(node, Compose),
        _of_many_parts,
        above_profile=True,
    ),
)
