"""The base class of the privacy losses, and what a new one has to say.

A loss is the law of L = log dP/dQ for one pair (P, Q): two laws that one run of a mechanism may
have on neighbouring datasets. Over the outcomes that both laws have, F(z) = E_Q[(P/Q)^z] is what a
Rényi curve is at real orders, here at complex ones. Each kind of loss is one class, a frozen
dataclass in `profile/losses/`, whose fields are exact numbers and define the two laws. All that
the ways to a profile, the operations and the printers want to know of a loss they ask the loss, by
the names of this page; none of them asks which class it is.

Who adds a loss writes one file with one class:

- always `symmetric`, `sampled`, `mass_at_infinity`, `hockey_stick` (the profile of one run, in
  balls) and `float_moments` (float64, which steers and proves nothing);
- for a sum over complex orders of many runs `log_decay` and `log_values`, which steer, and in balls
  `terms`, `transform` and `decay`, a bound of |F| far out. A loss that is summed over nodes gets
  them from `SummedLoss`, a mean of other losses has the first two from `MixtureMoments`; a loss
  whose moments are not known at complex orders is a `ProfileOnly`, which `hockey_stick` alone lays
  on a grid;
- the ends of the loss, where it has them: `largest`, and `exact_largest` where that is a number;
- the attributes below whose default is not true of it. Each default is on the safe side, or costs
  time alone; `is_atomic` asks for `outcomes_but_for`, `is_density` for `density_pairs`, and
  `frequencies` for `amplitude_bounds`;
- what is known besides and saves work: other losses made of it (`exchanged`, `fixed_size_pair`,
  `in_groups`, `allocated`), its runs together (`joined`, `factors`, `form_of_runs`), closed forms
  that it shares with losses of other classes (`finite`, `lattice`, `gaussian_ratio`,
  `laplace_shift`) and its law in floats for a grid of many different losses (`in_floats`);
- `proof`, where the profile of one run is proved, and `in_latex`, the two laws as they are printed.

The file registers which declared laws (laws/neighbours.py) have the loss, by `@loss_of.register`,
and `loss_register.py` names the file. tests/profile/test_traits.py sees that nobody asks for the
class of a loss.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Self, TypeVar

import numpy as np
from flint import acb, arb, arb_poly

from symacct.kernel.errors import AssumptionError, PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.sums import balls
from symacct.profile.proofs import SINGLE_RUN

if TYPE_CHECKING:
    from symacct.kernel.claims import Proof
    from symacct.mechanisms import DiscreteGaussian
    from symacct.profile.float_laws import LawInFloats
    from symacct.profile.losses.density import DensityLoss
    from symacct.profile.losses.finite import Atoms
    from symacct.profile.written_laws import Write, WrittenLaws

Floats = np.ndarray
T = TypeVar("T")


@dataclass(frozen=True)
class OrderLine:
    """A line of orders has z = a + inh, first <= n <= last; a and h are exact binary numbers."""

    a: float
    h: float
    last: int
    first: int = 0

    @property
    def nodes(self) -> range:
        """The n."""
        return range(self.first, self.last + 1)


#: The orders and steps of a line have 24 bits, so that its nodes are exact at few.
rounded_down = functools.partial(balls.rounded_down, bits=24)


def log_turning(log_weights: Floats, losses: Floats, line: OrderLine) -> Floats:
    """Compute log Σ_j w_j e^{inhℓ_j} for each node of a line in complex128, by two matrices."""
    top = log_weights.real.max()
    weights = np.exp(log_weights - top)
    small = math.isqrt(line.last) + 1
    turn = 1j * line.h * losses
    inner = np.exp(turn[:, None] * np.arange(small))
    outer = np.exp(np.arange(0, line.last + 1, small)[:, None] * turn) * weights
    with np.errstate(divide="ignore"):
        return np.asarray(np.log((outer @ inner).ravel()[: line.last + 1]) + top)


class Factor(ABC):
    """A factor of a composition's moments is what a contour sums, in balls at flint's precision."""

    stands_for_many = False  # losses, whose runs it gathers

    @abstractmethod
    def terms(self, line: OrderLine, need: float) -> int:
        """How many are summed for each node of `transform`."""

    @abstractmethod
    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """F on a line, each to an absolute error of about e^{−need} F(a)."""

    @abstractmethod
    def decay(self, a: float, t: float, slack: float) -> arb:
        """An upper bound of log|F(a+is)| for all |s| >= t, within about `slack` of the best."""

    @abstractmethod
    def largest(self, reverse: bool) -> arb:
        """ess sup of the finite L under P; of −L under Q if `reverse`; ∞ where there is none."""


class LossLattice(NamedTuple):
    """A lattice of losses has all of them equally far apart.

    `apart` is the step, `deviation` about that of the lattice's number, and `masses` gives for
    either direction and so many bits the smallest loss with the P-masses from there on.
    """

    apart: Exact
    deviation: float
    masses: Callable[[bool, int], tuple[arb, list[arb]]]


class Part(Factor):
    """A part is a pair (P, Q) that one run of a mechanism has, by the law of its privacy loss.

    What steers is float64 and proves nothing; the rest is balls at flint's current precision.
    """

    # --- traits

    proof: Proof = SINGLE_RUN  # of the profile of one run
    is_atomic = False  # all losses are atoms, and no moment falls
    is_density = False  # D is worked out by integrals of two densities, soon at any place
    is_averaged = False  # F is a mean of those of other losses, soon had or soon refused
    ends_in_atoms = False  # both ends of the loss have mass
    jumps_rarely = False  # as of a small sample: moments tell of the jumps and not of the rest
    has_moments = True  # at complex orders, which a contour sums
    refuses_far_orders = False  # where its nodes are too many
    is_searched = False  # a value of D is at a place that is searched for
    is_costly = False  # a value of D takes as long as thousands of others
    may_be_chosen = True  # by a coin, with another loss
    has_an_end = False  # a largest loss, next to which D falls like a power of what is left

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Does an involution that keeps the measure exchange P and Q? Then so do their profiles."""

    @property
    def decays_slowly(self) -> bool:
        """May its moments not fall, or too slowly for a contour of few runs?"""
        return False

    # --- laws that are made of it

    @abstractmethod
    def sampled(self, gamma: Exact) -> Part:
        """(1−γ)Q + γP against Q, 0 < γ < 1; AssumptionError where it is not known."""

    @property
    def exchanged(self) -> Part | None:
        """(Q, P), where it is known as a loss."""
        return self if self.symmetric else None

    @property
    def either_way(self) -> Part | None:
        """The loss whose D is the larger of those of (P, Q) and (Q, P) at every y, if it is known.

        None where it is known as no loss but the pointwise maximum of the two.
        """
        return None

    def fixed_size_pair(self, gamma: Exact) -> Part | None:
        """What dominates a sample of fixed size both ways, a record replaced.

        None where that is known one way only, as (1−γ)Q + γP against Q.
        """
        return None

    def in_groups(self, gamma: Exact, added: int, removed: int) -> Part:
        """Poisson samples of so many records more, against those of other ones.

        AssumptionError where that is not known.
        """
        raise AssumptionError(
            "found groups of records on Poisson samples of noise that is not Gaussian, needed "
            "Gaussian noise",
            where="conversion exact",
            remedy="use conversion improved",
        )

    def allocated(self, steps: int) -> Part:
        """The mean over so many runs of the laws with the record in one of them, against none."""
        raise AssumptionError(
            "found RandomAllocation of noise that is not Gaussian, Laplace or "
            "of finitely many outcomes, needed one of these",
            where="conversion exact",
            remedy="use conversion improved",
        )

    @classmethod
    def joined(cls, runs: Sequence[tuple[Self, int]]) -> Runs | None:
        """All runs of losses of this class as fewer, where these have their law; else None."""
        return None

    @classmethod
    def factors(cls, runs: Sequence[tuple[Self, int]]) -> Sequence[tuple[Factor, int]] | None:
        """All runs of losses of this class as fewer factors of moments, where that is less work."""
        return None

    # --- closed forms

    @property
    def alternatives(self) -> Sequence[Part]:
        """Return the losses of which it is the pointwise maximum: itself, unless of several."""
        return (self,)

    @property
    def gaussian_ratio(self) -> Exact | None:
        """(Δ/σ)² of Gaussian noise on all of the data, where it is its loss: normal."""
        return None

    @property
    def laplace_shift(self) -> Exact | None:
        """Δ/b of Laplace noise on all of the data, where it is its loss."""
        return None

    @property
    def finite(self) -> Atoms | None:
        """Return the loss as finitely many atoms, where it has no others."""
        return None

    @property
    def discrete_gaussian(self) -> DiscreteGaussian | None:
        """The noise whose loss it is, not sampled, linear in the outcome."""
        return None

    @property
    def lattice(self) -> LossLattice | None:
        """The lattice of the losses, where all of them are known to be on one."""
        return None

    @property
    def exact_total_variation(self) -> Fraction | None:
        """D(0) as a fraction, where it is one."""
        return None

    def density_pairs(self, reverse: bool) -> Sequence[tuple[DensityLoss, tuple[bool, ...]]]:
        """The pairs of densities of which it is the worst, and which ways round; none of others."""
        return ()

    @classmethod
    def form_of_runs(
        cls, runs: Sequence[tuple[Self, int]], reverse: bool
    ) -> tuple[Callable[[arb], arb], Proof] | None:
        """D(y) of runs of losses of this class alone, and its proof, where it is known."""
        return None

    def outcomes_but_for(self, need: float, reverse: bool) -> tuple[list[tuple[arb, arb]], arb]:
        """(p, q) of an atomic loss's outcomes but for masses of about e^{−need}; what these are."""
        raise NotImplementedError

    # --- float64: where to look

    @abstractmethod
    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """log F and the variance of L under the tilted law, at real orders; float64."""

    @abstractmethod
    def log_decay(self, a: float, t: float) -> float:
        """About `decay`; float64."""

    @abstractmethod
    def log_values(self, line: OrderLine) -> Floats:
        """About log of `transform`, on a line from 0 on; complex128."""

    def in_floats(self, reverse: bool, rare: float) -> LawInFloats | None:
        """The law in float64 but for what is rare, with what that loses, where it is known."""
        return None

    def about_root(self, log_delta: float, reverse: bool) -> float | None:
        """About where D is e^{log_delta}, in float64, where that is told without moments."""
        return None

    # --- balls: what is proved

    def frequencies(self) -> list[arb]:
        """The losses ℓ at which F turns, F(a+iu) = Σ e^{iuℓ} f(u); [] where f would not be slow."""
        return []

    def amplitude_bounds(self, a: float, t: float, length: int) -> list[arb_poly]:
        """Bounds of |f^{(j)}(u)|/j! for all u >= t > 0 and j < length, for each of these losses."""
        return []

    @abstractmethod
    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """H_{e^y}(P‖Q) = P(L > y) − e^y Q(L > y) in closed form; of (Q, P) if `reverse`."""

    def largest(self, reverse: bool) -> arb:
        """None is known."""
        return arb("inf")

    def exact_largest(self, reverse: bool) -> Exact | None:
        """The largest loss as an exact number, where one is known."""
        return None

    @abstractmethod
    def mass_at_infinity(self, reverse: bool) -> Exact:
        """P(L = ∞); Q(L = −∞) if `reverse`."""

    # --- words

    def in_latex(self, write: Write) -> WrittenLaws | None:
        """P and Q, numbers by `write`; None where they are not written, or are too many terms."""
        return None


Runs = tuple[tuple[Part, int], ...]
PartRuns = Sequence[tuple[Part, int]]
#: Of factors some of which are no losses.
FactorRuns = Sequence[tuple[Factor, int]]


def merged(
    runs: Runs, merge: Callable[[type[Part], Sequence[tuple[Part, int]]], Sequence[T] | None]
) -> list[tuple[Part, int] | T]:
    """Merge the runs of each class where that can be, and keep the others as they are, in front."""
    alike: dict[type[Part], list[tuple[Part, int]]] = defaultdict(list)
    for part, count in runs:
        alike[type(part)].append((part, count))
    fewer = {
        kind: factors
        for kind, same_class in alike.items()
        if (factors := merge(kind, same_class)) is not None
    }
    others = (run for run in runs if type(run[0]) not in fewer)
    return [*others, *chain.from_iterable(fewer.values())]


class ProfileOnly(Part):
    """A loss of this kind has a profile D(y), and mostly no moment at a complex order.

    Several runs of it are laid on a grid.
    """

    has_moments = False  # but some have

    @property
    def decays_slowly(self) -> bool:
        """No moment is known to fall."""
        return True

    def log_decay(self, a: float, t: float) -> float:
        """Refused by a PrecisionError: no moment is known."""
        self._refuse()

    def log_values(self, line: OrderLine) -> Floats:
        """Refused by a PrecisionError: no moment is known."""
        self._refuse()

    def terms(self, line: OrderLine, need: float) -> int:
        """Refused by a PrecisionError: no moment is known."""
        self._refuse()

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Refused by a PrecisionError: no moment is known."""
        self._refuse()

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Refused by a PrecisionError: no moment is known."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise PrecisionError(
            "found several runs of mechanisms that share a sample, or of laws in either "
            "direction, whose moments are not summed, needed fewer digits",
            where="conversion exact",
            remedy="ask for fewer, or for conversion improved",
        )
