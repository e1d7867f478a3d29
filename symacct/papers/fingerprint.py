"""A fingerprint of an expression: the same for equal expressions, in every process and version."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from symacct.kernel.node import Node


def fingerprint(m: Node) -> str:
    """SHA-256, in hex, of the expression's JSON with each part replaced by its own fingerprint.

    The order in which a composition was written plays no part. Raises DomainError for a curve
    made of a Python function, which has no text.

    >>> from symacct import Gaussian, Laplace
    >>> fingerprint(Gaussian(1) + Laplace(2)) == fingerprint(Laplace("2.0") + Gaussian("1e0"))
    True
    """
    document = json.loads(m.to_json())
    digests: list[str] = []
    for entry in document["nodes"]:
        digests.append(_digest([document["symacct"], _closed(entry, digests)]))
    return digests[-1]


def _closed(entry: dict[str, Any], digests: list[str]) -> dict[str, Any]:
    """A node's JSON with the parts by fingerprint, those of a composition in a fixed order."""
    if entry["type"] == "Compose":
        terms = sorted([digests[place], count] for place, count in entry["terms"])
        return {"type": "Compose", "terms": terms}
    parts = {k: v["node"] for k, v in entry.items() if isinstance(v, dict) and set(v) == {"node"}}
    return {**entry, **{name: {"node": digests[place]} for name, place in parts.items()}}


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
