"""The adversary: candidates climb in float64, become small fractions, are decided in balls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from symacct.adversary.claims import CLAIMS, conjectured
from symacct.adversary.outcome import Attack
from symacct.adversary.schemes import SCHEMES
from symacct.adversary.schemes.scheme import Scheme
from symacct.adversary.search import Search, tasks
from symacct.kernel import limits, parameters, theorem_registry
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import EITHER, FINITE_ORDERS, INTEGER_ORDERS, Kind, Orders, Source
from symacct.kernel.claims import kind as named_kind
from symacct.kernel.claims import orders as named_orders
from symacct.kernel.conversion import Conversion, of_one_order
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, echo, suggestion
from symacct.kernel.exact import Order
from symacct.kernel.parameters import whole
from symacct.kernel.theorem_registry import Bound, RDPCurve, Theorem, always

__all__ = ["Attack", "falsify"]

# --- what is attacked
#
# A theorem, a conversion, a wrong claim or a function, as Theorems.

#: A theorem, and the schemes that attack it where they are chosen for it.
Statement = tuple[Theorem, tuple[Scheme, ...] | None]


def statements(
    statement: object, about: str | None, kind: Kind | str, orders: Orders
) -> tuple[str, Theorem, list[Statement]]:
    """Return the name, the statement to show, and the statements to attack with their schemes.

    A theorem's options and the two directions of a conversion are statements of their own. None in
    the place of schemes stands for all that fit. Raises DomainError for what is no statement.
    """
    if isinstance(statement, str):
        if statement in CLAIMS:
            claim = CLAIMS[statement]
            return statement, claim.theorem, [(claim.theorem, claim.schemes)]
        statement = _named(statement)
    if isinstance(statement, Conversion):
        parts = _of_conversion(statement)
        return statement.name, parts[0], [(part, None) for part in parts]
    if callable(statement) and not isinstance(statement, Theorem):
        statement = _of_function(statement, about, named_kind(kind), orders)
    if not isinstance(statement, Theorem):
        raise DomainError(
            f"falsify: found {echo(statement)}, needed a theorem, its name, a "
            "conversion or a function bound(ctx, eps, alpha, ...) together with about="
        )
    return statement.name, statement, [(variant, None) for variant in _variants(statement)]


def _named(name: str) -> Theorem | Conversion:
    """Find the conversion or the registered theorem of that name; DomainError for none."""
    known = {conversion.name: conversion for conversion in of_one_order()}
    if name in known:
        return known[name]
    try:
        return theorem_registry.named(name)
    except DomainError:
        names = [*(t.name for t in theorem_registry.theorems()), *known, *CLAIMS]
        meant = suggestion(name, names, theorem_registry.LISTED)
        raise DomainError(f"falsify: found {echo(name)}{meant}") from None


def _variants(theorem: Theorem) -> Iterator[Theorem]:
    """Yield the theorem itself, and with few τ if it has that: no climb is at order 100."""
    yield theorem
    options = dict(theorem.options)
    if "tau" in options and ":" not in theorem.name:
        for tau, sides in ((2, 1), (2, 2), (3, 2)):
            chosen = {**options, "tau": tau, **({"sides": sides} if "sides" in options else {})}
            yield replace(theorem, options=tuple(chosen.items()))


def _of_function(bound: Bound, about: str | None, kind: Kind, orders: Orders) -> Theorem:
    """Make a statement of a user's function; DomainError if no scheme is about the operation."""
    about = parameters.one_of(about, "falsify, about", sorted({scheme.about for scheme in SCHEMES}))
    name = getattr(bound, "__name__", "bound")
    return conjectured(name, bound, about, kind, Source("user", ""), orders)


def _of_conversion(conversion: Conversion) -> list[Theorem]:
    """State ε(δ) and δ(ε) at one order, as two upper bounds about a pair."""

    def to_delta(ctx: Arithmetic, eps: RDPCurve, alpha: Order, epsilon: Number) -> Number:
        return ctx.exp(conversion.log_delta(ctx, eps(alpha), ctx.number(alpha), epsilon))

    def to_epsilon(ctx: Arithmetic, eps: RDPCurve, alpha: Order, delta: Number) -> Number:
        return conversion.epsilon(ctx, eps(alpha), ctx.number(alpha), delta)

    to_delta.__doc__, to_epsilon.__doc__ = (
        conversion.log_delta.__doc__,
        conversion.epsilon.__doc__,
    )
    return [
        Theorem(
            name=conversion.name,
            operation=(about,),
            kind=Kind.UPPER,
            source=conversion.source,
            orders=FINITE_ORDERS,
            adjacency=EITHER,
            applies=always,
            monotone=True,
            status=conversion.status,
            bound=bound,
        )
        for about, bound in (("epsilon", to_epsilon), ("delta", to_delta))
    ]


# --- the question


@progress("falsify")
def falsify(
    theorem: Theorem | Conversion | Bound | str,
    budget: int = 20_000,
    seed: int = 0,
    about: str | None = None,
    kind: Kind | str = "upper",
    orders: Orders | str = INTEGER_ORDERS,
) -> Attack:
    """Search `budget` small finite mechanisms for one that violates a statement.

    `theorem` is a name ("ZW19-T5", "improved", or a wrong claim such as "T8-SHIFTED"), a Theorem, a
    Conversion, or a function `bound(ctx, eps, alpha, ...)` about the operation `about`. For a
    function, `kind` says whether it claims to be "upper" or "lower", and `orders` are the orders of
    its claim. `budget` is how many mechanisms are tried. `seed` is the number that the
    search is drawn by: the same one repeats the same search. Raises DomainError for anything else.

    >>> falsify("T8-WITHOUT-REPLACEMENT", budget=2000).refuted
    True
    """
    orders = named_orders(orders)
    budget = whole(budget, "falsify, budget", least=1)
    limits.check("points", budget, "falsify, budget")
    seed = whole(seed, "falsify, seed")
    name, stated, parts = statements(theorem, about, kind, orders)
    every = [task for part in parts for task in tasks(*part)]
    search = Search(every, budget, np.random.default_rng(seed))
    search.run()
    return Attack(
        theorem=name,
        kind=stated.kind,
        statement=" ".join(stated.statement.split()),
        budget=budget,
        seed=seed,
        candidates=sum(search.tried.values()),
        schemes=tuple(search.tried.items()),
        witness=search.witness,
        closest=search.closest,
        tie=search.tie,
        nearest=tuple(search.nearest[alpha] for alpha in sorted(search.nearest)),
        sides=tuple(sorted(search.sides, key=str)),
    )
