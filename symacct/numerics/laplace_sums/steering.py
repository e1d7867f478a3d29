"""Where a function of a positive number is about least; nothing rests on it."""

from __future__ import annotations

from collections.abc import Callable

_STEPS = (2.0, 0.5, 0.1)  # of the logarithm
_LARGEST = 200.0  # logarithm


def lowest(size: Callable[[float], float], start: float) -> float:
    """The bottom of a valley, by ever smaller steps; its logarithm is asked for and given."""
    best, least = start, size(start)
    for step in _STEPS:
        for way in (step, -step):
            while abs(best) < _LARGEST and (there := size(best + way)) < least:
                best, least = best + way, there
    return best
