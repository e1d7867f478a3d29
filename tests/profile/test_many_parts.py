"""Many different parts on one grid: never below the truth, and hardly above it."""

from __future__ import annotations

import itertools
import math
import random
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from symacct import DiscreteGaussian, Gaussian, PoissonSubsample
from symacct.analysis.normal_tails import RELATIVE_ERROR, upper_tail
from symacct.baselines.ways import ways
from symacct.kernel import deadline
from symacct.kernel.claims import Kind
from symacct.kernel.errors import PrecisionError
from symacct.operations.recipes import chances, moved_by_draws
from symacct.profile.float_laws import of_tails
from symacct.profile.grids import UpperProfile, delta_above, epsilon_above, laid
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.normal_mixtures import FloatMixture, FloatPair, NormalMixtures
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.runs import DirectedRuns
from symacct.profile.solve import CompositionProfile
from tests.thinning import covering, some

F = Fraction
NEAR = 1.001


def gaussian(sigma: str) -> DiscreteGaussian:
    return DiscreteGaussian(sigma)


#: As of a record drawn with replacement, of which many draws are rare, removed and replaced.
DRAWN = ((F(89, 100), 0), (F(10, 100), 1), (F(99, 10**4), 2), (F(1, 10**4), 6))
ALONE = ((F(1), 0),)
MIRRORED = tuple((w, -j) for w, j in reversed(DRAWN))

#: Beyond what floats enclose, so that each node takes a profile in balls: they lie further apart.
FAR = NormalMixtures(((F(1, 2), 0), (F(1, 2), 30)), ((F(9, 10), -1), (F(1, 10), 0)), F(1, 2))
PARTS = [
    NormalMixtures(DRAWN, ALONE, F(1)),
    NormalMixtures(DRAWN, MIRRORED, F(1, 9)),
    NormalMixtures(DRAWN, MIRRORED, F(3)),
    NormalMixtures(
        ((F(1, 10**12), 2), (F(1, 4), 3), (1 - F(1, 4) - F(1, 10**12), 9)), ALONE, F(1, 9)
    ),
    FAR,
    GaussianLoss(F(1, 9)),
    GaussianLoss(F(20)),
    SampledGaussian(F(1), F(1, 100)),
    SampledGaussian(F(1, 4), F(9, 10)),
    SampledGaussian(F(30), F(1, 3)),
    SampledGaussian(F(1, 300), F(1, 50)),
    GaussianLoss(F(300)),
    LaplaceLoss(F(1, 7)),
    LaplaceLoss(F(8)),
    LaplaceLoss(F(1, 3), F(1, 5)),
    LaplaceLoss(F(5), F(99, 100)),
    IntegerLoss(gaussian("27/10")),
    IntegerLoss(DiscreteGaussian("1/2", 3)),
    IntegerLoss(gaussian("3/2"), F(1, 10)),
    Atoms(((F(1, 2), F(1, 3)), (F(1, 4), F(1, 3)), (F(1, 4), F(1, 3)))),
    Atoms(((F(1, 100), F(0)), (F(1, 2), F(2, 3)), (F(49, 100), F(1, 3)))),
]


def profile_of(law, y: float, step: float) -> float:
    """Σ p(1 − e^{y−ℓ})₊ of the masses, which are one thing, and what it may fall short."""
    losses = float(law.first.mid()) + step * np.arange(len(law.masses))
    return math.fsum(law.masses * np.maximum(0.0, -np.expm1(y - losses)))


STEP = 2.0**-6


@covering()
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_no_law_is_below_the_profile(part, reverse):
    """At losses everywhere, on nodes and off them, and above it by no more than a chord is."""
    drawn, step = random.Random(7), some(16, 1) * STEP if part is FAR else STEP
    ((law, runs),) = laid(part, 1, reverse, step, 1e-12)
    assert runs == 1
    assert law.short < float(part.mass_at_infinity(reverse)) + 1e-10
    for i in range(some(50, 200)):
        near = [drawn.gauss(0, 1), drawn.gauss(0, 0.05), step * drawn.randint(-99, 99)]
        node = float(law.first.mid()) + step * drawn.randrange(len(law.masses))
        y = drawn.choice([*near, node + step * drawn.random()])
        with ctx.workprec(120):
            truth = float(part.hockey_stick(arb(y), reverse).mid())
            either = float(part.hockey_stick(arb(y - step), reverse).mid())
        found = profile_of(law, y, step)
        assert found + law.short * (1 + 1e-9) >= truth * (1 - 1e-13), (i, y)
        assert found <= either * (1 + 1e-9) + law.short + 1e-9, (i, y)


@pytest.mark.parametrize("seed", range(some(8, 20)))
def test_what_is_cut_of_shares_counts(seed):
    """Masses that are off so that losses would be beyond the nodes or before them, or P below 0."""
    drawn = np.random.default_rng(seed)
    losses = STEP * np.arange(-20, 21)
    p, q = (np.append(np.sort(drawn.random(39))[::-1], 0.0) for _ in range(2))
    p, q = np.append(1.0, p), np.append(1.5, np.exp(-losses[1:]) * q)
    p[10:13] = p[12:9:-1]
    law = of_tails(losses, STEP, p, q, 0.0, 1e-12, np.zeros(41, dtype=bool))
    assert law.masses.min() >= 0
    for y, node_p, node_q in zip(losses.tolist(), p, q, strict=True):
        assert profile_of(law, y, STEP) + law.short >= node_p - math.exp(y) * node_q - 1e-14, y


@pytest.mark.parametrize("seed", range(some(8, 20)))
def test_masses_that_are_not_known_go_to_larger_losses(seed):
    """Outcomes between the nodes, Q taken for 0 beyond some successive ones."""
    drawn = np.random.default_rng(seed)
    losses = STEP * np.arange(41)
    outcomes, masses = STEP * (1 + 38 * drawn.random(300)), drawn.random(300) ** 9
    masses /= masses.sum()
    beyond = outcomes > losses[:, None]
    unknown = np.zeros(41, dtype=bool)
    unknown[slice(*np.sort(drawn.integers(0, 41, 2)))] = True
    q = np.where(unknown, 0.0, beyond @ (masses * np.exp(-outcomes)))
    law = of_tails(losses, STEP, beyond @ masses, q, 0.0, 1e-12, unknown)
    assert law.short < 1e-10
    for y in losses.tolist():
        truth = math.fsum(masses * np.maximum(0.0, -np.expm1(y - outcomes)))
        assert profile_of(law, y, STEP) + law.short >= truth - 1e-14, y


def drawn_laws(seed: int) -> list[Atoms]:
    """Finite laws of two or three outcomes, all different."""
    drawn, found = random.Random(seed), []
    for _ in range(drawn.randint(3, 7)):
        size = drawn.randint(2, 3)
        rows = [[drawn.randint(4, 12) for _ in range(size)] for _ in range(2)]
        laws = [[F(x, sum(row)) for x in row] for row in rows]
        found.append(Atoms(tuple(zip(*laws, strict=True))))
    return found


def delta_by_all_outcomes(parts: list[Atoms], y: float, reverse: bool) -> float:
    total = 0.0
    for outcomes in itertools.product(*(part.masses for part in parts)):
        p, q = (math.prod(float(x[side]) for x in outcomes) for side in (0, 1))
        total += max(0.0, q - math.exp(y) * p if reverse else p - math.exp(y) * q)
    return total


@pytest.mark.parametrize("seed", range(some(6, 12)))
def test_finite_laws_by_all_their_outcomes(seed):
    parts, reverse = drawn_laws(seed), bool(seed % 2)
    runs = DirectedRuns(tuple((part, 1) for part in parts), reverse)
    epsilon = F(random.Random(seed).randint(1, 12), 10)
    truth = delta_by_all_outcomes(parts, float(epsilon), reverse)
    found = float(delta_above([runs], epsilon))
    assert truth * (1 - 1e-12) <= found <= NEAR * truth + 1e-9


MIXES = [
    [(NormalMixtures(DRAWN, ALONE, F(1, 4)), 3), (GaussianLoss(F(1, 9)), 1)],
    [(NormalMixtures(DRAWN, MIRRORED, F(1, 4)), 2)],
    [(LaplaceLoss(F(1, 7)), 1), (LaplaceLoss(F(1, 4), F(1, 5)), 2), (GaussianLoss(F(1, 9)), 1)],
    [(SampledGaussian(F(1), F(1, 50)), 3), (SampledGaussian(F(2), F(1, 9)), 5)],
    [(SampledGaussian(F(1, 2), F(1, 5)), 2), (GaussianLoss(F(1, 9)), 1)],
    [(IntegerLoss(gaussian("27/10")), 2), (GaussianLoss(F(1, 9)), 1)],
    [(IntegerLoss(gaussian("3/2"), F(1, 10)), 3), (SampledGaussian(F(4), F(1, 3)), 4)],
    [(GaussianLoss(F(400)), 3)],
]


@covering()
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mix", MIXES, ids=range(len(MIXES)))
def test_what_contours_prove_is_not_above_it(mix, reverse):
    """ε and δ, beside the exact profile, which is found another way."""
    truth = CompositionProfile(tuple(mix), reverse)
    runs = DirectedRuns(tuple(mix), reverse)
    with ctx.workprec(100):
        least = truth.epsilon(F(1, 10**5), 6)
        found = epsilon_above([runs], F(1, 10**5))
        assert not found < least
        assert float(found) <= NEAR * float(least.mid())
        delta = truth.delta(lambda: arb(1), 6)
        above = delta_above([runs], F(1))
        assert not above < delta
        assert float(above) <= 1.01 * float(delta.mid()) + 1e-10


@pytest.mark.parametrize("mix", MIXES, ids=range(len(MIXES)))
def test_a_root_is_an_end_that_is_proved(mix):
    goal = F(1, 10**5)
    profile = UpperProfile(DirectedRuns(tuple(mix), False), 2.0**-8, math.log(goal))
    with ctx.workprec(2 * profile.bits + 64):
        root = profile.root(goal)
        assert not profile.value(root) > arb(1) / 10**5
        assert profile.value(root * (1 - arb(2) ** -40)) > arb(1) / 10**5


def test_the_normal_tail():
    drawn = random.Random(3)
    x = [drawn.uniform(-13, 13) for _ in range(2000)]
    x += [n / 16 + away for n in range(-192, 193) for away in (-1e-15, 0.0, 1e-15)]
    found = upper_tail(np.array(x))
    with ctx.workprec(150):
        for at, value in zip(x, found.tolist(), strict=True):
            truth = (arb(at) / arb(2).sqrt()).erfc() / 2
            assert abs(arb(value) - truth) <= RELATIVE_ERROR * truth / 8 + 1e-32


def test_a_way_for_many_parts():
    """A bound with its code, above the truth; none where the exact profile is known."""
    parts = [PoissonSubsample(Gaussian(1 + F(i, 9)), F(1, 20 + i)) for i in range(7)]
    node = sum(parts[1:], 9 * parts[0])
    (way,) = ways(node)
    assert way.proof.code == "PROFILE-MANY-PARTS"
    found = way.epsilon(node, F(1, 10**5), 6)
    assert found is not None
    assert found.kind is Kind.UPPER
    assert way.proof.code in found.claim.theorems
    truth = node.epsilon("1e-5", conversion="exact", digits=4).epsilon
    assert truth.lower <= found.epsilon.upper <= truth.upper * F(NEAR)
    assert ways(node, has_profile=True) == []
    assert way.epsilon(node, F(0), 6) is None


#: σ = 1/20, γ = 1/100: 40 of 2,000 runs have the record, each with a loss of about 195.
LARGE = 2000 * PoissonSubsample(Gaussian("1/20"), "1/100")


def test_a_large_epsilon_is_had_whether_or_not_contours_are_refused():
    """Truth by 40 digits of mpmath: n ~ Binomial(2000, γ) draws of N(195.4, 20²), the rest lost.

    A draw's loss is log(γe^x + 1 − γ) with x ~ N(200, 20²), which is x + log γ beyond float64.
    """
    truth = 8137.856668734
    with suppress(PrecisionError):  # which a plan in another machine's floats may be
        exact = LARGE.epsilon("1e-5", conversion="exact", digits=6).epsilon
        assert exact.lower <= truth <= exact.upper
    (way,) = ways(LARGE)
    found = way.epsilon(LARGE, F(1, 10**5), 6)
    assert found is not None
    assert truth <= found.epsilon.upper <= NEAR * truth
    assert LARGE.epsilon("1e-5", digits=6).epsilon.upper <= found.epsilon.upper * F(NEAR)


def test_a_finer_grid_that_is_refused_leaves_the_bound(monkeypatch):
    """By the first one of the two grids that are asked."""
    asked = []

    def root(self, delta):
        asked.append(self.step)
        if len(asked) > 1:
            raise PrecisionError("too many nodes")
        return arb(7)

    monkeypatch.setattr(UpperProfile, "root", root)
    assert epsilon_above([DirectedRuns(((LaplaceLoss(F(1, 9)), 5),), False)], F(1, 10**5)) == 7
    assert len(asked) == 2


def test_a_delta_below_what_floats_lose_is_not_laid_on_a_grid(monkeypatch):
    monkeypatch.setattr(UpperProfile, "value", lambda *question: pytest.fail("was asked"))
    runs = DirectedRuns(((SampledGaussian(F(9), F(1, 10**6)), 20),), False)
    assert delta_above([runs], F(5)) == arb("inf")


def test_noise_that_floats_take_for_infinite_is_refused():
    """Its s = Δ/σ is 0 in float64."""
    runs = DirectedRuns(((GaussianLoss(F(1, 10**400)), 3), (GaussianLoss(F(1, 4)), 1)), False)
    with pytest.raises(PrecisionError):
        epsilon_above([runs], F(1, 10**5))


def test_the_time_is_looked_at():
    runs = DirectedRuns(tuple((LaplaceLoss(F(1, 90 + i)), 1) for i in range(60)), False)
    with pytest.raises(deadline.OutOfTimeError), deadline.within(0):
        epsilon_above([runs], F(1, 10**5))


def epsilon_by_a_transform(sigma: float, share: float, draws: int, steps: int) -> float:
    """ε at δ = 1e-5, of losses laid on two of many and summed by Fourier's transform.

    J ~ Bin(draws, share) draws of a record move its loss by jΔ, Δ = 1; float64, with no proof.
    """
    x = np.linspace(-12, 12 + 6 / sigma, 400_001)
    moves = np.arange(7) / sigma
    chances = [math.comb(draws, j) * share**j * (1 - share) ** (draws - j) for j in range(7)]
    density = sum(w * np.exp(-((x - d) ** 2) / 2) for w, d in zip(chances, moves, strict=True))
    loss = np.log(sum(w * np.exp(d * x - d * d / 2) for w, d in zip(chances, moves, strict=True)))
    masses = density / density.sum()
    mean = float(masses @ loss)
    step = math.sqrt(steps * float(masses @ (loss - mean) ** 2)) / 2**12
    places = (loss - mean) / step
    kept = places < 2**19
    rows, parts = np.floor(places[kept]).astype(int), np.mod(places[kept], 1)
    spread = np.bincount(rows % 2**21, masses[kept] * (1 - parts), 2**21)
    spread += np.bincount((rows + 1) % 2**21, masses[kept] * parts, 2**21)
    total = np.fft.irfft(np.fft.rfft(spread) ** steps, 2**21)
    losses = steps * mean + step * ((np.arange(2**21) + 2**20) % 2**21 - 2**20)
    beyond = 1 - float(masses[kept].sum()) ** steps

    def delta(y: float) -> float:
        return beyond + float(total @ np.maximum(0.0, -np.expm1(y - losses)))

    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) > 1e-5 else (low, middle)
    return high


@covering()
@pytest.mark.parametrize(
    ("sigma", "n", "batch", "steps"),
    [("1", 100_000, 16, 8), ("1", 60_000, 256, 1000), ("2", 60_000, 256, 1000)],
)
def test_draws_with_replacement_have_four_digits(sigma, n, batch, steps):
    """Beside a sum of losses by another way: this bound is beside it by less than a digit."""
    kept, _ = chances(n, batch, min(batch, 6))
    node = steps * moved_by_draws(Gaussian(sigma), kept, "add_remove")
    way = max(ways(node), key=lambda way: way.seconds)
    found = way.epsilon(node, F(1, 10**5), 6)
    truth = epsilon_by_a_transform(float(sigma), 1 / n, batch, steps)
    assert truth * (1 - 5e-5) <= float(found.epsilon.upper) <= truth * (1 + 5e-5)


@pytest.mark.parametrize("seed", range(some(6, 30)))
def test_the_log_of_a_mixture_is_within_its_error(seed):
    """Anywhere, and where the sum of all its terms is next to 0, by numbers of 200 bits."""
    drawn = np.random.default_rng(seed)
    means = np.sort(drawn.normal(0, 3, 4)) + drawn.choice([0.0, 9.0])
    weights = drawn.random(4) ** 5 + 1e-12
    weights /= weights.sum()
    x = np.concatenate([drawn.normal(0, 9, 200), means, means / 2])
    found, units = FloatMixture(weights, means, 0.0).log(x)
    with ctx.workprec(200):
        for at, value, unit in zip(x.tolist(), found.tolist(), units.tolist(), strict=True):
            terms = zip(weights.tolist(), means.tolist(), strict=True)
            truth = sum(
                (arb(w) * (arb(d) * (arb(at) - arb(d) / 2)).exp() for w, d in terms), arb(0)
            )
            lost = arb(sum(map(arb, weights.tolist()), arb(0)) - 1)  # of the weights in float64
            assert abs(arb(value) - truth.log()) <= unit * 2.0**-53 + abs(lost) / truth, (at, value)


def test_places_that_change_their_order_cost_what_is_between_them(monkeypatch):
    """The place of one node is too far and that of the next too near, as is said of both."""
    losses, off = np.array([-1.05, -0.05, 0.95]), np.array([0.0, 0.1, -1.0])
    part = NormalMixtures(((F(1), 1),), ALONE, F(1, 10**4))

    def places(pair: FloatPair, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.clip((asked + off) / 0.01 + 0.005, pair.low, pair.high), np.abs(off)

    monkeypatch.setattr(FloatPair, "places", places)
    found = part.in_floats(False, 0.0).beyond(losses)
    for loss, p, q in zip(losses.tolist(), found.p.tolist(), found.q.tolist(), strict=True):
        true = float(part.hockey_stick(arb(loss), False).upper())
        assert true - (p - math.exp(loss) * q) <= found.short
