"""What an argument may be: each function gives it back, or raises an error about its name.

It is a DomainError where nothing else is said, with what was found and what was needed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Set
from importlib import import_module
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from symacct.kernel import limits
from symacct.kernel.errors import DomainError, MissingPackageError, PrecisionError, echo, suggestion

# --- words and digits

#: The largest number of characters of a file's path, which a message has to name.
_MOST_PATH_LENGTH = 1000


def one_of(value: object, name: str, names: Iterable[str]) -> str:
    """The value, if it is one of these texts."""
    names_known = tuple(names)
    if not isinstance(value, str) or value not in names_known:
        needed = f"one of {', '.join(names_known)}"
        raise DomainError(f"{name}: found {echo(value)}{suggestion(value, names_known, needed)}")
    return value


def text(value: object, name: str) -> str:
    """The value, if it is a text, such as a name."""
    if not isinstance(value, str):
        raise DomainError(f"{name}: found {echo(value)}, needed text")
    return value


def members(value: object, name: str, example: str, limit: str = "points") -> list[Any]:
    """The members of any iterable but a text or a mapping, counted as they come: it may not end.

    LimitError for more than the limit called `limit`; `example` is a list that an error shows.
    """
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        with contextlib.suppress(TypeError):  # an array without dimensions cannot be iterated
            items = list(islice(value, getattr(limits.current(), limit) + 1))
            limits.check(limit, len(items), f"{name}, {limit} or entries")
            return items
    raise DomainError(f"{name}: found {echo(value)}, needed a list such as {example}")


def orders(value: Any) -> str | list[Any] | None:
    """What `orders=` may be, and can be read again: None, a text, or the members of an iterable.

    What they are is not looked at here.
    """
    if value is None or isinstance(value, str):
        return value
    return members(value, "orders", "[2, 4, 8]")


def ordered_members(value: object, name: str, example: str) -> list[Any]:
    """The members in their order, which a set does not have: of a law or of a matrix.

    LimitError for more than the limit on outcomes.
    """
    if isinstance(value, Set):
        raise DomainError(f"{name}: found {echo(value)}, needed a list such as {example}")
    return members(value, name, example, "outcomes")


def mapping(value: object, name: str, example: str) -> Mapping[Any, Any]:
    """The value, if it is a mapping; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise DomainError(f"{name}: found {echo(value)}, needed a mapping such as {example}")
    return value


def flag(value: object, name: str) -> bool:
    """The value, if it is True or False; 0 and 1 are not."""
    if not isinstance(value, bool):
        raise DomainError(f"{name}: found {echo(value)}, needed True or False")
    return value


def path(value: object, name: str) -> Path:
    """The path of a file, which can be written in UTF-8 and holds no NUL."""
    try:
        text = str(Path(value)) if isinstance(value, str | PathLike) else None
    except TypeError:  # a path of bytes
        text = None
    too_long = text is not None and len(text) > _MOST_PATH_LENGTH
    if (
        not text
        or too_long
        or "\0" in text
        or any("\ud800" <= letter <= "\udfff" for letter in text)
    ):
        raise DomainError(f"{name}: found {echo(value)}, needed the path of a file")
    return Path(text)


def package(module: str, what: str, remedy: str) -> Any:
    """An optional package's module, imported where `what` needs it.

    MissingPackageError, with the remedy, where it is not installed; where it cannot be imported,
    with what it says.
    """
    try:
        return import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        name = root.replace("_", "-")
        if isinstance(error, ModuleNotFoundError) and error.name in (root, module):
            raise MissingPackageError(
                f"{what}: found no {name}, needed it", remedy=remedy
            ) from None
        raise MissingPackageError(
            f"{what}: found a {name} that cannot be imported ({error}), needed one that can",
            remedy=remedy,
        ) from error


def digits(value: object) -> int:
    """A number of significant digits from 1 to the limit; PrecisionError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        is_word = isinstance(value, str) and value.replace("-", "").isalpha()
        meant = f"; write conversion={value!r} for a conversion" if is_word else ""
        raise PrecisionError(f"digits: found {echo(value)}, needed a whole number >= 1{meant}")
    allowed = limits.current().digits
    if value > allowed:
        raise PrecisionError(
            f"digits: found {echo(value)}, needed at most {allowed:,}",
            remedy="raise the limit digits",
        )
    return value


# --- theorems asked for by name

#: The argument by=: a theorem's name; several, of which each node uses the one about it; or none.
By: TypeAlias = str | tuple[str, ...] | None


def chosen(text: str, theorem: str, values: Mapping[str, range]) -> dict[str, int]:
    """The options in a text such as "tau=50", with their values; `values` are those allowed.

    DomainError for what is no option of the theorem, another value, or an option given twice.
    """
    options: dict[str, int] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\w+)\s*=\s*(\d{1,9})\s*", part, re.ASCII)
        if match is None or int(match[2]) not in values.get(match[1], ()):
            needed = ", ".join(
                f"{key}=<whole number> from {some[0]} to {some[-1]}" for key, some in values.items()
            )
            raise DomainError(
                f"by: found option {echo(part)} of {theorem}, needed {needed or 'no option'}"
            )
        if match[1] in options:
            raise DomainError(
                f"by: found {match[1]} twice in {echo(text)}, needed each option once"
            )
        options[match[1]] = int(match[2])
    return options
