"""Each record in one of T steps at random, for any mechanism: all allocations, and what is true."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy

from symacct import (
    AdjacencyError,
    DistributionPair,
    DomainError,
    FiniteMechanism,
    Gaussian,
    Kind,
    Laplace,
    OrderError,
    PoissonSubsample,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    dp_sgd,
    falsify,
    from_json,
    parse,
)
from symacct.export.description import describe, own_premises, premises
from symacct.kernel.errors import RoundedWarning
from tests import independent
from tests.support import holds
from tests.thinning import covering, some

MP = independent.context(60)


def drawn_mechanism(rng):
    return rng.choice(
        [
            Gaussian(Fraction(rng.randint(5, 40), 10)),
            Laplace(Fraction(rng.randint(5, 40), 10)),
            RandomizedResponse(Fraction(rng.randint(11, 19), 20)),
            PureDP(Fraction(rng.randint(1, 30), 10)),
        ]
    )


@covering(lambda seed: {seed % 4})
@pytest.mark.parametrize("seed", range(16))
def test_the_bound_is_the_larger_of_both_directions(seed):
    """Removing: the sum over all partitions of the order, which the products in twos are not."""
    rng = random.Random(seed)
    m = RandomAllocation(drawn_mechanism(rng), rng.randint(1, 40))
    for alpha in (1, rng.randint(2, 12), Fraction(rng.randint(11, 99), 10), independent.INFINITY):
        trusted = 28 if isinstance(m.mechanism, Laplace) else 50  # a sum over many points
        assert holds(m.rdp(alpha, digits=25), independent.rdp(MP, m, alpha), 25, trusted)


def joint(*laws):
    return [math.prod(chosen) for chosen in itertools.product(*laws)]


@pytest.mark.parametrize("seed", range(some(4, 10)))
def test_no_law_of_all_outcomes_is_above_it(seed):
    """Steps of finite laws side by side."""
    rng = np.random.default_rng(seed)
    p, q = ([Fraction(int(x), 100) for x in rng.multinomial(97, [1 / 3] * 3) + 1] for _ in "pq")
    steps = int(rng.integers(2, 5))
    with_it = [joint(*(p if i == t else q for i in range(steps))) for t in range(steps)]
    mean = [sum(column) / steps for column in zip(*with_it, strict=True)]
    truth = DistributionPair(mean, joint(*[q] * steps))
    m = RandomAllocation(DistributionPair(p, q), steps)
    for alpha in (1, "3/2", 2, 3, 8, 40, "inf"):
        assert truth.rdp(alpha, digits=12).lower <= m.rdp(alpha, digits=12).upper


def test_steps_chosen_by_what_was_told():
    """The second step asks p or its mirror image, by the first answer."""
    p, q = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))

    def law(step):
        first = p if step == 0 else q
        for answer, share in enumerate(first):
            second = (p if step == 1 else q)[:: 1 if answer else -1]
            yield from (share * x for x in second)

    mean = [(a + b) / 2 for a, b in zip(law(0), law(1), strict=True)]
    m = RandomAllocation(RandomizedResponse("3/4"), 2)
    for alpha in (2, 5, 30):
        truth = DistributionPair(mean, list(law(None)))
        assert truth.rdp(alpha, digits=12).lower <= m.rdp(alpha, digits=12).upper


def test_one_step_is_the_mechanism_and_more_cost_less():
    same = RandomAllocation(Laplace(2), 1).rdp(5)
    assert abs(same.upper - Laplace(2).rdp(5).upper) < 1e-25
    values = [RandomAllocation(Laplace(2), steps).rdp(5).upper for steps in (1, 2, 5, 30, 10**6)]
    assert values == sorted(values, reverse=True)
    # At high orders removing is the larger of what any mechanism's bound reads, too.
    high = RandomAllocation(Gaussian(1), 50)
    assert abs(high.rdp(64).upper - high.rdp(64, by="FS25-DIRECT").upper) < 1e-25


def test_beyond_the_orders_that_are_summed_the_step_is_told():
    m = RandomAllocation(PureDP("1/20"), 10)
    assert m.rdp(300).upper == PureDP("1/20").rdp(300).upper
    assert m.rdp(300).claim.theorems == ("ALLOCATION-TOLD",)
    with pytest.raises(OrderError, match="256"):
        m.rdp(300, by="FS25-DIRECT")


def test_claims_and_what_it_is_about():
    m = RandomAllocation(Gaussian(5), 100)
    assert m.claim.kind is Kind.UPPER
    assert str(m.claim.adjacency) == "add_remove"
    assert m.rdp(4).claim.kind is Kind.EXACT
    assert "FS25" in RandomAllocation(PureDP("1/5"), 100).cite(4)
    ours, known = ((3 * one).epsilon("1e-5", 6, "improved").epsilon for one in (m, Gaussian(5)))
    assert ours.upper < known.lower
    sampled = PoissonSubsample(FiniteMechanism([["1/2", "1/2"], ["1/3", "2/3"]]), "1/9")
    assert RandomAllocation(sampled, 3).rdp(2).upper < sampled.rdp(2).lower


@pytest.mark.parametrize("name", ["FS25-DIRECT", "ALLOCATION-TOLD"])
def test_no_attack_refutes_it(name):
    assert not falsify(name, budget=400).refuted


def test_bad_input_is_one_typed_error():
    for steps in (0, "1/2", 10**9 + 1, "many"):
        with pytest.raises(DomainError, match="RandomAllocation, steps"):
            RandomAllocation(Gaussian(5), steps)
    with pytest.raises(DomainError, match="RandomAllocation, mechanism"):
        RandomAllocation(5, 3)
    with pytest.raises(AdjacencyError):
        RandomAllocation(SubsampleWithoutReplacement(Gaussian(5), "1/9"), 3)


# --- a record in several steps


def in_several(steps, times):
    """The expression of k of T steps, and that of its blocks."""
    size, longer = divmod(steps, times)
    noise = Gaussian("3/2")
    blocks = (times - longer) * RandomAllocation(noise, size)
    blocks = blocks + longer * RandomAllocation(noise, size + 1) if longer else blocks
    return RandomAllocation(noise, steps, times), blocks


@pytest.mark.parametrize(("steps", "times"), [(10, 2), (11, 3), (7, 6), (6, 6)])
def test_several_steps_cost_what_blocks_do(steps, times):
    several, blocks = in_several(steps, times)
    for alpha in (2, 3, "9/2", 40):
        assert str(several.rdp(alpha, digits=8)) == str(blocks.rdp(alpha, digits=8))
    by, of_blocks = (
        m.epsilon("1e-5", conversion="exact", digits=3).epsilon for m in (several, blocks)
    )
    assert by.lower <= of_blocks.upper
    assert of_blocks.lower <= by.upper


def test_all_steps_are_a_composition_and_fewer_cost_less():
    noise = Gaussian(2)
    every = [RandomAllocation(noise, 6, times) for times in (1, 2, 3, 4, 5, 6)]
    costs = [m.rdp(3, digits=8) for m in every]
    assert str(costs[-1]) == str((6 * noise).rdp(3, digits=8))
    assert every[-1].rdp(3).claim.kind is Kind.EXACT
    assert every[1].rdp(3).claim.kind is Kind.UPPER
    assert all(few.upper < many.lower for few, many in itertools.pairwise(costs))
    composed = (6 * noise).epsilon("1e-5", 6).epsilon
    assert every[-1].epsilon("1e-5", 6).epsilon.rounded(6) == composed.rounded(6)


@pytest.mark.parametrize("times", [2, 3])
def test_several_steps_of_finite_laws_are_bounded(times):
    """D(y) of the mean over all choices of the steps, by all outcomes of four steps."""
    run = RandomAllocation(RandomizedResponse("3/4"), 4, times)
    p, q = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))
    choices = list(itertools.combinations(range(4), times))
    for y in (0, Fraction(1, 2), 1):
        found = run.delta(y, conversion="exact", digits=6).delta
        for reverse in (False, True):
            true = 0.0
            for outcome in itertools.product(range(2), repeat=4):
                off = math.prod(q[k] for k in outcome)
                on = sum(
                    math.prod((p if i in chosen else q)[k] for i, k in enumerate(outcome))
                    for chosen in choices
                ) / Fraction(len(choices))
                on, off = (off, on) if reverse else (on, off)
                true += max(float(on) - math.exp(y) * float(off), 0.0)
            assert true <= float(found.upper) * (1 + 1e-12)


def test_several_steps_in_text_and_json():
    run = RandomAllocation(Gaussian(2), 10, times=3)
    assert repr(run) == "RandomAllocation(Gaussian(2), 10, times=3)"
    assert parse(repr(run)) is run
    assert from_json(run.to_json()) is run
    once = RandomAllocation(Gaussian(2), 10, times=1)
    assert once is RandomAllocation(Gaussian(2), 10)
    assert "times" not in repr(once) + once.to_json()
    with pytest.raises(DomainError, match="times: found 11, needed at most the 10 steps"):
        RandomAllocation(Gaussian(2), 10, 11)


@pytest.mark.parametrize("adjacency", ["add_remove", "zero_out"])
@pytest.mark.parametrize("steps", [1, 3])
def test_a_record_in_every_step_draws_none(steps, adjacency):
    everywhere = RandomAllocation(Gaussian(2), steps, steps, adjacency)
    assert describe(everywhere).endswith("with each record in every step")
    fewer = RandomAllocation(Gaussian(2), steps + 1, steps, adjacency)
    for node, draws in ((everywhere, False), (fewer, True)):
        assert draws is any("secret" in premise for premise in premises(node))
        assert draws is ("draws" in describe(node))


@pytest.mark.parametrize(
    ("times", "which", "draws"),
    [
        (1, "in one step, which", "its one step of the 10"),
        (3, "in 3 steps, which", "its 3 different steps of the 10"),
    ],
)
def test_the_words_and_the_premise_say_how_many_steps_are_drawn(times, which, draws):
    run = RandomAllocation(Gaussian(2), 10, times)
    assert which in describe(run)
    assert any(draws in premise for premise in own_premises(run))


def test_balls_and_bins_of_several_epochs():
    run = dp_sgd(78_200, 1000, "0.55", 5, sampling="balls_and_bins", times=5)
    assert run is RandomAllocation(Gaussian("0.55"), 391, 5)
    two = dp_sgd(1000, 100, 1, steps=60, sampling="balls_and_bins", times=3)
    assert two is 2 * RandomAllocation(Gaussian(1), 30, 3)
    with pytest.warns(RoundedWarning, match="4 are counted as 6"):
        dp_sgd(1000, 100, 1, 4, sampling="balls_and_bins", times=3)
    with pytest.raises(DomainError, match="times: found 2 with sampling='poisson'"):
        dp_sgd(1000, 100, 1, 1, times=2)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (1, "in one step, which it draws independently of other records and in secret"),
        (3, "in 3 steps, which it draws independently of other records and in secret"),
        (9, "in every step"),
    ],
)
def test_the_draws_of_a_record_are_in_words_and_in_formulas(times, words):
    """A formula is that of all its steps together, which the curve is no larger than."""
    node = RandomAllocation(Gaussian(2), 9, times=times)
    assert describe(node) == f"9 steps of {describe(Gaussian(2))}, with each record {words}"
    for alpha in (2, 5):
        assert node.formula(alpha) == sympy.Rational(times * alpha, 8)
        assert node.rdp(alpha, 8).lower <= times * alpha / 8
    of_one = "" if times == 1 else f"{times} "
    assert rf"\frac{{{of_one}\alpha}}{{8}}" in node.latex()
