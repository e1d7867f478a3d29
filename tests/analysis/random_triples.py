"""Triples of laws at random, thousands at a time in float64, and their E_q[m^α n^{1−α}] − 1.

Nothing of the package is in here. Gaussian triples are two means in any number of dimensions, of
which the Gram matrix alone counts; finite ones are three laws on a few outcomes.
"""

import numpy as np

_STEP, _REACH = 0.45, 8.6


def gap(alpha, gamma, x, y):
    """m^α n^{1−α} − 1 without its linear part, for X = x + 1 and Y = y + 1."""
    m, n = gamma * x, gamma * y
    ratio = (m - n) / (1 + n)
    return (1 + n) * (np.expm1(alpha * np.log1p(ratio)) - alpha * ratio)


def gaussian_excess(alpha, gamma, a, b, step=_STEP):
    """E_q[m^α n^{1−α}] − 1 of q = N(0, I) and the normal laws at the rows of a and b."""
    first = np.linalg.norm(a, axis=1)
    along = np.einsum("ij,ij->i", a, b) / np.where(first > 0, first, 1)
    rise = np.sqrt(np.maximum(0, np.einsum("ij,ij->i", b, b) - along**2))
    shift = alpha * first.max() + abs(along).max()
    z = np.arange(-_REACH - abs(along).max() * alpha, _REACH + shift, step)
    w = np.arange(-_REACH - rise.max() * alpha, _REACH + rise.max(), step)
    z, w = (grid.ravel() for grid in np.meshgrid(z, w, indexing="ij"))
    weights = np.exp(-(z**2 + w**2) / 2) * step**2 / (2 * np.pi)
    x = np.expm1(np.outer(first, z) - (first**2 / 2)[:, None])
    y = np.expm1(np.outer(along, z) + np.outer(rise, w) - ((along**2 + rise**2) / 2)[:, None])
    return gap(alpha, gamma, x, y) @ weights


def means(chance, count, dimension, delta, apart):
    """Rows a and b with |a|, |b| <= delta and |a−b| <= apart; most touch one of the three."""
    a, b = chance.normal(size=(2, count, dimension))
    b = np.where(chance.random((count, 1)) < 0.5, b, a + chance.normal(size=b.shape) / 2)
    return scaled(a, b * chance.uniform(0, 2, (count, 1)), delta, apart, chance.random(count) < 0.8)


def scaled(a, b, delta, apart, outwards):
    """The same shapes brought into the bounds, and out to them where `outwards`."""
    sizes = (np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    between = np.linalg.norm(a - b, axis=1)
    size = np.maximum(np.maximum(*sizes) / delta, between / apart)
    size = np.where(outwards, size, np.maximum(size, 1))[:, None]
    return a / size, b / size


def climbed(chance, alpha, gamma, delta, apart, starts, rounds=160):
    """The largest excess that random steps in |a|, |b| and |a−b| lead to, from each start."""

    def placed(sizes):
        first, second, between = sizes.T
        along = (first**2 + second**2 - between**2) / (2 * np.maximum(first, 1e-300))
        rise = np.sqrt(np.maximum(0, second**2 - along**2))
        return np.stack([first, 0 * first], axis=1), np.stack([along, rise], axis=1)

    def allowed(sizes):
        first, second = np.clip(sizes[:, :2], 0, delta).T
        most = np.minimum(apart, first + second)
        return np.stack([first, second, np.clip(sizes[:, 2], abs(first - second), most)], axis=1)

    sizes = allowed(chance.uniform(0, apart, (starts, 3)))
    best = gaussian_excess(alpha, gamma, *placed(sizes))
    for size in np.geomspace(delta, 1e-6 * delta, rounds):
        near = allowed(sizes + size * chance.normal(size=sizes.shape))
        value = gaussian_excess(alpha, gamma, *placed(near))
        sizes = np.where((value > best)[:, None], near, sizes)
        best = np.maximum(best, value)
    return best


def laws(chance, count, outcomes):
    """Three laws for each row, whose outcomes are mostly favoured or not, and nothing between."""
    base = chance.dirichlet(np.ones(outcomes), count)
    own = (outcomes > 2) & (chance.random((count, 1)) < 0.2)  # each law favours its own outcome
    base = np.where(own | (chance.random((count, 1)) < 0.5), 1 / outcomes, base)
    favours = chance.integers(0, 2, (3, count, outcomes)).astype(float)
    between = chance.random((3, count, 1)) < 0.2
    favours = np.where(between, chance.random(favours.shape), favours)
    favours[0, :, :2], favours[2, :, :2] = (1, 0), (0, 1)  # so that they are never one law
    order = [0, 2, 1]
    favours = np.where(own, np.eye(3, outcomes)[order][:, None, :], favours)
    powers = chance.uniform(0.02, 4, (count, 1))
    found = base * np.exp(favours * powers)
    return found / found.sum(axis=2, keepdims=True)


def finite_excess(alpha, gamma, p, other, q):
    """The same for rows of three laws; α and γ are columns."""
    return (q * gap(alpha, gamma, p / q - 1, other / q - 1)).sum(axis=1)


def log_odds(one, two):
    """The largest |log| of the ratio of two laws, by row."""
    return abs(np.log(one / two)).max(axis=1)
