"""Accountants of Opacus's kind; imported where Opacus is installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opacus.accountants import IAccountant

from symacct.interop.accountant import EventAccountant
from symacct.interop.opacus import from_opacus_history
from symacct.kernel.conversion import BEST
from symacct.kernel.exact import Numeric


class SymacctAccountant(IAccountant):  # type: ignore[misc]  # Opacus ships no types
    """Poisson-sampled Gaussian noise under add/remove: the smallest ε that is proved in time."""

    conversion = BEST
    #: These Rényi orders pin the answer where a question says nothing; None pins no order.
    alphas: Iterable[Numeric] | None = None

    def __init__(self) -> None:
        super().__init__()

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count one more step; equal steps in a row are one entry of the history."""
        steps = 1
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            steps += self.history.pop()[2]
        self.history.append((noise_multiplier, sample_rate, steps))

    def get_epsilon(
        self, delta: float, alphas: Iterable[Numeric] | None = None, **kwargs: Any
    ) -> float:
        """Compute ε(δ), rounded up; what other accountants take, such as eps_error, is ignored."""
        return self._account(alphas).get_epsilon(delta)

    def get_privacy_spent(
        self, *, delta: float, alphas: Iterable[Numeric] | None = None
    ) -> tuple[float, float]:
        """Compute ε(δ), rounded up, and the order that gives it."""
        return self._account(alphas).get_epsilon_and_optimal_order(delta)

    def _account(self, alphas: Iterable[Numeric] | None) -> EventAccountant:
        """Make the accountant of the history; None leaves the orders to the class."""
        orders = self.alphas if alphas is None else alphas
        account = EventAccountant(orders, conversion=self.conversion)
        return account.compose(from_opacus_history(self.history))

    def __len__(self) -> int:
        """The number of entries of the history, as in Opacus's own accountants."""
        return len(self.history)

    @classmethod
    def mechanism(cls) -> str:
        return "symacct"


class ExactAccountant(SymacctAccountant):
    """An accountant for Opacus by the exact privacy profile, without Rényi orders."""

    conversion = "exact"

    @classmethod
    def mechanism(cls) -> str:
        """The name that Opacus stores with a history."""
        return "symacct-exact"
