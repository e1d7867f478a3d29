"""Expressions as text: valid Python with the same meaning, written and read back."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any

from symacct.kernel import limits, parameters
from symacct.kernel.attached import question
from symacct.kernel.claims import Relation
from symacct.kernel.errors import ParseError, echo, nearest
from symacct.kernel.exact import Exact, sympy
from symacct.kernel.formula import (
    CONSTANTS,
    HEADS,
    Reader,
    Token,
    is_default,
    is_number,
    value_text,
)
from symacct.kernel.node import Node, kinds
from symacct.kernel.operation import Compose, Count
from symacct.laws.law import OTHER_LAWS, Law
from symacct.mechanisms.response import response_of
from symacct.operations import (
    band_mf,
    dp_sgd,
    sample_with_replacement,
    sampled_descent,
    thresholded,
    truncated_poisson,
)

# --- the writer
#
# Expressions as text: valid Python with the same meaning.


@question(Node, "__repr__")
def to_text(node: Node) -> str:
    """Write the expression as Python that `parse` reads back.

    Of more nodes than a 64th of the limit `text_bytes` the further ones are "…", which is not read.
    """
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
        for name, default in node._constructor.items():
            value = node.fields()[name]
            if default is inspect.Parameter.empty:
                arguments.append(write(value) if isinstance(value, Node) else value_text(value))
            elif not is_default(value, default):
                arguments.append(f"{name}={value_text(value)}")
        return f"{type(node).__name__}({', '.join(arguments)})"

    return write(node)


def _sum_text(node: Compose, write: Callable[[Node], str]) -> str:
    """Write a composition as a sum, its terms in the order of their texts, each by `write`."""
    if not node.terms:
        return "Compose()"
    parts = sorted(((write(part), count) for part, count in node.terms.items()), key=itemgetter(0))
    return " + ".join(
        text if count == 1 else f"{_count_text(count)}*{text}" for text, count in parts
    )


def _made_text(epsilon: Exact, k: int) -> str:
    """Write randomized response by the maker that gives it: e is no number that Python knows."""
    answers = f", k={value_text(k)}" if k != 2 else ""
    return f"RandomizedResponse.of_epsilon({value_text(epsilon)}{answers})"


def _count_text(count: Count) -> str:
    """Write a number of runs as a factor, in brackets if it is an open sum."""
    text = value_text(count)
    return f"({text})" if isinstance(count, sympy.Expr) and count.is_Add else text


def heading(node: Node) -> str:
    """Write a node's name and its parameters that are not at their defaults, without its parts.

    >>> heading(parse("PoissonSubsample(Gaussian(5), 1/1000)"))
    'PoissonSubsample, gamma=1/1000'
    """
    if made := response_of(node):
        return _made_text(*made)
    fields = {} if isinstance(node, Compose) else node.fields()
    stated = {
        name: value_text(value).replace("'", "")
        for name, value in fields.items()
        if not isinstance(value, Node) and not is_default(value, node._constructor[name])
    }
    return ", ".join([type(node).__name__, *(f"{name}={text}" for name, text in stated.items())])


# --- the reader
#
# Text read back as an expression: formulas with mechanisms, operations and laws in them.

#: An error shows by this how noise of one's own is stated: by two densities.
_OWN = "DistributionPair(laws.Density('exp(-Abs(x))/2'), laws.Density('exp(-Abs(x-1))/2'))"
#: Functions that make an expression: a text may call them, and what they make is written instead.
_RECIPES: dict[str, Callable[..., Node]] = {
    "band_mf": band_mf,
    "dp_sgd": dp_sgd,
    "sample_with_replacement": sample_with_replacement,
    "sampled_descent": sampled_descent,
    "thresholded": thresholded,
    "truncated_poisson": truncated_poisson,
}
#: Arguments whose values are words, which need no quotes.
_OF_WORDS = ("adjacency", "sampling")
#: The words of relations, which need no quotes either where no symbol has such a name.
_RELATIONS = {relation.value for relation in Relation}


def parse(text: str, symbols: Iterable[str | sympy.Symbol] = ()) -> Node:
    """Read the expression that is written in `text`.

    `text` is, for example, "600000 * PoissonSubsample(Gaussian(5), 1/1000)". `symbols` lists the
    parameters without a value, as SymPy symbols or as names; a name stands for a positive symbol.
    Any other unknown name is an error. Raises ParseError, which names the column, for a text
    outside the grammar, LimitError for a text that is too large, and the errors of the constructors
    for impossible parameters.

    >>> parse("2*Gaussian(5) + Laplace(1/2)")
    2*Gaussian(5) + Laplace('1/2')
    >>> parse("Gaussian(sigma)", symbols=["sigma"]).subs({"sigma": 5})
    Gaussian(5)
    """
    heads = _heads()
    opened = (
        _open_symbol(one, heads) for one in parameters.members(symbols, "symbols", "['sigma']")
    )
    node: Node = _Reader(text, heads, {symbol.name: symbol for symbol in opened}).whole()
    return node


def parse_open(text: str) -> Node:
    """Read the expression written in `text`, every bare name in it a positive open parameter.

    Raises the errors of `parse`.

    >>> parse_open("n*PoissonSubsample(Gaussian(sigma), 1/100)").subs({"n": 3, "sigma": 5})
    3*PoissonSubsample(Gaussian(5), '1/100')
    """
    node: Node = _OpenReader(text, _heads(), {}).whole()
    return node


def _open_symbol(symbol: str | sympy.Symbol, heads: Mapping[str, Any]) -> sympy.Symbol:
    """Return the symbol, a positive one for a name; ParseError for what is no free name."""
    name = symbol.name if isinstance(symbol, sympy.Symbol) else symbol
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise ParseError(f"symbol: found {echo(name)}, needed a name such as 'sigma'")
    if name in heads or name in CONSTANTS:
        raise ParseError(
            f"symbol: found {echo(name)}, which means something else", remedy="choose another name"
        )
    return symbol if isinstance(symbol, sympy.Symbol) else sympy.Symbol(name, positive=True)


def parse_law(text: str) -> Law:
    """Read the law written in `text`, e.g. "laws.Poisson(3)"; the errors are those of `parse`."""
    law: Law = _LawReader(text, _law_heads(), {}).whole()
    return law


class _LawReader(Reader):
    """Laws, by their names with the prefix and without."""

    called = "a law such as laws.Poisson(3)"

    def check(self, value: Any) -> None:
        """Raise ParseError for a value that is no law."""
        if not isinstance(value, Law):
            raise ParseError(f"found {echo(self.text)}, needed a law such as laws.Poisson(3)")

    def unknown(self, token: Token, known: Iterable[str], needed: str) -> ParseError:
        """Make the error for an unknown name, of a law with the closest name after `laws.`."""
        name = token.text.removeprefix("laws.")
        if name == token.text:
            return super().unknown(token, known, needed)
        near = nearest(name, Law.families)  # without the prefix, which makes all names alike
        rest = f"; did you mean laws.{near}?" if near else f", needed {OTHER_LAWS}"
        return self.error(f"found the name {echo(token.text)}{rest}", token.column)


class _Reader(_LawReader):
    """Sums and multiples of mechanisms as well."""

    called = f"a mechanism such as Gaussian(5); noise of your own is a pair of laws, as in {_OWN}"
    needed = "a number, or the name among the symbols that are left open"

    def check(self, value: Any) -> None:
        """Raise ParseError for a value that is no mechanism, with what it is."""
        if isinstance(value, Law):
            raise ParseError(
                f"found the law {echo(value)}, needed a mechanism: the pair of the laws of what is "
                f"released from two neighbouring data sets, as in {_OWN}"
            )
        if isinstance(value, sympy.Symbol):
            raise self.unknown(self.tokens[0], self.heads, "a mechanism such as Gaussian(5)")
        if not isinstance(value, Node):
            sort = "number" if is_number(value) else "value"
            found = f"found the {sort} {echo(value)}"
            raise ParseError(f"{found}, needed a mechanism such as Gaussian(5)")

    def bare(self, token: Token) -> Any:
        """Read a name without brackets: a relation is itself, where no symbol has its name."""
        if token.text in _RELATIONS and token.text not in self.names:
            return token.text
        return super().bare(token)

    def keyword(self, name: str) -> Any:
        """Read a word without its quotes as well: adjacency=replace_one, or add/remove."""
        words = self.text[self.token.column :].split(",")[0].split(")")[0].strip()
        if name not in _OF_WORDS or re.fullmatch(r"[a-z]+([-_/][a-z]+)*", words) is None:
            return super().keyword(name)
        while self.token.sort in ("name", "-", "/"):
            self.place += 1
        return words.replace("-", "_")

    def check_terms(self, operator: Token, left: Any, right: Any) -> None:
        """Raise ParseError for terms that cannot be added; two mechanisms can."""
        if operator.sort == "-" or not (isinstance(left, Node) and isinstance(right, Node)):
            super().check_terms(operator, left, right)

    def added(self, parts: list[Any]) -> Any:
        """Add terms up; mechanisms become a composition."""
        return Compose(*parts) if isinstance(parts[0], Node) else super().added(parts)

    def combined(self, operator: Token, left: Any, right: Any) -> Any:
        """Join two values by an operator; runs times a mechanism is a composition."""
        kinds = {isinstance(one, Node) - is_number(one) for one in (left, right)}
        return (
            left * right
            if operator.sort == "*" and kinds == {1, -1}
            else super().combined(operator, left, right)
        )

    def no_number(self, operator: Token, *values: Any) -> ParseError:
        """Make the error for an operator that mechanisms do not have."""
        if len(values) == 1 or not any(isinstance(value, Node) for value in values):
            return super().no_number(operator, *values)
        found = f"found a mechanism at the {operator.text!r}"
        needed = "needed mechanism + mechanism or runs*mechanism"
        return self.error(f"{found}, {needed}", operator.column)


class _OpenReader(_Reader):
    """A name that means nothing else is a parameter."""

    def bare(self, token: Token) -> Any:
        """Read a name without brackets; one that is not known becomes a free symbol."""
        if token.text in {*self.names, *self.heads, *_RELATIONS}:
            return super().bare(token)
        return _open_symbol(token.text, self.heads)


def _heads() -> dict[str, Callable[..., Any]]:
    """List what may stand before an argument list; Laplace is the mechanism, not the law."""
    return {**_law_heads(), **kinds(), **_makers(), **_RECIPES, **HEADS}


def _makers() -> dict[str, Callable[..., Node]]:
    """List the other constructors of mechanisms, as RandomizedResponse.of_epsilon."""
    return {
        f"{name}.{maker}": getattr(kind, maker)
        for name, kind in kinds().items()
        for maker in vars(kind).get("_makers", ())
    }


def _law_heads() -> dict[str, Callable[..., Any]]:
    """List the families of laws by name, with the prefix that Python needs and without it."""
    return {
        prefix + name: family for name, family in Law.families.items() for prefix in ("", "laws.")
    }
