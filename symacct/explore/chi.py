"""χ-divergences of a mechanism's worst pair: values, bounds, and the signs of odd ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

from flint import arb

from symacct.export.cards import card
from symacct.kernel import limits
from symacct.kernel.accountant import Accountant, certified_number
from symacct.kernel.answer import Enclosure, shortened
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import PrecisionError, SoundnessError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import whole
from symacct.kernel.sources import WBK19, ZW19
from symacct.kernel.sums.differences import differences_at
from symacct.laws.law import Direction
from symacct.mechanisms.gaussian import Gaussian
from symacct.mechanisms.laplace import Laplace
from symacct.mechanisms.pair import DistributionPair, has_closed_form
from symacct.theory.amplification.wbk19 import differences, loss_spread, ternary_power

# --- χ-divergences


def chi_divergence(m: Node, l: Numeric, digits: int = 30) -> Enclosure:
    """The signed divergence χ^l = E_Q[(P/Q − 1)^l], for l >= 0, from the curve of m.

    χ^l = Σ_{i=0}^{l} (−1)^{l−i} C(l,i) e^{(i−1)ε(i)}

    P and Q are the pair that attains the curve, so the curve has to be exact. `digits` are
    significant digits of χ^l. ε is in nats, and χ^l has no unit. Raises SoundnessError for a curve
    that is not exact, and PrecisionError if χ^l is 0 and its terms are not exact numbers.

    >>> from symacct import RandomizedResponse
    >>> print(chi_divergence(RandomizedResponse("3/4"), 3, digits=10))
    1.777777777
    """
    m, l = as_node(m, "chi_divergence"), whole(l, "chi_divergence, l")
    if m.claim.kind is not Kind.EXACT:
        raise SoundnessError(
            f"chi_divergence: found a curve of kind {m.claim.kind}, needed an exact one: "
            "differences of bounds bound nothing"
        )
    if not m.attained.by_one_pair:
        raise SoundnessError(
            f"chi_divergence: found {echo(m)}, whose curve may be the larger of two at some "
            "orders, needed that of one pair in one direction",
            remedy="check_odd_chi takes a pair both ways round",
        )

    def value(accountant: Accountant) -> tuple[arb, Claim]:
        curve = accountant.curve(m)
        claim = curve.claim(2)
        if l < 2:
            return arb(1 - l), claim
        return differences(BALL, curve, [l])(l), claim

    return certified_number(value, digits, f"chi^{echo(l)}", signed=True)


# Proved in docs/proofs/pairs.md, Lemma ternary-bound.
def ternary_bound(m: Node, l: Numeric, digits: int = 30) -> Enclosure:
    """An upper bound ζ(l) of sup E_R[(|P−Q|/R)^l]^{1/l} over mutually adjacent P, Q, R, for l >= 2.

    ζ(l)^l is the smallest of WBK19's bounds that is proved for m: e^{(l−1)ε(l)}·2,
    e^{(l−1)ε(l)}(e^{ε(∞)}−1)^l, 4(e^{ε(2)}−1) at l = 2, and 4√(B(ε,2⌊l/2⌋) B(ε,2⌈l/2⌉)) for a curve
    that one dominating pair attains. `digits` are significant digits of ζ(l). ε is in nats, and
    ζ(l) has no unit. Raises SoundnessError for a lower bound.

    >>> from symacct import Gaussian
    >>> print(ternary_bound(Gaussian(5), 2, digits=10))
    0.4040335342
    """
    m, l = as_node(m, "ternary_bound"), whole(l, "ternary_bound, l", least=2)
    if m.claim.kind is Kind.LOWER:
        raise SoundnessError("ternary_bound: found a lower bound, needed an exact or upper curve")
    paired = m.attained.is_swapped and m.claim.kind is Kind.EXACT

    def value(accountant: Accountant) -> tuple[arb, Claim]:
        curve = accountant.curve(m)
        spread = loss_spread(BALL, curve)
        if paired or l == 2:
            orders = [2 * (l // 2), 2 * (l - l // 2)]
            # B(ε,2) = e^{ε(2)} − 1 needs no dominating pair: it holds for an upper bound too.
            difference: Callable[[int], arb] = (
                differences(BALL, curve, orders) if paired else lambda order: curve(2).expm1()
            )
            power = ternary_power(BALL, curve, spread, difference, l)
        else:
            power = ((l - 1) * curve(l)).exp() * spread(l)
        source = WBK19.at("Definition 14, Theorems 9 and 27")
        claim = replace(curve.claim(l), kind=Kind.UPPER, sources=(source,))
        return power ** (arb(1) / l), claim

    return certified_number(value, digits, f"zeta({echo(l)})")


# --- the condition on odd orders
#
# Condition (4) of Zhu, Wang 2019: the signs of a mechanism's odd χ-divergences.

#: The names of both directions of a pair.
FORWARD, BACKWARD = "P‖Q", "Q‖P"
#: χ^l is computed to a relative accuracy of this many bits where only its sign is asked.
_SIGN_BITS = 32
#: A closed form's sign is looked for at no more working bits than these: a χ^l may be exactly 0.
#: Beyond them it is undecided.
_MOST_SIGN_BITS = 2**13
#: A violation is shown with this many significant digits.
_DIGITS = 20
#: A closed form is asked whether it is ∞ at this many bits, which do not matter: it decides that
#: exactly.
_INFINITE_BITS = 64


@dataclass(frozen=True)
class Violation:
    """The divergence χ^l = E_Q[(P/Q − 1)^l] is < 0 at this odd l.

    The direction "Q‖P" exchanges the two laws.
    """

    l: int
    direction: str
    value: Enclosure

    def __str__(self) -> str:
        return f"chi^{self.l} = {self.value} for {self.direction}"


@dataclass(frozen=True)
class OddChiReport:
    """The result of `check_odd_chi` for odd 3 <= l <= up_to, each way.

    `holds` is None where it is undecided, and `reason` says how it was decided, or why not.

    >>> from symacct import Gaussian, check_odd_chi
    >>> report = check_odd_chi(Gaussian(5), 5)
    >>> report.holds, report.proved_for_all_orders
    (True, True)
    """

    mechanism: Node
    up_to: int
    holds: bool | None
    proved_for_all_orders: bool
    first_violation: Violation | None
    reason: str

    @property
    def verdict(self) -> str:
        """Say in a few words whether the condition holds, and up to which order."""
        if self.first_violation is not None:
            return f"fails: {self.first_violation}"
        if self.holds is None:
            return "undecided"
        reach = "every order" if self.proved_for_all_orders else f"orders up to {self.up_to}"
        return f"holds at {reach}"

    def __str__(self) -> str:
        return f"condition (4) for {self.mechanism!r} {self.verdict} ({self.reason})"

    def _repr_html_(self) -> str:
        of = shortened(repr(self.mechanism))
        return card([("condition (4)", self.verdict), ("of", of), ("because", self.reason)])

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        violation = self.first_violation
        return {
            "mechanism": repr(self.mechanism),
            "up_to": self.up_to,
            "holds": self.holds,
            "proved_for_all_orders": self.proved_for_all_orders,
            "first_violation": violation
            and {
                "l": violation.l,
                "direction": violation.direction,
                "chi": violation.value.as_dict(),
            },
            "reason": self.reason,
        }


def check_odd_chi(m: Node, up_to: Numeric = 25) -> OddChiReport:
    """Is χ^l = E_Q[(P/Q − 1)^l] >= 0 for every odd 3 <= l <= up_to, and for P and Q exchanged?

    If a symmetry of m exchanges P and Q, this is proved for all l: with r = P/Q the exchange gives
    E_Q[(r−1)^l] = E_P[(1/r−1)^l] = E_Q[r(1/r−1)^l] = −E_Q[(r−1)^l r^{1−l}] for odd l, so that 2χ^l
    = E_Q[(r−1)^l (1−r^{1−l})], where both factors have the same sign. For finite pairs the sign is
    decided in fractions, and for all l from the point where the largest |P/Q − 1| dominates. For
    laws with a closed form it is decided by certified differences, and for other densities by
    certified integrals; a χ^l that these do not tell from 0 leaves the answer undecided. For any
    other exact curve only the direction that attains it is decided. Raises SoundnessError for a
    curve that no single pair attains.

    >>> from symacct import DistributionPair
    >>> print(check_odd_chi(DistributionPair(["9/10", "1/10"], ["3/5", "2/5"]), 5).first_violation)
    chi^3 = -0.093750000000000000000 for P‖Q
    """
    m, last = as_node(m, "check_odd_chi"), whole(up_to, "check_odd_chi, up_to", least=3)
    if m.attained.is_swapped and m.claim.kind is not Kind.LOWER:
        # Of Gaussian and Laplace noise it is the paper's own proposition.
        in_paper = f"{ZW19.at('Proposition 10')}, and " if isinstance(m, Gaussian | Laplace) else ""
        why = f"proved for all odd l: {in_paper}a symmetry swaps its pair"
        return OddChiReport(m, last, True, True, None, why)
    if isinstance(m, DistributionPair):
        if m.masses is not None:
            back = tuple((q, p) for p, q in m.masses)
            sides = [_FiniteSide(FORWARD, m.masses), _FiniteSide(BACKWARD, back)]
            return _report(m, last, sides, "in exact rationals")
        both = [(FORWARD, m.direction(False)), (BACKWARD, m.direction(True))]
        if has_closed_form(m.P, m.Q):
            laws = [_CurveSide(name, direction) for name, direction in both]
            return _report(m, last, laws, "by certified differences of the closed form")
        densities = [_IntegralSide(name, direction) for name, direction in both]
        return _report(m, last, densities, "by certified integrals")
    return _report(m, last, [_AttainingSide(FORWARD, m)], "by certified differences of the curve")


class _Side:
    """One direction, P against Q: the sign of its χ^l, and from where on it stays >= 0."""

    #: Why the other direction was not checked; empty where it was.
    one_sided = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def sign(self, l: int) -> int | None:
        """Decide the sign of χ^l: −1, 0 or 1, or None where the digits do not tell."""
        try:
            chi = self.chi(l, _SIGN_BITS)
        except PrecisionError:
            return None
        return 0 if chi == 0 else 1 if chi > 0 else -1

    def stays_nonnegative(self, l: int) -> bool:
        """Is χ^k >= 0 proved for every odd k >= l?"""
        return False

    def outlook(self) -> str:
        """Say what is known of orders beyond those checked; empty where nothing is."""
        return ""

    def value(self, l: int) -> Enclosure:
        """Enclose χ^l to `_DIGITS` significant digits."""

        return certified_number(
            lambda _: (self.chi(l, BALL.bits), Claim(Kind.EXACT)), _DIGITS, f"chi^{l}", signed=True
        )

    def chi(self, l: int, bits: int) -> arb:
        """Enclose χ^l to a relative accuracy of `bits` bits, so that its sign is decided.

        It is exact where it is 0. Raises PrecisionError where the accuracy is not reached.
        """
        raise NotImplementedError


class _FiniteSide(_Side):
    """The sum χ^l = Σ q d^l, d = p/q − 1, at odd l, in exact rationals.

    Outcomes of equal |d| = s are taken together with their net weight w(s), positive d counting
    for and negative d against: χ^l = Σ w(s) s^l. An outcome with p > 0 = q makes χ^l infinite.
    """

    def __init__(self, name: str, masses: Iterable[tuple[Fraction, Fraction]]) -> None:
        super().__init__(name)
        masses = tuple(masses)
        self.infinite = any(p > 0 and q == 0 for p, q in masses)
        weights: dict[Fraction, Fraction] = {}
        for p, q in masses if not self.infinite else ():
            if q > 0 and p != q:
                step = abs(p - q) / q
                weights[step] = weights.get(step, Fraction(0)) + (q if p > q else -q)
        self.weights = sorted(((s, w) for s, w in weights.items() if w), reverse=True)
        self._terms = cache(lambda l: [w * s**l for s, w in self.weights])

    def sign(self, l: int) -> int | None:
        """The sign of χ^l, 1 where it is ∞."""
        return 1 if self.infinite else super().sign(l)

    def chi(self, l: int, bits: int) -> arb:
        """Compute χ^l exactly, as a sum of fractions."""
        return BALL.number(sum(self._terms(l), Fraction(0)))

    def stays_nonnegative(self, l: int) -> bool:
        """Are the sums Σ_{s >= t} w(s) s^l all >= 0? By partial summation so is χ^k, k >= l.

        The factors s^{k−l} of χ^k rise with s. An infinite χ^l has no terms: larger ones are
        infinite too.
        """
        running = Fraction(0)
        for term in self._terms(l):
            running += term
            if running < 0:
                return False
        return True

    def outlook(self) -> str:
        """Say that the condition fails at a larger l, where the largest |P/Q − 1| has P < Q."""
        if self.weights and self.weights[0][1] < 0:
            return f"it fails at some larger l for {self.name}: the largest |P/Q − 1| has P < Q"
        return ""


class _CurveSide(_Side):
    """χ^l as a difference of the moments E_Q[(P/Q)^i] = e^{(i−1)D_i} of a closed form.

    Moments that are rational give it exactly. Otherwise a χ^l that is 0 stays undecided.
    """

    def __init__(self, name: str, direction: Direction) -> None:
        super().__init__(name)
        self._direction = direction
        self._curve_at = cache(lambda bits: direction.curve(BALL))
        self._log_moment = cache(lambda bits, i: (i - 1) * self._curve_at(bits)(i))

    def sign(self, l: int) -> int | None:
        """The sign of χ^l, 1, 0 or −1; None where no bits up to 8192 tell."""
        if self.stays_nonnegative(l):
            return 1
        with limits.limits(bits=min(_MOST_SIGN_BITS, limits.current().bits)):
            return super().sign(l)

    def _rational(self, l: int) -> Fraction | None:
        """Compute χ^l exactly at an odd l; None where a moment is not known to be rational."""
        total = Fraction(l - 1)  # of the terms i = 0 and 1, for odd l
        for i in range(2, l + 1):
            moment = self._direction.moment(i)
            if moment is None:
                return None
            total += (-1) ** (l - i) * comb(l, i) * moment
        return total

    def stays_nonnegative(self, l: int) -> bool:
        """Is E_Q[(P/Q)^l] infinite? So is χ^k for all k >= l then, as (P/Q − 1)^k >= −1."""
        with precision(_INFINITE_BITS):
            return BALL.is_infinite(self._log_moment(_INFINITE_BITS, l))

    def chi(self, l: int, bits: int) -> arb:
        """Enclose χ^l to so many bits by differences, exactly where moments are rational."""
        exact = self._rational(l)
        if exact is not None:
            return BALL.number(exact)
        return differences_at(self._log_moment, [l], bits)[l]


class _IntegralSide(_Side):
    """χ^l as the certified integral, or sum, of q(p/q − 1)^l: no moments are subtracted."""

    def __init__(self, name: str, direction: Direction) -> None:
        super().__init__(name)
        self._chi = cache(lambda l, bits: direction.chi(l))  # type: ignore[attr-defined]

    def chi(self, l: int, bits: int) -> arb:
        """Enclose χ^l to so many bits by its integral."""
        with precision(bits):
            chi: arb = self._chi(l, bits)
        return chi

    def stays_nonnegative(self, l: int) -> bool:
        """Is χ^l proved to be infinite? So is χ^k for all k >= l then, as (P/Q − 1)^k >= −1.

        An integral is finite, or ∞ where that is proved; one that does not converge in balls is a
        PrecisionError, and proves nothing.
        """
        try:
            return not self.chi(l, _SIGN_BITS).is_finite()
        except PrecisionError:
            return False


class _AttainingSide(_Side):
    """χ^l of the pair that attains an exact curve, by differences of the curve.

    The other direction is not known. `chi_divergence` raises SoundnessError for a curve that no
    one pair attains.
    """

    one_sided = "the pair that attains the curve was checked in one direction only"

    def __init__(self, name: str, m: Node) -> None:
        super().__init__(name)
        self._chi = cache(lambda l: chi_divergence(m, l, digits=_DIGITS))

    def sign(self, l: int) -> int | None:
        """The sign of χ^l by its enclosure to 20 digits; None where it has none."""
        try:
            chi = self.value(l)
        except PrecisionError:
            return None
        return 1 if chi.lower > 0 else -1 if chi.upper < 0 else 0

    def value(self, l: int) -> Enclosure:
        """Enclose χ^l by the pair that attains the curve."""
        return self._chi(l)


def _report(m: Node, last: int, sides: list[Any], how: str) -> OddChiReport:
    """Report the signs of every side at l = 3, 5, …, `last`, up to the first violation.

    A side is left out from the l on from which it is proved to stay >= 0. `how` says by what the
    signs are decided.
    """
    open_sides, undecided = list(sides), None
    for l in range(3, last + 1, 2):
        for side in list(open_sides):
            sign = side.sign(l)
            if sign is None:
                undecided = undecided or f"the sign of chi^{l} for {side.name} is not decided"
            elif sign < 0:
                violation = Violation(l, side.name, side.value(l))
                return OddChiReport(m, last, False, False, violation, how)
            elif side.stays_nonnegative(l):
                open_sides.remove(side)
    if undecided is not None:
        return OddChiReport(m, last, None, False, None, undecided)
    one_sided = next((side.one_sided for side in sides if side.one_sided), "")
    if one_sided:
        return OddChiReport(m, last, None, False, None, f"no violation, but {one_sided}")
    if not open_sides:
        return OddChiReport(m, last, True, True, None, f"{how}, and proved for all larger l")
    outlook = next((text for side in open_sides if (text := side.outlook())), "")
    return OddChiReport(m, last, True, False, None, f"{how}; {outlook}" if outlook else how)
