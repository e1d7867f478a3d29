"""Conversion: what a curve's value at one order says about (ε, δ)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symacct.claims import Source
from symacct.errors import DomainError, echo


@dataclass(frozen=True)
class Conversion:
    """ε(δ) and log δ(ε) from ε(α) at one finite order α > 1.

    `epsilon(ctx, eps, alpha, delta)` and `log_delta(ctx, eps, alpha, epsilon)`, where `eps` is
    the curve's value. With `one_valley` it is proved that (α−1)·ε(δ) and log δ(ε) are convex in α
    where the CGF is: a search over orders meets one valley, and can prove its bottom.
    """

    name: str
    source: Source
    epsilon: Callable[..., Any]
    log_delta: Callable[..., Any]
    one_valley: bool = True
    #: A conversion that is never better at the same order; its best order is then tried as well.
    rival: str | None = None


_conversions: dict[str, Conversion] = {}


def register(conversion: Conversion) -> None:
    """Make a conversion known by its name."""
    _conversions[conversion.name] = conversion


def conversions() -> list[Conversion]:
    """Every registered conversion."""
    return list(_conversions.values())


def named(name: str) -> Conversion:
    """The conversion called `name`; DomainError for an unknown one."""
    try:
        return _conversions[name]
    except (KeyError, TypeError):
        known = ", ".join(repr(key) for key in _conversions)
        raise DomainError(f"conversion: found {echo(name)}, needed one of {known}") from None
