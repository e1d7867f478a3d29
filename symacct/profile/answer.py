"""The conversion "exact" answers by the largest profile of an expression's products."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from symacct.kernel import limits
from symacct.kernel.answer import Enclosure, Guarantee, first_bits, from_ball
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, precision, within_floats
from symacct.kernel.claims import Claim, Kind, Proof
from symacct.kernel.conversion import Memory, WholeProfile, state
from symacct.kernel.deadline import in_half_the_time, nothing_in_time
from symacct.kernel.errors import (
    AssumptionError,
    DomainError,
    LimitError,
    OrderError,
    PrecisionError,
    SymacctError,
)
from symacct.kernel.exact import LazyModule, Numeric
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node
from symacct.operations.repeat import RepeatAndSelect
from symacct.profile.below import products_below, single_runs, triangles_below
from symacct.profile.pairs import BoundedPair, Product, kind_of, products
from symacct.profile.part import Part
from symacct.profile.proofs import NAME, PAIRS, SMOOTHED, SOURCE
from symacct.profile.roots import log_float_of
from symacct.profile.solve import CompositionProfile

if TYPE_CHECKING:
    from symacct.profile import selected
else:  # which the best of several runs reads
    selected = LazyModule("symacct.profile.selected")

#: Works that leaves name for a Rényi curve, which no profile reads.
_WORKS_OF_CURVES = ("MIR17", "ZW19", "VEH14", "WBK19")
#: Bounds that steer, or that need be near only, have so many significant digits. They steer, and
#: each bound is proved.
_FEW_DIGITS = 2
#: A lower bound by one run is asked to so many digits before it is asked to all, which may be late.
_RUN_DIGITS = 4
#: Decorates what asks contours, which are chosen in float64: numbers may be beyond it.
steered = within_floats(
    "found numbers beyond the range of float64, in which its contour is chosen, needed smaller "
    "ones",
    where="conversion exact",
    remedy="use conversion improved",
)


def profile(node: Node) -> Profile:
    """Make the profile of a node of its dominating pairs; AssumptionError if these are not known.

    Nothing is summed yet. Where every product has a smoothed one beside it, the profile of these
    answers if it is estimated to be smaller.
    """
    if isinstance(node, RepeatAndSelect):
        return selected.BestOfRuns(node)
    dominating = products(node)
    claim = _claim(node, dominating)
    may_exceed_curve = any(product.may_exceed_curve for product in dominating)
    smoothed = [product.smoothed for product in dominating if product.smoothed]
    if not smoothed or len(smoothed) < len(dominating):
        return Profile(dominating, claim, may_exceed_curve)
    claim = claim.by(SMOOTHED)
    return Profile(dominating, claim, may_exceed_curve, Profile(smoothed, claim))


def _claim(node: Node, dominating: list[Product]) -> Claim:
    """State the claim of a profile: its kind, the works of its pairs, what proves that they do.

    The works are those of the mechanisms' pairs, without those of their Rényi curves. Proofs are of
    operations, of several runs, of a curve alone.
    """
    kind, stated = kind_of(node, dominating), node.claim
    sources = (source for leaf in node.walk() if not leaf.children for source in leaf.claim.sources)
    works = dict.fromkeys(source for source in sources if source.key not in _WORKS_OF_CURVES)
    is_composed = node.children or any(len(product.runs) > 1 for product in dominating)
    proofs = [*([PAIRS] if is_composed else []), *(p for x in dominating for p in x.proofs)]
    claim = Claim(kind, stated.adjacency, None, sources=(*works,), certified=stated.certified)
    return claim.by(*proofs)


@steered
def lower_bound(node: Node, asks_epsilon: bool, given: Fraction, digits: int) -> Enclosure:
    """Bound ε(δ) or δ(ε) from below by the profile of what post-processing leaves of the node.

    `given` is the other number. Where all runs have no such digits, the bound is the largest of one
    run of each part, first to 4 digits, and of all runs to 2 digits. Samples of fixed size also ask
    three means. Each way has half of the question's time that is left. An error is raised where all
    refuse.
    """
    claim = Claim(Kind.LOWER, node.claim.adjacency, None, sources=(SOURCE,))

    @steered
    def ask(below: list[Product], digits: int) -> Enclosure:
        known = Profile(below, claim)
        ask = known.largest_epsilon if asks_epsilon else known.largest_delta
        return from_ball(ask(given, digits)[0], claim, digits, True)

    below = (
        _selections_below(node, asks_epsilon, given)
        or _exact_products(node)
        or products_below(node)
    )
    bounds: list[Enclosure] = []
    refusals: list[SymacctError] = []

    def add(products: list[Product], digits: int) -> None:
        try:
            bound = in_half_the_time(lambda: ask(products, digits))
        except (AssumptionError, PrecisionError, LimitError) as error:
            refusals.append(error)
        else:
            bounds.extend([] if bound is None else [bound])

    add(below, digits)
    if not bounds:
        single = [[product] for product in single_runs(below)]
        for run in single:
            add(run, min(_RUN_DIGITS, digits))
        if not bounds or any(sum(count for _, count in product.runs) > 1 for product in below):
            add(below, _FEW_DIGITS)
            for run in single:
                add(run, digits)
    if not bounds:
        raise refusals[-1] if refusals else nothing_in_time("lower bound")
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
    """Return the products that dominate a node, if their profile is exact; else none."""
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
        self.products, self.directions = dominating, directions_of(dominating)
        #: Has a record the same pair, in the same direction, whatever it is?
        self.has_fixed_pair = len(dominating) == 1 and dominating[0].has_fixed_pair

    @cached_property
    def tests(self) -> list[CompositionProfile]:
        """Return directions whose tests are the mechanism's; none where these are not known."""
        tests = [product.tests for product in self.products]
        return (
            directions_of([test for product_tests in tests for test in product_tests])
            if all(tests)
            else []
        )

    @steered
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

    def guarantee(self, asks_epsilon: bool, given: Fraction, digits: int) -> Guarantee:
        """Answer ε(δ) or δ(ε) to so many digits, with the claim that its proof gives."""
        with precision(first_bits(digits)):
            answer = self.answer(asks_epsilon, given, digits)
        return self.stated(asks_epsilon, given, answer, digits)

    def stated(
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
            optimal=not self.may_exceed_curve,
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


@products.register
def _(node: RepeatAndSelect) -> list[Product]:
    """Take the pair that dominates the best output; the Rényi curve may know less or more."""
    return [BoundedPair.of(selected.BestOfRuns(node).pair, Kind.UPPER)]


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


def directions_of(dominating: list[Product]) -> list[CompositionProfile]:
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

    def remembered(self, m: Node, memory: Memory) -> Profile:
        """Return the profile of a node, with what it has summed before under these limits."""
        table = memory(m, ("profile", limits.current()), "answers")
        known: Profile | None = table["profile"]
        if known is None:
            known = table["profile"] = profile(m)
        return known


#: The conversion "exact", which the accountant asks by its name.
EXACT = Exact(name=NAME, source=SOURCE, status="proved")
state(EXACT)
