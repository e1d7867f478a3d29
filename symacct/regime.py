"""Where theorems hold, as data: inequalities in any arithmetic, each said in words as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from symacct.arithmetic import Number
from symacct.exact import Exact
from symacct.operations.subsample import Sampling


@dataclass(frozen=True)
class Inequality:
    """left <= right, or left < right where it is `strict`, of numbers of one arithmetic."""

    words: str
    left: Number
    right: Number
    strict: bool = False


#: (ctx, …) ↦ inequalities between quantities, those first that make the others defined.
Conditions = Callable[..., Iterator[Inequality]]


@dataclass(frozen=True)
class Regime:
    """The conditions on a node's `quantities`, and those on the same and the order."""

    quantities: Callable[[Sampling], tuple[Exact | float, ...]]
    of_node: Conditions
    of_order: Conditions
