"""A guarantee as a file for Coq 8.16 with coq-interval: its numbers as a theorem on real numbers.

What the file imports is proved in the folder `coq/`; the papers' theorems are hypotheses there.
"""

from __future__ import annotations

from fractions import Fraction

from symacct.evidence.certificates.coq.proofs import LONGEST_SUM, proof
from symacct.evidence.certificates.coq.spending import CONVERSIONS, Spending, orders
from symacct.evidence.certificates.coq.terms import none_yet, terms
from symacct.kernel.answer import Enclosure, Guarantee
from symacct.kernel.errors import echo
from symacct.kernel.exact import INFINITY

__all__ = ["coq"]


def coq(guarantee: Guarantee, digits: int = 6) -> str:
    """The guarantee as the text of a Coq file, whose last theorem is what it says.

    The number asked is rounded to `digits` on its safe side. The order is the shortest near the
    guarantee's own at which the statement holds: a whole one's curve is a finite sum, a real one's
    of sampled noise an integral. Raises DomainError for what has no such file yet. Numbers in
    nats. Source: CKS20 and MIR17 for the conversions; coq/Published.v names the others.

    >>> from symacct import Laplace
    >>> print(coq((20 * Laplace(10)).epsilon("1e-5", conversion="improved")).splitlines()[0])
    (* 20*Laplace(10)
    """
    mechanism, best = guarantee.mechanism, guarantee.alpha
    if mechanism is None:
        raise none_yet("a guarantee without its expression", "ask a mechanism for it")
    if guarantee.conversion not in CONVERSIONS:
        raise none_yet(f"the {guarantee.conversion} conversion", "needed improved or classic")
    if best in (1, INFINITY):
        raise none_yet(f"the order {best}", "needed one between 1 and ∞, as with orders 2, 3, 4")
    epsilon, delta = (_claimed(x, digits) for x in (guarantee.epsilon, guarantee.delta))
    if not (0 < delta < 1 and epsilon > 0):
        raise none_yet(f"epsilon={epsilon} and delta={delta}", "needed 0 < delta < 1, epsilon > 0")
    parts = terms(mechanism)
    for alpha in orders(parts, Fraction(best), LONGEST_SUM):
        said = Spending(mechanism, parts, epsilon, delta, alpha, guarantee.conversion)
        if said.room > 0:
            return proof(said, str(guarantee.claim.adjacency))
    raise none_yet(
        f"{echo(mechanism)} at epsilon={float(epsilon):.6g} and orders near {float(best):.6g}",
        f"needed whole orders up to {LONGEST_SUM} where a sample's curve is a sum, as "
        "with orders 2, 3, … and by S22-POISSON",
    )


def _claimed(x: Enclosure | Fraction, digits: int) -> Fraction:
    return Fraction(x.rounded_up(digits)) if isinstance(x, Enclosure) else Fraction(x)
