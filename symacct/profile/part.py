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

Arguments that bear one name mean the same in every loss and every strategy:

- losses, ε and y are in nats, and so is every logarithm; z = a + it is an order, `gamma` the
  sampling rate, and `reverse` asks for (Q, P), whose loss is −L under Q;
- `need` is in nats: a value of F may be off by about e^{−need} F(a). What is handed back encloses
  F whatever the need, which only says how wide the enclosure may be;
- `far` is the largest |Im z| for which nodes are made, and `t` the smallest one for which a bound
  far out is asked;
- `slack` is in nats: a bound of log|F| may be about so much above the best one that is known;
- `drop` is in nats: what is left out of a sum is about e^{−drop} of the δ that is asked for;
- `rare` is a probability, and `digits` are significant decimal digits;
- `most` is the largest count, loss or value that is taken, as its function says.

The file registers which declared laws (laws/neighbours.py) have the loss, by `@loss_for`, and
`FILES` below names the file. tests/profile/test_traits.py sees that nobody asks for the class of a
loss.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeVar

import numpy as np
from flint import acb, arb, arb_poly

from symacct.kernel.arithmetic import ball as balls
from symacct.kernel.errors import AssumptionError, CurveAloneError, PrecisionError
from symacct.kernel.exact import Exact, LazyModule
from symacct.laws.neighbours import Neighbours
from symacct.profile.proofs import SINGLE_RUN

if TYPE_CHECKING:
    from symacct.kernel.claims import Proof
    from symacct.mechanisms import DiscreteGaussian
    from symacct.profile.float_laws import LawInFloats
    from symacct.profile.grids import LaidLaw
    from symacct.profile.losses import allocated_law
    from symacct.profile.losses.density import DensityLoss
    from symacct.profile.losses.finite import Atoms
    from symacct.profile.written_laws import Write, WrittenLaws

else:  # which random allocation alone needs
    allocated_law = LazyModule("symacct.profile.losses.allocated_law")

#: An array of float64 or complex128, which steers.
Floats = np.ndarray
T = TypeVar("T")
#: A class of laws that leaves declare.
L = TypeVar("L", bound=Neighbours)
#: A shift, or some of them.
Shift = TypeVar("Shift", float, Floats, acb)


@dataclass(frozen=True)
class OrderLine:
    """A line of orders has z = a + inh, first <= n <= last; a and h are exact binary numbers.

    `log_values` and `log_turning` take lines from 0 on alone, and do not read `first`.
    """

    a: float
    h: float
    last: int
    first: int = 0

    @property
    def nodes(self) -> range:
        """The numbers n of the nodes, both ends among them."""
        return range(self.first, self.last + 1)


def order_at(shift: Shift, reverse: bool) -> Shift:
    """Return the order z at a shift s: 1 + s, or −s of the exchanged pair."""
    return -shift if reverse else 1 + shift


#: The orders and steps of a line are rounded down to 24 bits, so that its nodes are exact floats.
rounded_down = functools.partial(balls.rounded_down, bits=24)


def log_turning(log_weights: Floats, losses: Floats, line: OrderLine) -> Floats:
    """Compute log Σ_j w_j e^{inhℓ_j} for 0 <= n <= last in complex128, by two matrices of powers.

    It steers. It is −∞ where a sum is 0, and a line from another node on is none of its business.
    """
    top = log_weights.real.max()
    weights = np.exp(log_weights - top)
    small = math.isqrt(line.last) + 1
    turn = 1j * line.h * losses
    inner = np.exp(turn[:, None] * np.arange(small))
    outer = np.exp(np.arange(0, line.last + 1, small)[:, None] * turn) * weights
    with np.errstate(divide="ignore"):
        return np.asarray(np.log((outer @ inner).ravel()[: line.last + 1]) + top)


def no_pair(finding: str) -> AssumptionError:
    """Make the error of a node, or of a loss, for which no dominating pair is known."""
    return AssumptionError(finding, where="conversion exact", remedy="use conversion improved")


class Factor(ABC):
    """A factor of a composition's moments is what a contour sums, in balls at flint's precision."""

    stands_for_many = False  # True of a factor that gathers the runs of several losses

    @abstractmethod
    def terms(self, line: OrderLine, need: float) -> int:
        """Estimate how many terms `transform` sums for a node of the line: its cost, no bound.

        LimitError where they are too many.
        """

    @abstractmethod
    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Enclose F at each node of a line, with radii of about e^{−need} F(a)."""

    @abstractmethod
    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log|F(a+is)| from above for all |s| >= t, within about `slack` nats of the best."""

    @abstractmethod
    def largest(self, reverse: bool) -> arb:
        """Enclose ess sup of the finite L under P, of the finite −L under Q if `reverse`.

        It is ∞ where there is none, and −∞ where no loss is finite. It may be larger than the true
        one, never smaller, as D is taken to be P(L = ∞) beyond it.
        """


class LossLattice(NamedTuple):
    """A lattice of losses has all of them equally far apart.

    `apart` is the step in nats, `deviation` about the standard deviation of L in steps, or more.
    `masses(reverse, bits)` gives the smallest loss and the P-masses from there on, those of Q if
    reversed; it may leave out masses below about 2^{−bits}.
    """

    apart: Exact
    deviation: float
    masses: Callable[[bool, int], tuple[arb, list[arb]]]


class Part(Factor):
    """A part is a pair (P, Q) that one run of a mechanism has, by the law of its privacy loss.

    What steers is float64 and proves nothing; the rest is balls at flint's current precision.
    """

    # --- traits, which choose a strategy and prove nothing

    proof: Proof = SINGLE_RUN  # where the profile of one run is proved
    is_atomic = False  # all losses are atoms, so that |F| does not fall along a line
    is_density = False  # D is an integral of two densities, which is quick at any y
    is_averaged = False  # F is a mean of other losses' F, which is quickly summed or refused
    ends_in_atoms = False  # the smallest and the largest loss have positive mass
    jumps_rarely = False  # γ is so small that moments tell of the sampled runs alone
    has_moments = True  # F is known at complex orders, which a contour sums
    refuses_far_orders = False  # it raises LimitError where orders far out need too many nodes
    is_searched = False  # a value of D is taken at a place that a search finds
    is_costly = False  # a value of D takes as long as thousands of values of other losses
    may_be_chosen = True  # Either may choose between this loss and another one by its coin
    has_an_end = False  # there is a largest loss, near which D falls like a power of the rest
    decays_slowly: bool = False  # moments may not fall, or too slowly for a contour of few runs

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Does an involution that keeps the measure exchange P and Q? Then so do their profiles."""

    # --- laws that are made of it

    @abstractmethod
    def sampled(self, gamma: Exact) -> Part:
        """Make the loss of (1−γ)Q + γP against Q, 0 < γ < 1; AssumptionError where none is known.

        The caller answers for γ = 0, where there is no run, and for γ = 1, this loss itself.
        """

    @property
    def exchanged(self) -> Part | None:
        """The loss of (Q, P): itself where a symmetry exchanges the two; None where not known."""
        return self if self.symmetric else None

    @property
    def either_way(self) -> Part | None:
        """The loss whose D is the larger of those of (P, Q) and (Q, P) at every y, if it is known.

        None where it is known as no loss but the pointwise maximum of the two.
        """
        return None

    def fixed_size_pair(self, gamma: Exact) -> Part | None:
        """Make the pair that dominates a sample of fixed size both ways, a record replaced.

        γ is the share of the records, in (0, 1). None where what dominates is known one way only,
        as (1−γ)Q + γP against Q.
        """
        return None

    def zeroed_pair(self, gamma: Exact) -> Part | None:
        """Make the pair that dominates a sample of fixed size both ways, a record zeroed out.

        γ is the share of the records, in (0, 1). None where it is not known.
        """
        return None

    def in_groups(self, gamma: Exact, added: int, removed: int) -> Part:
        """Make the loss of Poisson samples with `added` records, against those with `removed` ones.

        AssumptionError where it is not known.
        """
        raise no_pair(
            "found groups of records on Poisson samples of noise that is not Gaussian, needed "
            "Gaussian noise"
        )

    def allocated(self, steps: int) -> Part:
        """Make the loss of a record in one of `steps` > 1 runs, drawn at random, against no record.

        A loss that knows more digits of it says so.
        """
        return allocated_law.AllocatedLaw(self, steps)

    @classmethod
    def joined(cls, runs: Sequence[tuple[Self, int]]) -> Runs | None:
        """Join all runs of losses of this class into fewer runs that have the law of their sum.

        None where no such runs are known; an empty tuple where nothing is lost.
        """
        return None

    @classmethod
    def factors(cls, runs: Sequence[tuple[Self, int]]) -> Sequence[tuple[Factor, int]] | None:
        """Gather the runs of losses of this class as fewer factors of moments; None where none are.

        The product of the factors' F must be that of the runs.
        """
        return None

    # --- closed forms

    #: (Δ/σ)² of Gaussian noise on all of the data, where that has this loss.
    gaussian_ratio: Exact | None = None
    #: Δ/b of Laplace noise on all of the data, where that has this loss.
    laplace_shift: Exact | None = None
    #: The loss as finitely many atoms, where it has no others.
    finite: Atoms | None = None
    #: The discrete Gaussian noise on all of the data that has this loss.
    discrete_gaussian: DiscreteGaussian | None = None
    #: The lattice of the losses, where all of them are known to be on one.
    lattice: LossLattice | None = None
    #: D(0) as a fraction, where it is one.
    exact_total_variation: Fraction | None = None

    @property
    def alternatives(self) -> Sequence[Part]:
        """Return the losses of which it is the pointwise maximum: itself, unless of several."""
        return (self,)

    def density_pairs(self, reverse: bool) -> Sequence[tuple[DensityLoss, tuple[bool, ...]]]:
        """List pairs of densities whose pointwise maximum is its profile; none of other losses.

        Beside each stand the directions that count, True for the exchanged one.
        """
        return ()

    @classmethod
    def form_of_runs(
        cls, runs: Sequence[tuple[Self, int]], reverse: bool
    ) -> tuple[Callable[[arb], arb], Proof] | None:
        """Return D as a function of y, of runs of losses of this class alone, and its proof.

        None where no such form is known. The function may give balls that decide nothing.
        """
        return None

    def outcomes_but_for(self, need: float, reverse: bool) -> tuple[list[tuple[arb, arb]], arb]:
        """List (p, q) of an atomic loss's finite losses, and bound the P-mass that is left out.

        That is about e^{−need}. Outcomes of infinite loss are not listed, nor is their mass in the
        bound. The laws are exchanged if `reverse`.
        """
        raise NotImplementedError

    # --- float64: where to look

    @abstractmethod
    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log F and the variance of L under the tilted law Q e^{aL}/F(a), at real orders.

        log F is ∞ or NaN where a moment is infinite or not found.
        """

    @abstractmethod
    def log_decay(self, a: float, t: float) -> float:
        """Estimate what `decay` gives at a and t, with log F(a) at t = 0."""

    @abstractmethod
    def log_values(self, line: OrderLine) -> Floats:
        """Estimate log F at each node of a line from 0 on, in complex128."""

    def in_floats(self, reverse: bool, rare: float) -> LawInFloats | None:
        """Return the law in float64 with a bound of what it loses, to be laid on a grid; else None.

        Losses beyond which about the mass `rare` lies may be left out: the bound counts them.
        """
        return None

    def on_grid(self, count: int, reverse: bool, need: float) -> LaidLaw | None:
        """Lay the law of some runs on a grid, but for a P-mass of e^{−need}, where that is quicker.

        None where a grid lays it by its outcomes, its densities or its profile.
        """
        return None

    def about_root(self, log_delta: float, reverse: bool) -> float | None:
        """Estimate the ε of D(ε) = e^{log_delta} without moments; None where only these tell it."""
        return None

    # --- balls: what is proved

    def frequencies(self) -> list[arb]:
        """List the losses ℓ at which F turns, F(a+iu) = Σ e^{iuℓ} f_ℓ(u) with slow f_ℓ.

        [] where no such sum is known.
        """
        return []

    def amplitude_bounds(self, a: float, t: float, length: int) -> list[arb_poly]:
        """Bound |f_ℓ^{(j)}(u)|/j! for all u >= t > 0 and j < length, for each of `frequencies`."""
        return []

    @abstractmethod
    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Enclose D(y) = P(L > y) − e^y Q(L > y) of one run, for every real y.

        P(L = ∞) is part of it. It is of (Q, P) if `reverse`. The ball may be NaN, or too wide,
        where more bits of flint's precision are needed.
        """

    def largest(self, reverse: bool) -> arb:
        """∞: no largest loss is known."""
        return arb("inf")

    def exact_largest(self, reverse: bool) -> Exact | None:
        """The largest finite loss as an exact number in nats; None where it is not known so."""
        return None

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """Return P(L = ∞) as an exact number, 0 unless a loss says more; Q(L = −∞) if `reverse`."""
        return Fraction(0)

    # --- words

    def in_latex(self, write: Write) -> WrittenLaws | None:
        """Write P and Q in LaTeX, numbers by `write`.

        None where they have too many terms for it, or no formula.
        """
        return None


#: Each loss with the count of its runs, which is at least 1.
Runs = tuple[tuple[Part, int], ...]
#: Runs in any sequence, as a search makes them.
PartRuns = Sequence[tuple[Part, int]]
#: Factors with the counts of their runs; some are no losses.
FactorRuns = Sequence[tuple[Factor, int]]


def merged(
    runs: Runs, merge: Callable[[type[Part], Sequence[tuple[Part, int]]], Sequence[T] | None]
) -> list[tuple[Part, int] | T]:
    """Merge the runs of each class by `merge`, and keep in front those of which that gives None."""
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

    has_moments = False  # a subclass that has moments says so
    decays_slowly = True  # no moment is known to fall

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
        """Raise PrecisionError: several such runs have no moments, and so no contour."""
        raise PrecisionError(
            "found several runs of mechanisms that share a sample, or of laws in either "
            "direction, whose moments are not summed, needed fewer digits",
            where="conversion exact",
            remedy="ask for fewer, or for conversion improved",
        )


# --- the losses of declared laws

#: The file of `profile/losses/` that registers the loss of a law of this name.
FILES = {
    "AnyOfRange": "bounded_range",
    "FiniteMasses": "finite",
    "LaplaceShift": "laplace",
    "NormalShift": "gaussian",
    "TwoDensities": "normal_pair",
    "WholeNumberShift": "integer_noise",
}
#: What makes the privacy loss of two laws, by the class of the laws.
MAKERS: dict[type[Neighbours], Callable[[Any], Part]] = {}


def loss_for(law: type[L]) -> Callable[[Callable[[L], Part]], Callable[[L], Part]]:
    """Register what makes the loss of laws of this class, as a decorator.

    The first registration of a class stays, as a module may be loaded twice.
    """

    def state(make: Callable[[L], Part]) -> Callable[[L], Part]:
        MAKERS.setdefault(law, make)
        return make

    return state


def loss_of(law: Neighbours) -> Part:
    """Make the loss of these laws, as is registered for their class or for one above it.

    The file of a class is opened when its loss is first asked for. CurveAloneError, an
    AssumptionError, where neither the class of the laws nor any above it has a loss.
    """
    for kind in type(law).__mro__:
        if kind not in MAKERS and kind.__name__ in FILES:
            import_module(f"symacct.profile.losses.{FILES[kind.__name__]}")
        if kind in MAKERS:
            return MAKERS[kind](law)
    raise CurveAloneError(type(law).__name__)
