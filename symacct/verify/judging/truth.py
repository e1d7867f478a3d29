"""What a peer's value is held against: certified enclosures of the exact value and of methods."""

from __future__ import annotations

import contextlib
import functools
import math
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symacct.explore.calibration import Calibration, calibrate
from symacct.kernel import deadline, limits
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure
from symacct.kernel.arithmetic.ball import BALL, ends_of, precision, rational
from symacct.kernel.claims import Kind
from symacct.kernel.deadline import OutOfTimeError
from symacct.kernel.errors import LimitError, OrderGridWarning, SymacctError
from symacct.kernel.exact import Numeric, exact, sympy
from symacct.kernel.node import Node
from symacct.operations import (
    Compose,
    GroupPrivacy,
    PoissonSubsample,
    SubsampleWithoutReplacement,
)
from symacct.verify.judging.bounds import Bound, Truth, ends
from symacct.verify.peer.process import Clock
from symacct.verify.peer.protocol import (
    BUDGETED,
    LARGEST,
    LEAVES,
    MECHANISMS,
    WITH_SENSITIVITY,
    Ask,
    AskedPart,
)

#: Significant digits of a truth, about those of a float64. Of this and all numbers below, smaller
#: ones leave more answers undecided, and more take longer; no right answer becomes a finding.
DIGITS = 14
#: The largest orders that a search for the best one tries, of all and of samples of fixed size,
#: whose orders take longer. Where it stops there, the ε or δ is sound and not `exact`.
_LARGEST_ORDER, _FIXED_SIZE_ORDER = 4096, 256
#: The limit `contour`, in bits, of an exact profile: some tenths of a second.
_PROFILE_SIZE = 2**28
#: Digits, and the limit `contour` in bits, of a lower bound of ε or δ.
_LOWER_DIGITS, _LOWER_SIZE = 5, 2**24
#: Bits of 1 − e^{−ε}(1 − δ), far more than a float64 has. Verdicts on an advantage rest on it: any
#: number is sound.
_BITS = 120
#: The names of the symbols for the rate and for the number of runs that are asked for.
_RATE, _COUNT = "gamma", "n"
#: Digits of a noise or rate, between two neighbours of so many; and those of ρ and μ. More take
#: longer, and leave fewer answers undecided.
_NOISE_DIGITS, _SEARCHED = 7, 12
#: How what the accountant has no method for is asked of a node.
_OTHERS: dict[str, Callable[..., Any]] = {
    "rho": lambda m, digits: m.zcdp(digits),
    "mu": lambda m, digits: m.gdp(digits),
    "calibrate": calibrate,
}
#: The operation of each sampling of the protocol, but for "none".
SAMPLINGS: dict[str, type[PoissonSubsample] | type[SubsampleWithoutReplacement]] = {
    "poisson": PoissonSubsample,
    "without_replacement": SubsampleWithoutReplacement,
}


class Oracle:
    """Computes and remembers certified truths of asks, for both readings of their parameters.

    Its owner may set the time: the reading `until` of the `clock`, by which all is answered, and
    the seconds of processor time of the `longest` question. Nothing limits it at first.
    """

    def __init__(self, digits: int = DIGITS) -> None:
        """Takes the digits of an RDP or a conversion; the exact profile is asked to DIGITS."""
        self.accountant = Accountant(digits)
        self._truths: dict[Ask, Truth | None] = {}
        self.clock: Clock = time.monotonic
        self.until = self.longest = math.inf

    def truth(self, ask: Ask) -> Truth | None:
        """The enclosure for both readings of a question; None where symacct has none of one.

        None is remembered too, as after `longest` seconds; an OutOfTimeError is not.
        """
        key = _canonical(ask)
        if key not in self._truths:
            self._truths[key] = self._both(key)
        return self._truths[key]

    def ask(self, what: str, *question: Any, **how: Any) -> Any:
        """Computes one question by the accountant's method `what`, or by "rho", "mu", "calibrate".

        LimitError where that takes more than `longest` seconds, OutOfTimeError from `until` on;
        other errors are those of the method.
        """
        # The clock goes no slower than this thread works, so that no question outlasts `until` by
        # more than what the peer works meanwhile.
        left = min(self.until - self.clock(), deadline.remaining())
        if left <= 0:
            raise OutOfTimeError
        try:
            with warnings.catch_warnings(), deadline.within(min(left, self.longest)):
                # Of an order grid that is ours, not the peer's.
                warnings.simplefilter("ignore", OrderGridWarning)
                method = _OTHERS.get(what) or getattr(self.accountant, what)
                return method(*question, **how)
        except OutOfTimeError:
            if left <= self.longest or self.clock() >= self.until:
                raise
            raise LimitError(f"{what}: found more than {self.longest:g} s of work") from None

    def known(self, ask: Ask) -> Truth | None:
        """What `truth` answered before; None, without any work, if it was not asked."""
        return self._truths.get(_canonical(ask))

    def _both(self, ask: Ask) -> Truth | None:
        """The hull of the truths of both readings; None if one of them has none."""
        try:
            truths = [self._truth(reading) for reading in readings(ask)]
        except SymacctError:
            return None
        return functools.reduce(Truth.hull, truths)

    def _truth(self, ask: Ask) -> Truth:
        """Computes the truth of one reading by the method of its kind, or raises a SymacctError."""
        if ask.kind == "rdp":
            return self._rdp(ask)
        if ask.kind in _OTHERS:
            return self._smallest(ask)
        if ask.kind == "advantage":
            return self._truth(_of_delta(ask))
        if ask.kind in BUDGETED:
            # What is just enough by the profile, or else by the conversion.
            with contextlib.suppress(SymacctError):
                return self._calibrated(ask, "exact", None)
            return self.by_method(ask, "improved", None)
        if Fraction(ask.at) < 0:
            return _reflected(ask, self._truth(_mirrored(ask)))
        if (known := self._profile(ask)) is not None:
            return known
        with limits.limits(contour=_LOWER_SIZE):
            low = _lower_or_zero(
                lambda: self.ask(f"lower_{ask.kind}", node(ask), ask.at, _LOWER_DIGITS)
            )
        return Truth(low, self.by_method(ask, "improved", None).upper, False)

    def _smallest(self, ask: Ask) -> Truth:
        """ρ or μ; from 0 where it is only known to be enough, as a smaller one may be."""
        enclosure = self.ask(ask.kind, node(ask), _SEARCHED)
        low, high = ends(enclosure)
        exactly = enclosure.claim.kind is Kind.EXACT
        return Truth(low if exactly else Fraction(0), high, exactly)

    def overspent(self, ask: Ask, value: Fraction, allowance: Fraction) -> bool:
        """Is ε > within (1 + allowance) proved of this noise, rate or number of runs?"""
        if ask.kind == "runs" and value < 1:
            return False
        truth = self.truth(_spent(ask, value))
        return truth is not None and truth.lower > Fraction(ask.within or 0) * (1 + allowance)

    def _calibrated(self, ask: Ask, conversion: str, orders: Iterable[Numeric] | None) -> Truth:
        """Encloses noise or a rate between neighbours of which one is enough; of runs the most."""
        exactly = conversion == "exact"
        if ask.kind in LARGEST and (end := self._at_the_end(ask, conversion, orders)) is not None:
            return end
        with limits.limits(contour=_PROFILE_SIZE):
            how = {"digits": _NOISE_DIGITS, "conversion": conversion, "orders": orders}
            calibration: Calibration = self.ask("calibrate", node(ask), ask.within, ask.at, **how)
        kind = calibration.guarantee.kind if exactly else calibration.guarantee.claim.kind
        low, high = sorted((calibration.meets, calibration.fails))
        high = low if ask.kind == "runs" else high  # which is one number
        return Truth(low, high, kind is Kind.EXACT and (exactly or calibration.guarantee.optimal))

    def _at_the_end(
        self, ask: Ask, conversion: str, orders: Iterable[Numeric] | None
    ) -> Truth | None:
        """The rate 1 where it is allowed, 0 runs where no run is; None for any other answer."""
        single, within = _spent(ask, Fraction(1)), Fraction(str(ask.within))
        known = (
            self.truth(single)
            if conversion == "exact"
            else self.by_method(single, conversion, orders)
        )
        if known is None or known.lower <= within < known.upper:
            return None
        if known.upper <= within:
            return Truth(Fraction(1), Fraction(1), known.exact) if ask.kind == "rate" else None
        return Truth(Fraction(0), Fraction(0), known.exact) if ask.kind == "runs" else None

    def _profile(self, ask: Ask) -> Truth | None:
        """The exact profile's ε or δ; None where the laws are unknown or it takes too long."""
        try:
            with limits.limits(contour=_PROFILE_SIZE):
                guarantee = self.ask(ask.kind, node(ask), ask.at, conversion="exact", digits=DIGITS)
        except SymacctError:
            return None
        return Truth(*ends(guarantee.asked), True) if guarantee.kind is Kind.EXACT else None

    def _rdp(self, ask: Ask) -> Truth:
        """The exact RDP, or else between the best lower bound known and the best upper one."""
        m = node(ask)
        value = self.ask("rdp", m, ask.at)
        if value.claim.kind is Kind.EXACT:
            return Truth(*ends(value), True)
        lower = _lower_or_zero(lambda: self.ask("lower_bound", m, ask.at))
        low = max(lower, self._removed(ask))
        return Truth(low, ends(value)[1], False)

    def _removed(self, ask: Ask) -> Bound:
        """The exact RDP of removing a record at the same rate, <= that of replacing one; or 0."""
        parts = tuple(
            replace(attained, sampling="none" if attained.sampling == "none" else "poisson")
            for part in ask.parts
            for attained in _attaining(part)
        )
        removed = replace(ask, parts=parts, adjacency="add_remove")
        return _lower_or_zero(lambda: self.ask("rdp", node(removed), ask.at), (Kind.EXACT,))

    def by_method(self, ask: Ask, conversion: str, orders: Iterable[Numeric] | None) -> Truth:
        """Computes any of the kinds CONVERTED by one conversion, over the orders (None for all).

        Only the reading by the exact text counts. `exact` says that the curve is exact and that
        none of the orders gives a better answer. Raises the SymacctError of one without an answer.
        """
        ask = _of_delta(ask) if ask.kind == "advantage" else ask
        if (mirrored := _mirrored(ask)) != ask:
            return _reflected(ask, self.by_method(mirrored, conversion, orders))
        with limits.limits(search_order=_largest_order(ask)):
            if ask.kind in BUDGETED:
                return self._calibrated(ask, conversion, orders)
            guarantee = self.ask(ask.kind, node(ask), ask.at, conversion, orders)
        # Another curve may be lower than one that is a bound.
        known = guarantee.optimal and guarantee.claim.kind is Kind.EXACT
        return Truth(*ends(guarantee.asked), known)

    def is_by_variation(self, ask: Ask, conversion: str) -> bool:
        """Is the best ε or δ over all orders that of the total variation, from the order 1?"""
        if ask.kind in BUDGETED:
            return False
        ask = _of_delta(ask) if ask.kind == "advantage" else _mirrored(ask)
        with limits.limits(search_order=_largest_order(ask)):
            guarantee = self.ask(ask.kind, node(ask), ask.at, conversion, None)
        return bool(guarantee.conversion == "total-variation")


def _largest_order(ask: Ask) -> int:
    """The largest order that a search for the best one tries."""
    fixed = any(part.sampling == "without_replacement" for part in ask.parts)
    return _FIXED_SIZE_ORDER if fixed else _LARGEST_ORDER


def _spent(ask: Ask, value: Fraction) -> Ask:
    """The question of the ε that this noise, rate or number of runs costs, of an ask of one part.

    A rate above 1 is taken for 1, and runs are rounded down to whole ones.
    """
    (part,) = ask.parts
    if ask.kind == "rate":
        part = replace(part, gamma=str(min(value, Fraction(1))))
    elif ask.kind == "runs":
        part = replace(part, count=math.floor(value))
    else:
        part = replace(part, parameters=((MECHANISMS[part.mechanism][0], str(value)),))
    return replace(ask, kind="epsilon", parts=(part,), within=None, orders=None)


def _of_delta(ask: Ask) -> Ask:
    """The largest advantage as δ at ε = 0."""
    return replace(ask, kind="delta", at="0")


def _mirrored(ask: Ask) -> Ask:
    """The question of δ at −ε, where it is of δ at a negative ε; else the question itself."""
    below_zero = ask.kind == "delta" and Fraction(ask.at) < 0
    return replace(ask, at=str(-Fraction(ask.at))) if below_zero else ask


def _reflected(ask: Ask, known: Truth) -> Truth:
    """δ(−ε) = 1 − e^{−ε}(1 − δ(ε)), for `ask` at −ε < 0 and the `known` δ(ε), by mirror images."""
    with precision(_BITS):
        shrink = BALL.exp(BALL.number(Fraction(ask.at)))
        low, high = map(rational, ends_of(shrink))
    kept = 1 - min(Fraction(1), Fraction(known.lower)), 1 - min(Fraction(1), Fraction(known.upper))
    return Truth(1 - high * kept[0], 1 - low * kept[1], known.exact)


def _canonical(ask: Ask) -> Ask:
    """The question that a truth is remembered by: without `how`, and of RDP without `orders`."""
    orders = None if ask.kind == "rdp" else ask.orders
    return replace(ask, adjacency=relation_of(ask), how=(), orders=orders)


def relation_of(ask: Ask) -> str:
    """The relation by our name: replace_special, dp_accounting's, is zero_out."""
    return "zero_out" if ask.adjacency == "replace_special" else ask.adjacency


def _attaining(part: AskedPart) -> tuple[AskedPart, ...]:
    """Lists parts whose curve no (ξ, ρ)-zCDP exceeds, and that themselves are (ξ, ρ)-zCDP.

    Gaussian noise has the order α at ρα, and no order of ξ-DP is above ξ.
    """
    if part.mechanism != "ZCDP":
        return (part,)
    rho, xi = (Fraction(value) for _, value in part.parameters)
    parts = []
    if rho > 0:
        # Rounded up: a little less noise than 1/√(2ρ) would be more than ρ.
        smallest = Fraction(math.nextafter(1 / math.sqrt(2 * rho), math.inf))
        sigma = str(smallest * (1 + Fraction(1, 10**15)))
        parts.append(replace(part, mechanism="Gaussian", parameters=(("sigma", sigma),)))
    if xi > 0:
        parts.append(replace(part, mechanism="PureDP", parameters=(("epsilon", str(xi)),)))
    # Both in one sample are no part of an ask.
    return tuple(parts if part.sampling == "none" else parts[:1])


def _lower_or_zero(value: Callable[[], Enclosure], kinds: tuple[Kind, ...] = tuple(Kind)) -> Bound:
    """The lower end; 0 where the value raises a SymacctError or is of none of these kinds."""
    with contextlib.suppress(SymacctError):
        enclosure = value()
        return ends(enclosure)[0] if enclosure.claim.kind in kinds else Fraction(0)
    return Fraction(0)


def readings(ask: Ask) -> list[Ask]:
    """Lists the ask by its exact text, and with every number rounded to float64 if that differs.

    A peer may read it either way. `how` and `orders` are left out, and a strategy stays exact.
    """
    exactly = replace(ask, how=(), orders=None)
    as_floats = replace(
        exactly,
        parts=tuple(_as_floats(part) for part in ask.parts),
        at=ask.at and _nearest(ask.at),
        within=ask.within and _nearest(ask.within),
    )
    return [exactly] if as_floats == exactly else [exactly, as_floats]


def _as_floats(part: AskedPart) -> AskedPart:
    """The part with its `numbers` rounded to float64."""
    named = tuple((name, _nearest(text)) for name, text in part.parameters)
    gamma = None if part.gamma is None else _nearest(part.gamma)
    return replace(part, parameters=named, gamma=gamma, sensitivity=_nearest(part.sensitivity))


@functools.cache
def _nearest(text: str) -> str:
    """The float64 nearest to a number, as the text itself if it is one, or as a fraction."""
    nearest = Fraction(float(Fraction(text)))
    return text if nearest == Fraction(text) else str(nearest)


@functools.lru_cache(maxsize=4096)
def step(part: AskedPart, relation: str, group: int = 1) -> Node:
    """One run of a part as a node, for groups of so many records; what is asked for is a symbol."""
    mechanism = _mechanism(part)
    m: Node = Compose({mechanism: part.inner}) if part.inner > 1 else mechanism
    if part.sampling == "none":
        return m.for_group(group) or GroupPrivacy(m, group)
    gamma = part.gamma or sympy.Symbol(_RATE, positive=True)
    return GroupPrivacy(SAMPLINGS[part.sampling](m, gamma, relation), group)


def _mechanism(part: AskedPart) -> Node:
    """The mechanism alone, with a symbol in the place of a noise that is asked for."""
    values: list[Any] = [exact(value) for _, value in part.parameters]
    if not values:
        values = [sympy.Symbol(MECHANISMS[part.mechanism][0], positive=True)]
    if part.mechanism in WITH_SENSITIVITY:
        values.append(exact(part.sensitivity))
    if part.strategy:
        values.insert(0, [list(map(exact, row)) for row in part.strategy])
    return LEAVES[part.mechanism](*values)


def node(ask: Ask) -> Node:
    """The composition asked about, with an open symbol for a noise, rate or number of runs."""
    relation = relation_of(ask)
    unknown = sympy.Symbol(_COUNT, integer=True, positive=True)
    return Compose(
        *((part.count or unknown) * step(part, relation, ask.group) for part in ask.parts)
    )
