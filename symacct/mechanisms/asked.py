"""What `verify` asks other accountants about a mechanism: values of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: A number as it is, or one between two ends, log-uniformly.
Size = str | tuple[float, float]
#: Noise from next to none to much, in units of what a record moves.
_OF_SCALES: tuple[Size, ...] = (
    (0.3, 0.6), (0.6, 1), (1, 2), (2, 4.5), (4.5, 12), (12, 60), (60, 3000), "1", "2",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AskedValues:
    """Values of a mechanism's first parameter that are worth a question; numbers are exact text.

    An ask of docs/protocol.md names the mechanism by its class, and gives the `parameters`.
    """

    #: What a report calls it: Gaussian noise.
    called: str
    parameters: tuple[str, ...]
    #: From harmless to extreme; the first of them are what `--quick` asks.
    values: tuple[str, ...]
    #: A value at which a run tells next to nothing.
    harmless: str
    #: What a value that shows a fault is replaced with where that shows it too, the simplest first.
    simple: tuple[str, ...]
    #: Where training lies.
    typical: tuple[float, float]
    #: The ends of what is drawn log-uniformly at random.
    drawn: tuple[float, float]
    #: What meets all other levels of a question once.
    covered: tuple[Size, ...] = _OF_SCALES
    #: About the ρ of one run.
    rho: Callable[[float], float] = lambda scale: 1 / (2 * scale**2)
    #: Values of the parameters beyond the first, where no level says another.
    rest: tuple[str, ...] = ()
    #: Is the first parameter the size of the noise, in the units of the query?
    is_scale: bool = True
    #: Is it a probability, of which the distance from 1 is drawn?
    is_probability: bool = False
    #: Is it of sums over many steps, of which a record is in one?
    is_stream: bool = False
