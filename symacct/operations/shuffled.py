"""Shuffled answers: people answer by one randomizer, and nobody sees whose answer is which."""

from __future__ import annotations

from symacct.kernel.claims import REPLACE_ONE, UNKNOWN, AttainedBy
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import whole

#: More people are refused; it only limits sizes, and no bound rests on it.
_MOST_PEOPLE = 10**7
#: The premises say who answers how, and what is seen.
_PREMISES = (
    "each of the {n:answer} is that of another person, given by the same randomizer and "
    "independently of all other answers",
    "any two values that people may have count as neighbours of the randomizer, as the numbers of "
    "an interval do whose length is the sensitivity",
    "a shuffler that nobody watches puts the answers in an order drawn at random, and nothing else "
    "tells whose answer is which",
)


class Shuffled(Operation):
    """The answers of n people by one randomizer, in an order drawn uniformly at random.

    `mechanism` is the randomizer of one person, whose neighbours are any two values that a person
    may have. Neighbouring datasets differ by the value of one person. The randomizer may be
    `RandomizedResponse`, also of k answers (`RandomizedResponse.of_epsilon`), a `FiniteMechanism`
    whose answers all have positive probability, `Laplace` noise on a number of an interval whose
    length is the sensitivity, or `PureDP`. `shuffled` makes it. `n` is a whole number from 1 to
    10⁷. Raises DomainError. ε(α) is in nats.

    >>> from symacct import RandomizedResponse
    >>> Shuffled(RandomizedResponse("3/4"), 1000)
    Shuffled(RandomizedResponse('3/4'), 1000)
    """

    mechanism: Node
    n: int
    _fixed_adjacency = REPLACE_ONE
    _read_adjacency = REPLACE_ONE
    _says_who_takes_part = True
    words = (
        "{n:answer} of as many people, each given by {mechanism}, in an order drawn uniformly at "
        "random"
    )
    premises = _PREMISES

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """The randomizer's own pair for one person; else no pair is known."""
        return self.mechanism.attained if self.n == 1 else UNKNOWN

    @property
    def _is_local(self) -> bool:
        """Each answer is given by the person."""
        return True

    def __new__(cls, mechanism: Node, n: Numeric) -> Shuffled:
        people = whole(n, "shuffled, n", least=1, most=_MOST_PEOPLE)
        return cls._intern(mechanism=as_node(mechanism, "shuffled, randomizer"), n=people)


def shuffled(randomizer: Node, n: Numeric) -> Shuffled:
    """n people each answer by the randomizer, and the answers are shuffled: a `Shuffled`.

    k rounds are k of these. Raises DomainError. ε is in nats.

    >>> from symacct import RandomizedResponse
    >>> answers = shuffled(RandomizedResponse.of_epsilon(1, k=10), 10_000)
    >>> print(answers.epsilon("1e-6").epsilon.rounded_up(5))
    0.023254
    """
    return Shuffled(randomizer, n)
