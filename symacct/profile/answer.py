"""The true (ε, δ) of an expression: the largest profile of its products, in either direction."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np
from flint import arb

from symacct.kernel.answer import Enclosure, Guarantee, first_bits, from_ball
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.claims import Claim, Kind, Proof, Source
from symacct.kernel.errors import AssumptionError, InfiniteError, LimitError, PrecisionError
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node
from symacct.kernel.sums.balls import ball, within_floats
from symacct.operations.repeat import RepeatAndSelect
from symacct.profile import selected
from symacct.profile.below import one_run_each, products_below, triangles_below
from symacct.profile.hulls import pair_above
from symacct.profile.losses.finite import Atoms
from symacct.profile.pairs import products
from symacct.profile.part import Part
from symacct.profile.products import BoundedPair, Product, kind_of
from symacct.profile.proofs import BEST_OF_RUNS, NAME, PAIRS, SMOOTHED, SOURCE
from symacct.profile.roots import log_float_of
from symacct.profile.solve import CompositionProfile

#: Works that leaves name for a Rényi curve, which no profile reads.
_OF_CURVES = ("MIR17", "ZW19", "VEH14", "WBK19")
_FEW_DIGITS = 2
#: Of a pair that dominates the best of runs: its bits, its places, and what may be left beyond.
_PAIR_BITS, _PLACES = 96, 192
_LEFT = tuple(Fraction(1, 2**bits) for bits in (100, 50, 33, 20))
P = ParamSpec("P")
T = TypeVar("T")


def _steered(ask: Callable[P, T]) -> Callable[P, T]:
    """PrecisionError where numbers leave float64, in which every contour is chosen."""
    return within_floats(
        "found numbers beyond the range of float64, in which its contour is chosen, needed "
        "smaller ones",
        where="conversion exact",
        remedy="use conversion improved",
    )(np.errstate(all="ignore")(ask))


def profile(node: Node) -> Profile:
    """The profile of a node; AssumptionError where its pairs are not known."""
    if isinstance(node, RepeatAndSelect):
        return BestOfRuns(node)
    found = products(node)
    kind = kind_of(node, found)
    may_exceed_curve = any(product.may_exceed_curve for product in found)
    smoothed = [product.smoothed for product in found if product.smoothed]
    proofs = _proofs(node, found)
    certified = node.claim.certified
    claim = Claim(kind, node.claim.adjacency, None, sources=_works(node), certified=certified).by(
        *proofs
    )
    if not smoothed or len(smoothed) < len(found):
        return Profile(found, claim, may_exceed_curve)
    claim = claim.by(SMOOTHED)
    return Profile(found, claim, may_exceed_curve, Profile(smoothed, claim))


def _works(node: Node) -> tuple[Source, ...]:
    """The works that the mechanisms' pairs are of."""
    own = (source for leaf in node.walk() if not leaf.children for source in leaf.claim.sources)
    return (*dict.fromkeys(source for source in own if source.key not in _OF_CURVES),)


def _proofs(node: Node, found: list[Product]) -> list[Proof]:
    """What proves that the pairs dominate: of operations, of several runs, of a curve alone."""
    is_composed = node.children or any(len(product.runs) > 1 for product in found)
    own = dict.fromkeys(proof for product in found for proof in product.proofs)
    return [*([PAIRS] if is_composed else []), *own]


@_steered
def lower_bound(node: Node, asks_epsilon: bool, given: Fraction, digits: int) -> Enclosure:
    """A lower bound of ε(δ) or δ(ε): the profile of what is left by post-processing.

    Of all its runs, to few digits where no more are to be had, or the largest of one run of each
    part; of samples of fixed size also with three means equally far apart, where soon known.
    """
    claim = Claim(Kind.LOWER, node.claim.adjacency, None, sources=(SOURCE,))

    @_steered
    def ask(found: list[Product], digits: int) -> Enclosure:
        asked = Profile(found, claim)
        ask = asked.largest_epsilon if asks_epsilon else asked.largest_delta
        return from_ball(ask(given, digits)[0], claim, digits, True)

    found = _told(node, asks_epsilon, given) or _exact(node) or products_below(node)
    try:
        least = [ask(found, digits)]
    except (AssumptionError, PrecisionError, LimitError):
        least = [ask([one], digits) for one in one_run_each(found)]
        with suppress(AssumptionError, PrecisionError, LimitError):
            least.append(ask(found, _FEW_DIGITS))
    if triangles := triangles_below(node):
        with suppress(PrecisionError, LimitError):
            least.append(ask(triangles, digits))
    return max(least, key=lambda x: x.lower)


def profile_below(node: Node) -> Profile:
    """The profile of what post-processing leaves of the node, of kind `lower`."""
    claim = Claim(Kind.LOWER, node.claim.adjacency, None, sources=(SOURCE,))
    return Profile(products_below(node), claim)


def _told(node: Node, asks_epsilon: bool, given: Fraction) -> list[Product]:
    """What the best of several runs tells, in an order of the outputs that is good for this."""
    if not isinstance(node, RepeatAndSelect):
        return []
    found = selected.selections(products_below(node.mechanism), node.runs)
    return [one.best(asks_epsilon, given) for one in found]


def _exact(node: Node) -> list[Product]:
    """The products of a node that has their profile, else none."""
    with suppress(AssumptionError):
        found = products(node)
        if kind_of(node, found) is Kind.EXACT:
            return found
    return []


class ProfileAnswer(NamedTuple):
    """ε(δ) or δ(ε), the order 1 + c of the nodes that gave it, and where that is proved."""

    value: arb
    order: float
    proof: Proof


class Profile:
    """δ(ε) and ε(δ), the largest of some products.

    `smoothed` is another one of which either may be answered: both are above the truth.
    """

    def __init__(
        self,
        found: list[Product],
        claim: Claim,
        may_exceed_curve: bool = False,
        smoothed: Profile | None = None,
    ) -> None:
        self.claim, self.may_exceed_curve, self.smoothed = claim, may_exceed_curve, smoothed
        self.products, self.directions = found, _directions(found)
        #: Has a record the same pair, in the same direction, whatever it is?
        self.has_one_pair = len(found) == 1 and found[0].has_one_pair

    @cached_property
    def tests(self) -> list[CompositionProfile]:
        """Directions whose tests are those of the mechanism; none where they are not known."""
        tests = [product.tests for product in self.products]
        return _directions([one for ones in tests for one in ones]) if all(tests) else []

    def delta(self, epsilon: Fraction, digits: int) -> Guarantee:
        """The Guarantee with δ(ε), ε >= 0."""
        return self.guarantee(False, epsilon, self.answer(False, epsilon, digits), digits)

    def epsilon(self, delta: Fraction, digits: int) -> Guarantee:
        """The Guarantee with ε(δ)."""
        return self.guarantee(True, delta, self.answer(True, delta, digits), digits)

    @_steered
    def answer(self, asks_epsilon: bool, given: Fraction, digits: int) -> ProfileAnswer:
        """ε(δ) or δ(ε), the order 1 + c of the nodes that gave it, and its proof."""
        if self.smoothed is not None and self.smoothed.about(asks_epsilon, given) < self.about(
            asks_epsilon, given
        ):
            with suppress(PrecisionError, LimitError):
                return self.smoothed.answer(asks_epsilon, given, digits)
        largest = self.largest_epsilon if asks_epsilon else self.largest_delta
        found, best = largest(given, digits)
        order = best.order(lambda: found if asks_epsilon else BALL.number(given))
        return ProfileAnswer(found, order, best.proof)

    def about(self, asks_epsilon: bool, given: Fraction) -> float:
        """About ε(δ) or log δ(ε), which proves nothing; ∞ where that can't be told."""
        with suppress(PrecisionError, LimitError):
            moments = [direction.runs.moments for direction in self.directions]
            if asks_epsilon:
                log_delta = log_float_of(lambda: ball(given))
                return max(each.saddle_epsilon(log_delta) for each in moments)
            return max(each.log_delta(float(given)) for each in moments)
        return math.inf

    def guarantee(
        self, asks_epsilon: bool, given: Fraction, answer: ProfileAnswer, digits: int
    ) -> Guarantee:
        """An answer with what it claims."""
        claim = self.claim.by(answer.proof)
        found, order = from_ball(answer.value, claim, digits, True), answer.order
        epsilon, delta = (found, given) if asks_epsilon else (given, found)
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
        """The largest δ(ε) over the directions, and where it is."""

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
        """The directions that may differ: at 0 both of a pair have its total variation."""
        if epsilon == 0:
            return [direction for direction in self.directions if not direction.reverse]
        return self.directions

    def largest_epsilon(self, delta: Fraction, digits: int) -> tuple[arb, CompositionProfile]:
        """The largest ε(δ) over the directions, and where it is."""
        for direction in self.directions:
            direction.runs.refuse_delta_below_mass_at_infinity(delta)

        def value(direction: CompositionProfile) -> arb:
            return direction.epsilon(delta, digits + 1)

        def is_larger(direction: CompositionProfile, known: arb) -> bool:
            return direction.is_within(known.lower, lambda: ball(delta)) is not True

        return _largest(value, is_larger, self.directions)


class BestOfRuns(Profile):
    """A bound of the profile of the best of a random number of runs, by that of one run."""

    def __init__(self, node: RepeatAndSelect) -> None:
        self.may_exceed_curve, self.smoothed, self.has_one_pair = True, None, True
        self.one_run, self.runs = profile(node.mechanism), node.runs
        self.claim = replace(self.one_run.claim, kind=Kind.UPPER).by(BEST_OF_RUNS)

    @cached_property
    def pair(self) -> Atoms:
        """A pair that dominates the two laws of what is told, both ways."""
        with precision(_PAIR_BITS):
            return Atoms(pair_above(self._bounds()))

    @cached_property
    def directions(self) -> list[CompositionProfile]:
        """One, of the pair, which exchanging its laws leaves alone."""
        return _directions([BoundedPair.of(self.pair, Kind.UPPER)])

    @property
    def tests(self) -> list[CompositionProfile]:
        """Tests of the pair, which are at least as good as any that can be had."""
        return self.directions

    def _bounds(self) -> Iterator[tuple[Fraction, Fraction]]:
        """(e^ε, δ) of the best of runs, from δ of one run at some places on either side of 0."""
        mean = selected.mean(self.runs)
        parts = list(selected.for_all(self.runs, self._delta_of_one))
        for place in self._places():
            found = self._delta_of_one(place)
            turned = ball(-place).exp() * found - ball(-place).expm1()
            for part, (at, one) in itertools.product(parts, [(place, found), (-place, turned)]):
                if (shifted := at + part.shift) >= 0:
                    delta = (mean * one + ball(part.left)).upper()
                    yield rational(ball(shifted).exp().upper()), rational(delta)

    def _places(self) -> list[Fraction]:
        """Places from 0 to where hardly anything is left, and the largest loss."""
        largest = BALL.maximum(*(way.runs.largest for way in self.one_run.directions))
        ends = [rational(largest.upper())] if largest.is_finite() else []
        for left in _LEFT:
            with suppress(PrecisionError, LimitError, InfiniteError):
                share = selected.share(self.runs, left)
                last = rational(self.one_run.answer(True, share, _FEW_DIGITS)[0].upper())
                return [*(last * i / _PLACES for i in range(_PLACES + 1)), *ends]
        return [Fraction(0), *ends]

    def _delta_of_one(self, epsilon: Fraction) -> arb:
        return self.one_run.answer(False, epsilon, _FEW_DIGITS)[0]

    @_steered
    def answer(self, asks_epsilon: bool, given: Fraction, digits: int) -> ProfileAnswer:
        of, ask = (
            (selected.for_delta, self._epsilon_by)
            if asks_epsilon
            else (selected.for_epsilon, self._delta_by)
        )
        with precision(first_bits(digits)):
            parts = of(self.runs, self._delta_of_one, given)
            return min((ask(part, given, digits) for part in parts), key=lambda x: float(x[0]))

    def _epsilon_by(
        self, part: selected.ShiftedBound, given: Fraction, digits: int
    ) -> ProfileAnswer:
        at_0 = self._delta_by(part, Fraction(0), _FEW_DIGITS)
        if at_0.value <= ball(given):
            return at_0._replace(value=arb(0))
        share = selected.share(self.runs, given - part.left)
        found = self.one_run.answer(True, share, digits)
        return found._replace(value=found.value + ball(part.shift))

    def _delta_by(self, part: selected.ShiftedBound, given: Fraction, digits: int) -> ProfileAnswer:
        left = given - part.shift
        answer = self.one_run.answer(False, abs(left), digits)
        found = answer.value
        if left < 0:  # of the pairs exchanged
            found = ball(left).exp() * found - ball(left).expm1()
        found = selected.mean(self.runs) * found + ball(part.left)
        return answer._replace(value=found.min(arb(1)))


@products.register
def _(node: RepeatAndSelect) -> list[Product]:
    """The pair that dominates what is told; the Rényi curve may know less or more."""
    return [BoundedPair.of(BestOfRuns(node).pair, Kind.UPPER)]


def _largest(
    value: Callable[[CompositionProfile], arb],
    is_larger: Callable[[CompositionProfile, arb], bool],
    directions: list[CompositionProfile],
) -> tuple[arb, CompositionProfile]:
    """The largest value over the directions, those that may be it worked out in full."""
    best, found = _first(value, directions)
    for other in directions:
        if other is not best and is_larger(other, found):
            another = value(other)
            best = other if another > found else best
            found = found.max(another)
    return found, best


def _first(
    value: Callable[[CompositionProfile], arb], directions: list[CompositionProfile]
) -> tuple[CompositionProfile, arb]:
    """The first one whose value can be had: the others may be told to be smaller by few digits."""
    *others, last = directions
    for direction in others:
        with suppress(PrecisionError, LimitError):
            return direction, value(direction)
    return last, value(last)


def _directions(found: list[Product]) -> list[CompositionProfile]:
    """Each product both ways, or one where that is all; none twice."""
    every: dict[object, CompositionProfile] = {}
    for product in found:
        for way in product.directions:
            every.setdefault(_oriented(product, way.reverse), way)
    return list(every.values())


def _oriented(product: Product, reverse: bool) -> tuple[frozenset[tuple[Part, int]], bool]:
    """The pairs as they stand, where they are known so the other way round too."""
    exchanged = [(part.exchanged, k) for part, k in product.runs]
    turned = [(part, k) for part, k in exchanged if part is not None]
    if reverse and len(turned) == len(exchanged):
        return _counted(turned), False
    return _counted(product.runs), reverse


def _counted(runs: Iterable[tuple[Part, int]]) -> frozenset[tuple[Part, int]]:
    """In no order, and as often as it is run each part once."""
    counts: Counter[Part] = Counter()
    for part, k in runs:
        counts[part] += k
    return frozenset(counts.items())
