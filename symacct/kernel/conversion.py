"""Conversion: what a curve's value at one order says about (ε, δ)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from symacct.kernel.answer import Enclosure, Guarantee
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import UNSTATED, Source, check_stated
from symacct.kernel.errors import DomainError, echo, suggestion
from symacct.kernel.exact import Numeric
from symacct.kernel.memory import HOMES
from symacct.kernel.node import Node
from symacct.kernel.theorem_registry import STATUS_REMEDY, check_proved, check_status

#: (ctx, ε(α), α, δ or ε) ↦ ε or log δ.
Formula: TypeAlias = Callable[[Arithmetic, Number, Number, Number], Number]
#: What to write for a field of a conversion that is missing.
_REMEDIES = {
    "one_valley": "one_valley=True if (α−1)·ε(δ) and log δ(ε) are proved convex in α where the CGF "
    "is, else False",
    "status": STATUS_REMEDY,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Conversion:
    """ε(δ) and log δ(ε) from ε(α) at one finite order α > 1, in nats.

    The formulas are `epsilon(ctx, eps, alpha, delta)` and `log_delta(ctx, eps, alpha, epsilon)`,
    where `eps` is the curve's value. With `one_valley` it is proved that (α−1)·ε(δ) and log δ(ε)
    are convex in α where the CGF is: a search over orders then meets one valley, and can prove its
    bottom. Raises SoundnessError where `one_valley` or `status` is left out.
    """

    name: str
    source: Source
    epsilon: Formula
    log_delta: Formula
    one_valley: bool = UNSTATED
    #: "proved" as of a theorem; one of any other status never gives a guarantee.
    status: str = UNSTATED
    #: The name of a conversion that is never better at the same order. Its best order is found
    #: first and is then tried here as well.
    improves_on: str | None = None
    #: The name of an `OrderOne` whose answer is taken where it is smaller and no orders are listed.
    at_one: str | None = None

    def __post_init__(self) -> None:
        check_stated(f"conversion {self.name}", _REMEDIES, vars(self))
        check_status(f"conversion {self.name}", self.status)


class OrderOne(Conversion):
    """A conversion that reads ε(1), the Kullback–Leibler divergence, and no other order."""


#: (node, key, limit) ↦ the accountant's table of the node under the key.
Memory: TypeAlias = Callable[[Node, tuple[Hashable, ...], str], Any]


class LawsOfNode(Protocol):
    """What the laws of one mechanism prove of (ε, δ)."""

    #: May Rényi orders prove a smaller number than the laws, because these are only bounds?
    may_exceed_curve: bool

    def guarantee(self, asks_epsilon: bool, value: Fraction, digits: int) -> Guarantee:
        """The guarantee with the true ε, or δ, or with the smallest bound above it by the laws.

        Its kind says which.
        """


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeProfile:
    """ε(δ) and δ(ε) by the mechanism's laws, in the place of a conversion of one order.

    A subclass answers by the methods below. With `asks_epsilon` the value is δ, else ε.
    """

    name: str
    source: Source
    status: str = UNSTATED

    def __post_init__(self) -> None:
        check_stated(f"conversion {self.name}", {"status": STATUS_REMEDY}, vars(self))
        check_status(f"conversion {self.name}", self.status)

    def remembered(self, m: Node, memory: Memory) -> LawsOfNode:
        """What the laws of a mechanism prove; `memory` keeps it for later questions."""
        raise NotImplementedError

    def lower_bound(self, m: Node, asks_epsilon: bool, value: Fraction, digits: int) -> Enclosure:
        """A proved lower bound of the true ε, or δ, which is no guarantee."""
        raise NotImplementedError

    def refuse_pinned(self, orders: str | Iterable[Numeric] | None, by: object) -> None:
        """Raises an error where orders or theorems are named, which the laws do not read."""
        raise NotImplementedError


_conversions: dict[str, Conversion | WholeProfile] = {}
#: The names of the registers of HOMES that hold conversions begin with this word. One that is
#: opened only when it is asked for by name has its own, "conversion NAME".
_HOMES_PREFIX = "conversion"


def state(conversion: Conversion | WholeProfile) -> None:
    """Registers a conversion as its module is imported; DomainError for a name that is taken."""
    if conversion.name in _conversions:
        raise DomainError(f"conversion {conversion.name}: already registered, needed a new name")
    _conversions[conversion.name] = conversion


def register(conversion: Conversion | WholeProfile) -> None:
    """Register a conversion of your own; DomainError for a name that is taken."""
    conversions()  # those of the package are registered first, and keep their names
    state(conversion)


def forget(name: str) -> None:
    """Unregister a conversion, such as one of your own that you want to restate.

    DomainError for a name that no conversion has.
    """
    del _conversions[named(name).name]


#: The name that stands for whichever conversion proves the smallest number.
BEST = "best"


def conversions() -> list[Conversion | WholeProfile]:
    """Every registered conversion, those by Rényi orders first, then those by the laws.

    >>> conversions()[0].one_valley
    True
    """
    for register, homes in list(HOMES.items()):
        if register.startswith(_HOMES_PREFIX):
            homes.open()
    return sorted(
        _conversions.values(), key=lambda conversion: isinstance(conversion, WholeProfile)
    )


def of_one_order() -> list[Conversion]:
    """The registered conversions that have a formula at every finite order above 1.

    So neither those by the laws nor those that read the order 1 alone.
    """
    per_order = [conversion for conversion in conversions() if isinstance(conversion, Conversion)]
    return [conversion for conversion in per_order if not isinstance(conversion, OrderOne)]


def proved(name: str) -> Conversion | WholeProfile:
    """The conversion called `name`, for a guarantee; SoundnessError for one that is not proved."""
    conversion = named(name)
    check_proved(f"conversion {conversion.name}", conversion.status, "use one of symacct's own")
    return conversion


def named(name: str) -> Conversion | WholeProfile:
    """The registered conversion called `name`, whose module is imported if need be.

    DomainError for an unknown name, and for BEST, which stands for several.
    """
    try:
        HOMES.get(f"{_HOMES_PREFIX} {name}", HOMES[_HOMES_PREFIX]).open()
        return _conversions[name]
    except (KeyError, TypeError):
        if name == BEST:
            raise DomainError(
                f"conversion: found {BEST!r}, which is whichever of exact, improved and optimal "
                "proves the smallest number, needed one of them"
            ) from None
        names = (*(conversion.name for conversion in conversions()), BEST)
        needed = f"one of {', '.join(map(repr, names))}"
        raise DomainError(
            f"conversion: found {echo(name)}{suggestion(name, names, needed)}"
        ) from None
