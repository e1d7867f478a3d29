"""One of two mechanisms, by a coin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symacct.kernel.claims import AttainedBy, together
from symacct.kernel.exact import Exact, Numeric
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import rate
from symacct.mechanisms.response import SEVERAL_ANSWERS, response_of, several_answers


class Either(Operation):
    """The first mechanism with probability `share`, and otherwise the second.

    The coin does not depend on the data. Its result may be published; if it is kept secret, the
    cost is no larger. `share` lies in [0, 1]. Raises DomainError for another share, and
    AdjacencyError if the two mechanisms are about different neighbours. ε(α) is in nats.

    >>> from symacct import Gaussian
    >>> print(Either(Gaussian(1), Gaussian(5), "1/100").rdp(2, digits=6))
    0.0559884
    """

    first: Node
    second: Node
    share: Exact

    def __new__(cls, first: Node, second: Node, share: Numeric) -> Either:
        return cls._intern(
            first=as_node(first, "Either, first"),
            second=as_node(second, "Either, second"),
            share=rate(share, "Either, share"),
        )

    _says_who_takes_part = True

    @property
    def words(self) -> str:  # type: ignore[override]
        """A noun phrase: two mechanisms by a coin, or the randomized response that they are."""
        by_coin = "{first} with probability {share}, and otherwise {second}"
        return SEVERAL_ANSWERS if self._is_local else by_coin

    def _word_fields(self) -> Mapping[str, Any]:
        return several_answers(self) or super()._word_fields()

    @property
    def premises(self) -> tuple[str, ...]:  # type: ignore[override]
        """The coin does not see the data; none where both together are randomized response."""
        coin = "which of the two mechanisms is run, a coin decides that does not see the data"
        return () if self._is_local else (coin,)

    @cached_property
    def _is_local(self) -> bool:
        """Is it randomized response of one person, written as a coin?"""
        return response_of(self) is not None

    @cached_property
    def attained(self) -> AttainedBy:
        """The pair of the chosen mechanism and the coin, which involutions leave alone."""
        return together((self.first.attained, self.second.attained))

    @property
    def convex(self) -> bool:
        """log(s e^{K₁} + (1−s) e^{K₂}) is convex if K₁ and K₂ are."""
        return self.first.convex and self.second.convex
