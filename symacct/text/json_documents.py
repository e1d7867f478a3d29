"""Expressions as JSON documents, each node once; nothing is ever executed."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import Any, TypeAlias

from symacct.core import limits, symbols
from symacct.core.calling import explained
from symacct.core.errors import DomainError, ParseError, echo
from symacct.core.lazy_import import sympy
from symacct.distributions.law import Law
from symacct.expressions.formula_reader import parse_formula
from symacct.expressions.formula_writer import formula_text, is_default, plain_text, value_text
from symacct.expressions.node import Node, kinds
from symacct.operations.compose import Compose
from symacct.text.expression_reader import parse_law

Json: TypeAlias = dict[str, Any] | list[Any] | str | None
FORMAT = 1  # of the JSON documents


def to_json(node: Node) -> str:
    """The expression as JSON, each node once, children first; DomainError for a Python function."""
    index: dict[Node, int] = {}
    written: list[dict[str, Any]] = []
    for one in node.walk():
        index[one] = len(written)
        written.append(_node_json(one, index))
    return json.dumps({"symacct": FORMAT, "nodes": written}, ensure_ascii=False)


def _node_json(node: Node, index: dict[Node, int]) -> dict[str, Any]:
    if isinstance(node, Compose):
        terms = [[index[part], _field_json(node, n, {})] for part, n in node.terms.items()]
        return {"type": "Compose", "terms": sorted(terms, key=itemgetter(0))}
    return {"type": type(node).__name__} | {
        name: _field_json(node, value, index)
        for name, value in node.fields().items()
        if name not in node.json_optional or not is_default(value, node.constructor[name])
    }


def _field_json(node: Node, value: object, index: dict[Node, int]) -> Json:
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
            f"{type(node).__name__}: found a Python function, which has no text; "
            "state the curve as a SymPy expression in alpha to write it down"
        )
    return plain_text(value)


@explained
def from_json(text: str) -> Node:
    """The expression that `to_json` wrote as `text`.

    Raises ParseError for a text that is no such document, and LimitError for one that is too large.

    >>> from symacct import Gaussian
    >>> from_json(Gaussian(5).to_json())
    Gaussian(5)
    """
    if not isinstance(text, str | bytes):
        raise ParseError(f"JSON: found {type(text).__name__}, needed text")
    limits.check("text_bytes", len(text), "JSON, in bytes")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"JSON: {error}") from None
    if not isinstance(document, dict) or document.get("symacct") != FORMAT:
        raise ParseError(f'JSON: found no {{"symacct": {FORMAT}, "nodes": [...]}}')
    entries = document.get("nodes")
    if not isinstance(entries, list) or not entries:
        raise ParseError("JSON: found no nodes, needed a list of at least one")
    limits.check("nodes", len(entries), "JSON, nodes")
    nodes: list[Node] = []
    for place, entry in enumerate(entries):
        try:
            nodes.append(_node_from(entry, nodes))
        except ParseError as error:
            raise ParseError(f"JSON, node {place}: {error}") from None
    return nodes[-1]


def _node_from(entry: object, nodes: list[Node]) -> Node:
    found = entry.get("type") if isinstance(entry, dict) else entry
    if not isinstance(entry, dict) or not isinstance(found, str) or found not in kinds():
        raise ParseError(f"found type {echo(found)}, needed one of {', '.join(sorted(kinds()))}")
    cls = kinds()[entry["type"]]
    fields = {name: value for name, value in entry.items() if name != "type"}
    if cls is Compose:
        return _compose_from(fields, nodes)
    needed = cls.constructor  # type: ignore[attr-defined]
    if set(fields) | set(cls.json_optional) != set(needed):  # type: ignore[attr-defined]
        gone: dict[str, str] = cls.json_former  # type: ignore[attr-defined]
        former = "".join(f"; {why}" for name, why in gone.items() if name in fields)
        raise ParseError(f"found fields {sorted(fields)}, needed {sorted(needed)}{former}")
    return cls(**{name: _field_from(value, nodes) for name, value in fields.items()})


def _compose_from(fields: dict[str, Any], nodes: list[Node]) -> Node:
    terms = fields.get("terms")
    if set(fields) != {"terms"} or not isinstance(terms, list):
        raise ParseError(f"found fields {sorted(fields)}, needed terms, a list of [node, count]")
    parts = []
    for term in terms:
        if not isinstance(term, list) or len(term) != 2 or not isinstance(term[1], str | dict):
            raise ParseError(f'found the term {echo(term)}, needed [node, "count"]')
        parts.append({_node_at(term[0], nodes): _field_from(term[1], nodes)})
    return Compose(*parts)


def _field_from(value: object, nodes: list[Node]) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {"node"}:
        return _node_at(value["node"], nodes)
    if isinstance(value, dict) and set(value) == {"formula"}:
        return parse_formula(value["formula"], symbols.alpha)
    if isinstance(value, dict) and set(value) == {"law"}:
        return parse_law(value["law"])
    if _is_list_of_text(value) or (isinstance(value, list) and all(map(_is_list_of_text, value))):
        return value
    raise ParseError(f"found the value {echo(value)}, needed text, a node or a formula")


def _node_at(place: object, nodes: list[Node]) -> Node:
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(nodes):
        raise ParseError(f"found node {echo(place)}, needed the place of an earlier node")
    return nodes[place]


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
