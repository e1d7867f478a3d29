"""Numbers and formulas as text, by a closed grammar: read and written, never executed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache, singledispatch
from typing import Any, NamedTuple, TypeGuard

from symacct.kernel import exact, limits, symbols
from symacct.kernel.arithmetic import within_limits
from symacct.kernel.claims import Adjacency
from symacct.kernel.errors import ParseError, echo, suggestion
from symacct.kernel.exact import Exact, sympy

# --- tokens


class Token(NamedTuple):
    """A token of a formula's text: a number, quoted text, a name, an operator or the end."""

    sort: str  # "number", "text", "name", "end", or the operator itself
    text: str
    column: int

    @property
    def end(self) -> int:
        """The column behind the token."""
        return self.column + len(self.text)


#: The next token of a text: a number, a quoted text, a name, an operator or another sign.
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>(?:laws\.)?[^\W\d]\w*(?:\.[a-z_]\w*)?)"
    r"|(?P<text>'[^'\\\n]*'|\"[^\"\\\n]*\")"
    r"|(?P<operator>\*\*|[-+*/^(),=\[\]]))",
    re.ASCII,
)


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text and an "end", or those up to an "unknown" sign, which is no token.

    LimitError for brackets nested too deep.
    """
    tokens: list[Token] = []
    place, depth, last = 0, 0, len(text.rstrip())
    while place < last:
        match = _TOKEN.match(text, place)
        if match is None:
            # The rest is not read; the reader raises the error if it comes to this sign.
            column = place + len(text[place:]) - len(text[place:].lstrip())
            return [*tokens, Token("unknown", text[column], column)]
        sort = match.lastgroup or ""
        lexeme = match[sort]
        column = match.start(sort)
        depth += (lexeme == "(") - (lexeme == ")")
        limits.check("depth", depth // 2, "text, nesting depth")
        tokens.append(Token(lexeme if sort == "operator" else sort, lexeme, column))
        place = match.end()
    return [*tokens, Token("end", "the end", len(text))]


# --- the writer


@singledispatch
def value_text(value: object) -> str:
    """The text of a field that is no node, as Python with the same meaning.

    A function of the user's is named only, and cannot be read back.
    """
    if isinstance(value, sympy.Expr) and value.is_Rational:
        value = Fraction(int(value.p), int(value.q))
    if isinstance(value, sympy.Expr):
        # Only a curve's formula speaks of alpha, and is quoted; a parameter stands bare.
        return repr(formula_text(value)) if value.has(symbols.alpha) else formula_text(value)
    if isinstance(value, Fraction | int) and value.denominator == 1:
        return exact.text(Fraction(value))
    if isinstance(value, tuple):
        return f"[{', '.join(map(value_text, value))}]"
    if callable(value):
        return f"<function {getattr(value, '__name__', '?')}>"
    return repr(plain_text(value))


def plain_text(value: object) -> str:
    """The text of a field that is no node, without quotes, as its constructor takes it."""
    if isinstance(value, Fraction | sympy.Expr) or type(value) is int:
        return exact.text(value if isinstance(value, sympy.Expr) else Fraction(value))
    if isinstance(value, Adjacency):
        return value.relation.value
    return str(value)


def is_default(value: object, default: object) -> bool:
    """Is a field's value the default of its argument?"""
    if isinstance(default, str):
        return plain_text(value) == default
    return value is default if default is None else value == default


@cache
def _printer() -> Any:
    """The printer of SymPy expressions as Python: symbols and fractions in calls, alpha bare."""

    class FormulaPrinter(exact.printer()):  # type: ignore[misc]  # made where SymPy is
        def _print_Symbol(self, symbol: sympy.Symbol) -> str:  # noqa: N802
            """Print alpha by its name, any other symbol by the call that makes it."""
            if symbol == symbols.alpha:
                return str(symbol.name)
            stated = [f", {k}={v}" for k, v in sorted(symbol._assumptions_orig.items())]
            return f"Symbol('{symbol.name}'{''.join(stated)})"

        def _print_Rational(self, number: sympy.Rational) -> str:  # noqa: N802
            ends = (exact.text(Fraction(int(end))) for end in (number.p, number.q))
            return f"Rational({', '.join(ends)})"

    return FormulaPrinter()


def formula_text(value: sympy.Expr) -> str:
    """The text of a formula, as Python with the same meaning."""
    return str(_printer().doprint(value))


# --- the reader
#
# The grammar:
#
#     sum   = product { ("+" | "-") product }      product = unary { ("*" | "/") unary }
#     unary = "-" unary | power                    power   = atom [ "**" unary ]
#     atom  = number | quoted text | "(" sum ")" | name [ "(" argument { "," argument } ")" ]
#           | "[" [ sum { "," sum } ] "]"
#
# Names are a few of SymPy's and those of the subclass. Numbers are exact, quoted or not. Lists hold
# numbers, or lists.


def parse_formula(text: str, symbol: sympy.Symbol, more: Iterable[str] = ()) -> sympy.Expr:
    """The formula of a text in one bare symbol, such as "alpha/50 + log(2)".

    `more` names further functions of SymPy's, of one number each. ParseError for what is no
    formula, LimitError for a text or numbers too long.
    """
    further = {name: _formula_head(name, 1, _function(name)) for name in more}
    reader = Reader(text, HEADS | further, {symbol.name: symbol})
    reader.needed = f"a number or the variable, which is {symbol.name}"
    return exact.expression(reader.whole())


#: The bracket that closes each one, and that opens it.
_CLOSING = {"(": ")", "[": "]"}
_OPENING = {")": "(", "]": "["}


class Reader:
    """A parser of the grammar above by recursive descent; a subclass adds names and meanings.

    `heads` are the functions that a text may call, and `names` the values of bare names.
    """

    def __init__(
        self, text: str, heads: Mapping[str, Callable[..., Any]], names: Mapping[str, Any]
    ) -> None:
        if not isinstance(text, str):
            raise ParseError(f"found {type(text).__name__}, needed text")
        limits.check_text(text, "text")
        self.text = text
        self.tokens = tokens_of(text)
        self.place = 0
        self.depth = 0
        self.heads = heads
        self.names = {**CONSTANTS, **names}

    def whole(self) -> Any:
        """The value of the whole text; ParseError where it is not of the grammar."""
        value = self.sum()
        self.expect("end")
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """ParseError unless the value is a number; a subclass allows other values."""
        if not is_number(value):
            raise ParseError(f"found {echo(value)}, needed a formula such as alpha/50")

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.place]

    def take(self, *sorts: str) -> Token | None:
        """The next token, read, if it is of one of these sorts; else None."""
        token = self.token
        if token.sort not in sorts:
            return None
        self.place += 1
        return token

    def expect(self, sort: str, opened: Token | None = None) -> Token:
        """The next token, read; ParseError if it is of another sort.

        `opened` is the bracket that is still open, which the error names.
        """
        token = self.take(sort)
        if token is not None:
            return token
        next_token, needed = self.found, repr(sort)
        if sort == "end":
            needed = "an operator such as * or the end"
            if opens := _OPENING.get(self.token.sort):
                next_token, needed = f"{next_token} that closes no {opens!r}", "the end"
        if opened is not None:
            needed = " or ".join(dict.fromkeys([needed, repr(_CLOSING[opened.sort])]))
            needed += f" for the {opened.sort!r} at column {opened.column + 1}"
        raise self.error(f"found {next_token}, needed {needed}")

    @property
    def found(self) -> str:
        """The next token, as a message names it."""
        return self.token.text if self.token.sort == "end" else echo(self.token.text)

    def error(self, message: str, column: int | None = None) -> ParseError:
        """The error at a column, or at the next token."""
        column = self.token.column if column is None else column
        return ParseError(f"column {column + 1}: {message}")

    def sum(self) -> Any:
        """The value of a sum of products, or of one product."""
        self.depth += 1
        limits.check("depth", self.depth // 2, "text, nesting depth")
        parts = [self.product()]
        while operator := self.take("+", "-"):
            right = self.product()
            self.check_terms(operator, parts[0], right)
            parts.append(right if operator.sort == "+" else self.negative(right, operator))
        self.depth -= 1
        return parts[0] if len(parts) == 1 else self.added(parts)

    def check_terms(self, operator: Token, left: Any, right: Any) -> None:
        """ParseError unless both terms are numbers; a subclass allows other terms."""
        if not is_number(left) or not is_number(right):
            raise self.no_number(operator, left, right)

    def added(self, parts: list[Any]) -> Any:
        """The sum of terms."""
        return within_limits.added(parts)

    def no_number(self, operator: Token, *values: Any) -> ParseError:
        """The error of an operator with an operand that is no number."""
        other = next(value for value in values if not is_number(value))
        return self.error(
            f"found {echo(other)} at the {operator.text!r}, needed a number", operator.column
        )

    def negative(self, value: object, operator: Token) -> Exact:
        """The negative of a number."""
        if not is_number(value):
            raise self.no_number(operator, value)
        return -value

    def product(self) -> Any:
        """The value of a product and quotient of factors, or of one factor."""
        value = self.unary()
        while operator := self.take("*", "/"):
            value = self.combined(operator, value, self.unary())
        return value

    def combined(self, operator: Token, left: Any, right: Any) -> Any:
        """The product or the quotient of two numbers."""
        if not is_number(left) or not is_number(right):
            raise self.no_number(operator, left, right)
        if operator.sort == "/" and right == 0:
            raise self.error("found a division by 0", operator.column)
        return (within_limits.multiplied if operator.sort == "*" else within_limits.divided)(
            left, right
        )

    def unary(self) -> Any:
        """The value of a power with minus signs before it."""
        signs = []
        while operator := self.take("-"):
            signs.append(operator)
        limits.check("depth", len(signs) // 2, "text, signs in a row")
        value = self.power()
        if not signs:
            return value
        return self.negative(value, signs[0]) if len(signs) % 2 else -self.negative(value, signs[0])

    def power(self) -> Any:
        """The value of an atom, or of its power by `**`; `^` is refused."""
        base = self.atom()
        operator = self.take("**", "^")
        if operator is None:
            return base
        self.depth += 2
        limits.check("depth", self.depth // 2, "text, nesting depth")
        exponent = self.unary()
        self.depth -= 2
        if not is_number(base) or not is_number(exponent):
            raise self.no_number(operator, base, exponent)
        if operator.sort == "^":
            raise self.error("found '^', needed '**'", operator.column)
        return within_limits.raised(base, exponent)

    def atom(self) -> Any:
        """The value of a number, a text, a bracket, a list, a name or a call."""
        if token := self.take("number"):
            return exact.exact(token.text)
        if token := self.take("text"):
            return token.text[1:-1]
        if token := self.take("("):
            value = self.sum()
            self.expect(")", token)
            return value
        if token := self.take("["):
            return self.listed(token)
        if token := self.take("name"):
            return self.named(token)
        raise self.error(f"found {self.found}, needed a number, a name or '('")

    def listed(self, opened: Token) -> list[Any]:
        """The values of a list, after its opening bracket."""
        values: list[Any] = []
        while not self.take("]"):
            column = self.token.column
            values.append(self.sum())
            if not isinstance(values[-1], str | list) and not is_number(values[-1]):
                raise self.error("found a mechanism or a law in a list, needed numbers", column)
            if self.token.sort != "]":
                self.expect(",", opened)
        return values

    def named(self, token: Token) -> Any:
        """The value of a name, or of a call of what it names."""
        if self.token.sort != "(":
            return self.bare(token)
        head = self.heads.get(token.text)
        if head is None:
            raise self.unknown(token, self.heads, self.called)
        values, keywords = self.arguments()
        try:
            return head(*values, **keywords)
        except TypeError as error:
            fault = _signature_fault(token.text, error, head, values, keywords)
            raise self.error(fault, token.column) from None

    def bare(self, token: Token) -> Any:
        """The value of a name without arguments."""
        if token.text in self.names:
            meaning = self.names[token.text]
            return CONSTANTS[token.text]() if meaning is CONSTANTS.get(token.text) else meaning
        if token.text in self.heads:
            raise self.error(f"found {token.text} alone, needed {token.text}(…)", token.column)
        raise self.unknown(token, self.names, self.needed)

    #: What an error about an unknown bare name, or about one that is called, says is needed.
    needed = "a number"
    called = "a function such as log(2)"

    def unknown(self, token: Token, names: Iterable[str], needed: str) -> ParseError:
        """The error of an unknown name, with the known one that is most like it."""
        finding = f"found the name {echo(token.text)}{suggestion(token.text, names, needed)}"
        return self.error(finding, token.column)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, in order and by name, with the brackets about them."""
        values: list[Any] = []
        keywords: dict[str, Any] = {}
        opened = self.expect("(")
        while not self.take(")"):
            if self.token.sort == "name" and self.tokens[self.place + 1].sort == "=":
                name = self.expect("name")
                self.expect("=")
                if name.text in keywords:
                    raise self.error(f"found {echo(name.text)} twice, needed it once", name.column)
                keywords[name.text] = self.keyword(name.text)
            elif keywords:
                raise self.error(
                    "found a value without a name after a named one, needed name=value"
                )
            else:
                values.append(self.sum())
            if self.token.sort != ")":
                self.expect(",", opened)
        return values, keywords

    def keyword(self, name: str) -> Any:
        """The value after name=; a subclass reads some names in its own way."""
        return self.sum()


def is_number(value: object) -> TypeGuard[Exact]:
    """Is the value an exact number or a formula, and no node, law, list or text?"""
    # True and False are names for assumptions, and integers to Python.
    return isinstance(value, Fraction | sympy.Expr)


def _signature_fault(
    name: str,
    error: TypeError,
    head: Callable[..., Any],
    values: list[Any],
    keywords: dict[str, Any],
) -> str:
    """The words for what is wrong with the arguments of a call in the text."""
    try:
        signature = inspect.signature(head)
        signature.bind(*values, **keywords)
    except ValueError:  # a function of SymPy's has no signature
        return f"{name}: {error}"
    except TypeError:
        call = ", ".join([*("…" for _ in values), *(f"{key}=…" for key in keywords)])
        bare = [
            parameter.replace(annotation=parameter.empty)
            for parameter in signature.parameters.values()
        ]
        return f"found {name}({call}), needed {name}{inspect.Signature(bare)}"
    return f"{name}: {error}"


def _symbol(name: object, **assumptions: Any) -> sympy.Symbol:
    """The symbol that a text writes as Symbol('x', positive=True), of its name without quotes.

    ParseError unless the name is an identifier of at most 64 characters, and every assumption is
    one of the five that are read, True or False: SymPy gets nothing else of the text.
    """
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
    """What a text calls: a function of `arity` numbers, or of any for None; else ParseError."""

    def build(*numbers: object) -> Any:
        fits = len(numbers) == (arity or max(1, len(numbers)))
        if not fits or not all(map(is_number, numbers)):
            listed = ", ".join(map(echo, numbers)) or "nothing"
            needed = "numbers" if arity is None else f"{arity} number{'s' * (arity > 1)}"
            raise ParseError(f"{name}: found {listed}, needed {needed}")
        return compute(*numbers)

    return build


def _function(name: str) -> Callable[..., Any]:
    """SymPy's function of this name."""
    return lambda *values: within_limits.called(getattr(sympy, name), values)


#: What a formula's text may call, by name.
HEADS: dict[str, Callable[..., Any]] = {
    "Symbol": _symbol,
    "Rational": _formula_head("Rational", 2, within_limits.divided),
    "exp": _formula_head("exp", 1, _function("exp")),
    "log": _formula_head("log", 1, _function("log")),
    "sqrt": _formula_head("sqrt", 1, lambda value: within_limits.raised(value, Fraction(1, 2))),
    "Min": _formula_head("Min", None, _function("Min")),
    "Max": _formula_head("Max", None, _function("Max")),
    "Abs": _formula_head("Abs", 1, _function("Abs")),
    # What SymPy makes of Abs where a symbol is not said to be real: |e^x| = e^{re x}.
    "re": _formula_head("re", 1, _function("re")),
    "im": _formula_head("im", 1, _function("im")),
    "arg": _formula_head("arg", 1, _function("arg")),
}
#: Names without arguments, each with a function that gives its value: SymPy opens with the first.
CONSTANTS: dict[str, Callable[[], Any]] = {
    "pi": lambda: sympy.pi,
    "E": lambda: sympy.E,
    "True": lambda: True,
    "False": lambda: False,
}
