"""The parts of an expression that may fail, and what it is where none of them does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

from symacct.core.exact import Exact
from symacct.expressions.bounded import bits
from symacct.expressions.node import Node
from symacct.operations.compose import Compose, Count

_EXACT_BITS = 4096  # up to which the probability that nothing fails is worked out as a fraction


@dataclass(frozen=True)
class Failures:
    """An expression in which nothing fails, and (δ_i, count) of the parts of it that may."""

    rest: Node
    parts: tuple[tuple[Exact, Count], ...]

    @property
    def kept(self) -> Fraction | None:
        """Π(1−δ_i)^k_i, that nothing fails, where it is a fraction that is not too long."""
        if not all(isinstance(x, Fraction) and isinstance(k, int) for x, k in self.parts):
            return None
        if sum(bits(1 - delta) * count for delta, count in self.parts) > _EXACT_BITS:
            return None
        return math.prod(((1 - delta) ** count for delta, count in self.parts), start=Fraction(1))


def failures(node: Node) -> Failures | None:
    """What may fail of an expression, and what it is otherwise; None where nothing may.

    A composition fails where one of its parts does, a post-processing where the mechanism does, and
    one of two mechanisms by a coin where that does on which the coin falls.
    An (ε, δ)-DP mechanism is an ε-DP one that fails with probability δ. What is below another
    operation, such as a sample, is left there. Source: docs/proofs.md, section 43.

    >>> from symacct import ApproximateDP, Failing, Gaussian
    >>> found = failures(2 * ApproximateDP(1, "1/9") + Failing(Gaussian(5), "1/7"))
    >>> print(found.rest, found.parts)
    Gaussian(5) + 2*PureDP(1) ((Fraction(1, 9), 2), (Fraction(1, 7), 1))
    """
    known: dict[str, Failures | None] = node._derived("failures")
    if "all" not in known:
        known["all"] = failures_of(node)
    return known["all"]


@singledispatch
def failures_of(node: Node) -> Failures | None:
    """What may fail of a node of this class; an operation that may fail registers its rule."""
    return None


@failures_of.register
def _(node: Compose) -> Failures | None:
    parts: list[tuple[Exact, Count]] = []
    rest = []
    for part, count in node.terms.items():
        below = failures(part)
        rest.append({below.rest if below else part: count})
        parts += [(delta, count * times) for delta, times in below.parts] if below else []
    if not parts:
        return None
    telling = Compose(*({m: n} for one in rest for m, n in one.items() if not m.tells_nothing))
    if telling.claim.adjacency.group != node.claim.adjacency.group:  # it would be about more
        telling = Compose(*rest)
    return Failures(telling, tuple(parts))
