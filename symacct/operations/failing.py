"""A mechanism that may fail, and the parts of an expression that may."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch

from symacct.core.exact import Exact, Numeric, typed_value
from symacct.expressions.attained import AttainedBy
from symacct.expressions.bounded import bits
from symacct.expressions.node import Node, as_node
from symacct.expressions.parameters import probability
from symacct.mechanisms import ApproximateDP, PureDP
from symacct.operations.compose import Compose, Count
from symacct.operations.either import Either
from symacct.operations.operation import Operation
from symacct.operations.postprocess import PostProcess

_EXACT_BITS = 4096  # up to which the probability that nothing fails is worked out as a fraction


class Failing(Operation):
    """The mechanism, which fails with probability `delta`, and may then tell all of the data.

    Whether it fails does not depend on the data. So δ′(ε) = δ + (1−δ)δ(ε), with δ(ε) that of
    `mechanism`, and the Rényi curve is infinite. `Failing(PureDP(epsilon), delta)` is
    `ApproximateDP(epsilon, delta)`, and `Failing(ZCDP(rho), delta)` is δ-approximate ρ-zCDP. A
    `delta` of 0 gives the mechanism itself. Raises DomainError for a δ outside [0, 1). ε is in
    nats. Source: KOV15 and BS16; docs/proofs.md, section 43.

    >>> from symacct import ZCDP
    >>> print(Failing(ZCDP("1/2"), "5e-6").epsilon("1e-5", 6, "improved").epsilon.rounded(6))
    4.88223
    """

    mechanism: Node

    def __new__(cls, mechanism: Node, delta: Numeric) -> Node:  # type: ignore[misc]
        mechanism = as_node(mechanism, "Failing, mechanism")
        if typed_value(delta, "Failing, delta") == 0:
            return mechanism
        return cls._intern(mechanism=mechanism, delta=probability(delta, "Failing, delta"))

    says_who_takes_part = True
    words = "{mechanism}, which fails with probability {delta} and may then tell everything"
    premises = ("whether a mechanism fails does not depend on the data",)

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """The mechanism's pair, or the data, which are exchanged with each other."""
        return self.mechanism.attained


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

    >>> from symacct import Gaussian
    >>> found = failures(2 * ApproximateDP(1, "1/9") + Failing(Gaussian(5), "1/7"))
    >>> print(found.rest, found.parts)
    Gaussian(5) + 2*PureDP(1) ((Fraction(1, 9), 2), (Fraction(1, 7), 1))
    """
    known: dict[str, Failures | None] = node._derived("failures")
    if "all" not in known:
        known["all"] = _failures(node)
    return known["all"]


@singledispatch
def _failures(node: Node) -> Failures | None:
    return None


@_failures.register
def _(node: ApproximateDP) -> Failures:
    epsilon, delta, relation = node.fields().values()
    return Failures(PureDP(epsilon, relation), ((delta, 1),))


@_failures.register
def _(node: Failing) -> Failures:
    own = ((node.parameters()["delta"], 1),)
    below = failures(node.mechanism)
    return Failures(below.rest, (*below.parts, *own)) if below else Failures(node.mechanism, own)


@_failures.register
def _(node: PostProcess) -> Failures | None:
    below = failures(node.mechanism)
    if below is None:
        return None
    return replace(below, rest=PostProcess(**{**node.fields(), "mechanism": below.rest}))


@_failures.register
def _(node: Either) -> Failures | None:
    """The coin that is tossed where nothing fails lands otherwise, where one side fails more."""
    if node.share in (0, 1) or not isinstance(node.share, Fraction):
        return None
    one, other = (failures(part) or Failures(part, ()) for part in (node.first, node.second))
    if not (one.parts or other.parts) or one.kept is None or other.kept is None:
        return None
    first, second = node.share * one.kept, (1 - node.share) * other.kept
    rest = Either(one.rest, other.rest, first / (first + second))
    return Failures(rest, ((1 - first - second, 1),))


@_failures.register
def _(node: Compose) -> Failures | None:
    parts: list[tuple[Exact, Count]] = []
    rest = []
    for part, count in node.terms.items():
        below = failures(part)
        rest.append({below.rest if below else part: count})
        parts += [(delta, count * times) for delta, times in below.parts] if below else []
    if not parts:
        return None
    telling = Compose(*({m: n} for one in rest for m, n in one.items() if not _tells_nothing(m)))
    if telling.claim.adjacency.group != node.claim.adjacency.group:  # it would be about more
        telling = Compose(*rest)
    return Failures(telling, tuple(parts))


def _tells_nothing(node: Node) -> bool:
    """Is it 0-DP, as what is left of a mechanism that tells something only where it fails?"""
    return isinstance(node, PureDP) and node.pure == 0
