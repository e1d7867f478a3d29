"""What Python's signs say of an object that is no number: what to write in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symacct.core.errors import DomainError


def _operator(sign: str, swapped: bool = False) -> Callable[..., Any]:
    def refuse(self: NoNumber, other: object, *_: object) -> Any:
        left, right = (other, self) if swapped else (self, other)
        raise DomainError(self._refusal(sign, left, right))

    return refuse


class NoNumber:
    """An object with no arithmetic but what its own class gives it; each other sign is an error."""

    __slots__ = ()

    def _refusal(self, sign: str, left: Any, right: Any) -> str:
        """What was found in `left sign right`, what was needed, the remedy."""
        raise NotImplementedError

    __add__, __radd__ = _operator("+"), _operator("+", swapped=True)
    __sub__, __rsub__ = _operator("-"), _operator("-", swapped=True)
    __mul__, __rmul__ = _operator("*"), _operator("*", swapped=True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", swapped=True)
    __pow__, __rpow__ = _operator("**"), _operator("**", swapped=True)
