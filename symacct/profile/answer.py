"""The conversion "exact" answers by the largest profile of an expression's products."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

import numpy as np
from flint import arb

from symacct.kernel import limits
from symacct.kernel.answer import Enclosure, Guarantee, first_bits, from_ball
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.claims import Claim, Kind, Proof, Source
from symacct.kernel.conversion import Memory, WholeProfile, state
from symacct.kernel.errors import (
    AssumptionError,
    DomainError,
    InfiniteError,
    LimitError,
    OrderError,
    PrecisionError,
)
from symacct.kernel.exact import LazyModule, Numeric
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node
from symacct.kernel.sums.balls import ball, within_floats
from symacct.operations.repeat import RepeatAndSelect
from symacct.profile.below import products_below, single_runs, triangles_below
from symacct.profile.hulls import at_smallest, pair_above
from symacct.profile.losses.finite import Atoms
from symacct.profile.pairs import products
from symacct.profile.part import Part
from symacct.profile.products import BoundedPair, Product, kind_of
from symacct.profile.proofs import BEST_OF_RUNS, NAME, PAIRS, SMOOTHED, SOURCE
from symacct.profile.roots import log_float_of
from symacct.profile.solve import CompositionProfile

if TYPE_CHECKING:
    from symacct.profile import selected
else:  # which the best of several runs reads
    selected = LazyModule("symacct.profile.selected")

#: Works that leaves name for a Rényi curve, which no profile reads.
_WORKS_OF_CURVES = ("MIR17", "ZW19", "VEH14", "WBK19")
#: Bounds that steer, or that need be near only, have so many significant digits.
_FEW_DIGITS = 2
#: A pair that dominates the best of runs is made of δ(ε) at so many places, at so many bits. More
#: places make it a nearer bound.
_PAIR_BITS, _PLACES = 96, 192
#: Its last place is the ε of one run at the first of these δ, over E[K], that the profile gives.
_LAST_DELTAS = tuple(Fraction(1, 2**bits) for bits in (100, 50, 33, 20))
P = ParamSpec("P")
T = TypeVar("T")


def _steered(ask: Callable[P, T]) -> Callable[P, T]:
    """Raise PrecisionError where numbers leave float64, in which every contour is chosen."""
    return within_floats(
        "found numbers beyond the range of float64, in which its contour is chosen, needed "
        "smaller ones",
        where="conversion exact",
        remedy="use conversion improved",
    )(np.errstate(all="ignore")(ask))


def profile(node: Node) -> Profile:
    """Make the profile of a node of its dominating pairs; AssumptionError if these are not known.

    Nothing is summed yet. Where every product has a smoothed one beside it, the profile of these
    answers if it is estimated to be smaller.
    """
    if isinstance(node, RepeatAndSelect):
        return BestOfRuns(node)
    dominating = products(node)
    kind = kind_of(node, dominating)
    may_exceed_curve = any(product.may_exceed_curve for product in dominating)
    smoothed = [product.smoothed for product in dominating if product.smoothed]
    proofs = _proofs(node, dominating)
    certified = node.claim.certified
    claim = Claim(kind, node.claim.adjacency, None, sources=_works(node), certified=certified).by(
        *proofs
    )
    if not smoothed or len(smoothed) < len(dominating):
        return Profile(dominating, claim, may_exceed_curve)
    claim = claim.by(SMOOTHED)
    return Profile(dominating, claim, may_exceed_curve, Profile(smoothed, claim))


def _works(node: Node) -> tuple[Source, ...]:
    """Collect the works that the mechanisms' pairs are of, without those of their Rényi curves."""
    sources = (source for leaf in node.walk() if not leaf.children for source in leaf.claim.sources)
    return (*dict.fromkeys(source for source in sources if source.key not in _WORKS_OF_CURVES),)


def _proofs(node: Node, dominating: list[Product]) -> list[Proof]:
    """Collect what proves that pairs dominate: of operations, of several runs, of a curve alone."""
    is_composed = node.children or any(len(product.runs) > 1 for product in dominating)
    own_proofs = dict.fromkeys(proof for product in dominating for proof in product.proofs)
    return [*([PAIRS] if is_composed else []), *own_proofs]


@_steered
def lower_bound(node: Node, asks_epsilon: bool, given: Fraction, digits: int) -> Enclosure:
    """Bound ε(δ) or δ(ε) from below by the profile of what post-processing leaves of the node.

    `given` is the other number. Where all runs have no such digits, the bound is the largest of one
    run of each part and of all runs to 2 digits. Samples of fixed size also ask three means. Errors
    are raised where even single runs refuse.
    """
    claim = Claim(Kind.LOWER, node.claim.adjacency, None, sources=(SOURCE,))

    @_steered
    def ask(below: list[Product], digits: int) -> Enclosure:
        known = Profile(below, claim)
        ask = known.largest_epsilon if asks_epsilon else known.largest_delta
        return from_ball(ask(given, digits)[0], claim, digits, True)

    below = (
        _selections_below(node, asks_epsilon, given)
        or _exact_products(node)
        or products_below(node)
    )
    try:
        bounds = [ask(below, digits)]
    except (AssumptionError, PrecisionError, LimitError):
        bounds = [ask([product], digits) for product in single_runs(below)]
        with suppress(AssumptionError, PrecisionError, LimitError):
            bounds.append(ask(below, _FEW_DIGITS))
    if triangles := triangles_below(node):
        with suppress(PrecisionError, LimitError):
            bounds.append(ask(triangles, digits))
    return max(bounds, key=lambda x: x.lower)


def profile_below(node: Node) -> Profile:
    """Make the profile of what post-processing leaves of the node, of kind LOWER."""
    claim = Claim(Kind.LOWER, node.claim.adjacency, None, sources=(SOURCE,))
    return Profile(products_below(node), claim)


def _selections_below(node: Node, asks_epsilon: bool, given: Fraction) -> list[Product]:
    """Make products of the best of several runs, its outputs in an order bad at this question.

    [] for other nodes.
    """
    if not isinstance(node, RepeatAndSelect):
        return []
    choices = selected.selections(products_below(node.mechanism), node.runs)
    return [choice.best(asks_epsilon, given) for choice in choices]


def _exact_products(node: Node) -> list[Product]:
    """Return the products of a node whose largest profile is its own, else none."""
    with suppress(AssumptionError):
        dominating = products(node)
        if kind_of(node, dominating) is Kind.EXACT:
            return dominating
    return []


class ProfileAnswer(NamedTuple):
    """An answer is ε(δ) or δ(ε) in a ball, the order 1 + c of the nodes that gave it, its proof.

    The order is estimated where no nodes were summed, and ∞ where there is none.
    """

    value: arb
    order: float
    proof: Proof


class Profile:
    """A profile answers δ(ε) and ε(δ) as the largest over some products, in both directions.

    `smoothed` is another profile above the truth: where it is estimated to be smaller it answers
    instead. Contours and grids are kept from question to question.
    """

    def __init__(
        self,
        dominating: list[Product],
        claim: Claim,
        may_exceed_curve: bool = False,
        smoothed: Profile | None = None,
    ) -> None:
        """Take the products that dominate, and lay out their directions, none of them twice."""
        self.claim, self.may_exceed_curve, self.smoothed = claim, may_exceed_curve, smoothed
        self.products, self.directions = dominating, _directions(dominating)
        #: Has a record the same pair, in the same direction, whatever it is?
        self.has_fixed_pair = len(dominating) == 1 and dominating[0].has_fixed_pair

    @cached_property
    def tests(self) -> list[CompositionProfile]:
        """Return directions whose tests are the mechanism's; none where these are not known."""
        tests = [product.tests for product in self.products]
        return (
            _directions([test for product_tests in tests for test in product_tests])
            if all(tests)
            else []
        )

    @_steered
    def answer(self, asks_epsilon: bool, given: Fraction, digits: int) -> ProfileAnswer:
        """Answer ε(δ) or δ(ε) by the largest direction, or by the smoothed profile if smaller.

        Which is smaller is estimated. PrecisionError or LimitError where the digits are not had,
        InfiniteError where no finite ε has the δ.
        """
        if self.smoothed is not None and self.smoothed.about(asks_epsilon, given) < self.about(
            asks_epsilon, given
        ):
            with suppress(PrecisionError, LimitError):
                return self.smoothed.answer(asks_epsilon, given, digits)
        largest = self.largest_epsilon if asks_epsilon else self.largest_delta
        value, best = largest(given, digits)
        order = best.order(lambda: value if asks_epsilon else BALL.number(given))
        return ProfileAnswer(value, order, best.proof)

    def about(self, asks_epsilon: bool, given: Fraction) -> float:
        """Estimate ε(δ) or log δ(ε) by moments, which prove nothing; ∞ where they refuse."""
        with suppress(PrecisionError, LimitError):
            moments = [direction.runs.moments for direction in self.directions]
            if asks_epsilon:
                log_delta = log_float_of(lambda: ball(given))
                return max(moment.saddle_epsilon(log_delta) for moment in moments)
            return max(moment.log_delta(float(given)) for moment in moments)
        return math.inf

    def guarantee(
        self, asks_epsilon: bool, given: Fraction, answer: ProfileAnswer, digits: int
    ) -> Guarantee:
        """Make the Guarantee of an answer: its enclosure, and the claim that its proof gives."""
        claim = self.claim.by(answer.proof)
        enclosure, order = from_ball(answer.value, claim, digits, True), answer.order
        epsilon, delta = (enclosure, given) if asks_epsilon else (given, enclosure)
        return Guarantee(
            epsilon,
            delta,
            order,
            NAME,
            claim.kind,
            claim,
            optimal=True,
            needs_no_order=True,
        )

    def largest_delta(self, epsilon: Fraction, digits: int) -> tuple[arb, CompositionProfile]:
        """Compute the largest δ(ε) over the directions, and the direction that attains it.

        It has one digit more than asked, as it is rounded later.
        """

        def y() -> arb:
            return BALL.number(epsilon)

        def value(direction: CompositionProfile) -> arb:
            runs = direction.runs
            return (
                runs.mass_at_infinity if runs.is_beyond(epsilon) else direction.delta(y, digits + 1)
            )

        def is_larger(direction: CompositionProfile, known: arb) -> bool:
            if direction.runs.is_beyond(epsilon):
                return not direction.runs.mass_at_infinity <= known
            return direction.is_within(y, lambda: known) is not True

        return _largest(value, is_larger, self._apart_at(epsilon))

    def _apart_at(self, epsilon: Fraction) -> list[CompositionProfile]:
        """Return the directions that may differ: at 0 both of a pair have its total variation."""
        if epsilon == 0:
            return [direction for direction in self.directions if not direction.reverse]
        return self.directions

    def largest_epsilon(self, delta: Fraction, digits: int) -> tuple[arb, CompositionProfile]:
        """Compute the largest ε(δ) over the directions, and the direction that attains it.

        InfiniteError where δ is below the mass that only one of two neighbouring datasets can give.
        """
        for direction in self.directions:
            direction.runs.refuse_delta_below_mass_at_infinity(delta)

        def value(direction: CompositionProfile) -> arb:
            return direction.epsilon(delta, digits + 1)

        def is_larger(direction: CompositionProfile, known: arb) -> bool:
            return direction.is_within(known.lower, lambda: ball(delta)) is not True

        return _largest(value, is_larger, self.directions)


class BestOfRuns(Profile):
    """The profile of the best of a random number K of runs is bounded by that of one run.

    It is of kind UPPER, and the Rényi curve may know less or more.
    """

    def __init__(self, node: RepeatAndSelect) -> None:
        self.may_exceed_curve, self.smoothed, self.has_fixed_pair = True, None, True
        self.run_profile, self.runs = profile(node.mechanism), node.runs
        self.claim = replace(self.run_profile.claim, kind=Kind.UPPER).by(BEST_OF_RUNS)

    @cached_property
    def pair(self) -> Atoms:
        """Make a finite pair that dominates the two laws of the best output, in both directions."""
        with precision(_PAIR_BITS):
            return Atoms(pair_above(self._bounds()))

    @cached_property
    def directions(self) -> list[CompositionProfile]:
        """The one direction of the pair, which exchanging its laws leaves alone."""
        return _directions([BoundedPair.of(self.pair, Kind.UPPER)])

    @property
    def tests(self) -> list[CompositionProfile]:
        """The pair's direction: its tests are at least as good as any of the mechanism's."""
        return self.directions

    def _bounds(self) -> Iterator[tuple[Fraction, Fraction]]:
        """Bound δ of the best of runs at some ε >= 0, as pairs (e^ε, δ), both rounded up.

        Places of one run lie on either side of 0, before they are shifted.
        """
        mean = selected.mean(self.runs)
        parts = list(selected.for_all(self.runs, self._run_delta))
        for place in self._places():
            delta_there = self._run_delta(place)
            exchanged = ball(-place).exp() * delta_there - ball(-place).expm1()
            for part, (at, run_delta) in itertools.product(
                parts, [(place, delta_there), (-place, exchanged)]
            ):
                if (shifted := at + part.shift) >= 0:
                    delta = (mean * run_delta + ball(part.left)).upper()
                    yield rational(ball(shifted).exp().upper()), rational(delta)

    def _places(self) -> list[Fraction]:
        """List places of one run from 0 to where hardly any δ is left, and the largest loss."""
        largest = BALL.maximum(*(way.runs.largest for way in self.run_profile.directions))
        ends = [rational(largest.upper())] if largest.is_finite() else []

        def run_epsilon(delta: Fraction) -> Fraction:
            share = selected.share(self.runs, delta)
            return rational(self.run_profile.answer(True, share, _FEW_DIGITS)[0].upper())

        with suppress(PrecisionError, LimitError, InfiniteError):
            last = at_smallest(run_epsilon, _LAST_DELTAS)
            return [*(last * i / _PLACES for i in range(_PLACES + 1)), *ends]
        return [Fraction(0), *ends]

    def _run_delta(self, epsilon: Fraction) -> arb:
        """Enclose δ of one run at ε >= 0, to 2 digits."""
        return self.run_profile.answer(False, epsilon, _FEW_DIGITS)[0]

    @_steered
    def answer(self, asks_epsilon: bool, given: Fraction, digits: int) -> ProfileAnswer:
        """Answer by the smallest of the bounds that the number of runs allows at this question."""
        of, ask = (
            (selected.for_delta, self._epsilon_by)
            if asks_epsilon
            else (selected.for_epsilon, self._delta_by)
        )
        with precision(first_bits(digits)):
            parts = of(self.runs, self._run_delta, given)
            return min((ask(part, given, digits) for part in parts), key=lambda x: float(x[0]))

    def _epsilon_by(
        self, part: selected.ShiftedBound, given: Fraction, digits: int
    ) -> ProfileAnswer:
        """Bound ε(δ) by ε₁((δ − left)/E[K]) + shift, ε₁ that of one run; 0 where δ(0) <= δ."""
        at_0 = self._delta_by(part, Fraction(0), _FEW_DIGITS)
        if at_0.value <= ball(given):
            return at_0._replace(value=arb(0))
        share = selected.share(self.runs, given - part.left)
        answer = self.run_profile.answer(True, share, digits)
        return answer._replace(value=answer.value + ball(part.shift))

    def _delta_by(self, part: selected.ShiftedBound, given: Fraction, digits: int) -> ProfileAnswer:
        """Bound δ(ε) by one shifted bound: E[K] δ₁(ε − shift) + left, at most 1."""
        left = given - part.shift
        answer = self.run_profile.answer(False, abs(left), digits)
        value = answer.value
        if left < 0:  # of the pairs exchanged
            value = ball(left).exp() * value - ball(left).expm1()
        value = selected.mean(self.runs) * value + ball(part.left)
        return answer._replace(value=value.min(arb(1)))


@products.register
def _(node: RepeatAndSelect) -> list[Product]:
    """Take the pair that dominates the best output; the Rényi curve may know less or more."""
    return [BoundedPair.of(BestOfRuns(node).pair, Kind.UPPER)]


def _largest(
    value: Callable[[CompositionProfile], arb],
    is_larger: Callable[[CompositionProfile, arb], bool],
    directions: list[CompositionProfile],
) -> tuple[arb, CompositionProfile]:
    """Compute the largest value over the directions, and a direction that attains it.

    The first direction that has a value comes first; where none has, the last one's error is
    raised. A direction that `is_larger` proves to be no larger than what is known is not computed.
    """
    *others, best = directions
    for direction in others:  # those that refuse may soon be proved smaller
        with suppress(PrecisionError, LimitError):
            best, largest = direction, value(direction)
            break
    else:
        largest = value(best)
    for other in directions:
        if other is not best and is_larger(other, largest):
            another = value(other)
            best = other if another > largest else best
            largest = largest.max(another)
    return largest, best


def _directions(dominating: list[Product]) -> list[CompositionProfile]:
    """List the directions of every product, none twice."""
    every: dict[object, CompositionProfile] = {}
    for product in dominating:
        for way in product.directions:
            every.setdefault(_oriented(product, way.reverse), way)
    return list(every.values())


def _oriented(product: Product, reverse: bool) -> tuple[frozenset[tuple[Part, int]], bool]:
    """Identify a direction by its parts and counts, turned where the exchanged pairs are known."""
    exchanged = [(part.exchanged, k) for part, k in product.runs]
    turned = [(part, k) for part, k in exchanged if part is not None]
    is_turned = reverse and len(turned) == len(exchanged)
    counts: Counter[Part] = Counter()
    for part, k in turned if is_turned else product.runs:
        counts[part] += k
    return frozenset(counts.items()), reverse and not is_turned


# --- the conversion


class Exact(WholeProfile):
    """The conversion "exact" answers by the largest profile of the dominating pairs."""

    def guarantee(
        self, m: Node, asks_epsilon: bool, given: Fraction, digits: int, memory: Memory
    ) -> Guarantee:
        """Answer ε(δ) or δ(ε) by the profile of the node, and remember the answer for its digits.

        It is remembered for the limits in force, with what the profile has summed.
        """
        known = self.remembered(m, memory)
        answers = memory(m, ("exact profile", limits.current()), "answers")
        key = (asks_epsilon, *given.as_integer_ratio(), digits)
        answer: ProfileAnswer | None = answers[key]
        if answer is None:
            with precision(first_bits(digits)):
                answer = answers[key] = known.answer(asks_epsilon, given, digits)
        return known.guarantee(asks_epsilon, given, answer, digits)

    def lower_bound(self, m: Node, asks_epsilon: bool, given: Fraction, digits: int) -> Enclosure:
        """Bound ε(δ) or δ(ε) from below by what post-processing leaves; nothing is remembered."""
        return lower_bound(m, asks_epsilon, given, digits)

    def refuse_pinned(self, orders: str | Iterable[Numeric] | None, by: object) -> None:
        """Raise an error where orders or a theorem are given, which the profile does not read."""
        if orders is not None:
            raise OrderError(
                "orders: found some with conversion exact, which takes no order",
                remedy="ask without orders",
            )
        if by is not None:
            raise DomainError(
                "by: found a theorem with conversion exact, which reads the laws themselves and no "
                "bound of their curve",
                remedy="ask without by",
            )

    def may_exceed_curve(self, m: Node, memory: Memory) -> bool:
        """Decide if Rényi orders may prove a smaller number; it makes the node's products."""
        return self.remembered(m, memory).may_exceed_curve

    def remembered(self, m: Node, memory: Memory) -> Profile:
        """Return the profile of a node, with what it has summed before."""
        table = memory(m, ("profile", limits.current()), "answers")
        known: Profile | None = table["profile"]
        if known is None:
            known = table["profile"] = profile(m)
        return known


EXACT = Exact(name=NAME, source=SOURCE, status="proved")
state(EXACT)
