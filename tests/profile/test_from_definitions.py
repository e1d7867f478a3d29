"""What is told, summed on a grid from the mechanisms' definitions, against the proved bounds.

It attacks docs/proofs/allocations.md, Lemmas banded-matrix, min-sep, shuffled-above and
largest-step, and docs/proofs/directions.md, Lemma group-mixtures: adversaries' vectors are drawn,
and the sums over samples and permutations are by enumeration; of the proofs' formulas nothing is
used.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx

from symacct import Gaussian, GroupPrivacy, Kind, PoissonSubsample, band_mf, dp_sgd
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.part import OrderLine, order_at
from tests.thinning import covering

GRID = 0.05  # in deviations; a hockey stick's kink leaves about its square
NEARLY = 3e-3
EPSILONS = ("0", "3/10", "1")


def axis(most, sigma=1.0, h=GRID):
    return np.arange(-most - 6 * sigma, most + 6 * sigma, h * sigma)


def bell(x, sigma=1.0):
    return np.exp(-((x / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))


def stick(p, q, epsilon, cell):
    """The larger of both directions."""
    grown = math.exp(Fraction(epsilon))
    return max(np.maximum(a - grown * b, 0).sum() for a, b in ((p, q), (q, p))) * cell


def exact(node, epsilon):
    return float(node.delta(epsilon, conversion="exact", digits=6).delta)


def sampled_sum(vectors, gamma, x):
    """The density of the sum of a sample of vectors of the plane, with noise of deviation 1."""
    total = 0
    for bits in itertools.product((0, 1), repeat=len(vectors)):
        mean = sum((b * v for b, v in zip(bits, vectors, strict=True)), np.zeros(2))
        weight = math.prod(gamma if b else 1 - gamma for b in bits)
        total = total + weight * np.outer(bell(x - mean[0]), bell(x - mean[1]))
    return total


@pytest.mark.parametrize(("more", "less"), [(1, 1), (2, 0), (1, 2)])
@covering()
@pytest.mark.parametrize("gamma", ["1/10", "1/2", "9/10"])
@pytest.mark.parametrize("seed", range(4))
def test_no_vectors_of_the_plane_are_told_apart_better(more, less, gamma, seed):
    """Of the records of one dataset, of the other and of both; the first are as proved."""
    draw = np.random.default_rng(seed)
    step = Fraction(int(draw.integers(2, 8)), 4)
    length = float(step)

    def drawn(count):
        v = draw.normal(size=(count, 2))
        return list(length * v / np.linalg.norm(v, axis=1)[:, None])

    node = PoissonSubsample(Gaussian(1, step), gamma, adjacency="replace_one")
    if (more, less) != (1, 1):
        node = GroupPrivacy(PoissonSubsample(Gaussian(1, step), gamma), more + less)
    along, x = np.array([length, 0.0]), axis((more + less) * length)
    rate = float(Fraction(gamma))
    for number in range(3):
        own = [along] * more if number == 0 else drawn(more)
        other = [-along] * less if number == 0 else drawn(less)
        both = drawn(number // 2)
        p, q = (sampled_sum([*one, *both], rate, x) for one in (own, other))
        for epsilon in EPSILONS:
            found = stick(p, q, epsilon, GRID**2)
            assert found <= exact(node, epsilon) * (1 + NEARLY)
            if number == 0 and less < 2:
                assert found >= exact(node, epsilon) * (1 - NEARLY)


def told_rows(strategy, bands, gamma, sigma, x, parts, chosen):
    """The density of both rows; the vectors of the second step may depend on the first row."""
    slots = [(name, j) for name, part in parts.items() for j in range(part, 2, bands)]
    sign = (x > 0).astype(int)
    total = 0
    for bits in itertools.product((0, 1), repeat=len(slots)):
        taken = [slot for slot, bit in zip(slots, bits, strict=True) if bit]
        first = sum(chosen[name, 0, 0] for name, j in taken if j == 0)
        second = np.zeros(len(x)) + sum(
            np.where(sign, chosen[name, 1, 1], chosen[name, 1, 0]) for name, j in taken if j == 1
        )
        (a, _), (b, c) = strategy
        density = bell(x - float(a) * first, sigma)[:, None]
        density = density * bell(
            x[None, :] - (float(b) * first + float(c) * second)[:, None], sigma
        )
        total = total + math.prod(gamma if bit else 1 - gamma for bit in bits) * density
    return total


@covering()
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("bands", [1, 2])
@pytest.mark.parametrize("rate", ["1/10", "1/2", "9/10"])
@pytest.mark.parametrize("seed", range(6))
def test_no_choice_of_steps_tells_more_of_banded_rows(relation, bands, rate, seed):
    """First what attains it, of the part of the largest column; then any, with another record."""
    draw = np.random.default_rng(seed)
    a, b, c = (Fraction(int(k), 4) for k in draw.integers(1, 6, 3))
    rows = [[a, 0], [b if bands == 2 else 0, c]]
    gamma, sigma = Fraction(rate), 2.0
    node = band_mf(
        n=1000,
        batch_size=int(gamma * 1000 / bands),
        noise_multiplier=2,
        bands=bands,
        steps=2,
        strategy=rows,
        adjacency=relation,
    )
    columns = [a * a + rows[1][0] ** 2, c * c]
    x = axis(4, sigma)
    for number in range(3):
        part = max(range(bands), key=lambda r: columns[r]) if number == 0 else number % bands
        names = {"own": 1.0, "new": -1.0, "other": 0.0}
        chosen = {
            (name, j, sign): fixed if number == 0 else draw.choice([-1.0, 1.0, draw.uniform(-1, 1)])
            for name, fixed in names.items()
            for j in (0, 1)
            for sign in (0, 1)
        }
        beside = {"other": int(draw.integers(bands))}
        missing = {} if relation == "add_remove" else {"new": part}
        p, q = (
            told_rows(rows, bands, float(gamma), sigma, x, {**one, **beside}, chosen)
            for one in ({"own": part}, missing)
        )
        for epsilon in EPSILONS:
            found = stick(p, q, epsilon, (GRID * sigma) ** 2)
            most = exact(node, epsilon)
            assert found <= most * (1 + NEARLY) + 1e-9
            if number == 0 and node.claim.kind is Kind.EXACT:
                assert found >= most * (1 - NEARLY) - 1e-9


def shuffled(records, size, sigma, x, vectors):
    """The density of the two told sums of an epoch, over all permutations."""
    total, count = 0, math.factorial(len(records))
    sign = (x > 0).astype(int)
    for order in itertools.permutations(records):
        first = sum(vectors[r, 0, 0] for r in order[:size])
        second = np.zeros(len(x)) + sum(
            np.where(sign, vectors[r, 1, 1], vectors[r, 1, 0]) for r in order[size:]
        )
        own = bell(x - first, sigma)[:, None]
        total = total + own * bell(x[None, :] - second[:, None], sigma) / count
    return total


@covering()
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("n", "size"), [(2, 1), (3, 2), (4, 2)])
@pytest.mark.parametrize("sigma", ["1/2", "1", "2"])
@pytest.mark.parametrize("seed", range(3))
def test_no_vectors_tell_more_of_shuffled_batches(relation, n, size, sigma, seed):
    """In two batches, the second of which may be empty without the record."""
    draw = np.random.default_rng(seed)
    run = {"n": n, "batch_size": size, "epochs": 1, "sampling": "shuffled"}
    node = dp_sgd(**run, noise_multiplier=sigma, adjacency=relation)
    noise, others = float(Fraction(sigma)), list(range(n - 1))
    x = axis(size, noise)
    for number in range(3):
        vectors = {
            (r, t, sign): draw.choice([-1.0, 1.0, draw.uniform(-1, 1)]) if number else -1.0
            for r in range(n + 1)
            for t in (0, 1)
            for sign in (0, 1)
        }
        if number == 0:  # n − 1 is the record, n what is in its place
            vectors.update({(n - 1, t, sign): 1.0 for t in (0, 1) for sign in (0, 1)})
        without = [*others, n] if relation == "replace_one" else others
        p, q = (
            shuffled(records, size, noise, x, vectors) for records in ([*others, n - 1], without)
        )
        for epsilon in EPSILONS:
            found = stick(p, q, epsilon, (GRID * noise) ** 2)
            assert found <= exact(node, epsilon) * (1 + NEARLY)


@pytest.mark.parametrize("far", [0, 40, 10**4, 10**6])
def test_nodes_are_counted_before_they_are_summed(far):
    """A plan that is too long is refused for its count."""
    part = GaussianLoss(Fraction(1, 20)).in_groups(Fraction(1, 10**5), 1, 1)
    count = part.terms(OrderLine(2.0, float(far), 1), 30.0)
    if count < 10**4:
        with ctx.workprec(64):
            assert len(part.sample(2.0, float(far), 30.0).losses) == count
    assert (count > 10**4) == (far > 10**4)


@pytest.mark.parametrize("shift", [0.25, 3.0])
def test_the_order_at_a_shift_is_that_of_the_moment_of_the_loss(shift):
    """E_P[e^{sL}] of (P, Q), and E_Q[e^{−sL}] of the exchanged pair, are F at these orders."""
    laws = [(Fraction(1, 4), Fraction(1, 2)), (Fraction(3, 4), Fraction(1, 2))]
    ratios = [(float(p), float(q), float(p / q)) for p, q in laws]
    plain = sum(p * ratio**shift for p, _, ratio in ratios)
    exchanged = sum(q * ratio**-shift for _, q, ratio in ratios)
    for reverse, moment in ((False, plain), (True, exchanged)):
        order = np.array([order_at(shift, reverse)])
        assert math.exp(Atoms(tuple(laws)).float_moments(order)[0][0]) == pytest.approx(moment)
