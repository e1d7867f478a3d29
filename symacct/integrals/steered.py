"""Float64 chooses where balls integrate, and ends where its range ends."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from symacct.errors import PrecisionError

P = ParamSpec("P")
T = TypeVar("T")


def steered(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """PrecisionError, naming the quantity, where float64 cannot hold what it needs to choose."""

    def guarded(enclose: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(enclose)
        def within_range(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return enclose(*args, **kwargs)
            except (OverflowError, ValueError, ZeroDivisionError):
                raise PrecisionError(
                    f"{what}: found parameters beyond the range of float64, which chooses where "
                    "to integrate; ask for another theorem, or with less extreme parameters"
                ) from None

        return within_range

    return guarded
