"""Expressions as JSON documents, each node once; nothing is ever executed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeAlias

from symacct.kernel import limits, symbols
from symacct.kernel.attached import question
from symacct.kernel.errors import DomainError, ParseError, echo
from symacct.kernel.exact import sympy
from symacct.kernel.formula import formula_text, is_default, parse_formula, plain_text, value_text
from symacct.kernel.node import Node, kinds
from symacct.kernel.operation import Compose
from symacct.laws.law import Law
from symacct.text.expressions import parse_law

#: What a field may be written as.
Json: TypeAlias = dict[str, Any] | list[Any] | str | None
#: The number of the documents' format; a document with another number is refused.
FORMAT = 1


@question(Node, "to_json")
def to_json(node: Node) -> str:
    """Write the expression as JSON text for `from_json`: each node once, children first.

    Raises DomainError for a Python function, which has no text.
    """
    index: dict[Node, int] = {}
    written: list[dict[str, Any]] = []
    for one in node.walk():
        index[one] = len(written)
        written.append(_node_json(one, index))
    return json.dumps({"symacct": FORMAT, "nodes": written}, ensure_ascii=False)


def _node_json(node: Node, index: dict[Node, int]) -> dict[str, Any]:
    """Write one node; `index` has the places of its parts. Optional defaults are left out."""
    if isinstance(node, Compose):
        terms = [[index[part], _field_json(node, n, {})] for part, n in node.terms.items()]
        return {"type": "Compose", "terms": sorted(terms, key=itemgetter(0))}
    return {"type": type(node).__name__} | {
        name: _field_json(node, value, index)
        for name, value in node.fields().items()
        if name not in node._json_optional or not is_default(value, node._constructor[name])
    }


def _field_json(node: Node, value: object, index: dict[Node, int]) -> Json:
    """Write a field's value by its sort, a number as its exact text; DomainError for a function."""
    if isinstance(value, Node):
        return {"node": index[value]}
    if value is None:
        return None
    if isinstance(value, sympy.Expr):
        return {"formula": formula_text(value)}
    if isinstance(value, tuple):
        return [_field_json(node, one, index) for one in value]
    if isinstance(value, Law):
        return {"law": value_text(value)}
    if callable(value):
        raise DomainError(
            f"{type(node).__name__}: found a Python function, which has no text",
            remedy="state the curve as a SymPy expression in alpha to write it down",
        )
    return plain_text(value)


def from_json(text: str) -> Node:
    """Read the expression that `to_json` wrote as `text`.

    Raises ParseError for a text that is no such document, LimitError for one that is too large, and
    the errors of the constructors for impossible parameters.

    >>> from symacct import Gaussian
    >>> from_json(Gaussian(5).to_json())
    Gaussian(5)
    """
    if not isinstance(text, str | bytes):
        raise ParseError(f"JSON: found {type(text).__name__}, needed text")
    limits.check_text(text, "JSON")
    document = read_json(text, "JSON")
    if not isinstance(document, dict) or not is_format(document.get("symacct"), FORMAT):
        raise ParseError(f'JSON: found no {{"symacct": {FORMAT}, "nodes": [...]}}')
    if unknown := sorted(document.keys() - {"symacct", "nodes"}):
        raise ParseError(f"JSON: found the key {echo(unknown[0])}, needed symacct and nodes alone")
    entries = document.get("nodes")
    if not isinstance(entries, list) or not entries:
        raise ParseError("JSON: found no nodes, needed a list of at least one")
    limits.check("nodes", len(entries), "JSON, nodes")
    read = _Read()
    for place, entry in enumerate(entries):
        try:
            read.nodes.append(_node_from(entry, read))
        except ParseError as error:
            raise ParseError(f"JSON, node {place}: {error}") from None
    if unused := [place for place in range(len(entries) - 1) if place not in read.used]:
        raise ParseError(
            f"JSON, node {unused[0]}: found a node that no later one is made of, needed each but "
            "the last to be a part"
        )
    return read.nodes[-1]


@question(Node, "__reduce__")
def _reduced(node: Node) -> tuple[Callable[[str], Node], tuple[str]]:
    """Pickle and copy a node by its text, which makes it the one of its kind again."""
    return from_json, (to_json(node),)


def read_json(text: str | bytes, what: str) -> Any:
    """Read a JSON text; ParseError, beginning with `what`, for none or one with a key twice."""

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise ParseError(f"{what}: found the key {echo(key)} twice, needed it once")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=distinct)
    except ParseError:
        raise
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{what}: {error}") from None


def is_format(value: object, number: int) -> bool:
    """Is the value the number of the format, and neither 1.0 nor true?"""
    return type(value) is int and value == number


@dataclass
class _Read:
    """The nodes that have been read, and the places of those that another one is made of."""

    nodes: list[Node] = field(default_factory=list)
    used: set[int] = field(default_factory=set)

    def at(self, place: object) -> Node:
        """The node at a place, noted as used; ParseError unless it was read before."""
        if type(place) is not int or not 0 <= place < len(self.nodes):
            raise ParseError(f"found node {echo(place)}, needed the place of an earlier node")
        self.used.add(place)
        return self.nodes[place]


def _node_from(entry: object, read: _Read) -> Node:
    """Read one node; ParseError for an unknown type or other fields than it has."""
    found = entry.get("type") if isinstance(entry, dict) else entry
    if not isinstance(entry, dict) or not isinstance(found, str) or found not in kinds():
        raise ParseError(f"found type {echo(found)}, needed one of {', '.join(sorted(kinds()))}")
    cls = kinds()[entry["type"]]
    fields = {name: value for name, value in entry.items() if name != "type"}
    if cls is Compose:
        return _compose_from(fields, read)
    needed = cls._constructor  # type: ignore[attr-defined]
    if set(fields) | set(cls._json_optional) != set(needed):  # type: ignore[attr-defined]
        gone: dict[str, str] = cls._json_former  # type: ignore[attr-defined]
        former = "".join(f"; {why}" for name, why in gone.items() if name in fields)
        raise ParseError(f"found fields {sorted(fields)}, needed {sorted(needed)}{former}")
    return cls(**{name: _field_from(value, read) for name, value in fields.items()})


def _compose_from(fields: dict[str, Any], read: _Read) -> Node:
    """Read a composition; ParseError unless its terms are [node, count]."""
    terms = fields.get("terms")
    if set(fields) != {"terms"} or not isinstance(terms, list):
        raise ParseError(f"found fields {sorted(fields)}, needed terms, a list of [node, count]")
    parts = []
    for term in terms:
        if not isinstance(term, list) or len(term) != 2 or not isinstance(term[1], str | dict):
            raise ParseError(f'found the term {echo(term)}, needed [node, "count"]')
        parts.append({read.at(term[0]): _field_from(term[1], read)})
    return Compose(*parts)


def _field_from(value: object, read: _Read) -> Any:
    """Read a field's value by its sort, as the constructors take it; ParseError for others."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {"node"}:
        return read.at(value["node"])
    if isinstance(value, dict) and set(value) == {"formula"}:
        return parse_formula(value["formula"], symbols.alpha)
    if isinstance(value, dict) and set(value) == {"law"}:
        return parse_law(value["law"])
    if _is_list_of_text(value) or (isinstance(value, list) and all(map(_is_list_of_text, value))):
        return value
    raise ParseError(f"found the value {echo(value)}, needed text, a node or a formula")


def _is_list_of_text(value: object) -> bool:
    """Is it a list, also an empty one, of texts alone?"""
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
