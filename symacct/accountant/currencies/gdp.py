"""Gaussian differential privacy (Dong, Roth, Su 2022): a μ whose trade-off curve lies below."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import singledispatch

from flint import arb

from symacct.accountant.currencies.tradeoff import known_profile, nearest_first, profile_or_curve
from symacct.kernel import parameters
from symacct.kernel.accountant import Accountant, certified_number, refuse_symbols
from symacct.kernel.answer import Bound, bound, first_bits, from_ball, to_fraction
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, precision
from symacct.kernel.attached import question
from symacct.kernel.claims import Claim, Kind, Source
from symacct.kernel.deadline import in_half_the_time, one_question
from symacct.kernel.errors import (
    AssumptionError,
    DomainError,
    LimitError,
    PrecisionError,
    SoundnessError,
    echo,
)
from symacct.kernel.exact import INFINITY, Exact, Numeric, exact
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Compose, terms_of
from symacct.kernel.parameters import rational
from symacct.kernel.sources import DRS22, SYMACCT
from symacct.laws.neighbours import LaplaceShift, ResponseLaws, SwappedPair, law_of
from symacct.operations.group import GroupPrivacy
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import Sampling
from symacct.profile import Profile, profile, profile_below
from symacct.profile.tradeoff import HockeySticks, largest_regret, smallest_mu

#: What a μ rests on.
_SOURCES = (
    DRS22.at("μ-GDP, its composition and its groups"),
    SYMACCT.at("docs/proofs/currencies.md, gaussian-dp"),
)


#: A μ that has a formula has this many significant digits where none are asked for. More take
#: longer.
_DIGITS = 30
#: A μ that is searched for has this many significant digits: more take longer.
_SEARCHED_DIGITS = 10
#: A μ has this many significant digits for a trade-off curve that is nearly Gaussian, where all
#: slopes matter. More take longer.
_FEW_DIGITS = 3


@question(Node, "gdp")
@one_question("gdp")
def gdp(m: Node, digits: int | None = None, least_error: Numeric = 0) -> Bound:
    """Find a μ for which the mechanism is μ-GDP: as hard to tell as N(μ, 1) from N(0, 1).

    The smallest, and then of kind `exact`, for sums of Gaussian noise and samples of it, and
    for what has an exact profile and a finite ε(∞). No sample of Gaussian noise has a smaller
    one than all of the data: that is seen by tests of tiny errors alone. `least_error` a says
    how tiny: the smallest μ for all tests of which both errors are at least a, so that no
    guess of who was in the data is right more often than under μ-GDP by more than a. `digits`
    are 30, or 10 where μ is searched for. Raises AssumptionError where none is known.

    >>> from symacct import Gaussian, PoissonSubsample, PureDP
    >>> print((3 * Gaussian(5) + PureDP("1/10")).gdp(digits=6))
    0.368378
    >>> run = 2000 * PoissonSubsample(Gaussian("9.4"), "0.328")
    >>> print(run.gdp(digits=6), run.gdp(digits=6, least_error="1e-10"))
    4.75760 1.56848
    """
    node, floor = as_node(m, "gdp")._rewritten, rational(least_error, "gdp, least_error")
    digits = None if digits is None else parameters.digits(digits)
    refuse_symbols(m)
    if node.claim.kind is Kind.LOWER:
        raise SoundnessError(
            f"gdp: found only a lower bound of {echo(m)}, which guarantees nothing; "
            "needed an exact curve or an upper bound"
        )
    if not floor < Fraction(1, 2):
        raise DomainError(
            f"gdp, least_error: found {echo(least_error)}, needed 0 <= least_error < 1/2"
        )
    if floor and squared_mu(node) is None:
        known = profile_or_curve(m, "gdp")
        return no_looser(lambda: _searched(known, node, floor, digits), m, digits)
    is_smallest = _is_smallest(node)
    if not is_smallest:
        with suppress(AssumptionError, PrecisionError, LimitError):
            searched = in_half_the_time(
                lambda: _searched(known_profile(m, "gdp"), node, floor, digits)
            )
            if searched is not None:
                return searched
    kind = Kind.UPPER
    if is_smallest:
        has_gaussian_tails = all(map(_has_gaussian_tail, terms_of(node)))
        kind = Kind.EXACT if has_gaussian_tails else profile(node).claim.kind
    claim = _claim(node, kind)

    def value(accountant: Accountant) -> tuple[arb, Claim]:
        mu = _smaller_mu(node, accountant)
        if not mu.is_finite():
            raise AssumptionError(
                f"gdp: found {echo(m)}, needed Gaussian noise, mechanisms with a finite "
                "ε(∞), samples or sums of these, or least_error > 0: from a Rényi curve alone no μ "
                "is known that holds for all tests"
            )
        return mu, claim

    enclosure = certified_number(value, digits or _DIGITS, f"gdp of {echo(m)}")
    return bound(enclosure.known_to_be(_rational(node)), kind)


def regret(m: Node, mu: Bound, digits: int = _SEARCHED_DIGITS) -> Bound:
    """Compute by how much more often μ-GDP lets an attacker's guess be right than the node does.

    The largest difference, over all priors, of the probability that the best guess of who was in
    the data is right; `mu` is what `gdp` gave for m. Where the profile is not known exactly it is
    compared with one that is below it: what is said is an upper bound.
    """
    node = as_node(m, "regret")._rewritten
    known = known_profile(m, "regret")
    kind = known.claim.kind
    heights = HockeySticks(known if kind is Kind.EXACT else profile_below(node))
    with precision(first_bits(digits + _SEARCHED_DIGITS)):
        difference = arb(0)
        if kind is not Kind.EXACT or heights.gaussian_mu is None:
            difference = largest_regret(
                heights, ball(to_fraction(mu.upper)), parameters.digits(digits)
            )
    return bound(from_ball(difference, _claim(node, kind), digits, True), kind)


def _searched(known: Profile, node: Node, error: Fraction, digits: int | None) -> Bound:
    """Find the smallest μ that the profile allows for tests whose errors are at least `error`.

    Without `digits` it has few where more are not to be had. AssumptionError if no μ holds.
    """
    heights = HockeySticks(nearest_first(known)[0])
    kind = heights.kind if error else known.claim.kind  # of all tests the hull says as much
    claim = _claim(node, kind, *known.claim.sources)

    def ask(digits: int) -> Bound:
        def value(_: Accountant) -> tuple[arb, Claim]:
            mu = smallest_mu(heights, error, digits)
            if mu == arb("inf"):
                raise AssumptionError(
                    "gdp: found a privacy loss without a largest value, for which no μ holds",
                    remedy="pass least_error > 0 to bound the tests with larger errors",
                )
            return mu, claim

        return bound(certified_number(value, digits, f"gdp of {echo(node)}"), kind)

    return ask(digits) if digits else or_fewer_digits(ask, _SEARCHED_DIGITS)


def no_looser(ask: Callable[[], Bound], m: Node, digits: int | None) -> Bound:
    """Ask for a μ of tests with larger errors; that of all tests holds for them too, where less.

    An exact μ of as many digits is not larger: their last digits alone may differ.
    """
    found: Bound | None = None
    try:
        found = ask()
    except (PrecisionError, LimitError) as error:
        refusal = error
    wanted = digits or _SEARCHED_DIGITS
    if found is not None and found.claim.kind is Kind.EXACT and found.digits_asked >= wanted:
        return found
    with suppress(AssumptionError, PrecisionError, LimitError):
        of_all = in_half_the_time(lambda: gdp(m, digits))
        if of_all is not None and (found is None or of_all.upper < found.upper):
            return bound(of_all, Kind.UPPER)
    if found is None:
        raise refusal
    return found


def or_fewer_digits(ask: Callable[[int], Bound], digits: int) -> Bound:
    """Ask for so many digits, or for three where an error, a limit or the time says no to more."""
    with suppress(PrecisionError, LimitError):
        if (answer := in_half_the_time(lambda: ask(digits))) is not None:
            return answer
    return ask(min(digits, _FEW_DIGITS))


def _claim(node: Node, kind: Kind, *sources: Source) -> Claim:
    """State the claim of a number about the node, certified if its curve is."""
    return Claim(
        kind,
        node.claim.adjacency,
        sources=(*_SOURCES, *sources),
        certified=node.claim.certified,
    )


def _is_smallest(node: Node) -> bool:
    """Is the μ that has a formula the smallest one for all tests?

    It is where a Gaussian trade-off curve touches the known one, or no smaller one is below. A
    sample of Gaussian noise needs the μ of all of the data, far out where it is seldom seen.
    """
    if isinstance(node, Compose):
        return all(_has_gaussian_tail(part) for part in node.terms)
    return _balanced_error(law_of(node).worst) is not None or _has_gaussian_tail(node)


# Proved in docs/proofs/currencies.md, Lemma sampled-mu.
def _has_gaussian_tail(node: Node) -> bool:
    """Is the node Gaussian noise, or a sample of it that may hold the record (γ > 0)?"""
    if isinstance(node, Sampling) and node._is_one_step() and node.gamma != 0:
        return squared_mu(node.mechanism) is not None
    return not isinstance(node, Compose) and squared_mu(node) is not None


def squared_mu(node: Node) -> Exact | None:
    """Compute μ² = Σ(Δ/σ)² of sums of Gaussian noise with an exact curve; None for others."""
    if not isinstance(node, Compose):
        noise = law_of(node).normal
        return noise.squared_ratio if noise and node.claim.kind is Kind.EXACT else None
    squares = [(squared_mu(part), count) for part, count in node.terms.items()]
    if any(square is None for square, _ in squares):
        return None
    return sum((count * square for square, count in squares if square is not None), Fraction(0))


def _rational(node: Node) -> Fraction | None:
    """Compute the μ of sums of Gaussian noise where it is a rational number, else None.

    Balls never prove that it is one.
    """
    square = squared_mu(node)
    square = None if square is None else exact(square)
    if not isinstance(square, Fraction):
        return None
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return root if root**2 == square else None


def _smaller_mu(node: Node, accountant: Accountant) -> arb:
    """Enclose the smaller μ of what the node's parts and its ε(∞) give; ∞ if neither does."""
    pure = accountant.curve(node)(INFINITY)
    by_pure = _touching(1 / (1 + pure.exp())) if pure.is_finite() else arb("inf")
    return _mu(node, accountant).min(by_pure)


def _touching(error: arb) -> arb:
    """Compute the μ of the Gaussian trade-off curve through (error, error): 2Φ⁻¹(1 − error)."""
    return 2 * arb(2).sqrt() * (2 * error).erfcinv()


@singledispatch
def _mu(node: Node, accountant: Accountant) -> arb:
    """Enclose a μ of the node by what it is; ∞ where that says nothing."""
    law = law_of(node)
    if law.normal is not None:
        return BALL.number(law.normal.squared_ratio).sqrt()
    error = _balanced_error(law.worst)
    return arb("inf") if error is None else _touching(error)


@singledispatch
def _balanced_error(pair: SwappedPair | None) -> arb | None:
    """Compute α = f(α) of laws whose trade-off curve f touches a Gaussian one there, else None."""
    return None


@_balanced_error.register
def _(pair: LaplaceShift) -> arb:
    """For Laplace noise α f(α) = e^{−s}/4 is nearest to Gaussian curves at α = f(α)."""
    error: arb = (-BALL.number(pair.shift) / 2).exp() / 2
    return error


@_balanced_error.register
def _(pair: ResponseLaws) -> arb:
    error: arb = pair.truth_probability(BALL).min(pair.lie_probability(BALL))
    return error


@_mu.register
def _(node: Compose, accountant: Accountant) -> arb:
    """For a composition μ² adds."""
    squares = (count * _smaller_mu(part, accountant) ** 2 for part, count in node.terms.items())
    return sum(squares, arb(0)).sqrt()


@_mu.register
def _(node: GroupPrivacy, accountant: Accountant) -> arb:
    return node.size * _smaller_mu(node.mechanism, accountant)


@_mu.register
def _(node: PostProcess, accountant: Accountant) -> arb:
    return _smaller_mu(node.mechanism, accountant)


@_mu.register
def _(node: Sampling, accountant: Accountant) -> arb:
    """A sample that holds the record once at most is never worse than all of the data."""
    return _smaller_mu(node.mechanism, accountant) if node._is_one_step() else arb("inf")
