"""Repeat and select: a random number of runs, of which only the best is told."""

from __future__ import annotations

from symacct.kernel.errors import DomainError, echo
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Operation
from symacct.laws.families import Binomial, Poisson, TruncatedNegativeBinomial

#: The laws of the number of runs that something is proved of.
Runs = Binomial | Poisson | TruncatedNegativeBinomial

#: This premise is needed, because the best of a fixed number of runs costs more.
NUMBER_OF_RUNS = (
    "the number of runs is drawn at random from the stated law, independently of the data, and "
    "only the best run is released"
)


class RepeatAndSelect(Operation):
    """The best of K independent runs of the mechanism, for a random K; no output if K = 0.

    `runs` is the law of K: `laws.Poisson(mean)`, `laws.Binomial(n, theta)`, where each of n runs is
    made with probability θ, or `laws.TruncatedNegativeBinomial`, which is geometric for η = 1 and
    logarithmic for η = 0. Each output of `mechanism` carries the order or the score by which the
    best one is chosen. K and the other outputs stay secret. Raises DomainError. ε(α) is in nats.

    >>> from symacct import Gaussian, laws
    >>> m = RepeatAndSelect(Gaussian(5), laws.TruncatedNegativeBinomial(0, "1/10"))
    >>> m
    RepeatAndSelect(Gaussian(5), laws.TruncatedNegativeBinomial(0, '1/10'))
    """

    mechanism: Node
    runs: Runs
    words = (
        "the best of a random number of runs of {mechanism}, where the number of runs has {runs}"
    )
    premises = (NUMBER_OF_RUNS,)

    def __new__(cls, mechanism: Node, runs: Runs) -> RepeatAndSelect:
        mechanism = as_node(mechanism, "RepeatAndSelect, mechanism")
        if not isinstance(runs, Runs):
            raise DomainError(
                f"RepeatAndSelect, runs: found {echo(runs)}, needed laws.Poisson(mean), "
                "laws.Binomial(n, theta) or laws.TruncatedNegativeBinomial(eta, gamma), of which "
                f"eta = 1 is geometric and eta = 0 logarithmic{_instead_of(runs)}"
            )
        return cls._intern(mechanism=mechanism, runs=runs)


def _instead_of(runs: object) -> str:
    """What to write instead of a whole number of runs >= 2, for a message; "" for other values."""
    if not isinstance(runs, int) or runs < 2:
        return ""
    return (
        f"; write laws.TruncatedNegativeBinomial(1, '1/{runs}') or laws.Poisson({runs}) for "
        f"{runs} runs on average; the best of exactly {runs} runs costs what all of them cost: "
        f"{runs}*m"
    )
