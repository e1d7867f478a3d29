"""Expressions as text: valid Python with the same meaning."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import itemgetter

from symacct.kernel import limits
from symacct.kernel.exact import Exact, sympy
from symacct.kernel.formula import is_default, value_text
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose, Count
from symacct.mechanisms.response import response_of


def to_text(node: Node) -> str:
    """The expression as Python that `parse` reads back, cut with "…" past the limit on bytes."""
    budget = limits.current().text_bytes // 64

    def write(node: Node) -> str:
        nonlocal budget
        budget -= 1
        if budget < 0:
            return "…"
        if isinstance(node, Compose):
            return _sum_text(node, write)
        if made := response_of(node):
            return _made_text(*made)
        arguments = []
        for name, default in node.constructor.items():
            value = node.fields()[name]
            if default is inspect.Parameter.empty:
                arguments.append(write(value) if isinstance(value, Node) else value_text(value))
            elif not is_default(value, default):
                arguments.append(f"{name}={value_text(value)}")
        return f"{type(node).__name__}({', '.join(arguments)})"

    return write(node)


def _sum_text(node: Compose, write: Callable[[Node], str]) -> str:
    if not node.terms:
        return "Compose()"
    parts = sorted(((write(part), count) for part, count in node.terms.items()), key=itemgetter(0))
    return " + ".join(
        text if count == 1 else f"{_count_text(count)}*{text}" for text, count in parts
    )


def _made_text(epsilon: Exact, k: int) -> str:
    """Randomized response by the maker that gives it: e is no number that Python knows."""
    answers = f", k={value_text(k)}" if k != 2 else ""
    return f"RandomizedResponse.of_epsilon({value_text(epsilon)}{answers})"


def _count_text(count: Count) -> str:
    """A number of runs as a factor; an open one may be a sum."""
    text = value_text(count)
    return f"({text})" if isinstance(count, sympy.Expr) and count.is_Add else text


def heading(node: Node) -> str:
    """The name of a node and the parameters that are not at their defaults, the parts left out."""
    if made := response_of(node):
        return _made_text(*made)
    fields = {} if isinstance(node, Compose) else node.fields()
    stated = {
        name: value_text(value).replace("'", "")
        for name, value in fields.items()
        if not isinstance(value, Node) and not is_default(value, node.constructor[name])
    }
    return ", ".join([type(node).__name__, *(f"{name}={text}" for name, text in stated.items())])
