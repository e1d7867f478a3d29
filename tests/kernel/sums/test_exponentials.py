"""Sums over runs by their exponentials, against every term on its own at ten times the bits."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from symacct import Laplace, RandomizedResponse
from symacct.kernel.arithmetic import BALL
from symacct.kernel.sums.binomial_sums import binomial_weights, over_run
from tests.kernel.sums.oracles import certified_binomial_sum
from tests.thinning import covering, some

Formula = Callable[[Any], Callable[[Any], Any]]


def everything(context: Any) -> Callable[[Any], Any]:
    """Each operation that a formula may take, and both kinds of quotients."""
    s = arb(1) / 7

    def excess(alpha: Any) -> Any:
        alpha = context.number(alpha)
        first = alpha * context.expm1(s * (3 - alpha) - 1 + s) / (alpha + 2)
        second = context.expm1(alpha * s) / 5
        return (first - second) / arb(2).sqrt() + 3 * context.expm1(2 * alpha * s) * s

    return excess


def divided_by_numbers(context: Any) -> Callable[[Any], Any]:
    def excess(alpha: Any) -> Any:
        alpha = context.number(alpha)
        return (alpha * context.expm1(alpha * arb(2)) + context.expm1(-alpha * arb(3))) / arb(7) / 5

    return excess


FORMULAS = {
    **{f"Laplace({b})": Laplace(b).excess for b in (2, "1/2", 100)},
    **{f"RandomizedResponse({p})": RandomizedResponse(p).excess for p in ("9/10", "1/3")},
    "everything": everything,
    "divided by numbers": divided_by_numbers,
}


@pytest.fixture(autouse=True)
def precision() -> Any:
    with ctx.workprec(200):
        yield


def term_by_term(formula: Formula, alpha: int, x: fmpq, orders: range) -> arb:
    """Σ C(α,l)/C(α,low) x^{l−low} of the formula at each order of the run."""
    with ctx.workprec(10 * ctx.prec):
        excess, weight, total = formula(BALL), arb(1), arb(0)
        for l in orders:
            total += weight * excess(l)
            weight = weight * arb(x) * (alpha - l) / (l + 1)
        return total


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("seed", range(some(3, 8)))
def test_a_run_is_the_sum_of_its_terms(name: str, seed: int) -> None:
    source = random.Random(seed)
    low = source.choice([2, 3, 40, 1000])
    orders = range(low, low + source.choice([1, 2, 17, 100]))
    alpha = orders[-1] + source.choice([0, 1, 5000])
    x = fmpq(source.randint(1, 99), source.choice([100, 10**6]))
    found = over_run(FORMULAS[name], orders)
    assert found is not None
    parts = found.summed(binomial_weights(alpha, orders), arb(x))
    total, truth = sum(parts, arb(0)), term_by_term(FORMULAS[name], alpha, x, orders)
    assert total.contains(truth)
    size = max(abs(part) for part in parts)
    assert total.rad() <= size * arb(2) ** -180


@pytest.mark.parametrize(
    "excess",
    [
        lambda context, l: context.log1p(l),
        lambda context, l: context.exp(l),
        lambda context, l: context.expm1(l * l),
        lambda context, l: context.expm1(l / 2),
        lambda context, l: context.expm1(l * 0.1),
        lambda context, l: context.expm1(l) * 0.1,
        lambda context, l: context.expm1(l) / 0.1,
        lambda context, l: context.expm1(l) ** 2,
        lambda context, l: context.expm1(l) * context.expm1(l),
        lambda context, l: context.expm1(l) + 1,
        lambda context, l: context.expm1(l) if l > 3 else l,
        lambda context, l: 2 * l - 1,
    ],
)
def test_other_formulas_are_left_to_single_terms(excess: Any) -> None:
    def formula(context: Any) -> Callable[[Any], Any]:
        return lambda l: excess(context, context.number(l))

    assert over_run(formula, range(2, 40)) is None


@covering()
@pytest.mark.parametrize("factor", [1, 3])
@pytest.mark.parametrize("name", list(FORMULAS)[:5])
@pytest.mark.parametrize(
    ("alpha", "gamma"),
    [
        (20, fmpq(1, 10)),
        (346, fmpq(1, 1000)),
        (346, fmpq(999, 1000)),
        (3000, fmpq(1, 1000)),
        (3000, fmpq(1, 10)),
    ],
)
def test_certified_sums_with_and_without_exponentials(
    name: str, alpha: int, gamma: fmpq, factor: int
) -> None:
    """Σ b_l (F e^{K_l} − 1), from l = 2 or 3 on; where much cancels it is as narrow."""
    formula, first = FORMULAS[name], 2 if factor == 1 else 3
    asked: list[range] = []

    def exponentials(orders: range) -> Any:
        asked.append(orders)
        return over_run(formula, orders)

    ball = certified_binomial_sum(
        alpha,
        arb(gamma),
        arb(1 - gamma),
        lambda l: formula(BALL)(l).log1p(),
        lambda l, k: factor * k.expm1() + (factor - 1),
        factor,
        first,
        shift=1,
        exponentials=exponentials,
    )
    with ctx.workprec(10 * ctx.prec):
        excess, truth = formula(BALL), arb(0)
        for l in range(first, alpha + 1):
            weight = arb.bin_uiui(alpha, l) * arb(gamma) ** l * arb(1 - gamma) ** (alpha - l)
            truth += weight * (factor * excess(l) + (factor - 1))
    assert ball.contains(truth)
    assert ball.rel_accuracy_bits() >= 200 - 24
    if alpha == 3000 and gamma < fmpq(1, 2) and "Laplace(1/2)" in name:
        assert asked
