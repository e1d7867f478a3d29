"""Every public name and its signature, as one mapping."""

from __future__ import annotations

import inspect
import re

import symacct

MODULES = {
    "symacct": symacct,
    "symacct.laws": symacct.laws,
    "symacct.baselines": symacct.baselines,
}
#: Where the value of a default is an object without a text of its own.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def signature(value: object) -> str:
    """How it is called; nothing of what is not called."""
    try:
        return _ADDRESS.sub("", str(inspect.signature(value)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""


def names() -> dict[str, str]:
    """`symacct.Gaussian` and its signature, `symacct.Gaussian.rdp` and that of each method."""
    found = {}
    for module, room in MODULES.items():
        for name in sorted(room.__all__):
            value = getattr(room, name)
            found[f"{module}.{name}"] = signature(value)
            if inspect.isclass(value) and not issubclass(value, Exception):
                for method in sorted(set(dir(value)) - _inherited(value)):
                    if not method.startswith("_"):
                        found[f"{module}.{name}.{method}"] = signature(getattr(value, method))
    return found


def _inherited(value: type) -> set[str]:
    """What a node has from Node, which is listed there."""
    is_below = issubclass(value, symacct.Node) and value is not symacct.Node
    return set(dir(symacct.Node)) if is_below else set()
