"""Text read back as an expression by a closed grammar; nothing is ever executed.

    sum   = product { ("+" | "-") product }      product = unary { ("*" | "/") unary }
    unary = "-" unary | power                    power   = atom [ "**" unary ]
    atom  = number | quoted text | "(" sum ")" | name [ "(" argument { "," argument } ")" ]
          | "[" [ sum { "," sum } ] "]"

Names are the mechanisms and operations, the laws (`laws.Poisson`), and for parameters that are
not rational a few of SymPy's. Numbers are exact, quoted or not. Lists hold numbers, or lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, TypeGuard

import sympy

from symacct import bounded, doors, exact, sizes
from symacct.errors import ParseError, echo
from symacct.exact import Exact
from symacct.expr import Node, kinds
from symacct.mechanisms.law import Law
from symacct.operations.compose import Compose


def parse(text: str, symbols: Iterable[str | sympy.Symbol] = ()) -> Node:
    """The expression written in `text`, e.g. "600000 * PoissonSubsample(Gaussian(5), 1/1000)".

    `symbols` are the parameters left open, or their names for positive ones; no other bare name is
    read. Raises ParseError with the column for anything outside the grammar, LimitError
    for absurd sizes, and the constructor's own errors for impossible parameters.

    >>> parse("2*Gaussian(5) + Laplace(1/2)")
    2*Gaussian(5) + Laplace('1/2')
    >>> parse("Gaussian(sigma)", symbols=["sigma"]).subs({"sigma": 5})
    Gaussian(5)
    """
    heads = {**_law_heads(), **kinds(), **_FORMULA_HEADS}
    opened = (_open_symbol(one, heads) for one in doors.listed(symbols, "symbols", "['sigma']"))
    value = _read(text, heads, {symbol.name: symbol for symbol in opened})
    if not isinstance(value, Node):
        sort = "number" if _is_number(value) else "value"
        raise ParseError(f"found the {sort} {echo(value)}, needed a mechanism such as Gaussian(5)")
    return value


def _open_symbol(symbol: str | sympy.Symbol, heads: Mapping[str, Any]) -> sympy.Symbol:
    name = symbol.name if isinstance(symbol, sympy.Symbol) else symbol
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise ParseError(f"symbol: found {echo(name)}, needed a name such as 'sigma'")
    if name in heads or name in _CONSTANTS:
        raise ParseError(
            f"symbol: found {echo(name)}, which means something else; choose another name"
        )
    return symbol if isinstance(symbol, sympy.Symbol) else sympy.Symbol(name, positive=True)


def parse_law(text: str) -> Law:
    """The law written in `text`, e.g. "laws.Poisson(3)"."""
    value = _read(text, _law_heads(), {})
    if not isinstance(value, Law):
        raise ParseError(f"found {echo(text)}, needed a law such as laws.Poisson(3)")
    return value


def parse_formula(text: str, symbol: sympy.Symbol) -> sympy.Expr:
    """The formula written in `text`, in one bare symbol, e.g. "alpha/50 + log(2)"."""
    value = _read(text, _FORMULA_HEADS, {symbol.name: symbol})
    if not _is_number(value):
        raise ParseError(f"found {echo(value)}, needed a formula in {symbol}")
    return exact.expression(value)


def _read(text: str, heads: dict[str, Callable[..., Any]], names: dict[str, Any]) -> Any:
    if not isinstance(text, str):
        raise ParseError(f"found {type(text).__name__}, needed text")
    sizes.check("text_bytes", len(text.encode("utf-8", "surrogatepass")), "text, in bytes")
    reader = _Reader(_tokens(text), heads, {**_CONSTANTS, **names})
    value = reader.sum()
    reader.expect("end")
    return value


class _Token(NamedTuple):
    sort: str  # "number", "text", "name", "end", or the operator itself
    text: str
    column: int


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>(?:laws\.)?[^\W\d]\w*)"
    r"|(?P<text>'[^'\\\n]*'|\"[^\"\\\n]*\")"
    r"|(?P<operator>\*\*|[-+*/(),=\[\]]))",
    re.ASCII,
)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    place, depth = 0, 0
    while place < len(text.rstrip()):
        match = _TOKEN.match(text, place)
        if match is None:
            # What follows cannot be read; the reader says so if it gets as far.
            column = place + len(text[place:]) - len(text[place:].lstrip())
            return [*tokens, _Token("unknown", text[column], column)]
        sort = match.lastgroup or ""
        found = match[sort]
        column = match.start(sort)
        depth += (found == "(") - (found == ")")
        sizes.check("depth", depth // 2, "text, nesting depth")
        tokens.append(_Token(found if sort == "operator" else sort, found, column))
        place = match.end()
    return [*tokens, _Token("end", "the end", len(text))]


class _Reader:
    """Recursive descent over the grammar at the top of this file."""

    def __init__(self, tokens: list[_Token], heads: dict[str, Any], names: dict[str, Any]) -> None:
        self.tokens = tokens
        self.place = 0
        self.depth = 0
        self.heads = heads
        self.names = names

    @property
    def token(self) -> _Token:
        return self.tokens[self.place]

    def take(self, *sorts: str) -> _Token | None:
        """The next token if it is one of these, else None."""
        token = self.token
        if token.sort not in sorts:
            return None
        self.place += 1
        return token

    def expect(self, sort: str) -> _Token:
        token = self.take(sort)
        if token is None:
            needed = "the end" if sort == "end" else repr(sort)
            raise self.error(f"found {echo(self.token.text)}, needed {needed}")
        return token

    def error(self, message: str, column: int | None = None) -> ParseError:
        column = self.token.column if column is None else column
        return ParseError(f"column {column + 1}: {message}")

    def sum(self) -> Any:
        self.depth += 1
        sizes.check("depth", self.depth // 2, "text, nesting depth")
        parts = [self.product()]
        while operator := self.take("+", "-"):
            right = self.product()
            parts.append(right if operator.sort == "+" else self.negative(right, operator))
        self.depth -= 1
        return self.added(parts)

    def added(self, parts: list[Any]) -> Any:
        if len(parts) == 1:
            return parts[0]
        if all(isinstance(part, Node) for part in parts):
            return Compose(*parts)
        if not all(map(_is_number, parts)):
            raise self.error("found '+' between unlike things, needed two mechanisms or numbers")
        return bounded.added(parts)

    def negative(self, value: object, operator: _Token) -> Exact:
        if not _is_number(value):
            raise self.error("found '-' before something that is no number", operator.column)
        return -value

    def product(self) -> Any:
        value = self.unary()
        while operator := self.take("*", "/"):
            value = self.combined(operator, value, self.unary())
        return value

    def combined(self, operator: _Token, left: Any, right: Any) -> Any:
        if not all(isinstance(one, Node) or _is_number(one) for one in (left, right)):
            raise self.error("found something in a product that is no number", operator.column)
        if isinstance(left, Node) or isinstance(right, Node):
            count, node = (right, left) if isinstance(left, Node) else (left, right)
            if operator.sort == "/" or isinstance(count, Node) or not isinstance(node, Node):
                raise self.error(
                    "found a mechanism divided or multiplied by one, needed n * m", operator.column
                )
            return count * node
        if operator.sort == "/" and right == 0:
            raise self.error("found a division by 0", operator.column)
        return (bounded.multiplied if operator.sort == "*" else bounded.divided)(left, right)

    def unary(self) -> Any:
        signs = []
        while operator := self.take("-"):
            signs.append(operator)
        sizes.check("depth", len(signs) // 2, "text, signs in a row")
        value = self.power()
        if not signs:
            return value
        return self.negative(value, signs[0]) if len(signs) % 2 else -self.negative(value, signs[0])

    def power(self) -> Any:
        base = self.atom()
        operator = self.take("**")
        if operator is None:
            return base
        self.depth += 2
        sizes.check("depth", self.depth // 2, "text, nesting depth")
        exponent = self.unary()
        self.depth -= 2
        if not _is_number(base) or not _is_number(exponent):
            raise self.error("found '**' on something that is no number", operator.column)
        return bounded.raised(base, exponent)

    def atom(self) -> Any:
        if token := self.take("number"):
            return exact.exact(token.text)
        if token := self.take("text"):
            return token.text[1:-1]
        if self.take("("):
            value = self.sum()
            self.expect(")")
            return value
        if self.take("["):
            return self.listed()
        if token := self.take("name"):
            return self.named(token)
        raise self.error(f"found {echo(self.token.text)}, needed a number, a name or '('")

    def listed(self) -> list[Any]:
        values: list[Any] = []
        while not self.take("]"):
            column = self.token.column
            values.append(self.sum())
            if not isinstance(values[-1], str | list) and not _is_number(values[-1]):
                raise self.error("found a mechanism or a law in a list, needed numbers", column)
            if self.token.sort != "]":
                self.expect(",")
        return values

    def named(self, token: _Token) -> Any:
        if self.token.sort != "(":
            if token.text in self.names:
                return self.names[token.text]
            raise self.error(self.unknown(token), token.column)
        head = self.heads.get(token.text)
        if head is None:
            raise self.error(self.unknown(token), token.column)
        values, keywords = self.arguments()
        try:
            return head(*values, **keywords)
        except TypeError as error:
            raise self.error(f"{token.text}: {_signature_fault(error)}", token.column) from None

    def unknown(self, token: _Token) -> str:
        return f"found the name {echo(token.text)}, needed one of {', '.join(sorted(self.heads))}"

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        values: list[Any] = []
        keywords: dict[str, Any] = {}
        self.expect("(")
        while not self.take(")"):
            if self.token.sort == "name" and self.tokens[self.place + 1].sort == "=":
                name = self.expect("name")
                self.expect("=")
                if name.text in keywords:
                    raise self.error(f"found {echo(name.text)} twice", name.column)
                keywords[name.text] = self.sum()
            elif keywords:
                raise self.error("found a value after a keyword, needed a keyword")
            else:
                values.append(self.sum())
            if self.token.sort != ")":
                self.expect(",")
        return values, keywords


def _is_number(value: object) -> TypeGuard[Exact]:
    """Is this a number, and neither a node, a law, a list nor quoted text?"""
    # True and False are names for assumptions, and integers to Python.
    return isinstance(value, Fraction | sympy.Expr)


def _law_heads() -> dict[str, Callable[..., Any]]:
    """The families by their names, with the prefix that Python needs and without it."""
    return {
        prefix + name: family for name, family in Law.families.items() for prefix in ("", "laws.")
    }


def _signature_fault(error: TypeError) -> str:
    """What Python says of wrong arguments, without the name of our constructor."""
    return re.sub(r"^[\w.]*\(\) ", "", str(error)).replace("<lambda>() ", "")


def _symbol(name: object, **assumptions: Any) -> sympy.Symbol:
    if not isinstance(name, str) or re.fullmatch(r"[^\W\d]\w{0,63}", name) is None:
        raise ParseError(f"Symbol: found {echo(name)}, needed a quoted name")
    unknown = set(assumptions) - {"positive", "nonnegative", "real", "integer", "negative"}
    if unknown:
        raise ParseError(
            f"Symbol: found the assumption {echo(sorted(unknown)[0])}, needed positive"
        )
    if not all(isinstance(value, bool) for value in assumptions.values()):
        raise ParseError("Symbol: found a value that is neither True nor False")
    return sympy.Symbol(name, **assumptions)


def _formula_head(name: str, arity: int | None, compute: Callable[..., Any]) -> Any:
    """The function that a text calls by this name: `arity` numbers, or one and more."""

    def build(*values: object) -> Any:
        if not values or len(values) != (arity or len(values)) or not all(map(_is_number, values)):
            found = ", ".join(map(echo, values)) or "nothing"
            needed = "numbers" if arity is None else f"{arity} number{'s' * (arity > 1)}"
            raise ParseError(f"{name}: found {found}, needed {needed}")
        return compute(*values)

    return build


def _function(head: Callable[..., sympy.Expr]) -> Callable[..., Any]:
    return lambda *values: bounded.called(head, values)


_FORMULA_HEADS: dict[str, Callable[..., Any]] = {
    "Symbol": _symbol,
    "Rational": _formula_head("Rational", 2, bounded.divided),
    "exp": _formula_head("exp", 1, _function(sympy.exp)),
    "log": _formula_head("log", 1, _function(sympy.log)),
    "sqrt": _formula_head("sqrt", 1, lambda value: bounded.raised(value, Fraction(1, 2))),
    "Min": _formula_head("Min", None, _function(sympy.Min)),
    "Max": _formula_head("Max", None, _function(sympy.Max)),
    "Abs": _formula_head("Abs", 1, _function(sympy.Abs)),
}
_CONSTANTS = {"pi": sympy.pi, "E": sympy.E, "True": True, "False": False}
