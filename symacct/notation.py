"""Expressions as text and as JSON, read back by a closed grammar; nothing is ever executed.

    sum   = product { ("+" | "-") product }      product = unary { ("*" | "/") unary }
    unary = "-" unary | power                    power   = atom [ "**" unary ]
    atom  = number | quoted text | "(" sum ")" | name [ "(" argument { "," argument } ")" ]
          | "[" [ sum { "," sum } ] "]"

Names are the mechanisms and operations, the laws (`laws.Poisson`), and for parameters that are
not rational a few of SymPy's. Numbers are exact, quoted or not. Lists hold numbers, or lists.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple

import sympy
from sympy.printing.str import StrPrinter

from symacct import exact, sizes
from symacct.claims import Adjacency
from symacct.errors import DomainError, ParseError
from symacct.expr import Node, kinds
from symacct.mechanisms.families import Law
from symacct.operations.compose import Compose
from symacct.symbols import alpha as ALPHA

FORMAT = 1  # of the JSON documents

# --- writing text


def to_text(node: Node) -> str:
    """The expression as valid Python with the same meaning; `parse` reads it back.

    A text that would pass the limit on bytes (shared nodes are written out each time) is cut
    with "…"; to_json writes each node once.
    """
    budget = sizes.current().text_bytes // 64

    def write(node: Node) -> str:
        nonlocal budget
        budget -= 1
        if budget < 0:
            return "…"
        if isinstance(node, Compose):
            return _sum_text(node, write)
        arguments = []
        for name, default in node.constructor.items():
            value = node.fields()[name]
            if default is inspect.Parameter.empty:
                arguments.append(write(value) if isinstance(value, Node) else value_text(value))
            elif not _is_default(value, default):
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


def _count_text(count: Any) -> str:
    """A number of runs as a factor; an open one may be a sum."""
    text = value_text(count)
    return f"({text})" if isinstance(count, sympy.Add) else text


def stated_parameters(node: Node) -> dict[str, str]:
    """The parameters as text, but for parts of the expression and for what the defaults say."""
    fields = node.fields()
    return {
        name: value_text(fields[name]).replace("'", "")
        for name, default in node.constructor.items()
        if not isinstance(fields[name], Node) and not _is_default(fields[name], default)
    }


def value_text(value: Any) -> str:
    """A field that is no node, as Python with the same meaning."""
    if isinstance(value, sympy.Rational):
        value = Fraction(int(value.p), int(value.q))
    if isinstance(value, sympy.Expr):
        # Only a curve's formula speaks of alpha, and is quoted; a parameter stands bare.
        return repr(_PRINTER.doprint(value)) if value.has(ALPHA) else _PRINTER.doprint(value)
    if isinstance(value, Fraction | int) and value.denominator == 1:
        return exact.text(Fraction(value))
    if isinstance(value, tuple):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, Law):
        arguments = ", ".join(map(value_text, value.parameters.values()))
        return f"laws.{type(value).__name__}({arguments})"
    if callable(value):
        return f"<function {getattr(value, '__name__', '?')}>"
    return repr(_plain(value))


def _plain(value: Any) -> str:
    """A field that is no node and no formula, as the text that its constructor takes."""
    if isinstance(value, Fraction):
        return exact.text(value)
    if isinstance(value, Adjacency):
        return value.relation.value
    return str(value)


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(default, str):
        return _plain(value) == default
    return value is default if default is None else value == default


class _Printer(StrPrinter):
    """SymPy expressions as valid Python: symbols and fractions spelled out, alpha bare."""

    def _print_Symbol(self, symbol: sympy.Symbol) -> str:  # noqa: N802
        if symbol == ALPHA:
            return symbol.name
        stated = [f", {k}={v}" for k, v in sorted(symbol._assumptions_orig.items())]
        return f"Symbol('{symbol.name}'{''.join(stated)})"

    def _print_Rational(self, number: sympy.Rational) -> str:  # noqa: N802
        return f"Rational({number.p}, {number.q})"


_PRINTER = _Printer()

# --- reading text


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
    opened = (_open_symbol(symbol, heads) for symbol in symbols)
    value = _read(text, heads, {symbol.name: symbol for symbol in opened})
    if not isinstance(value, Node):
        sort = "number" if _is_number(value) else "value"
        raise ParseError(f"found the {sort} {value}, needed a mechanism such as Gaussian(5)")
    return value


def _open_symbol(symbol: str | sympy.Symbol, heads: Mapping[str, Any]) -> sympy.Symbol:
    name = symbol.name if isinstance(symbol, sympy.Symbol) else symbol
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise ParseError(f"symbol: found {name!r}, needed a name such as 'sigma'")
    if name in heads or name in _CONSTANTS:
        raise ParseError(f"symbol: found {name!r}, which means something else; choose another name")
    return symbol if isinstance(symbol, sympy.Symbol) else sympy.Symbol(name, positive=True)


def parse_law(text: str) -> Law:
    """The law written in `text`, e.g. "laws.Poisson(3)"."""
    value = _read(text, _law_heads(), {})
    if not isinstance(value, Law):
        raise ParseError(f"found {text!r}, needed a law such as laws.Poisson(3)")
    return value


def parse_formula(text: str, symbol: sympy.Symbol) -> sympy.Expr:
    """The formula written in `text`, in one bare symbol, e.g. "alpha/50 + log(2)"."""
    value = _read(text, _FORMULA_HEADS, {symbol.name: symbol})
    if not _is_number(value):
        raise ParseError(f"found {value!r}, needed a formula in {symbol}")
    return exact.expression(value)


def _read(text: str, heads: dict[str, Callable[..., Any]], names: dict[str, Any]) -> Any:
    if not isinstance(text, str):
        raise ParseError(f"found {type(text).__name__}, needed text")
    sizes.check("text_bytes", len(text.encode()), "text, in bytes")
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
            raise self.error(f"found {self.token.text!r}, needed {needed}")
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
        nodes = [isinstance(part, Node) for part in parts]
        if all(nodes):
            return Compose(*parts)
        if not all(map(_is_number, parts)):
            raise self.error("found '+' between unlike things, needed two mechanisms or numbers")
        return exact.exact(sum((exact.expression(part) for part in parts), sympy.Integer(0)))

    def negative(self, value: Any, operator: _Token) -> Any:
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
        left, right = exact.expression(left), exact.expression(right)
        return exact.exact(left * right if operator.sort == "*" else left / right)

    def unary(self) -> Any:
        signs = []
        while operator := self.take("-"):
            signs.append(operator)
        sizes.check("depth", len(signs) // 2, "text, signs in a row")
        value = self.power()
        if signs and isinstance(value, Node | str | list):
            return self.negative(value, signs[0])
        return -value if len(signs) % 2 else value

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
        if isinstance(exponent, Fraction):
            sizes.check("digits", abs(exponent.numerator), "text, exponent")
        return exact.exact(exact.expression(base) ** exact.expression(exponent))

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
        raise self.error(f"found {self.token.text!r}, needed a number, a name or '('")

    def listed(self) -> list[Any]:
        values: list[Any] = []
        while not self.take("]"):
            column = self.token.column
            values.append(self.sum())
            if isinstance(values[-1], Node | Law):
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
        return f"found the name {token.text!r}, needed one of {', '.join(sorted(self.heads))}"

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        values: list[Any] = []
        keywords: dict[str, Any] = {}
        self.expect("(")
        while not self.take(")"):
            if self.token.sort == "name" and self.tokens[self.place + 1].sort == "=":
                name = self.expect("name")
                self.expect("=")
                if name.text in keywords:
                    raise self.error(f"found {name.text!r} twice", name.column)
                keywords[name.text] = self.sum()
            elif keywords:
                raise self.error("found a value after a keyword, needed a keyword")
            else:
                values.append(self.sum())
            if self.token.sort != ")":
                self.expect(",")
        return values, keywords


def _is_number(value: Any) -> bool:
    """Is this a number, and neither a node, a law, a list nor quoted text?"""
    return isinstance(value, Fraction | int | sympy.Expr)


def _law_heads() -> dict[str, Callable[..., Any]]:
    """The families by their names, with the prefix that Python needs and without it."""
    return {
        prefix + name: family for name, family in Law.families.items() for prefix in ("", "laws.")
    }


def _signature_fault(error: TypeError) -> str:
    """What Python says of wrong arguments, without the name of our constructor."""
    return re.sub(r"^[\w.]*\(\) ", "", str(error)).replace("<lambda>() ", "")


def _symbol(name: Any, **assumptions: Any) -> sympy.Symbol:
    if not isinstance(name, str) or re.fullmatch(r"[^\W\d]\w{0,63}", name) is None:
        raise ParseError(f"Symbol: found {name!r}, needed a quoted name")
    unknown = set(assumptions) - {"positive", "nonnegative", "real", "integer", "negative"}
    if unknown:
        raise ParseError(f"Symbol: found the assumption {sorted(unknown)[0]!r}, needed positive")
    if not all(isinstance(value, bool) for value in assumptions.values()):
        raise ParseError("Symbol: found a value that is neither True nor False")
    return sympy.Symbol(name, **assumptions)


def _formula_head(head: Callable[..., Any]) -> Callable[..., Any]:
    def build(*values: Any) -> Any:
        if not values or any(isinstance(value, Node | str | bool) for value in values):
            raise ParseError(f"{getattr(head, '__name__', head)}: needed numbers")
        return exact.exact(head(*(exact.expression(value) for value in values)))

    return build


_FORMULA_HEADS: dict[str, Callable[..., Any]] = {
    "Symbol": _symbol,
    "Rational": _formula_head(lambda p, q: p / q),
    "exp": _formula_head(sympy.exp),
    "log": _formula_head(sympy.log),
    "sqrt": _formula_head(sympy.sqrt),
    "Min": _formula_head(sympy.Min),
    "Max": _formula_head(sympy.Max),
    "Abs": _formula_head(sympy.Abs),
}
_CONSTANTS = {"pi": sympy.pi, "E": sympy.E, "True": True, "False": False}

# --- JSON


def to_json(node: Node) -> str:
    """The expression as JSON, each node once, children before parents.

    Raises DomainError for a curve made of a Python function, which has no text.
    """
    index: dict[Node, int] = {}
    written: list[dict[str, Any]] = []
    for one in node.walk():
        index[one] = len(written)
        written.append(_node_json(one, index))
    return json.dumps({"symacct": FORMAT, "nodes": written}, ensure_ascii=False)


def _node_json(node: Node, index: dict[Node, int]) -> dict[str, Any]:
    if isinstance(node, Compose):
        parts = sorted((index[part], _count_json(n)) for part, n in node.terms.items())
        return {"type": "Compose", "terms": [[i, count] for i, count in parts]}
    return {"type": type(node).__name__} | {
        name: _field_json(node, value, index)
        for name, value in node.fields().items()
        if name not in node.json_optional or not _is_default(value, node.constructor[name])
    }


def _count_json(count: Any) -> Any:
    return _field_json(None, count, {}) if isinstance(count, sympy.Expr) else str(count)


def _field_json(node: Node | None, value: Any, index: dict[Node, int]) -> Any:
    if isinstance(value, Node):
        return {"node": index[value]}
    if value is None:
        return None
    if isinstance(value, sympy.Expr):
        return {"formula": _PRINTER.doprint(value)}
    if isinstance(value, tuple):
        return [_field_json(node, one, index) for one in value]
    if isinstance(value, Law):
        return {"law": value_text(value)}
    if callable(value):
        raise DomainError(
            f"{type(node).__name__}: found a Python function, which has no text; "
            "state the curve as a SymPy expression in alpha to write it down"
        )
    return _plain(value)


def from_json(text: str) -> Node:
    """The expression that `to_json` wrote; the last node listed is the whole.

    Raises ParseError for anything else, LimitError for absurd sizes.
    """
    if not isinstance(text, str | bytes):
        raise ParseError(f"JSON: found {type(text).__name__}, needed text")
    sizes.check("text_bytes", len(text), "JSON, in bytes")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"JSON: {error}") from None
    if not isinstance(document, dict) or document.get("symacct") != FORMAT:
        raise ParseError(f'JSON: found no {{"symacct": {FORMAT}, "nodes": [...]}}')
    entries = document.get("nodes")
    if not isinstance(entries, list) or not entries:
        raise ParseError("JSON: found no nodes, needed a list of at least one")
    sizes.check("nodes", len(entries), "JSON, nodes")
    nodes: list[Node] = []
    for place, entry in enumerate(entries):
        try:
            nodes.append(_node_from(entry, nodes))
        except ParseError as error:
            raise ParseError(f"JSON, node {place}: {error}") from None
    return nodes[-1]


def _node_from(entry: Any, nodes: list[Node]) -> Node:
    found = entry.get("type") if isinstance(entry, dict) else entry
    if not isinstance(entry, dict) or not isinstance(found, str) or found not in kinds():
        raise ParseError(f"found type {found!r}, needed one of {', '.join(sorted(kinds()))}")
    cls = kinds()[entry["type"]]
    fields = {name: value for name, value in entry.items() if name != "type"}
    if cls is Compose:
        return _compose_from(fields, nodes)
    needed = cls.constructor  # type: ignore[attr-defined]
    if set(fields) | set(cls.json_optional) != set(needed):  # type: ignore[attr-defined]
        raise ParseError(f"found fields {sorted(fields)}, needed {sorted(needed)}")
    return cls(**{name: _field_from(value, nodes) for name, value in fields.items()})


def _compose_from(fields: dict[str, Any], nodes: list[Node]) -> Node:
    terms = fields.get("terms")
    if set(fields) != {"terms"} or not isinstance(terms, list):
        raise ParseError(f"found fields {sorted(fields)}, needed terms, a list of [node, count]")
    parts = []
    for term in terms:
        if not isinstance(term, list) or len(term) != 2 or not isinstance(term[1], str | dict):
            raise ParseError(f'found the term {term!r}, needed [node, "count"]')
        parts.append({_node_at(term[0], nodes): _field_from(term[1], nodes)})
    return Compose(*parts)


def _field_from(value: Any, nodes: list[Node]) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {"node"}:
        return _node_at(value["node"], nodes)
    if isinstance(value, dict) and set(value) == {"formula"}:
        return parse_formula(value["formula"], ALPHA)
    if isinstance(value, dict) and set(value) == {"law"}:
        return parse_law(value["law"])
    if _is_list_of_text(value) or (isinstance(value, list) and all(map(_is_list_of_text, value))):
        return value
    raise ParseError(f"found the value {value!r}, needed text, a node or a formula")


def _node_at(place: Any, nodes: list[Node]) -> Node:
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(nodes):
        raise ParseError(f"found node {place!r}, needed the place of an earlier node")
    return nodes[place]


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
