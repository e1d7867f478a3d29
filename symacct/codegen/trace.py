"""The evaluation of an expression, written down: one function of code for every curve it reads."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import sympy

from symacct.codegen.context import CodeArithmetic, Operand, Traced, UntraceableError
from symacct.codegen.ir import Call, Compare, Difference, Expr, Num, TableEntry, Var, walk
from symacct.codegen.theorems import FORMS, leaf_curve, where_it_holds, within
from symacct.export.formula import ends_unstated
from symacct.kernel import deadline
from symacct.kernel.arithmetic import Number, SymbolicArithmetic
from symacct.kernel.claims import Kind
from symacct.kernel.errors import DomainError, LimitError, SymacctError
from symacct.kernel.evaluation import Evaluation
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Mechanism, Node
from symacct.kernel.parameters import By
from symacct.kernel.theorem_registry import Theorem, goal_of
from symacct.mechanisms import Curve
from symacct.operations import GroupPrivacy

#: An expression has at most this many distinct parts, each of which becomes a function of the code.
#: More are refused.
_MOST_NODES = 500
#: Parameters of these names lie below 1.
_RATES = ("gamma", "p")
#: A parameter without a value stands like this in an expression's text.
_SYMBOL = re.compile(r"Symbol\('([^\W\d]\w*)'[^()]*\)")
#: The float64 next to 1 and to 2 between them. The range of α in code of orders between 1 and 2
#: rests on both.
_ABOVE_ONE, _BELOW_TWO = math.nextafter(1.0, 2.0), math.nextafter(2.0, 1.0)
ALPHA = Var("alpha")  # the order in traced code

#: These classes of orders decide which theorem speaks of an order. Each has an order that stands
#: for it, and α as it is traced there.
CLASSES: dict[str, tuple[Order, Operand]] = {
    "one": (1, 1),
    "infinite": (INFINITY, INFINITY),
    "whole": (3, Traced(ALPHA, low=2.0)),
    "below_two": (Fraction(3, 2), Traced(ALPHA, low=_ABOVE_ONE, high=_BELOW_TWO)),
    "above_two": (Fraction(5, 2), Traced(ALPHA, low=2.0)),
}
#: The header and errors call the classes by these words.
IN_WORDS = {
    "one": "order 1",
    "infinite": "order ∞",
    "whole": "whole orders >= 2",
    "below_two": "orders between 1 and 2",
    "above_two": "fractional orders > 2",
}


def as_typed(node: Node) -> str:
    """Write the expression as a person types it: of a parameter without a value the name alone."""
    return _SYMBOL.sub(r"\1", repr(node))


@dataclass
class Function:
    """ε of one node: an expression for each class of orders, or the reason why there is none.

    `title` is the node's expression, for a comment.
    """

    name: str
    title: str
    cases: dict[str, Expr] = field(default_factory=dict)
    refused: dict[str, SymacctError] = field(default_factory=dict)


@dataclass
class Program:
    """All that generated code computes.

    `main` names the function of the whole curve, and `arguments` has the parameters left open with
    their names in the code.
    """

    main: str
    functions: dict[str, Function]
    tables: dict[str, tuple[Expr, ...]]
    arguments: dict[sympy.Symbol, str]
    #: These must hold of the parameters left open: elsewhere there is no answer.
    conditions: list[Compare]
    #: The theorems used, sorted by name.
    theorems: list[Theorem]


class TracedCurve:
    """A node's curve as a theorem reads it: asked at an order it gives a call of its function."""

    def __init__(self, tracer: Tracer, node: Node, evaluation: Evaluation) -> None:
        self.tracer = tracer
        self.node = node
        self.evaluation = evaluation
        self.real = evaluation.curve(node)
        self._derived: dict[str, dict[Any, Any]] = {}

    def __call__(self, alpha: Operand) -> Traced:
        """Write the call of the curve's function at an order, its value at ∞ in full."""
        if isinstance(alpha, float) and alpha == INFINITY:
            return self.value("infinite")
        return Traced(Call(self.function_name(), Traced.of(alpha).as_plain()), low=0.0)

    def of(self, node: Node) -> TracedCurve:
        """Return the curve of another node under the same evaluation."""
        return self.tracer.curve(node, self.evaluation)

    @property
    def shape(self) -> str | None:
        """The shape that is proved of its CGF at whole orders, or None."""
        return self.real.shape

    def remember(self, what: str) -> dict[Any, Any]:
        """Give a table for what else a theorem computes from this curve, by that name."""
        return self._derived.setdefault(what, {})

    def function_name(self) -> str:
        """Name its function in the code, which is traced if it is not yet."""
        return self.tracer.function(self).name

    def excesses(self) -> Callable[[Any], Traced]:
        """Return l ↦ e^{(l−1)ε(l)} − 1, by a form that does not cancel where there is one."""
        ctx = self.tracer.ctx
        mechanism = self.node
        direct = mechanism._excess_in(ctx) if isinstance(mechanism, Mechanism) else None
        if direct is None:
            return lambda l: ctx.expm1((l - 1) * self(l))
        return within(cast(Mechanism, mechanism), ctx, direct)

    def value(self, kind: str) -> Traced:
        """Trace ε at the orders of a class, as an expression in α.

        Of several theorems it is the least bound, or the largest one of lower bounds.
        """
        representative, alpha = CLASSES[kind]
        if isinstance(self.node, Mechanism):
            return self._of_mechanism(self.node, alpha)
        theorems = self.real.theorems(representative)  # type: ignore[attr-defined]
        self.tracer.used.update(dict.fromkeys(theorems))
        values = [Traced.of(self._by(theorem, alpha)) for theorem in theorems]
        best = self.tracer.ctx.minimum
        if self.evaluation.goal is Kind.LOWER:
            best = self.tracer.ctx.maximum
        return best(*values) if len(values) > 1 else values[0]

    def _of_mechanism(self, mechanism: Mechanism, alpha: Operand) -> Traced:
        """Trace a leaf's own curve, which is ∞ from the order on at which it ends.

        Raises DomainError for a curve that is a Python function, and for one that has no number at
        the largest order without saying where it ends.
        """
        ctx = self.tracer.ctx
        if isinstance(mechanism, Curve) and not mechanism._is_formula:
            raise DomainError(
                "code of Curve: found a Python function, which cannot be written down in another "
                "language",
                remedy="state the curve as a formula in alpha, such as Curve('alpha/50', ...)",
            )
        if isinstance(alpha, int):
            return Traced.of(mechanism.at_one(ctx))
        if isinstance(alpha, float):
            pure = mechanism.finite_up_to == INFINITY
            return Traced.of(mechanism.at_infinity(ctx) if pure else INFINITY)
        value = Traced.of(within(mechanism, ctx, leaf_curve(mechanism, ctx))(Traced.of(alpha)))
        if ends_unstated(self.real, ctx.max_order):
            raise DomainError(
                f"code of {mechanism}: found no number >= 0 at order {ctx.max_order}, needed one",
                remedy=(
                    "state finite_up_to in a class of your own where it is infinite from some "
                    "order on, or take a lower max_order"
                ),
            )
        return value

    def _by(self, theorem: Theorem, alpha: Operand) -> Number:
        """Trace the bound of one theorem: by its form for code, or as it is.

        One with a regime is NaN outside of it. One that reads the node's own curve is that curve
        at whole orders, from which it derives the others.
        """
        ctx, eps = self.tracer.ctx, cast(TracedCurve, self._read(theorem))
        if theorem.reads == "itself" and alpha is CLASSES["whole"][1]:
            return eps(alpha)
        form = FORMS.get(theorem.name.partition(":")[0])
        if theorem.regime is not None:
            form = where_it_holds
        if form is not None:
            return form(ctx, eps, alpha, self.node, theorem)
        return theorem.bound(ctx, eps, alpha, **theorem.arguments(ctx, self.node))

    def _read(self, theorem: Theorem) -> TracedCurve | tuple[TracedCurve, ...]:
        """Find the curve or curves that the theorem reads: the parts', or the node's own."""
        if theorem.reads == "itself":
            return self.tracer.curve(self.node, self.evaluation.default())
        curves = [self.tracer.curve(child, self.evaluation) for child in self.node.children]
        return curves[0] if "mechanism" in self.node.fields() else tuple(curves)


class Tracer:
    """Turns curves into functions, each once."""

    def __init__(self, ctx: CodeArithmetic) -> None:
        self.ctx = ctx
        self.used: dict[Theorem, None] = {}
        self.functions: dict[str, Function] = {}
        self._curves: dict[Any, TracedCurve] = {}
        self._names: dict[Any, str] = {}

    def curve(self, node: Node, evaluation: Evaluation) -> TracedCurve:
        """Return the curve of a node under an evaluation, the same object each time."""
        node = evaluation.theorem_node(node)
        key = node, evaluation.by if evaluation.pins(node) else None
        if key not in self._curves:
            self._curves[key] = TracedCurve(self, node, evaluation)
        return self._curves[key]

    def function(self, curve: TracedCurve) -> Function:
        """Return the function of a curve, traced once; a curve that reads itself finds its own."""
        key = curve.node, curve.evaluation.by if curve.evaluation.pins(curve.node) else None
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = f"eps_{len(self._names) + 1}"
            made = self.functions[name] = Function(name, as_typed(curve.node))
            for kind in CLASSES:
                self._trace(curve, kind, made)
        return self.functions[name]

    def _trace(self, curve: TracedCurve, kind: str, function: Function) -> None:
        """Write down the case of this class of orders, or the reason why there is none.

        Raises DomainError for a formula that needs numbers, which has no code at all.
        """
        try:
            function.cases[kind] = curve.value(kind).as_plain()
        except UntraceableError as error:
            raise DomainError(
                f"code of {type(curve.node).__name__} at {IN_WORDS[kind]}: found {error}"
            ) from None
        except DomainError:
            raise
        except SymacctError as error:
            # No theorem speaks there, or the one pinned does not: the code says so as well.
            function.refused[kind] = error
        except (TypeError, AttributeError) as error:
            raise DomainError(
                f"code of {type(curve.node).__name__}: found a formula that decides something at "
                f"each exact order ({error}), needed one that arithmetic alone evaluates",
                remedy="the engine float64 evaluates it in Python",
            ) from None


def trace(
    m: Node,
    by: By,
    arguments: dict[sympy.Symbol, str],
    arithmetic: type[CodeArithmetic],
    max_order: int,
) -> Program:
    """Trace the program of m's curve up to `max_order`, by the default theorems or those pinned.

    `arguments` are the open parameters with their names in the code. Raises LimitError for too many
    parts, and the first reason where only the order ∞ has an answer.
    """
    if sum(1 for _ in m.walk()) > _MOST_NODES:
        raise LimitError(
            f"code: found more than {_MOST_NODES} distinct parts, needed fewer: each becomes a "
            "function",
            remedy="merge parts with equal curves, or use the engine float64",
        )
    nodes = list(m.walk())
    rates = {v for node in nodes for k, v in _open(node).items() if k in _RATES}
    # Interpolation reads one order further.
    ctx = arithmetic(arguments, rates, max_order * _magnification(nodes) + 1)
    tracer = Tracer(ctx)
    evaluation = Evaluation(SymbolicArithmetic(), goal_of(m, by), by)
    main = tracer.function(tracer.curve(m, evaluation))
    if not set(main.cases) - {"infinite"}:
        raise main.refused.get("whole") or next(iter(main.refused.values()))
    conditions = [c for node in nodes for k, v in _open(node).items() for c in _domain(ctx, k, v)]
    used = sorted(tracer.used, key=lambda theorem: theorem.name)
    functions = _reached(tracer.functions, main.name)
    read = {e.table for f in functions.values() for e in _inside(f) if isinstance(e, TableEntry)}
    tables = {name: entries for name, entries in ctx.tables.items() if name in read}
    return Program(main.name, functions, tables, arguments, list(dict.fromkeys(conditions)), used)


def _magnification(nodes: list[Node]) -> int:
    """Bound the factor by which groups read parts at larger orders than the one asked."""
    factors = dict.fromkeys(nodes, 1)
    for node in reversed(nodes):  # parents first
        for child in node.children:
            # Doublings reach the next power of two.
            times = 2 ** (node.size - 1).bit_length() if isinstance(node, GroupPrivacy) else 1
            here = factors[node] * times
            factors[child] = max(factors[child], here)
    return max(factors.values())


def _reached(functions: dict[str, Function], main: str) -> dict[str, Function]:
    """Keep the functions that the main one calls, in their order: some were only looked at."""
    reached, todo = set(), [main]
    while todo:
        deadline.check()
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            calls = (e for e in _inside(functions[name]) if isinstance(e, Call | Difference))
            todo += [call.function for call in calls]
    return {name: f for name, f in functions.items() if name in reached}


def _inside(function: Function) -> Iterator[Expr]:
    """Yield every expression in a function."""
    return (e for case in function.cases.values() for e in walk(case))


def _open(node: Node) -> dict[str, sympy.Expr]:
    """Find the parameters with symbols in them; a user's formula is no parameter."""
    formulas = {k: v for k, v in node.parameters().items() if isinstance(v, sympy.Expr)}
    if isinstance(node, Curve):
        formulas.pop("f", None)
    return {name: value for name, value in formulas.items() if value.free_symbols}


def _domain(ctx: CodeArithmetic, name: str, value: sympy.Expr) -> list[Compare]:
    """State what a parameter of this name must obey, strictly: at the edges other formulas hold.

    It is > 0, and < 1 for a rate; ω of tCDP is > 1.
    """
    one, zero = Num(Fraction(1)), Num(Fraction(0))
    plain = ctx.number(value).as_plain()
    if name == "omega":
        return [Compare(">", plain, one)]
    return [
        Compare(">", plain, zero),
        *([Compare("<", plain, one)] if name in ("gamma", "p") else []),
    ]
