"""SymPy expressions: the formula itself, sums and binomials kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from symacct.kernel import limits
from symacct.kernel.arithmetic.context import PlainGaps
from symacct.kernel.exact import INFINITY, LazyModule, Numeric, expression, sympy

#: What SymPy does not work out, in classes of its own.
written = LazyModule("symacct.kernel.arithmetic.written")


class SymbolicArithmetic(PlainGaps):
    """SymPy expressions, never evaluated; the index of a sum has no name before `with_indices`."""

    certified = True
    bits = 0  # nothing is rounded

    def __init__(self) -> None:
        #: The last order that the index of each sum reaches, where that is a number.
        self.reach: dict[sympy.Expr, int] = {}

    def number(self, value: Numeric) -> sympy.Expr:
        """The exact number as an expression; SymPy's ∞ for `INFINITY`."""
        if value == INFINITY:
            return sympy.oo
        return expression(value)

    def pi(self) -> sympy.Expr:
        return sympy.pi

    def exp(self, x: sympy.Expr) -> sympy.Expr:
        """e^x; LimitError where SymPy would factor a number that is too long."""
        for one in x.atoms(sympy.log):  # e^{c·log x} is worked out as x^c, and x is factored
            check_numbers(one)
        return sympy.exp(x)

    def expm1(self, x: sympy.Expr) -> sympy.Expr:
        return self.exp(x) - 1

    def log(self, x: sympy.Expr) -> sympy.Expr:
        """log x; of a sum it stays as it is, and SymPy need not ask at length whether that is 0."""
        return sympy.log(x, evaluate=not x.is_Add)

    def log_gamma(self, x: sympy.Expr) -> sympy.Expr:
        return sympy.loggamma(x)

    def digamma(self, x: sympy.Expr) -> sympy.Expr:
        return sympy.digamma(x)

    def log1p(self, x: sympy.Expr) -> sympy.Expr:
        return self.log(1 + x)

    def sqrt(self, x: sympy.Expr) -> sympy.Expr:
        """√x; LimitError where SymPy would factor a number that is too long."""
        check_numbers(x)
        return sympy.sqrt(x)

    def power(self, x: sympy.Expr, y: sympy.Expr) -> sympy.Expr:
        return self.number(x) ** y

    def binomial(self, n: sympy.Expr, k: sympy.Expr) -> sympy.Expr:
        return sympy.binomial(n, k)

    def sum(
        self, term: Callable[[sympy.Expr], sympy.Expr], first: int, last: int | sympy.Expr
    ) -> sympy.Expr:
        """Σ as an unevaluated Sum over an unnamed index; 0 where there is no term.

        A symbolic `last` is taken to be at least `first`.
        """
        index = sympy.Dummy("l", integer=True, positive=True)
        if isinstance(last, int | sympy.Integer):
            if last < first:
                return sympy.Integer(0)
            if last == first:
                return sympy.sympify(term(first))
            self.reach[index] = int(last)
        return written.Sum(term(index), (index, first, last))

    def minimum(self, *xs: sympy.Expr) -> sympy.Expr:
        return written.Min(*xs)

    def maximum(self, *xs: sympy.Expr) -> sympy.Expr:
        """max(…), left as it is written; |x| for x and −x."""
        if len(xs) == 2 and xs[0] == -xs[1]:
            return xs[0] if xs[0].is_nonnegative else sympy.Abs(xs[0], evaluate=False)
        return written.Max(*xs)

    def is_infinite(self, x: sympy.Expr) -> bool:
        return bool(x == sympy.oo)


def check_numbers(e: sympy.Expr) -> None:
    """LimitError for a rational in an expression of more bits than the limit `written_bits`."""
    size = max(
        (int(r.p).bit_length() + int(r.q).bit_length() for r in e.atoms(sympy.Rational)), default=0
    )
    limits.check("written_bits", size, "formula, bits of a number that the order makes")


def with_indices(formula: sympy.Expr, taken: Iterable[str] = ()) -> sympy.Expr:
    """The formula with its sums' indices named l, j, i, k and its integrals' variables z, x, y, u.

    From outside in, and none is a name that is `taken` or that of a free symbol.
    """
    used = {symbol.name for symbol in formula.free_symbols} | set(taken)
    indices = [name for name in _names("ljik") if name not in used]
    integrals = [name for name in _names("zxyu") if name not in used]
    return _named(formula, indices, integrals)


def _names(letters: str) -> list[str]:
    """More names than any formula nests sums: the letters, then the letters with a number."""
    return [*letters, *(f"{letter}_{turn}" for turn in range(1, 80) for letter in letters)]


def _named(e: sympy.Basic, indices: list[str], integrals: list[str]) -> sympy.Basic:
    """The expression with the variables of sums and integrals renamed, from outside inwards.

    `indices` and `integrals` are the names that are left for each.
    """
    if not e.has(sympy.Sum, sympy.Integral):
        return e
    if isinstance(e, sympy.Sum | sympy.Integral):
        ((old, *ends),) = e.limits
        is_sum = isinstance(e, sympy.Sum)
        names, rest = (indices, indices[1:]) if is_sum else (integrals, integrals[1:])
        new = sympy.Symbol(names[0], **old.assumptions0)
        inside = (rest, integrals) if is_sum else (indices, rest)
        body = _named(e.function, *inside).xreplace({old: new})
        return e.func(body, (new, *(_named(end, *inside) for end in ends)))
    return e.func(*(_named(argument, indices, integrals) for argument in e.args))
