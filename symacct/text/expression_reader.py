"""Text read back as an expression: formulas with mechanisms, operations and laws in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from symacct.core import arguments
from symacct.core.claims import Relation
from symacct.core.errors import ParseError, echo
from symacct.core.lazy_import import sympy
from symacct.distributions.law import Law
from symacct.expressions.formula_reader import CONSTANTS, HEADS, Reader, Token, is_number
from symacct.expressions.node import Node, kinds
from symacct.operations.compose import Compose

_RELATIONS = {relation.value for relation in Relation}


def parse(text: str, symbols: Iterable[str | sympy.Symbol] = ()) -> Node:
    """The expression that is written in `text`.

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
        _open_symbol(one, heads) for one in arguments.members(symbols, "symbols", "['sigma']")
    )
    return _mechanism(_Reader(text, heads, {symbol.name: symbol for symbol in opened}))


def parse_open(text: str) -> Node:
    """The expression written in `text`, every bare name in it a positive parameter left open.

    >>> parse_open("n*PoissonSubsample(Gaussian(sigma), 1/100)").subs({"n": 3, "sigma": 5})
    3*PoissonSubsample(Gaussian(5), '1/100')
    """
    return _mechanism(_OpenReader(text, _heads(), {}))


def _mechanism(reader: Reader) -> Node:
    """What all of the text says, which is to be a mechanism."""
    value = reader.whole()
    if not isinstance(value, Node):
        sort = "number" if is_number(value) else "value"
        raise ParseError(f"found the {sort} {echo(value)}, needed a mechanism such as Gaussian(5)")
    return value


def _open_symbol(symbol: str | sympy.Symbol, heads: Mapping[str, Any]) -> sympy.Symbol:
    name = symbol.name if isinstance(symbol, sympy.Symbol) else symbol
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise ParseError(f"symbol: found {echo(name)}, needed a name such as 'sigma'")
    if name in heads or name in CONSTANTS:
        raise ParseError(
            f"symbol: found {echo(name)}, which means something else; choose another name"
        )
    return symbol if isinstance(symbol, sympy.Symbol) else sympy.Symbol(name, positive=True)


def parse_law(text: str) -> Law:
    """The law written in `text`, e.g. "laws.Poisson(3)"."""
    value = Reader(text, _law_heads(), {}).whole()
    if not isinstance(value, Law):
        raise ParseError(f"found {echo(text)}, needed a law such as laws.Poisson(3)")
    return value


class _Reader(Reader):
    """Sums and multiples of mechanisms as well."""

    called = "a mechanism such as Gaussian(5)"
    needed = "a number, or the name among the symbols that are left open"

    def bare(self, token: Token) -> Any:
        if token.text in _RELATIONS and token.text not in self.names:
            quoted = f"found {token.text}, needed it in quotes: '{token.text}'"
            raise self.error(quoted, token.column)
        return super().bare(token)

    def added(self, parts: list[Any]) -> Any:
        if len(parts) > 1 and all(isinstance(part, Node) for part in parts):
            return Compose(*parts)
        return super().added(parts)

    def combined(self, operator: Token, left: Any, right: Any) -> Any:
        nodes = [one for one in (left, right) if isinstance(one, Node)]
        if not nodes or not all(isinstance(one, Node) or is_number(one) for one in (left, right)):
            return super().combined(operator, left, right)
        if operator.sort == "/" or len(nodes) == 2:
            raise self.error(
                "found a mechanism divided or multiplied by one, needed n * m", operator.column
            )
        return left * right


class _OpenReader(_Reader):
    """A name that means nothing else is a parameter."""

    def bare(self, token: Token) -> Any:
        if token.text in {*self.names, *self.heads, *_RELATIONS}:
            return super().bare(token)
        return _open_symbol(token.text, self.heads)


def _heads() -> dict[str, Callable[..., Any]]:
    """What may stand before an argument list; Laplace is the mechanism, laws.Laplace the law."""
    return {**_law_heads(), **kinds(), **_makers(), **HEADS}


def _makers() -> dict[str, Callable[..., Node]]:
    """The other constructors of mechanisms, as RandomizedResponse.of_epsilon."""
    return {
        f"{name}.{maker}": getattr(kind, maker)
        for name, kind in kinds().items()
        for maker in vars(kind).get("makers", ())
    }


def _law_heads() -> dict[str, Callable[..., Any]]:
    """The families by their names, with the prefix that Python needs and without it."""
    return {
        prefix + name: family for name, family in Law.families.items() for prefix in ("", "laws.")
    }
