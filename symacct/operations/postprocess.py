"""Post-processing: any function of a mechanism's output."""

from __future__ import annotations

from typing import Any, ClassVar

from symacct.kernel import parameters
from symacct.kernel.claims import AttainedBy
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric, Order
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node, Pressing, as_node
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import number_of_records


class PostProcess(Operation):
    """A function, random or not, of the output of the mechanism alone, whose curve is no larger.

    `records` is a whole number. It says that the result holds for datasets of so many records,
    where the larger of two neighbours counts; then no sampling may be put above it. `premise` is a
    sentence that a statement prints in place of how the samples of the mechanism are drawn. It says
    of what run the result holds, if the run costs no more by a proof, but has samples of another
    kind. Raises DomainError. ε(α) is in nats. The `mechanism` is a Node.

    >>> from symacct import Gaussian
    >>> print(PostProcess(Gaussian(5)).rdp(8, digits=3))
    0.16
    """

    mechanism: Node
    records: int | None
    premise: str | None
    _json_optional: ClassVar[tuple[str, ...]] = ("records", "premise")
    _has_one_formula = True

    def __new__(
        cls, mechanism: Node, records: Numeric | None = None, premise: str | None = None
    ) -> PostProcess:
        return cls._intern(
            mechanism=as_node(mechanism, "PostProcess, mechanism"),
            records=number_of_records(records, "PostProcess, records"),
            premise=None if premise is None else _sentence(premise, "PostProcess, premise"),
        )

    @property
    def words(self) -> str:  # type: ignore[override]
        """A noun phrase; with a premise it does not say that the mechanism below was run."""
        if self.premise is None:
            return "a post-processing of {mechanism}"
        return "a mechanism that reveals no more about a record than {mechanism}"

    @property
    def premises(self) -> tuple[str, ...]:  # type: ignore[override]
        """The stated premise, or else that only the output is read; and the number of records."""
        premise = (
            "what is released is made of the output alone"
            if self.premise is None
            else Pressing(self.premise.replace("{", "{{").replace("}", "}}"))
        )
        sized = ("the larger of two neighbouring datasets has {records} records",)
        return (premise, *(sized if self._counts_records else ()))

    @property
    def _is_run_below(self) -> bool:  # type: ignore[override]
        """Was the mechanism below run? Not where a premise says of which run the result holds."""
        return self.premise is None

    @property
    def _is_local(self) -> bool:
        """Is the mechanism randomized response, by which each person hides an answer?"""
        return self.mechanism._is_local

    @property
    def _counts_records(self) -> bool:  # type: ignore[override]
        """Does the result hold for `records` records alone, so that nothing may sample above it?"""
        return self.records is not None

    @property
    def sizes(self) -> tuple[int, float]:
        """The smallest and the largest dataset by what is said here and below.

        Where these contradict each other the smallest is above the largest.
        """
        low, high = super().sizes
        if self.records is None:
            return low, high
        return max(low, self.records), min(high, self.records)

    def parameters(self) -> dict[str, Any]:
        """Empty: no theorem reads the records or the premise."""
        return {}

    @cached_property
    def attained(self) -> AttainedBy:
        """The pair that dominates the mechanism dominates its post-processing."""
        return self.mechanism.attained

    @property
    def _steepest_up_to(self) -> Order:  # type: ignore[override]
        return self.mechanism._steepest_up_to

    @property
    def convex(self) -> bool:
        """Is the CGF convex, as that of the mechanism is?"""
        return self.mechanism.convex


#: Letters of the longest premise, which a page has room for. A longer one is refused.
_MOST_LETTERS = 1000


def _sentence(value: object, name: str) -> str:
    """A text of one line that `repr` can quote as it stands; DomainError for another."""
    text = parameters.text(value, name)
    if not 0 < len(text) <= _MOST_LETTERS or not text.isprintable() or set(text) & set("'\"\\"):
        raise DomainError(
            f"{name}: found {echo(text)}, needed 1 to {_MOST_LETTERS} printable letters without "
            "quotes and backslashes"
        )
    return text
