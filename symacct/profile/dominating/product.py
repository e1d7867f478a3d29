"""Products of pairs: side by side, on one sample, as one part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from symacct.core.claims import Kind, combine
from symacct.core.exact import Exact
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.fixed_size.equilateral import Equilateral
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.noisy_sample import on_one_sample
from symacct.profile.part import Part


@dataclass(frozen=True)
class PairProduct:
    """Π (P_i, Q_i)^{k_i}; `kind` is EXACT where the mechanism has it, UPPER where it dominates.

    `one_way` where only the profile of (P, Q) at ε >= 0 is that of the mechanism; `of_many` where
    (P, Q) stands for many pairs, each of which has its profile at some ε: one run has it, several
    are dominated, and are `is_glued`: there the Rényi curve may know less or more. `pairs` are
    these, where they are finitely many of finite laws; `triangle` is what dominates smoothly where
    they are triangles, and `smoothed` another product that dominates several runs, by it.
    """

    runs: tuple[tuple[Part, int], ...]
    kind: Kind
    one_way: bool = False
    of_many: bool = False
    is_glued: bool = False
    pairs: tuple[Atoms, ...] = ()
    triangle: Equilateral | None = None
    smoothed: PairProduct | None = None


def composed(choice: Iterable[tuple[PairProduct, int]]) -> PairProduct:
    """All runs side by side; Gaussian ones are one Gaussian."""
    counts: Counter[Part] = Counter()
    ratio: Exact = Fraction(0)
    kinds = []
    for product, times in choice:
        kinds.append(product.kind)
        for part, count in product.runs:
            if isinstance(part, GaussianLoss):
                ratio += times * count * part.ratio
            else:
                counts[part] += times * count
    if ratio:
        counts[GaussianLoss(ratio)] = 1
    return PairProduct(tuple(counts.items()), combine(kinds, "Compose"))


def sampled_once(product: PairProduct, gamma: Exact) -> PairProduct:
    """One mixture (1−γ)Q + γP against Q, of the product pair (P, Q)."""
    if gamma == 0 or not product.runs:
        return PairProduct((), product.kind)
    if gamma == 1:
        return product
    pairs = tuple(pair.sampled(gamma) for pair in product.pairs)
    runs = ((one_part(product).sampled(gamma), 1),)
    return replace(product, runs=runs, pairs=pairs, triangle=None, smoothed=None)


def one_part(product: PairProduct) -> Part:
    """One part for several run on one sample: finite laws have finite products."""
    if len(product.runs) == 1 and product.runs[0][1] == 1:
        return product.runs[0][0]
    if all(isinstance(part, Atoms) for part, _ in product.runs):
        return Atoms.joint(product.runs)  # type: ignore[arg-type]
    return on_one_sample(product.runs, Fraction(1))
