"""Conversion: what a curve's value at one order says about (ε, δ)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

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
_REMEDIES = {
    "one_valley": "one_valley=True if (α−1)·ε(δ) and log δ(ε) are proved convex in α where the CGF "
    "is, else False",
    "status": STATUS_REMEDY,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Conversion:
    """ε(δ) and log δ(ε) from ε(α) at one finite order α > 1.

    `epsilon(ctx, eps, alpha, delta)` and `log_delta(ctx, eps, alpha, epsilon)`, where `eps` is
    the curve's value. With `one_valley` it is proved that (α−1)·ε(δ) and log δ(ε) are convex in α
    where the CGF is: a search over orders meets one valley, and can prove its bottom.
    SoundnessError where `one_valley` or `status` is left out.
    """

    name: str
    source: Source
    epsilon: Formula
    log_delta: Formula
    one_valley: bool = UNSTATED
    #: As of a theorem: what is not proved never gives a guarantee.
    status: str = UNSTATED
    #: A conversion that is never better at the same order; its best order is then tried as well.
    improves_on: str | None = None
    #: An `OrderOne` whose answer is taken where it is smaller and orders are not listed.
    at_one: str | None = None

    def __post_init__(self) -> None:
        check_stated(f"conversion {self.name}", _REMEDIES, vars(self))
        check_status(f"conversion {self.name}", self.status)


class OrderOne(Conversion):
    """A conversion that reads the order 1, the Kullback–Leibler divergence, and no other."""


#: (node, key, limit) ↦ what an accountant remembers of the node under the key.
Memory: TypeAlias = Callable[[Node, tuple[Hashable, ...], str], Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeProfile:
    """No conversion at all: ε(δ) and δ(ε) of the mechanism's laws, which no one order decides.

    Who registers one answers by the methods below. `asks_epsilon` says that δ is given, else ε.
    """

    name: str
    source: Source
    status: str = UNSTATED

    def __post_init__(self) -> None:
        check_stated(f"conversion {self.name}", {"status": STATUS_REMEDY}, vars(self))
        check_status(f"conversion {self.name}", self.status)

    def guarantee(
        self, m: Node, asks_epsilon: bool, given: Fraction, digits: int, memory: Memory
    ) -> Guarantee:
        """The smallest ε, or δ, that is true or proved by the laws."""
        raise NotImplementedError

    def lower_bound(self, m: Node, asks_epsilon: bool, given: Fraction, digits: int) -> Enclosure:
        """A number that the true ε, or δ, is at least."""
        raise NotImplementedError

    def may_exceed_curve(self, m: Node, memory: Memory) -> bool:
        """May Rényi orders prove a smaller number?"""
        raise NotImplementedError

    def refuse_pinned(self, orders: str | Iterable[Numeric] | None, by: object) -> None:
        """An error for orders and theorems, which the laws have no use for."""
        raise NotImplementedError


_conversions: dict[str, Conversion | WholeProfile] = {}
#: The register of conversions; one that is a room of its own has its own home, "conversion NAME".
_REGISTER = "conversion"


def state(conversion: Conversion | WholeProfile) -> None:
    """Put a conversion on the register where its home is imported; DomainError for a taken name."""
    if conversion.name in _conversions:
        raise DomainError(f"conversion {conversion.name}: already registered, needed a new name")
    _conversions[conversion.name] = conversion


def register(conversion: Conversion | WholeProfile) -> None:
    """Make a conversion of one's own known by its name; DomainError for a name that is taken."""
    conversions()  # the package's own have their names first
    state(conversion)


def forget(name: str) -> None:
    """Take a conversion out of the register, such as one of your own that you want to restate."""
    del _conversions[named(name).name]


#: No conversion of its own: the one of the exact profile and Rényi orders that proves the most.
BEST = "best"


def conversions() -> list[Conversion | WholeProfile]:
    """Every registered conversion, those of one order first.

    >>> conversions()[0].one_valley
    True
    """
    for register, homes in list(HOMES.items()):
        if register.startswith(_REGISTER):
            homes.open()
    return sorted(_conversions.values(), key=lambda one: isinstance(one, WholeProfile))


def of_one_order() -> list[Conversion]:
    """The registered conversions that have a formula at every finite order above 1."""
    known = [one for one in conversions() if isinstance(one, Conversion)]
    return [one for one in known if not isinstance(one, OrderOne)]


def proved(name: str) -> Conversion | WholeProfile:
    """The conversion called `name`, for a guarantee; SoundnessError for one that is not proved."""
    found = named(name)
    check_proved(f"conversion {found.name}", found.status, "use one of symacct's own")
    return found


def named(name: str) -> Conversion | WholeProfile:
    """The conversion called `name`; DomainError for an unknown one."""
    try:
        HOMES.get(f"{_REGISTER} {name}", HOMES[_REGISTER]).open()
        return _conversions[name]
    except (KeyError, TypeError):
        if name == BEST:
            raise DomainError(
                f"conversion: found {BEST!r}, which is whichever of exact, improved and optimal "
                "proves the smallest number, needed one of them"
            ) from None
        known = (*(one.name for one in conversions()), BEST)
        needed = f"one of {', '.join(map(repr, known))}"
        raise DomainError(
            f"conversion: found {echo(name)}{suggestion(name, known, needed)}"
        ) from None
