"""The conversion "exact": ε(δ) and δ(ε) by the profile of a mechanism's laws."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symacct.kernel import limits
from symacct.kernel.answer import Enclosure, Guarantee, first_bits
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.conversion import Memory, WholeProfile, state
from symacct.kernel.errors import DomainError, OrderError
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node
from symacct.profile.answer import Profile, ProfileAnswer, lower_bound, profile
from symacct.profile.proofs import NAME, SOURCE


class Exact(WholeProfile):
    """The conversion "exact" answers by the largest profile of the dominating pairs."""

    def guarantee(
        self, m: Node, asks_epsilon: bool, given: Fraction, digits: int, memory: Memory
    ) -> Guarantee:
        """Answer ε(δ) or δ(ε) by the profile of the node, and remember the answer for its digits.

        It is remembered for the limits in force, with what the profile has summed.
        """
        known = self.remembered(m, memory)
        answers = memory(m, ("exact profile", limits.current()), "answers")
        key = (asks_epsilon, *given.as_integer_ratio(), digits)
        answer: ProfileAnswer | None = answers[key]
        if answer is None:
            with precision(first_bits(digits)):
                answer = answers[key] = known.answer(asks_epsilon, given, digits)
        return known.guarantee(asks_epsilon, given, answer, digits)

    def lower_bound(self, m: Node, asks_epsilon: bool, given: Fraction, digits: int) -> Enclosure:
        """Bound ε(δ) or δ(ε) from below by what post-processing leaves; nothing is remembered."""
        return lower_bound(m, asks_epsilon, given, digits)

    def refuse_pinned(self, orders: str | Iterable[Numeric] | None, by: object) -> None:
        """Raise an error where orders or a theorem are given, which the profile does not read."""
        if orders is not None:
            raise OrderError(
                "orders: found some with conversion exact, which takes no order",
                remedy="ask without orders",
            )
        if by is not None:
            raise DomainError(
                "by: found a theorem with conversion exact, which reads the laws themselves and no "
                "bound of their curve",
                remedy="ask without by",
            )

    def may_exceed_curve(self, m: Node, memory: Memory) -> bool:
        """Decide if Rényi orders may prove a smaller number; it makes the node's products."""
        return self.remembered(m, memory).may_exceed_curve

    def remembered(self, m: Node, memory: Memory) -> Profile:
        """Return the profile of a node, with what it has summed before."""
        table = memory(m, ("profile", limits.current()), "answers")
        known: Profile | None = table["profile"]
        if known is None:
            known = table["profile"] = profile(m)
        return known


EXACT = Exact(name=NAME, source=SOURCE, status="proved")
state(EXACT)
