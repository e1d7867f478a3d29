"""What is attacked: a theorem, a conversion, a wrong claim or a function, as Theorems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from symacct import theory as register
from symacct.claims import ADD_REMOVE, EITHER, FINITE_ORDERS, REPLACE_ONE, Kind, Orders, Source
from symacct.claims import kind as named_kind
from symacct.conversion import conversions
from symacct.conversion.conversion import Conversion
from symacct.errors import DomainError, echo
from symacct.explore.attacks.claims import CLAIMS
from symacct.explore.attacks.scheme import Scheme
from symacct.explore.attacks.schemes import SCHEMES
from symacct.theory import Theorem, always

#: A theorem, and the schemes that attack it where they are chosen for it.
Statement = tuple[Theorem, tuple[Scheme, ...] | None]


def statements(
    given: Any, about: str | None, kind: Any, orders: Orders
) -> tuple[str, Theorem, list[Statement]]:
    """The name, the statement to show, and what to attack: options and both conversions apart."""
    if isinstance(given, str):
        if given in CLAIMS:
            claim = CLAIMS[given]
            return given, claim.theorem, [(claim.theorem, claim.schemes)]
        given = _named(given)
    if isinstance(given, Conversion):
        parts = _of_conversion(given)
        return given.name, parts[0], [(part, None) for part in parts]
    if callable(given) and not isinstance(given, Theorem):
        given = _of_function(given, about, named_kind(kind), orders)
    if not isinstance(given, Theorem):
        raise DomainError(
            f"falsify: found {echo(given)}, needed a theorem, its name, a conversion or a function "
            "bound(ctx, eps, alpha, ...) together with about="
        )
    return given.name, given, [(variant, None) for variant in _variants(given)]


def _named(name: str) -> Theorem | Conversion:
    """The conversion or the registered theorem of that name."""
    known = {conversion.name: conversion for conversion in conversions()}
    if name in known:
        return known[name]
    try:
        return register.named(name)
    except DomainError:
        names = [*(t.name for t in register.theorems()), *known, *CLAIMS]
        raise DomainError(
            f"falsify: found {echo(name)}, needed one of {', '.join(names)}"
        ) from None


def _variants(theorem: Theorem) -> Iterator[Theorem]:
    """The theorem itself, and with few τ where it has that option: no climb is at order 100."""
    yield theorem
    options = dict(theorem.options)
    if "tau" in options and ":" not in theorem.name:
        for tau, sides in ((2, 1), (2, 2), (3, 2)):
            chosen = {**options, "tau": tau, **({"sides": sides} if "sides" in options else {})}
            yield replace(theorem, options=tuple(chosen.items()))


def _of_function(bound: Any, about: str | None, kind: Kind, orders: Orders) -> Theorem:
    """A statement about an operation, made of a user's function."""
    known = {scheme.about for scheme in SCHEMES}
    if about not in known:
        raise DomainError(
            f"falsify, about: found {echo(about)}, needed one of {', '.join(sorted(known))}"
        )
    adjacency = {"PoissonSubsample": ADD_REMOVE, "SubsampleWithoutReplacement": REPLACE_ONE}
    return Theorem(
        name=getattr(bound, "__name__", "bound"),
        about=about,
        kind=kind,
        source=Source("user", ""),
        orders=orders,
        adjacency=adjacency.get(about, EITHER),
        applies=always,
        monotone=False,
        status="conjecture",
        bound=bound,
    )


def _of_conversion(conversion: Conversion) -> list[Theorem]:
    """ε(δ) and δ(ε) at one order, as statements about a pair."""

    def to_delta(ctx: Any, eps: Any, alpha: Any, epsilon: Any) -> Any:
        return ctx.exp(conversion.log_delta(ctx, eps(alpha), ctx.number(alpha), epsilon))

    def to_epsilon(ctx: Any, eps: Any, alpha: Any, delta: Any) -> Any:
        return conversion.epsilon(ctx, eps(alpha), ctx.number(alpha), delta)

    to_delta.__doc__, to_epsilon.__doc__ = (
        conversion.log_delta.__doc__,
        conversion.epsilon.__doc__,
    )
    return [
        Theorem(
            name=conversion.name,
            about=about,
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
