"""Closed forms give the exact profile: finite sums, one lattice, unsampled noise.

Each is D(y) as a function of a ball y, at flint's current precision; y and losses are in nats. A
function that needs more bits gives a wide ball or NaN.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from flint import arb, ctx, fmpz_poly

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import accuracy, ball, ceiling, normal_tail, up_to
from symacct.kernel.claims import Proof
from symacct.kernel.exact import Exact, LazyModule, exact
from symacct.profile.losses.finite import (
    Atoms,
    binary_profile,
    losses,
    multinomial_laws,
    profile_by_tails,
)
from symacct.profile.part import LossLattice, Part, Runs
from symacct.profile.proofs import AT_0, FINITE, LAPLACE, LATTICE
from symacct.profile.roots import (
    Value,
    at_digits,
    before_the_end,
    bits_for,
    crossing,
    decided,
    float_of,
    precisions,
    undecided,
)
from symacct.profile.runs import DirectedRuns, Number, total_mass_at_infinity

if TYPE_CHECKING:
    from symacct.profile import grids
else:  # which most closed forms do not need
    grids = LazyModule("symacct.profile.grids")

# --- binomial tails
#
# Many values of the profile of a binary pair: its binomial tails as one table of sums.

#: A table has about so many terms at most; of more the incomplete beta function is asked. Both are
#: enclosures; it costs time alone.
_MOST_TERMS = 2**17
#: Terms below 2^{−16} of the last bit of the whole are bounded together. Their bound is added to
#: the ball.
_BINOMIAL_SPARE_BITS = 16
#: A table is worth its sums from so many places y on. It costs time alone.
_FEWEST_PLACES_OF_TABLE = 8


def profile_for(part: Atoms, count: int, reverse: bool, times: int) -> Callable[[arb], arb]:
    """Return `binary_profile` as a function of y: D(y) of `count` runs, less P(L = ∞).

    The part has two finite losses. `times` is about how many y will be asked: of many the tails
    come from one table, which is kept for flint's precision.
    """
    if times < _FEWEST_PLACES_OF_TABLE or _width(part, count) > _MOST_TERMS:
        return partial(binary_profile, part, count, reverse=reverse)
    return partial(_tabled, part, count, reverse)


def _width(part: Atoms, count: int) -> float:
    """Estimate how many terms of P's binomial law are above the smallest that matters."""
    (p, _), _ = losses(part, False)
    share = float(p)
    return 2 * math.sqrt(2 * (ctx.prec + _BINOMIAL_SPARE_BITS) * count * share * (1 - share)) + 40


def _tabled(part: Atoms, count: int, reverse: bool, y: arb) -> arb:
    """Compute the profile of a binary part at y from the tables of its binomial tails."""
    both_losses, p, q = _tables(part, count, reverse, ctx.prec)
    return profile_by_tails(y, count, both_losses, p.above, q.above)


@lru_cache(16)
def _tables(
    part: Atoms, count: int, reverse: bool, bits: int
) -> tuple[tuple[arb, arb], Tails, Tails]:
    """Compute both losses and the tails of both laws, `bits` being flint's current precision."""
    (p0, q0), (p1, q1) = losses(part, reverse)
    both_losses = (p0 / q0).log(), (p1 / q1).log()
    return both_losses, Tails(p0, p1, count), Tails(q0, q1, count)


class Tails:
    """Binomial tails are Σ_{i>=j} C(k,i) a^i b^{k−i} for every j, by one table of sums.

    Terms below 2^{−bits} of the whole are in one bound, so that balls of far tails are wide.
    """

    def __init__(self, a: arb, b: arb, count: int) -> None:
        """Sum the terms from both ends up to the largest one."""
        self.whole = (a + b) ** count
        share, odds = a / (a + b), a / b
        mode = min(count, int(float(share.mid()) * (count + 1)))
        largest = self.whole * _term(count, mode, share)
        negligible = self.whole * arb(2) ** -(ctx.prec + _BINOMIAL_SPARE_BITS)
        rising, above = _terms(largest, negligible, count, mode, odds)
        falling, below = _terms(largest, negligible, count, count - mode, 1 / odds)
        self.first = mode - len(falling)
        self.below = self.whole - below
        self.sums, total = [above], above
        for term in [*reversed(rising), largest, *falling]:
            total += term
            self.sums.append(total)
        self.sums.reverse()

    def above(self, j: int) -> arb:
        """Enclose the sum from j on; j is at most k, and 0 or less gives the whole."""
        if j < self.first:
            return self.below if j > 0 else self.whole
        return self.sums[min(j - self.first, len(self.sums) - 1)]


def _term(count: int, j: int, share: arb) -> arb:
    """Compute C(k, j) s^j (1−s)^{k−j}, s = `share`."""
    with ctx.extraprec(2 * count.bit_length() + 10):
        log = arb(count + 1).lgamma() - arb(j + 1).lgamma() - arb(count - j + 1).lgamma()
        return (log + j * share.log() + (count - j) * (-share).log1p()).exp()


def _terms(term: arb, negligible: arb, count: int, j: int, odds: arb) -> tuple[list[arb], arb]:
    """Return the terms after the j-th, by their ratios odds·(k−j)/(j+1), and bound the rest.

    They end where one is negligible and they fall from there on.
    """
    terms: list[arb] = []
    while j < count:
        deadline.check()
        ratio = odds * (count - j) / (j + 1)
        if ratio < 1 and term < negligible:
            return terms, up_to(term * ratio / (1 - ratio))
        term *= ratio
        j += 1
        terms.append(term)
    return terms, arb(0)


# --- one lattice
#
# D(y) of runs whose losses are all on one lattice: their law is a product of polynomials.
#
# Masses are whole multiples of 2^{−b}, rounded up, and small ones at both ends are left out: D is
# larger by at most these, and smaller by at most what rounding adds (docs/proofs/losses.md, Lemma
# one-lattice).

#: A lattice has at most so many nodes but for e^{−100} of the loss's law, whatever is asked. Of
#: more a lattice is no quick form, and other strategies are asked.
_MOST_NODES, _USUAL_NATS = 2**16, 100.0
#: Masses have so many bits more than flint's precision, for the roundings of all products. Where
#: they are too few, the ball is wider.
_SPARE_BITS = 40
#: Masses are cut at either end up to 2^16 units in all, so that all nodes are cut that have no more
#: than rounding adds. What is cut is bounded: more widen the ball.
_CUT_UNITS = 2**16


def lattice_form(runs: Runs, reverse: bool) -> Value | None:
    """Return D of runs whose losses share a lattice, else None."""
    return partial(lattice_profile, runs, reverse) if share_lattice(runs) else None


def share_lattice(runs: Runs) -> bool:
    """Decide if all losses are known to be on one lattice, and their total on few nodes of it."""
    lattices = _lattices(runs)
    common = _common_step(tuple(lattice.apart for lattice in lattices))
    if common is None:
        return False
    strides = zip(common[1], lattices, runs, strict=True)
    squares = (k * (n * lattice.deviation) ** 2 for n, lattice, (_, k) in strides)
    return 2 * math.sqrt(2 * _USUAL_NATS * sum(squares)) <= _MOST_NODES


def lattice_profile(runs: Runs, reverse: bool, y: arb) -> arb:
    """Compute D(y) of runs on one lattice, whose masses are off by about flint's precision.

    That is absolutely: the ball of a tiny D is wide.
    """
    nodes, total, cut = _law(runs, reverse, ctx.prec)
    with ctx.workprec(ctx.prec + _SPARE_BITS):
        value, unit = nodes.profile(y), arb(2) ** -nodes.bits
        rounded_up, left_out = (total + cut) * unit - 1, cut * unit
    return (value - rounded_up).max(arb(0)).union(value + left_out)


def _lattices(runs: Runs) -> list[LossLattice]:
    """Return the lattice of each part; [] where one has none."""
    lattices = [lattice for part, _ in runs if (lattice := part.lattice) is not None]
    return lattices if len(lattices) == len(runs) else []


@lru_cache(64)
def _common_step(apart: tuple[Exact, ...]) -> tuple[Exact, tuple[int, ...]] | None:
    """Compute the widest step of a lattice of all these steps, and each step's multiple of it.

    None where there may be no such lattice.
    """
    if not apart:
        return None
    shares = [exact(x / apart[0]) for x in apart]
    fractions = [share for share in shares if isinstance(share, Fraction)]
    if len(fractions) < len(shares):
        return None
    scale = math.lcm(*(share.denominator for share in fractions))
    whole = [int(share * scale) for share in fractions]
    common = math.gcd(*whole)
    return apart[0] * Fraction(common, scale), tuple(n // common for n in whole)


@lru_cache(8)
def _law(runs: Runs, reverse: bool, bits: int) -> tuple[grids.Nodes, int, int]:
    """Compute the law of the loss of all runs on a lattice; its mass and that cut off, in units.

    `bits` is flint's current precision. The runs are known to share a lattice.
    """
    lattices = _lattices(runs)
    common = _common_step(tuple(lattice.apart for lattice in lattices))
    assert common is not None  # noqa: S101  # so it was asked
    (step, strides), fine = common, bits + _SPARE_BITS
    products = grids.Products(fine, _CUT_UNITS)
    first, masses, units = arb(0), grids.Masses(0, [1 << fine], 0), arb(2) ** fine
    with ctx.workprec(fine):
        for stride, lattice, (_, k) in zip(strides, lattices, runs, strict=True):
            lowest, lattice_masses = lattice.masses(reverse, fine)
            *rising, beyond = (
                max(0, ceiling(p * units)) for p in (*lattice_masses, 1 - sum(lattice_masses))
            )
            run_masses = products.power(grids.Masses(0, rising, beyond), k)
            masses = products.product(masses, run_masses.stretched(stride))
            first += k * lowest
        step_ball = BALL.number(step)
        nodes = grids.Nodes(first + step_ball * masses.first, step_ball, masses.rising, fine)
    return nodes, sum(masses.rising), masses.cut


# --- finite sums
#
# Profiles of finite laws: sums over how often each outcome occurs.

#: Up to so many outcomes of all runs are summed one by one. For more other strategies cost less
#: time.
_MOST_SUMMED = 2000
#: Outcomes of finite laws times the square of the count of the other runs are so many at most where
#: they are summed one by one. For more other strategies cost less time.
_MOST_SUMMED_BESIDE = 100_000

#: Finite losses with the counts of their runs.
Finite = tuple[tuple[Atoms, int], ...]


def finite_form(runs: Runs, reverse: bool) -> Value | None:
    """Return D of finite laws, with outcomes within the limit; None else, as grids serve."""
    finite, _ = finite_and_others(runs)
    return partial(_profile, finite, reverse) if _are_within_limit(finite) else None


def finite_and_others(runs: Runs) -> tuple[Finite, Runs]:
    """Separate the finite parts from the others."""
    finite = tuple((atoms, k) for part, k in runs if (atoms := part.finite) is not None)
    return finite, tuple((part, k) for part, k in runs if part.finite is None)


def are_few(runs: Finite, others: Runs = ()) -> bool:
    """Decide if the outcomes of all runs are so few that they are summed one by one.

    Beside others they cost the square of the others' runs, of which many have moments that fall.
    Discrete Gaussian noise alone and runs on one lattice count nothing, as they have closed forms.
    """
    outcomes = math.prod(part.outcomes(k) for part, k in runs)
    is_discrete_gaussian = len(others) == 1 and others[0][0].discrete_gaussian is not None
    is_closed = is_discrete_gaussian or share_lattice(others)
    count = 0 if is_closed else sum(k for _, k in others)
    return outcomes <= _MOST_SUMMED and outcomes * count**2 <= _MOST_SUMMED_BESIDE


def conditioned_profile(runs: Finite, rest: Value, reverse: bool, y: arb) -> arb:
    """Compute P(ℓ = ∞) + Σ p D(y − ℓ) over finite outcomes, beside others of profile D = `rest`.

    P(ℓ = ∞) is that of the finite laws alone. Places y − ℓ have twice flint's bits, as D may fall
    by many orders of magnitude.
    """
    with ctx.workprec(2 * ctx.prec):
        places = [(p, y - loss) for p, loss in _weighed(runs, reverse, ctx.prec)]
    return total_mass_at_infinity(runs, reverse) + sum((p * rest(at) for p, at in places), arb(0))


def _are_within_limit(runs: Finite) -> bool:
    """Decide if the outcomes may be summed one by one; of more there are contours and grids."""
    binary = _most_run(runs)
    outcomes = math.prod(part.outcomes(k) for part, k in runs if (part, k) != binary)
    return outcomes <= limits.current().outcomes


def _most_run(runs: Finite) -> tuple[Atoms, int] | None:
    """Return the binary part that is run most often with its count; None where there is none."""
    return max((run for run in runs if run[0].is_binary), key=lambda run: run[1], default=None)


def _profile(runs: Finite, reverse: bool, y: arb) -> arb:
    """Sum (p − e^y q)₊ over the outcomes of all runs, and add P(L = ∞).

    Of many outcomes the binary part that is run most often is taken in closed form.
    """
    binary = _most_run(runs)
    if binary is None or are_few(runs):
        every = _outcomes(runs, reverse, ctx.prec)
        grown, zero = y.exp(), arb(0)
        return total_mass_at_infinity(runs, reverse) + sum(
            ((p - grown * q).max(zero) for p, q in every), zero
        )
    rest = tuple(run for run in runs if run is not binary)
    profile = profile_for(*binary, reverse, math.prod(part.outcomes(k) for part, k in rest))
    certain = total_mass_at_infinity((binary,), reverse)
    return conditioned_profile(rest, lambda x: certain + profile(x), reverse, y)


@lru_cache(8)
def _weighed(runs: Finite, reverse: bool, bits: int) -> list[tuple[arb, arb]]:
    """List (p, log(p/q)) of every outcome, for every y at this precision."""
    return [(p, (p / q).log()) for p, q in deadline.each(_outcomes(runs, reverse, bits))]


@lru_cache(8)
def _outcomes(runs: Finite, reverse: bool, bits: int) -> list[tuple[arb, arb]]:
    """List (p, q) of every combination of counts that both laws have, at this precision."""
    laws = [(arb(1), arb(1))]
    for part, k in runs:
        run_laws = multinomial_laws(part.common(reverse), k)
        laws = [(p * u, q * v) for p, q in deadline.each(laws) for u, v in run_laws]
    return laws


# --- what is not sampled
#
# Laplace noise of any kinds beside Gaussian noise, none of it sampled: D(y) in closed form.
#
# √(PQ) of Laplace noise has the transform e^{−s/2}(e^{ps}(½ + 1/4p) + e^{−ps}(½ − 1/4p)): of all
# runs it is a polynomial in 1/p at each of some knots, and powers of 1/p are powers of l − l_j,
# which e^{l/2} D_G(y−l) is integrated against, D_G the profile of the Gaussian noise
# (docs/proofs/losses.md, Lemmas few-laplace and laplace-beside).

#: Shifts Δ/b, and how often each is run.
Noise = tuple[tuple[Exact, int], ...]

#: Knots times runs of Laplace noise are so many at most, by itself and beside Gaussian noise, where
#: contours are short. It costs time: other strategies answer for more.
_MOST_TERMS_ALONE, _MOST_TERMS_BESIDE = 10_100, 100


def unsampled_form(runs: Runs, reverse: bool) -> Value | None:
    """Return D of few runs of unsampled Laplace noise, also beside Gaussian noise; else None.

    Both directions have the same D, so that `reverse` is not read.
    """
    shifts = tuple((s, k) for part, k in runs if (s := part.laplace_shift) is not None)
    ratios = (k * r for part, k in runs if (r := part.gaussian_ratio) is not None)
    ratio: Exact = sum(ratios, Fraction(0))
    counts = [k for _, k in shifts]
    most = _MOST_TERMS_ALONE if ratio == 0 else _MOST_TERMS_BESIDE
    is_few = 0 < math.prod(k + 1 for k in counts) * sum(counts) <= most
    return partial(profile, shifts, ratio) if is_few else None


def profile(noise: Noise, ratio: Exact, y: arb) -> arb:
    """Compute D(y) of unsampled noise by sums over knots, `ratio` = (Δ/σ)² of the Gaussian noise.

    Without Gaussian noise, ratio 0, |y| is to be below the largest loss, as callers see to.
    """
    shifts, counts = [BALL.number(s) for s, _ in noise], [k for _, k in noise]
    top = sum((k * s for s, k in zip(shifts, counts, strict=True)), arb(0))
    mu, count, total = BALL.number(ratio).sqrt(), sum(counts), arb(0)
    for places, ways in _knots(tuple(counts)):
        deadline.check()
        knot = sum((j * s for j, s in zip(places, shifts, strict=True)), arb(0))
        up, down = (knot / 2).exp(), (y - knot / 2).exp()
        if ratio == 0:
            start = (y - knot).max(arb(0))
            rising, falling = _integrals(start, top - knot, count)
            total += ways[0] * (up - down).max(arb(0))
        else:
            rising, falling = _smoothed(y - knot, top - knot, mu, count)
            away = (y - knot) / mu
            total += ways[0] * (up * normal_tail(away - mu / 2) - down * normal_tail(away + mu / 2))
        for m in range(1, count + 1):
            total += ways[m] * (up * rising[m - 1] - down * falling[m - 1])
    return total * (-top / 2).exp() / arb(4) ** count


@lru_cache(16)
def _knots(counts: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """List the knots of all choices of j_i <= k_i: the numbers 2j_i − k_i, and coefficients.

    These are of Π C(k_i, j_i) (2+x)^{k_i−j_i}(2−x)^{j_i}, from the constant on.
    """
    above, below, knots = fmpz_poly([2, 1]), fmpz_poly([2, -1]), []
    for chosen in itertools.product(*(range(k + 1) for k in counts)):
        deadline.check()
        product = fmpz_poly([1])
        for k, j in zip(counts, chosen, strict=True):
            product *= above ** (k - j) * below**j * math.comb(k, j)
        places = [2 * j - k for k, j in zip(counts, chosen, strict=True)]
        knots.append((places, [int(product[m]) for m in range(sum(counts) + 1)]))
    return knots


def _integrals(start: arb, end: arb, count: int) -> tuple[list[arb], list[arb]]:
    """Compute ∫ e^{±u/2} u^{m−1}/(m−1)! du from start to end, for 1 <= m <= count, both signs."""
    ups, downs = (end / 2).exp(), (start / 2).exp()
    rising, falling = [2 * (ups - downs)], [2 * (1 / downs - 1 / ups)]
    high, low = arb(1), arb(1)
    for m in range(1, count):
        high, low = high * end / m, low * start / m
        rising.append(2 * (ups * high - downs * low) - 2 * rising[-1])
        falling.append(2 * (low / downs - high / ups) + 2 * falling[-1])
    return rising, falling


def _smoothed(v: arb, end: arb, mu: arb, count: int) -> tuple[list[arb], list[arb]]:
    """Compute ∫ e^{±u/2} u^{m−1}/(m−1)! Φ((u−v)/μ ± μ/2) du from 0 to end, by parts, both signs.

    e^{±u/2}φ((u−v)/μ ± μ/2) = e^{±v/2−μ²/8}φ((u−v)/μ), of which the powers' integrals are known.
    """
    near, far, half = -v / mu, (end - v) / mu, end / 2
    up, down = 2 * (v / 2 - mu * mu / 8).exp(), 2 * (-v / 2 - mu * mu / 8).exp()
    ups, downs = half.exp() * normal_tail(-far - mu / 2), (-half).exp() * normal_tail(mu / 2 - far)
    first, last = ((-x * x / 2).exp() / (2 * arb.pi()).sqrt() for x in (near, far))
    before, bell, power = arb(0), normal_tail(near) - normal_tail(far), arb(1)
    rising = [2 * (ups - normal_tail(-near - mu / 2)) - up * bell]
    falling = [2 * (normal_tail(mu / 2 - near) - downs) + down * bell]
    for m in range(1, count):
        edge = power * last - (first if m == 1 else 0)
        before, bell = bell, (v * bell + mu * mu * before - mu * edge) / m
        power = power * end / m
        rising.append(2 * ups * power - 2 * rising[-1] - up * bell)
        falling.append(2 * falling[-1] + down * bell - 2 * downs * power)
    return rising, falling


# --- which form is proved
#
# Profiles that need no contour: of no run, of one, and those that a sum or a lattice gives.


def proved_form(runs: Runs, reverse: bool) -> tuple[Value, Proof] | None:
    """Return the closed form of D and its proof, or None where there is none.

    No run has D = (1 − e^y)₊, and one run the hockey-stick divergence of its loss.
    """
    if not runs:
        return lambda y: (-y.expm1()).max(arb(0)), AT_0
    if len(runs) == 1 and runs[0][1] == 1:
        part = runs[0][0]
        return partial(part.hockey_stick, reverse=reverse), part.proof
    for is_of, ask, proof in _FORMS:
        if all(is_of(part) for part, _ in runs) and (form := ask(runs, reverse)) is not None:
            return form, proof
    kinds = {type(part) for part, _ in runs}
    return kinds.pop().form_of_runs(runs, reverse) if len(kinds) == 1 else None


#: Forms of losses of several classes: which losses all have to be, the form, where it is known, and
#: its proof. The quickest for its digits comes first.
_FORMS: tuple[tuple[Callable[[Part], bool], Callable[[Runs, bool], Value | None], Proof], ...] = (
    # Laplace or Gaussian noise on all of the data.
    (
        lambda part: part.laplace_shift is not None or part.gaussian_ratio is not None,
        unsampled_form,
        LAPLACE,
    ),
    (lambda part: part.finite is not None, finite_form, FINITE),
    (lambda part: part.lattice is not None, lattice_form, LATTICE),
)


# --- the strategy
#
# δ(ε) and ε(δ) where D(y) is a closed form or a finite sum.


#: A value of so many digits that does not tell whether it is above a bound is taken for that.
#: Nothing is decided then, and the caller refuses: more cost time.
_TELLING_DIGITS = 40
#: More bits than these are not tried for it, as a value of many runs then takes minutes. Nothing is
#: decided then, and the caller refuses.
_MOST_TELLING_BITS = 1024


@dataclass(eq=False)
class ClosedForm:
    """A closed form strategy knows D as a function of y.

    A value takes the time of about so many `nodes` of a contour.
    """

    runs: DirectedRuns
    formula: Value
    proof: Proof
    nodes: float = 0.0

    def cost(self, digits: float) -> float:
        """Return the nodes that a value takes the time of, whatever the digits: these are cheap."""
        return self.nodes

    def value(self, y: arb) -> arb:
        """Compute D(y) at flint's current precision; NaN or a wide ball where more is needed."""
        end = self.runs.beyond_largest_loss(y)
        return self.formula(y) if end is None else end

    def delta(self, y: Number, digits: float) -> arb:
        """Compute D(y) to so many digits, at growing precision; PrecisionError if none has them."""
        return at_digits(lambda: self.value(y()), digits, lambda: f"δ at ε = {float_of(y):.6g}")

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Decide if D(y) is at most the bound, by values of few bits first.

        More are tried where cancelling took all digits: a D(0) may be of any size.
        """
        for bits in itertools.takewhile(lambda bits: bits <= _MOST_TELLING_BITS, precisions(0)):
            with ctx.workprec(bits):
                value, most = self.value(y()), bound()
                answer, known = decided(value, most), accuracy(value)
            if answer is not None or known > min(accuracy(most), _TELLING_DIGITS):
                return answer
            if bits > bits_for(_TELLING_DIGITS) and not most > 0:
                return None
        return None

    def root(self, delta: Fraction, digits: float) -> arb:
        """Enclose the root of D = δ between points at which balls decide, at growing precision.

        0 <= δ < D(0) is known. PrecisionError where no precision has the digits.
        """
        root = None
        for bits in (bits_for(0), *precisions(digits)):  # few first: many are seldom needed
            with ctx.workprec(bits):
                goal = ball(delta)
                if self.runs.have_an_end:  # a moment costs more than a value of D
                    root = before_the_end(self.formula, goal, root, self.runs.largest)
                else:
                    root = crossing(self.formula, goal, root, self.runs.about_root)
            if root is not None and accuracy(root) >= digits:
                return root
        raise undecided(f"ε at δ = {float(delta):.6g}", digits)
