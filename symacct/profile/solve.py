"""δ(ε) and ε(δ) of one direction of a composition of known pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from flint import arb, ctx

from symacct import sizes
from symacct.errors import InfiniteError, PrecisionError
from symacct.forking import cached_property
from symacct.profile.atoms import Atoms
from symacct.profile.beside import Others
from symacct.profile.closed import apart, are_few, chance_lost, closed_form, given
from symacct.profile.contour import Contour, log_chernoff
from symacct.profile.part import Part
from symacct.profile.plan import plan
from symacct.profile.roots import Value, convex_root, enclosed
from symacct.profile.rough import sketched
from symacct.profile.shape import Moments, shift
from symacct.sums.refine import ball

_ATTEMPTS, _HALVINGS = 8, 60
_STEER_DIGITS = 2.0
_FEW_DIGITS = 5.0  # that a root is first found to
_FEW_RUNS = 64  # of which one makes the loss, where it jumps rarely
_RIGHT = 1 + 2.0**-44  # of y: beyond what float64 leaves
_LOWER = 12.0  # of log δ, where it was guessed too large
_KEPT_NODES = 200_000  # of all contours of a direction: a second question often finds its nodes
_EXACT_RUNS = 1000  # for which what is lost is worked out as a fraction

Runs = tuple[tuple[Part, int], ...]


@dataclass
class Direction:
    """The pairs (P_i, Q_i)^{k_i}, or all of them exchanged; contours it has summed before."""

    runs: Runs
    reverse: bool
    contours: list[Contour] = field(default_factory=list)
    bounds: dict[float, arb] = field(default_factory=dict)

    @cached_property
    def moments(self) -> Moments:
        """At real orders, in float64."""
        return Moments(self.runs, self.reverse)

    @cached_property
    def closed(self) -> Value | None:
        """D(y) where it has a closed form or is a finite sum."""
        finite, others = apart(self.runs)
        if not (finite and others and are_few(finite, others)):
            return closed_form(self.runs, self.reverse)
        rest = Others(*(Direction(others, way) for way in (self.reverse, not self.reverse)))
        return partial(given, finite, rest, self.reverse)

    def _without_contour(self, y: arb) -> arb | None:
        """D(y) where no finite loss is above y, or where it has a closed form."""
        value = self._at_an_end(y)
        return self.closed(y) if value is None and self.closed is not None else value

    def easily(self, y: arb) -> arb:
        """D(y) without a contour, at flint's current precision; NaN where one is needed."""
        value = self._without_contour(y)
        if value is None:
            return self._by_one_moment(lambda: y, lambda: arb(2) ** (-2 * ctx.prec))
        return value

    @property
    def largest(self) -> arb:
        """The largest finite loss."""
        return sum((k * part.largest(self.reverse) for part, k in self.runs), arb(0))

    @cached_property
    def _about_largest(self) -> arb:
        """The same to few digits."""
        with ctx.workprec(64):
            return self.largest

    @property
    def lost(self) -> arb:
        """P(L = ∞) = 1 − Π (1 − d_i)^{k_i}."""
        exact = self._exactly_lost
        return chance_lost(self.runs, self.reverse) if exact is None else ball(exact)

    @cached_property
    def _exactly_lost(self) -> Fraction | None:
        losing = [(part.lost(self.reverse), k) for part, k in self.runs]
        losing = [(lost, k) for lost, k in losing if lost != 0]
        if any(lost == 1 for lost, _ in losing):
            return Fraction(1)
        if sum(k for _, k in losing) > _EXACT_RUNS:
            return None
        if not all(isinstance(lost, Fraction) for lost, _ in losing):
            return None
        return 1 - math.prod(((1 - lost) ** k for lost, k in losing), start=Fraction(1))

    @property
    def _apart(self) -> Fraction | None:
        """The total variation D(0) as a fraction, of one run of a finite pair that has one."""
        runs = self.runs
        if len(runs) == 1 and runs[0][1] == 1 and isinstance(runs[0][0], Atoms):
            surplus = [p - q for p, q in runs[0][0].laws]
            if all(isinstance(x, Fraction) for x in surplus):
                return sum((max(x, Fraction(0)) for x in surplus), Fraction(0))
        return None

    def order(self, y: Callable[[], arb]) -> float:
        """1 + c of the nodes that were summed, or where e^{−cy}M(c) is about least."""
        if self.contours:
            return 1 + self.contours[0].plan.c
        middle = _middle(y)
        return 1 + shift(self.moments.saddle(middle)) if self._is_inside(middle) else math.inf

    def _is_inside(self, y: float) -> bool:
        """Is y below the largest loss, as far as float64 tells?"""
        return bool(self.runs) and y < float(self.largest.mid()) * (1 - 1e-12)

    # --- δ(ε)

    def delta(self, y: Callable[[], arb], digits: float) -> arb:
        """D(y) to `digits` digits; y is given as a ball at flint's current precision.

        Raises PrecisionError where they can't be had.
        """
        for bits in _precisions(digits):
            with ctx.workprec(bits):
                value = self._without_contour(y())
            if value is None:
                return self.by_contour(y, digits)
            if value.is_exact() or _digits(value) >= digits:
                return value
        raise _undecided(f"δ at ε = {_middle(y):.6g}", digits)

    def is_beyond(self, y: Fraction) -> bool:
        """Is y known to be at least the largest loss, as no balls decide where they are equal?"""
        ends = [(part.exact_largest(self.reverse), k) for part, k in self.runs]
        known = [(Fraction(end), k) for end, k in ends if isinstance(end, Fraction)]
        return len(known) == len(ends) and y >= sum(k * end for end, k in known)

    def _at_an_end(self, y: arb) -> arb | None:
        """D(y) where no finite loss is above y."""
        if y < self._about_largest:
            return None
        return self.lost if not self.runs or y >= self.largest else None

    def by_contour(self, y: Callable[[], arb], digits: float) -> arb:
        at = _middle(y)
        for known in self._known(digits):
            value = self._summed(known, y)
            if _digits(value) >= digits:
                return value
        log_delta, wanted = self.moments.renyi_log_delta(at)[1], digits
        for _ in range(_ATTEMPTS):
            value = self._summed(self._contour(at, log_delta, wanted), y)
            if _digits(value) >= digits:
                return value
            if value.is_finite():  # where it is not above 0 it is below what was guessed
                below = 0.0 if value > 0 else _LOWER
                log_delta = min(log_delta, float(value.upper().log())) - below
            wanted += 2 + max(0.0, digits - max(_digits(value), 0.0))
        raise _undecided(f"δ at ε = {at:.6g}", digits)

    def _known(self, digits: float) -> list[Contour]:
        """The contours that were made for so many digits."""
        return [known for known in self.contours if known.plan.need > digits * math.log(10)]

    def _summed(self, contour: Contour, y: Callable[[], arb]) -> arb:
        with ctx.workprec(contour.plan.bits):
            return self.lost + contour.delta(y())

    def _contour(self, at: float, log_delta: float, digits: float) -> Contour:
        chosen = plan(self.moments, at, log_delta, digits)
        made = Contour(self.moments.factors, chosen, self.reverse, at)
        self.contours.insert(0, made)
        while sum(known.plan.last for known in self.contours[:-1]) > _KEPT_NODES:
            del self.contours[-1]
        return made

    # --- ε(δ)

    def refuse_lost(self, delta: Fraction) -> None:
        """InfiniteError where no finite ε goes with δ."""
        if delta == 0 and self.lost == 0 and not self._about_largest.is_finite() and self.runs:
            raise InfiniteError(
                "delta: found 0, needed delta > 0, for the privacy loss has no largest value"
            )
        if self._exactly_lost is None or self._exactly_lost > delta:
            for bits in _precisions(20):
                with ctx.workprec(bits):
                    if self.lost > ball(delta):
                        raise InfiniteError(
                            f"delta: found {float(delta):.6g}, needed at least "
                            f"{float(self.lost.upper()):.6g}, the probability of what only one of "
                            "two neighbouring datasets can give"
                        )
                    if self.lost < ball(delta):
                        return

    def epsilon(self, delta: Fraction, digits: float) -> arb:
        """The least ε >= 0 with D(ε) <= δ, proved by values on both sides; 0 where D(0) <= δ."""
        if self._apart is not None and self._apart <= delta:
            return arb(0)
        within = False if self._is_above_at_0(delta) else self.is_within(arb, lambda: ball(delta))
        if within is None:
            raise _undecided(f"whether the profile at 0 is at most δ = {float(delta):.6g}", 40)
        if within:
            return arb(0)
        if delta == self._exactly_lost:
            return self._largest_to(digits)
        found = self._by_closed_form(delta, digits) if self.closed else self._root(delta, digits)
        if found is None:
            raise _undecided(f"ε at δ = {float(delta):.6g}", digits)
        return found

    def _is_above_at_0(self, delta: Fraction) -> bool:
        """Is D(0) > δ for one run of one part? So it is then for all."""
        with ctx.workprec(64):
            return any(most > ball(delta) for most in self._apart_in_one_run)

    @cached_property
    def _apart_in_one_run(self) -> list[arb]:
        """D(0) of one run of each part, to few digits."""
        return [part.hockey_stick(arb(0), self.reverse) for part, _ in self.runs]

    def is_within(self, y: Callable[[], arb], bound: Callable[[], arb]) -> bool | None:
        """Is D(y) <= the bound? None where balls can't decide it."""
        for wanted in (0.0, 3.0, 12.0, 40.0):
            value = self._roughly(y, bound, wanted)
            with ctx.workprec(_bits(wanted) + 64):
                if value <= bound() or value > bound():
                    return bool(value <= bound())
        return None

    def _roughly(self, y: Callable[[], arb], bound: Callable[[], arb], digits: float) -> arb:
        """D(y), to so many digits of the bound; with none wanted, by one moment."""
        with ctx.workprec(_bits(digits) + 64):
            value = self._without_contour(y())
            if value is not None:
                return value
        for known in self._known(digits):
            value = self._summed(known, y)
            if value <= bound() or value > bound():
                return value
        if not digits:
            return self._by_one_moment(y, bound)
        return self._summed(self._contour(_middle(y), _log(bound), digits), y)

    def _by_one_moment(self, y: Callable[[], arb], bound: Callable[[], arb]) -> arb:
        """[0, d + C(λ)M(λ)e^{−λy}] for a λ that makes it small; NaN if not below the bound."""
        lam, log_value = self.moments.renyi_log_delta(_middle(y))
        if log_value > _log(bound):
            return arb.nan()
        if lam not in self.bounds:
            self.bounds = {lam: log_chernoff(self.moments.factors, lam, self.reverse)}
        return arb(0).union(self.lost + (self.bounds[lam] - arb(lam) * y()).exp())

    def _largest_to(self, digits: float) -> arb:
        for bits in _precisions(digits):
            with ctx.workprec(bits):
                if _digits(value := self.largest) >= digits or value.is_exact():
                    return value
        raise _undecided("the largest loss", digits)

    def _by_closed_form(self, delta: Fraction, digits: float) -> arb | None:
        """The root between points at which balls decide, at growing precision."""
        assert self.closed is not None  # noqa: S101  # asked by `epsilon`
        found = None
        for bits in (_bits(0), *_precisions(digits)):  # at few first, so as to ask for many seldom
            with ctx.workprec(bits):
                found = self._crossing(self.closed, ball(delta), found)
            if found is not None and _digits(found) >= digits:
                return found
        return None

    def _crossing(self, value: Value, goal: arb, known: arb | None) -> arb | None:
        """By secants from about the root, or where these go astray between two points."""
        bracket = (known.lower(), known.upper()) if known is not None else None
        bracket = bracket or self._bracket(value, goal)
        if bracket is None:
            return None
        found = convex_root(value, goal, ((bracket[0] + bracket[1]) / 2).mid())
        if found is not None and _digits(found) > (
            2 * _digits(known) if known is not None else _FEW_DIGITS
        ):
            return found
        return enclosed(value, goal, bracket)

    def _bracket(self, value: Value, goal: arb) -> tuple[arb, arb] | None:
        """0 <= low < high with D(low) > δ > D(high), an eighth apart where possible."""
        low, high = arb(0), arb(1)
        while not value(high) < goal:
            if not value(high) > goal or high > 2**40:
                return None
            low, high = high, 2 * high
        for _ in range(_HALVINGS):
            middle = ((low + high) / 2).mid()
            if low > 0 and (high - low) <= low / 8:
                break
            if value(middle) > goal:
                low = middle
            elif value(middle) < goal:
                high = middle
            else:
                break
        return low, high

    def _root(self, delta: Fraction, digits: float) -> arb | None:
        """By contours: one that is known, or a new one next to about where the root is."""
        for known in self._known(digits):
            found = self._on(known, delta)
            if found is not None and _digits(found) >= digits:
                return found
        log_delta, at, wanted = _log(lambda: ball(delta)), self.steer_epsilon(delta), digits + 1
        for _ in range(_ATTEMPTS):
            found = self._on(self._contour(at, log_delta, wanted), delta)
            if found is None:
                wanted += 4
                continue
            if _digits(found) >= digits:
                return found
            wanted += 1 + digits - max(_digits(found), 0.0)
            at = float(found.mid())
        return None

    def _on(self, contour: Contour, delta: Fraction) -> arb | None:
        """An enclosure of the root by one contour, or None."""
        with ctx.workprec(contour.plan.bits):
            lost, goal = self.lost, ball(delta)

            def value(y: arb) -> arb:
                return lost + contour.delta(y)

            start, slope = contour.rough.root(contour.at, float(goal.log()), float(lost))
            if slope < 0:
                return convex_root(value, goal, arb(start * _RIGHT), arb(slope))
            return convex_root(value, goal, arb(contour.at))  # too much cancels for float64

    # --- about where the root is, in float64

    def steer_epsilon(self, delta: Fraction) -> float:
        """About the ε with D(ε) = δ > D(largest), by Newton steps from nodes to nodes.

        Where D is lost in what float64 leaves of them, few runs have rare jumps of their loss.
        """
        log_delta, lost = _log(lambda: ball(delta)), float(self.lost.mid())
        y = self.moments.renyi_epsilon(log_delta)
        for _ in range(_ATTEMPTS):
            guess = self.moments.renyi_log_delta(y)[1]
            chosen = plan(self.moments, y, guess, _STEER_DIGITS)
            rough = sketched(self.moments.alike, self.reverse, chosen)
            least = guess - _STEER_DIGITS * math.log(10)
            if not rough.log_value(y) > least and sum(k for _, k in self.runs) <= _FEW_RUNS:
                return min(y, self._by_one_jump(delta, y))
            old, (y, slope) = y, rough.root(y, log_delta, lost)
            y = y if slope < 0 else 0.9 * y
            if abs(y - old) <= 1e-4 * abs(old):
                break
        return y

    def _by_one_jump(self, delta: Fraction, most: float) -> float:
        """About ε where jumps are rare: up to which Σ k_i D_i(ε) is above δ, D_i of one run."""
        low, high = 0.0, most
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            with ctx.workprec(64):
                y = arb(middle)
                ones = (k * part.hockey_stick(y, self.reverse) for part, k in self.moments.alike)
                is_above = sum(ones, arb(0)).mid() > ball(delta)
            low, high = (middle, high) if is_above else (low, middle)
        return (low + high) / 2


def _middle(y: Callable[[], arb]) -> float:
    with ctx.workprec(64):
        return float(y().mid())


def _log(x: Callable[[], arb]) -> float:
    return _middle(lambda: x().log())


def _bits(digits: float) -> int:
    return math.ceil(digits * 3.33) + 64


def _precisions(digits: float) -> Iterator[int]:
    """Bits at which to try, doubled up to the limit."""
    bits = _bits(digits)
    while bits <= sizes.current().bits:
        yield bits
        bits *= 2


def _digits(x: arb) -> float:
    """The significant digits that both ends share."""
    return (x.rel_accuracy_bits() - 1) / 3.3219281 if x.is_finite() else -math.inf


def _undecided(what: str, digits: float) -> PrecisionError:
    return PrecisionError(
        f"{what}: {digits:.0f} digits not reached on the exact profile; ask for fewer, "
        "or for conversion='improved'"
    )
