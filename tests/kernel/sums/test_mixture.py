"""Binomial sums with a proved truncation, against brute force at ten times the precision."""

from __future__ import annotations

import random
from functools import partial

import pytest
from flint import arb, ctx, fmpq

from symacct.kernel.sums import binomial_sums
from symacct.kernel.sums.binomial_sums import SHAPES, Majorant, Weights
from tests.kernel.sums import curves
from tests.kernel.sums.oracles import (
    Oracle,
    certified_binomial_sum,
    terms_of,
)
from tests.thinning import some


def kinked(start: int, rate: fmpq) -> Oracle:
    """K_l = rate·max(0, l − start), with zeros and a kink."""
    return lambda order: arb(rate) * max(0, order - start)


def polynomial(a: fmpq, b: fmpq) -> Oracle:
    """K_l = a(l−1)l + b(l−1)."""
    return lambda order: arb(a) * ((order - 1) * order) + arb(b) * (order - 1)


def stepped(width: int, rate: fmpq) -> Oracle:
    """K_l = (l−1)·rate·⌊l/width⌋: ε is nondecreasing, K is not convex."""
    return lambda order: arb(rate) * ((order - 1) * (order // width))


def gaussian(sigma: int) -> Oracle:
    return partial(curves.gaussian(sigma), 0)


MECHANISMS: dict[str, Oracle] = {
    **{f"Gaussian({sigma})": gaussian(sigma) for sigma in (5, 1, 50)},
    **{f"Laplace({b})": partial(curves.laplace(b), 0) for b in ("2", "1/2")},
    **{
        f"RandomizedResponse({p})": partial(curves.randomized_response(p), 0)
        for p in ("3/5", "9/10")
    },
}
CUSTOM: dict[str, Oracle] = {
    "kinked": kinked(40, fmpq(1, 3)),
    "affine": polynomial(fmpq(0), fmpq(7, 5)),
    "quadratic": polynomial(fmpq(1, 3000), fmpq(1, 10)),
    "tiny": polynomial(fmpq(1, 10**30), fmpq(1, 10**31)),
    "huge": polynomial(fmpq(10**3), fmpq(10**9)),
    "zero": polynomial(fmpq(0), fmpq(0)),
}


def tight(order: int, moment: arb) -> arb:
    """e^K − 1."""
    return moment.expm1()


def general(order: int, moment: arb) -> arb:
    """3e^K − 1, and e^K − 1 at l = 2."""
    return moment.expm1() if order == 2 else 3 * moment.exp() - 1


def capped(order: int, moment: arb) -> arb:
    """e^K min(2, c^l) with c = 11/10."""
    with ctx.workprec(ctx.prec + 20):
        cap = min(arb(2), (arb(11) / 10) ** order)
    return moment.exp() * cap


TERMS = {"tight": (tight, 1, 1, 2), "general": (general, 3, 1, 2), "capped": (capped, 2, None, 3)}


class Counted:
    """An oracle that knows K to 60 bits more than asked and refuses a second question."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.orders: set[int] = set()

    def __call__(self, order: int) -> arb:
        assert isinstance(order, int)
        assert order >= 2
        assert order not in self.orders
        self.orders.add(order)
        with ctx.workprec(ctx.prec + 60):
            return self.oracle(order)


def rates(gamma: fmpq, with_one: bool) -> tuple[arb, arb]:
    """Return balls for γ and 1 − γ, or for γ and 1."""
    return arb(gamma), arb(1) if with_one else arb(1 - gamma)


def brute(alpha: int, gamma: fmpq, oracle: Oracle, kind: str) -> arb:
    """Return the sum over all orders at ten times the current precision."""
    term, _, _, first = TERMS[kind]
    with ctx.workprec(10 * ctx.prec):
        u, v = rates(gamma, kind == "capped")
        weight = arb.bin_uiui(alpha, first) * u**first * v ** (alpha - first)
        ratio, total = u / v, arb(0)
        for order in range(first, alpha + 1):
            total += weight * term(order, oracle(order))
            weight *= ratio * (alpha - order) / (order + 1)
        return total


def certified(
    alpha: int, gamma: fmpq, oracle: Oracle, kind: str, shape: str | None = "convex"
) -> arb:
    """Return the certified sum for a rate γ."""
    term, factor, shift, first = TERMS[kind]
    with ctx.workprec(ctx.prec + 60):
        u, v = rates(gamma, kind == "capped")
    return certified_binomial_sum(alpha, u, v, Counted(oracle), term, factor, first, shape, shift)


def random_gamma(source: random.Random) -> fmpq:
    """Return a rate between 1e−12 and 1 − 1e−6."""
    if source.random() < 0.25:
        return 1 - fmpq(source.randrange(1, 1000), 10 ** source.randrange(4, 10))
    return fmpq(source.randrange(1, 1000), 1000 * 10 ** source.randrange(0, 10))


def random_alpha(source: random.Random) -> int:
    """Return an order between 2 and 3000, small ones more often."""
    return round(2 * 1500 ** (source.random() ** 1.5))


def assert_tight(ball: arb, truth: arb, bits: int) -> None:
    """Assert that the ball holds the truth and has the relative radius 2^-bits."""
    assert ball.contains(truth)
    assert ball.rad() <= abs(truth) * arb(2) ** -bits


@pytest.fixture(autouse=True)
def precision() -> None:
    """Start from 110 bits, and check that no test leaves another precision behind."""
    with ctx.workprec(110):
        yield
        assert ctx.prec == 110


ORACLES = MECHANISMS | CUSTOM


@pytest.mark.parametrize("shape", [*SHAPES, None])
@pytest.mark.parametrize("seed", range(some(24, 200)))
def test_certified_sum_contains_brute_force(seed: int, shape: str | None) -> None:
    """Of curves that are convex, of rates that do not fall, and of any values at all."""
    source = random.Random(seed)
    alpha, gamma = random_alpha(source), random_gamma(source)
    if shape == "convex":
        oracle = source.choice(list(ORACLES.values()))
    elif shape == "nondecreasing":
        oracle = stepped(source.randrange(2, 40), fmpq(source.randrange(1, 300), 1000))
    else:
        alpha = min(alpha, 300)
        noise = [fmpq(source.randrange(0, 10**6), 10**5) for _ in range(alpha + 1)]
        oracle = lambda order: arb(noise[order])  # noqa: E731
    kind = source.choice(list(TERMS)) if shape else "tight"
    prec = source.choice((53, 80, 110, 180))
    with ctx.workprec(prec):
        truth = brute(alpha, gamma, oracle, kind)
        assert_tight(certified(alpha, gamma, oracle, kind, shape), truth, prec - 10)


@pytest.mark.parametrize("seed", range(some(24, 60)))
def test_coarse_truncation_is_covered_by_its_bound(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 100 digits with skipped blocks of 2^-20 the bound is what makes the ball hold."""
    source = random.Random(1000 + seed)
    name = source.choice(list(ORACLES))
    kind = source.choice(list(TERMS))
    alpha, gamma = random_alpha(source) + 40, random_gamma(source)
    with ctx.workprec(330):
        monkeypatch.setattr(binomial_sums, "SLACK_BITS", 310)
        truth = brute(alpha, gamma, ORACLES[name], kind)
        assert_tight(certified(alpha, gamma, ORACLES[name], kind), truth, 18)


def block_sum(alpha: int, pair: tuple[arb, arb], oracle: Oracle, kind: str, span: range) -> arb:
    """Return the sum over a span of orders."""
    term = TERMS[kind][0]
    u, v = pair
    return sum(
        (arb.bin_uiui(alpha, k) * u**k * v ** (alpha - k) * term(k, oracle(k)) for k in span),
        arb(0),
    )


@pytest.mark.parametrize("seed", range(some(90, 300)))
def test_block_bound_exceeds_the_block(seed: int) -> None:
    source = random.Random(5000 + seed)
    oracle = source.choice(list(ORACLES.values()))
    kind = source.choice(list(TERMS))
    term, factor, shift, first = TERMS[kind]
    alpha = source.randrange(20, 400)
    left, right = sorted(source.sample(range(first, alpha + 1), 2))
    if source.random() < 0.3:
        right = alpha
    low = source.choice((source.randrange(left, right + 1), right))
    span = low, source.randrange(low, right + 1)
    pair = rates(random_gamma(source), kind == "capped")
    shape = source.choice(SHAPES)
    curve = Majorant(terms_of(oracle, term, factor, shape, shift), first)
    for order in (left, right):
        curve.cut(order)
    bound = curve.bound(Weights(alpha, pair), (left, right), span)
    truth = block_sum(alpha, pair, oracle, kind, range(span[0], span[1] + 1))
    assert truth.lower() <= bound


@pytest.mark.parametrize("seed", range(some(40, 100)))
def test_runs_and_spans_outside_them_cover_every_order_once(seed: int) -> None:
    source = random.Random(6000 + seed)
    alpha, first = source.randrange(5, 60), source.choice((2, 3))
    curve = Majorant(terms_of(gaussian(5), tight, 1, shift=1), first)
    inner = source.sample(range(first + 1, alpha), source.randrange(0, alpha - first - 1))
    for order in {*inner, alpha, *([first] if seed % 2 else [])}:
        curve.cut(order)
    spans = [sorted(source.choices(range(first, alpha + 1), k=2)) for _ in range(seed % 4)]
    runs = binomial_sums.merged((low, high) for low, high in spans)
    seen = [k for low, high in runs for k in range(low, high + 1)]
    for (left, right), (low, high) in curve.spans_outside(runs):
        assert left < low <= high <= right
        seen.extend(range(low, high + 1))
    assert sorted(seen) == list(range(first, alpha + 1))


def closed_form(
    monkeypatch: pytest.MonkeyPatch, oracle: Oracle, kind: str, shape: str, cuts: list[int]
) -> tuple[arb | None, arb]:
    """Return the closed form on the run of the cuts at a loose tolerance, and the run's sum."""
    monkeypatch.setattr(binomial_sums, "SLACK_BITS", 100)
    monkeypatch.setattr(Majorant, "is_affine", lambda *_: True)
    term, factor, shift, first = TERMS[kind]
    alpha, pair = 2000, rates(fmpq(1, 5), False)
    curve = Majorant(terms_of(oracle, term, factor, shape, shift), first)
    for order in (2, cuts[0] - 150, *cuts, cuts[-1] + 100, alpha):
        curve.cut(order)
    run = cuts[0], cuts[-1]
    ball = binomial_sums.affine_sum(curve, Weights(alpha, pair), run)
    return ball, block_sum(alpha, pair, oracle, kind, range(run[0], run[1] + 1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["tight", "general"])
def test_closed_form_bounds_the_tails_of_its_run(
    shape: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peak is at 1007, its width 22: runs end where 1e-4 is left on a side, or more is."""
    line = polynomial(fmpq(0), fmpq(7, 5))
    for ends in ((926, 1088), (926, 1400), (600, 1088)):
        ball, truth = closed_form(monkeypatch, line, kind, shape, [ends[0], 1000, ends[1]])
        assert ball is not None
        assert ball.contains(truth)
    assert closed_form(monkeypatch, line, kind, shape, [960, 1060])[0] is None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["tight", "general"])
@pytest.mark.parametrize("step", [20, 100, 250, 1000])
def test_closed_form_carries_a_bend(
    shape: str, kind: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K leaves the line by 2e-8, far above the tails of the run."""
    bent = polynomial(fmpq(1, 10**13), fmpq(7, 5))
    cuts = list(range(500, 1501, step))
    ball, truth = closed_form(monkeypatch, bent, kind, shape, cuts)
    assert ball is not None
    assert ball.contains(truth)


def test_a_plan_that_stops_early_is_refined_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hasty(binomial_sums.BlockPlan):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)
            self.drop = 3.0

    monkeypatch.setattr(binomial_sums, "BlockPlan", Hasty)
    for name, alpha in (("Gaussian(5)", 346), ("Laplace(1/2)", 2000), ("Gaussian(50)", 900)):
        truth = brute(alpha, fmpq(1, 1000), MECHANISMS[name], "tight")
        assert_tight(certified(alpha, fmpq(1, 1000), MECHANISMS[name], "tight"), truth, 100)


@pytest.mark.parametrize("name", ["RandomizedResponse(3/5)", "RandomizedResponse(9/10)", "affine"])
def test_line_needs_few_calls(name: str) -> None:
    for shape in SHAPES[: 2 if name == "affine" else 1]:
        counted = Counted(ORACLES[name])
        with ctx.workprec(200):
            u, v = rates(fmpq(1, 20), False)
        ball = certified_binomial_sum(3000, u, v, counted, tight, 1, 2, shape, 1)
        assert_tight(ball, brute(3000, fmpq(1, 20), ORACLES[name], "tight"), 98)
        assert len(counted.orders) <= 60


def test_tiny_nearly_straight_curve_keeps_its_relative_accuracy() -> None:
    """K ≈ 1e-20(l−1) bends by less than 2^-prec, but by far more than 2^-prec of itself."""
    with ctx.workprec(199):
        ball = certified(1000, fmpq(1, 1000), polynomial(fmpq(1, 10**72), fmpq(1, 10**20)), "tight")
        assert ball.rel_accuracy_bits() >= 180


def test_degenerate_rates() -> None:
    def total(u: arb, v: arb) -> arb:
        return certified_binomial_sum(20, u, v, gaussian(5), tight, 1)

    assert total(arb(0), arb(1)) == total(arb(0), arb(0)) == 0
    assert total(arb(1), arb(0)).overlaps(gaussian(5)(20).expm1())
    for negative in (arb(-1), arb("nan")):
        with pytest.raises(ValueError, match="nonnegative"):
            total(negative, arb(2))


def test_rates_whose_balls_reach_zero() -> None:
    oracle = Counted(gaussian(5))
    for alpha in (10, 100):
        oracle.orders.clear()
        wide = certified_binomial_sum(alpha, arb(0, 1e-3), arb(1, 1e-9), oracle, tight, 1)
        assert wide.contains(arb(0))
        assert wide.contains(brute(alpha, fmpq(1, 1100), gaussian(5), "tight"))
        oracle.orders.clear()
        wide = certified_binomial_sum(alpha, arb(1, 1e-9), arb(0, 1e-9), oracle, tight, 1)
        assert wide.contains(gaussian(5)(alpha).expm1())
        assert wide.contains(brute(alpha, 1 - fmpq(1, 10**10), gaussian(5), "tight"))


def test_a_moment_that_is_infinite_zero_or_no_number_makes_the_sum() -> None:
    def total(special: str) -> arb:
        def oracle(order: int) -> arb:
            return arb(special) if order > 50 else arb(order - 1)

        return certified_binomial_sum(60, arb(1) / 10, arb(9) / 10, oracle, tight, 1)

    assert total("inf") == arb("inf")
    assert not total("nan").is_finite()
    assert certified(3000, fmpq(1, 10), CUSTOM["zero"], "tight") == 0


def test_unknown_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        certified(30, fmpq(1, 10), gaussian(5), "tight", "concave")


def test_wide_balls_of_the_moments_are_carried() -> None:
    """A radius of 1e−6 in K must show up in the sum, and hold both of its ends."""
    sums = [
        certified(346, fmpq(1, 1000), lambda k, e=e: gaussian(5)(k) + arb(e) * (k - 1), "tight")
        for e in (0, 1e-6)
    ]
    wide = certified(
        346,
        fmpq(1, 1000),
        lambda k: (gaussian(5)(k)).union(gaussian(5)(k) + arb(1e-6) * (k - 1)),
        "tight",
    )
    assert wide.contains(sums[0])
    assert wide.contains(sums[1])
    assert wide.rad() < 1e-3 * wide


def test_rates_far_from_one() -> None:
    for u, v in ((1e9, 1e-9), (1e-300, 1e300), (1e-200, 1e-200), (50.0, 70.0)):
        pair = arb(u), arb(v)
        for alpha in (3, 40, 700):
            truth = block_sum(alpha, pair, gaussian(5), "tight", range(2, alpha + 1))
            ball = certified_binomial_sum(alpha, *pair, gaussian(5), tight, 1, shift=1)
            assert ball.overlaps(truth)
            assert ball.rel_accuracy_bits() > 90


def test_flat_terms_are_all_summed() -> None:
    """K_l = log(b_1/b_l) makes e^{K_l} b_l the same for every l."""
    alpha, pair = 300, rates(fmpq(1, 1000), False)

    def oracle(order: int) -> arb:
        u, v = pair
        return (alpha * (v / u) ** (order - 1) / arb.bin_uiui(alpha, order)).log()

    truth = block_sum(alpha, pair, oracle, "tight", range(2, alpha + 1))
    ball = certified_binomial_sum(alpha, *pair, oracle, tight, 1, shift=1)
    assert ball.overlaps(truth)
    assert ball.rel_accuracy_bits() > 90


def test_a_thousand_digits() -> None:
    with ctx.workprec(3400):
        for name in ("Gaussian(5)", "Laplace(1/2)", "RandomizedResponse(9/10)"):
            with ctx.workprec(6000):
                u, v = rates(fmpq(1, 1000), False)
                truth = block_sum(400, (u, v), MECHANISMS[name], "tight", range(2, 401))
            ball = certified_binomial_sum(400, u, v, Counted(MECHANISMS[name]), tight, 1, shift=1)
            assert_tight(ball, truth, 3390)
