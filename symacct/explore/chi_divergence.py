"""χ-divergences of a mechanism's worst pair, and the bound on its ternary |χ|-divergence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flint import arb

from symacct.kernel.accountant import Accountant, certified_number
from symacct.kernel.answer import Enclosure
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import SoundnessError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import whole
from symacct.kernel.sources import WBK19
from symacct.kernel.theorem_registry import RDPCurve
from symacct.theory.amplification.wbk19 import differences, loss_spread, ternary_power


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
            difference = differences(BALL, curve, orders) if paired else _second(curve)
            power = ternary_power(BALL, curve, spread, difference, l)
        else:
            power = ((l - 1) * curve(l)).exp() * spread(l)
        source = WBK19.at("Definition 14, Theorems 9 and 27")
        claim = replace(curve.claim(l), kind=Kind.UPPER, sources=(source,))
        return power ** (arb(1) / l), claim

    return certified_number(value, digits, f"zeta({echo(l)})")


def _second(curve: RDPCurve) -> Callable[[int], arb]:
    """B(ε,2) = e^{ε(2)} − 1, which no dominating pair is needed for."""
    return lambda order: curve(2).expm1()
