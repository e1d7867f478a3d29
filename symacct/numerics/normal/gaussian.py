"""A_α − 1 of the sampled Gaussian mechanism for every real order α > 1, certified."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb, ctx

from symacct.core import deadline
from symacct.numerics.normal.magnitude import LOG2, crossing
from symacct.numerics.normal.newton import log_second_term, newton_length, newton_local
from symacct.numerics.normal.trapezoid import (
    FEW_NODES,
    Guess,
    Orders,
    TrapezoidGrid,
    TrapezoidNodes,
    guess,
    is_root,
    plan,
)
from symacct.numerics.sums.alternating import binomial_integral
from symacct.numerics.sums.local import LOST, REACH, Local
from symacct.numerics.sums.refine import ball, steered_by_floats, to_relative_accuracy

# Costs measured in trapezoidal nodes, each a logarithm and an exponential, at 60 to 4,000 bits.
_TRAPEZOID_START = 40
_ERFC_COST = 4.5
_ROOT_BITS = 500  # bits to which a node by a square root costs half of one by a logarithm
_BINOMIAL_COST = 0.4
_ALIKE = 3.0  # nats between two values of which one is found as well as the other on one grid
_ALIKE_LOCALLY = 12.0  # the same where many orders are going to be asked

#: (⌈α⌉, q, σ, bits) ↦ the grid for the orders up to ⌈α⌉, None where each has its own.
Known: TypeAlias = dict[Any, TrapezoidNodes | None]


@steered_by_floats
def sampled_gaussian_excess(
    alpha: Fraction, q: Fraction, sigma: Fraction, known: Known | None = None
) -> arb:
    """A_α − 1, A_α = E_{N(0,σ²)}[(1−q+q e^{(2z−1)/(2σ²)})^α], α > 1 (Mironov–Talwar–Zhang 2019).

    What is `known` of one interval between whole orders serves the next order in it.
    """
    known = {} if known is None else known

    def evaluate(bits: int) -> arb:
        nodes = None
        if alpha.denominator > 1:
            asked = math.ceil(alpha), q, sigma, bits
            if asked not in known:
                if len(known) > 1:  # an irrational σ is between two
                    known.clear()
                known[asked] = shared_nodes(*asked)
            nodes = known[asked]
        return _cheapest(alpha, q, sigma, bits) if nodes is None else nodes.excess(alpha)

    return to_relative_accuracy(evaluate)


def shared_nodes(top: int, q: Fraction, sigma: Fraction, bits: int) -> TrapezoidNodes | None:
    """One grid for all orders from top − 1 to top, where it does for each what its own would do."""
    if top < 3:
        return None
    return _nodes_over((Fraction(top - 1), Fraction(top)), q, sigma, bits, _ALIKE)


def _nodes_over(
    orders: Orders, q: Fraction, sigma: Fraction, bits: int, alike: float
) -> TrapezoidNodes | None:
    """One grid for all orders between two, unless the logs of the values differ by more."""
    low, high = (guess(alpha, q, sigma, bits) for alpha in orders)
    if high.log_excess - low.log_excess > alike:
        return None
    guessed = replace(high, log_tolerance=low.log_tolerance)
    grid = plan(guessed)
    cost = _trapezoid_cost(guessed, grid, bits)
    if grid.nodes > FEW_NODES or _ERFC_COST * _series_length(guessed, bits) < cost:
        return None
    return TrapezoidNodes(orders, q, sigma, guessed, grid)


@steered_by_floats
def sampled_gaussian_local(middle: int, q: Fraction, sigma: Fraction) -> Local | None:
    """A_α − 1 for all α within ½ of a whole order; None where each has to be found by itself."""
    orders = middle - REACH, middle + REACH
    bits = ctx.prec - LOST // 2
    slope = 1 / (2 * sigma * sigma)
    steering = middle, float(q), float(slope)
    length = newton_length(*steering, log_second_term(*steering) - (bits + 3) * LOG2)
    if length is not None:
        found: Local | None = newton_local(middle, q, slope, length)
    else:
        nodes = None if orders[0] < 2 else _nodes_over(orders, q, sigma, bits, _ALIKE_LOCALLY)
        found = None if nodes is None else nodes.local(middle)
    return found if found is not None and found.is_accurate else None


def _cheapest(alpha: Fraction, q: Fraction, sigma: Fraction, bits: int) -> arb:
    """The value by whichever of the three proved ways should take the least time."""
    guessed = guess(alpha, q, sigma, bits)
    grid = plan(guessed)
    cost = _trapezoid_cost(guessed, grid, bits)
    if alpha.denominator == 1 and _BINOMIAL_COST * float(alpha) < cost:
        return excess_by_binomial(alpha, q, sigma, guessed)
    erfc_cost = _ERFC_COST
    if grid.nodes > FEW_NODES and is_root(alpha):  # whose nodes cost products and a root
        erfc_cost *= 1 + bits / (_ROOT_BITS * alpha.denominator)
    if erfc_cost * _series_length(guessed, bits) < cost:
        return excess_by_series(alpha, q, sigma, guessed)
    return TrapezoidNodes((alpha, alpha), q, sigma, guessed, grid).excess(alpha)


def _trapezoid_cost(guessed: Guess, grid: TrapezoidGrid, bits: int) -> float:
    """In nodes, of which those far from both peaks are left out."""
    window = 2 * math.sqrt(2 * bits * LOG2) * guessed.sigma / grid.step
    return _TRAPEZOID_START + min(grid.nodes, 2 * window)


def _series_length(guessed: Guess, bits: int) -> float:
    """About how many erfc the two series take together."""
    alpha = 1 + guessed.lam
    middle = crossing(guessed.rate, guessed.rest, guessed.sigma)
    most = alpha + 0.4 * bits
    left = _side_length(guessed, middle, guessed.log_weight(min(0.0, middle)))
    right = _side_length(guessed, alpha - middle, guessed.log_weight(max(alpha, middle)))
    return min(left, most) + min(right, most)


def _side_length(guessed: Guess, distance: float, log_weight: float) -> float:
    """Terms until one is below 2^{i−α} of the tolerance; infinite where they fall too slowly."""
    alpha, variance = 1 + guessed.lam, guessed.sigma**2
    fall = log_weight + alpha * LOG2 - guessed.log_tolerance
    decay = distance / variance - math.log(alpha)
    if fall <= 0:
        return 1.0
    if decay <= 0 or decay * decay * variance <= 2 * fall:
        return math.inf
    return 2 + variance * (decay - math.sqrt(decay * decay - 2 * fall / variance))


def excess_by_binomial(alpha: Fraction, q: Fraction, sigma: Fraction, guessed: Guess) -> arb:
    """A_α − 1 = Σ_{k=2}^α C(α,k)(1−q)^{α−k}q^k (e^{(k²−k)/(2σ²)} − 1) for integer α ≥ 2."""
    order = int(alpha)
    relative = guessed.log_excess - guessed.log_tolerance
    lost = 2 * math.log2(max(1.0, guessed.sigma)) + 2 * math.log2(order)
    with ctx.workprec(int(relative / LOG2 + lost) + 12):
        odds, growth = ball(q / (1 - q)), ball(1 / (sigma * sigma)).exp()
        weight = ball(1 - q) ** (order - 2) * ball(q * q) * (order * (order - 1) // 2)
        factor = power = growth
        total = arb(0)
        for k in range(2, order + 1):
            deadline.check()
            total += weight * (power - 1)
            factor *= growth
            power *= factor
            weight = weight * odds * (order - k) / (k + 1)
        return total


def excess_by_series(alpha: Fraction, q: Fraction, sigma: Fraction, guessed: Guess) -> arb:
    """A_α − 1 by the two-sided erfc series split at z₁, ∫(1+x)^α dμ on [0, 1] (MTZ19)."""
    with ctx.workprec(_series_bits(guessed)):
        tolerance = arb(guessed.log_tolerance).exp()
        left, right = _left_moments(alpha, q, sigma), _right_moments(alpha, q, sigma)
        below = binomial_integral(alpha, left, arb(1), tolerance)
        return below + binomial_integral(alpha, right, arb(1), tolerance) - 1


def _series_bits(guessed: Guess) -> int:
    """Bits for an absolute error of the series at the tolerance."""
    scale = max(guessed.log_excess, 0.0) - guessed.log_tolerance
    terms = 1 + guessed.lam + scale
    exponent = (terms / guessed.sigma) ** 2 + (guessed.sigma * math.log(guessed.rate)) ** 2
    return int(scale / LOG2 + math.log2(terms * terms * (exponent + 1))) + 12


def _left_moments(alpha: Fraction, q: Fraction, sigma: Fraction) -> Iterator[arb]:
    """(1−q)^{α−i} q^i e^{(i²−i)/(2σ²)} erfc((i−z₁)/(√2σ))/2 for i = 0, 1, …"""
    variance, odds = ball(sigma * sigma), ball(q / (1 - q))
    crossing = 0.5 - variance * odds.log()
    return _erfc_progression(ball(1 - q) ** ball(alpha), odds, -crossing, variance)


def _right_moments(alpha: Fraction, q: Fraction, sigma: Fraction) -> Iterator[arb]:
    """(1−q)^i q^{α−i} e^{((α−i)²−(α−i))/(2σ²)} erfc((z₁−α+i)/(√2σ))/2 for i = 0, 1, …"""
    variance, odds, order = ball(sigma * sigma), ball(q / (1 - q)), ball(alpha)
    crossing = 0.5 - variance * odds.log()
    factor = ball(q) ** order * (ball(alpha * (alpha - 1)) / (2 * variance)).exp()
    ratio = (ball(1 - alpha) / variance).exp() / odds
    return _erfc_progression(factor, ratio, crossing - order, variance)


def _erfc_progression(factor: arb, ratio: arb, start: arb, variance: arb) -> Iterator[arb]:
    """factor·ratio^i·e^{(i²−i)/(2σ²)}·erfc((start+i)/(√2σ))/2 for i = 0, 1, …"""
    growth, scale = (1 / variance).exp(), 1 / (2 * variance).sqrt()
    factor = factor / 2
    i = 0
    while True:
        deadline.check()
        yield factor * ((start + i) * scale).erfc()
        factor *= ratio
        ratio *= growth
        i += 1
