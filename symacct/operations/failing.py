"""A mechanism that may fail, and which operations fail where a part of them does."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from symacct.kernel.claims import AttainedBy
from symacct.kernel.epsilon_delta import Failures, failures, failures_of
from symacct.kernel.exact import Numeric, typed_value
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import probability
from symacct.mechanisms import ApproximateDP, PureDP
from symacct.operations.either import Either
from symacct.operations.postprocess import PostProcess


class Failing(Operation):
    """The mechanism, which fails with probability `delta`, and may then tell all of the data.

    Whether it fails does not depend on the data. So δ′(ε) = δ + (1−δ)δ(ε), with δ(ε) that of
    `mechanism`, and the Rényi curve is infinite. `Failing(PureDP(epsilon), delta)` is
    `ApproximateDP(epsilon, delta)`, and `Failing(ZCDP(rho), delta)` is δ-approximate ρ-zCDP. A
    `delta` of 0 gives the mechanism itself. Raises DomainError for a δ outside [0, 1). ε is in
    nats. Source: KOV15 and BS16; docs/proofs/conversions.md, Lemma stated-failure.

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
        """The mechanism's pair, with the data told on failure: exchanged as that pair is."""
        return self.mechanism.attained


@failures_of.register
def _(node: ApproximateDP) -> Failures:
    """The probability δ of failing, and PureDP(ε) otherwise."""
    epsilon, delta, relation = node.fields().values()
    return Failures(PureDP(epsilon, relation), ((delta, 1),))


@failures_of.register
def _(node: Failing) -> Failures:
    """The probability δ of failing, beside the failures of the mechanism below."""
    failure = ((node.parameters()["delta"], 1),)
    below = failures(node.mechanism)
    if below is None:
        return Failures(node.mechanism, failure)
    return Failures(below.rest, (*below.parts, *failure))


@failures_of.register
def _(node: PostProcess) -> Failures | None:
    """The failures of the mechanism below, the rest post-processed; None for no failures."""
    below = failures(node.mechanism)
    if below is None:
        return None
    return replace(below, rest=PostProcess(**{**node.fields(), "mechanism": below.rest}))


@failures_of.register
def _(node: Either) -> Failures | None:
    """The mean s d₁ + (1−s)d₂ of both probabilities of failing, and else a coin between both rests.

    Given that nothing fails its share is s(1−d₁)/(1 − s d₁ − (1−s)d₂). None where no side that may
    be run fails, or the numbers are no short fractions.
    """
    if not isinstance(node.share, Fraction):
        return None
    left, right = (failures(part) or Failures(part, ()) for part in (node.first, node.second))
    if not (left.parts or right.parts) or left.survival is None or right.survival is None:
        return None
    first, second = node.share * left.survival, (1 - node.share) * right.survival
    if first + second == 1:  # what fails is on the side that is never run
        return None
    rest = Either(left.rest, right.rest, first / (first + second))
    return Failures(rest, ((1 - first - second, 1),))
