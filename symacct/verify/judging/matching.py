"""Which formula a value is: the registered theorems' values, and those of likely mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from symacct.kernel import theorem_registry
from symacct.kernel.claims import Kind
from symacct.kernel.errors import SymacctError
from symacct.verify.judging.bounds import Bound, ends, nearest_float32
from symacct.verify.judging.truth import SAMPLINGS, Oracle, readings, relation_of, step
from symacct.verify.peer.protocol import Ask, AskedPart

#: Relative distance up to which two float64 computations of one formula are taken for the same.
SAME = Fraction(1, 10**9)


def same(value: Fraction, bounds: tuple[Bound, Bound], allowed: Fraction = SAME) -> bool:
    """Is the value one of the enclosed ones, but for rounding?"""
    low, high = bounds
    return low != float("inf") and low * (1 - allowed) <= value <= high * (1 + allowed)


def matched(
    oracle: Oracle, ask: Ask, value: Fraction, beside: Sequence[tuple[Ask, Fraction]] = ()
) -> str | None:
    """Names the formula whose value this is, theorems first; None if none is known.

    The formula has to give the values `beside` too. Of the truth itself none is named: a mistake
    that changes nothing explains nothing.
    """
    if ask.kind != "rdp" or value == 0:
        return None
    truth = oracle.truth(ask)
    if truth is not None and truth.exact and same(value, (truth.lower, truth.upper)):
        return None
    named = (name for name, bounds in candidates(oracle, ask) if same(value, bounds))
    return next((name for name in named if all(_gives(oracle, name, *at) for at in beside)), None)


def _gives(oracle: Oracle, name: str, ask: Ask, value: Fraction) -> bool:
    """Is the value at this question that of the formula too?

    Where two names are one number they are one: either may be the one that is said.
    """
    alike = set(name.split(" or "))
    enclosures = (
        bounds for other, bounds in candidates(oracle, ask) if alike & {*other.split(" or ")}
    )
    return any(same(value, bounds) for bounds in enclosures)


def proves(name: str, ask: Ask) -> bool:
    """Is this theorem an upper bound of what is asked, under its relation?"""
    try:
        theorem = theorem_registry.named(name)
    except SymacctError:
        return False
    proved = theorem.status == theorem_registry.PROVED and theorem.kind is not Kind.LOWER
    return proved and str(theorem.adjacency) == ask.adjacency


def claimed(oracle: Oracle, ask: Ask, name: str) -> tuple[Bound, Bound] | None:
    """The certified value of the theorem that a peer names; None if it does not speak."""
    if ask.kind != "rdp":
        return None
    try:
        theorem_registry.named(name)
    except SymacctError:
        return None
    return _by_theorem(oracle, ask, name)


def candidates(oracle: Oracle, ask: Ask) -> Iterator[tuple[str, tuple[Bound, Bound]]]:
    """Yields (name, enclosure) of every formula that a value is compared with."""
    names = [t.name for t in theorem_registry.theorems() if t.status == theorem_registry.PROVED]
    specific = [name for name in names if not name.startswith(_GENERIC)]
    yield from _theorems(oracle, ask, [*specific, *_WITH_OPTIONS])
    for what, other, factor in _mistakes(ask):
        if factor == 1 and other == ask:
            continue  # no mistake where it changes nothing
        truth = oracle.truth(other)
        if truth is not None and truth.upper != float("inf"):
            # Where only bounds are known, an accountant would have computed the upper one.
            low = truth.lower if truth.exact else truth.upper
            yield what, (factor * low, factor * truth.upper)
    yield from _theorems(oracle, ask, [name for name in names if name not in specific])


#: What holds for every curve names no formula of its own: tried last.
_GENERIC = ("VEH14", "WBK19-C10")
#: Beyond, sums over all orders below take minutes.
_LARGEST_ORDER = 4096
_WITH_OPTIONS = ("ZW19-T11:tau=50", "ZW19-T20:tau=50")


def _theorems(
    oracle: Oracle, ask: Ask, names: list[str]
) -> Iterator[tuple[str, tuple[Bound, Bound]]]:
    for name in names:
        bounds = _by_theorem(oracle, ask, name)
        if bounds is not None:
            yield name, bounds


def _by_theorem(oracle: Oracle, ask: Ask, name: str) -> tuple[Bound, Bound] | None:
    if not any(_is_of(name, part) for part in ask.parts) or Fraction(ask.at) > _LARGEST_ORDER:
        return None
    try:
        lows, highs = zip(*(_sum_of_parts(oracle, r, name) for r in readings(ask)), strict=True)
    except SymacctError:
        return None
    return min(lows), max(highs)


def _sum_of_parts(oracle: Oracle, ask: Ask, name: str) -> tuple[Bound, Bound]:
    """Adds up the theorem's values of the parts it is about and the best values of the others."""
    low: Bound = Fraction(0)
    high: Bound = Fraction(0)
    for part in ask.parts:
        by = name if _is_of(name, part) else None
        a, b = ends(
            oracle.ask(
                "rdp", step(replace(part, count=1), relation_of(ask), ask.group), ask.at, by=by
            )
        )
        low, high = low + part.count * a, high + part.count * b
    return low, high


def _is_of(name: str, part: AskedPart) -> bool:
    """Is the theorem about this part's sampling? Of a composition it says what it is about."""
    if part.sampling == "none":
        return False
    return SAMPLINGS[part.sampling].__name__ in theorem_registry.named(name).operation


def _mistakes(ask: Ask) -> Iterator[tuple[str, Ask, Fraction | int]]:
    """Yields (name of a mistake, the ask whose truth it computes, a factor)."""
    alpha = Fraction(ask.at)
    parts = ask.parts
    if any(p.sampling != "none" for p in parts):
        yield "sampling ignored", replace(ask, parts=_each(parts, sampling="none", gamma=None)), 1
    if any(p.sampling == "without_replacement" for p in parts):
        poisson = replace(ask, parts=_each(parts, sampling="poisson"), adjacency="add_remove")
        yield "Poisson sampling under add/remove", poisson, 1
    if any(p.count > 1 for p in parts):
        two = " or one run too few" * (len(parts) == 1 and parts[0].count == 2)
        yield f"count ignored{two}", replace(ask, parts=_each(parts, count=1)), 1
    if len(parts) == 1 and parts[0].count > 1:
        for more, what in ((-1, "one run too few"), (1, "one run too many")):
            yield what, replace(ask, parts=_each(parts, count=parts[0].count + more)), 1
    if any(p.gamma is not None and p.sampling == "poisson" for p in parts):
        squared = tuple(
            p if p.gamma is None else replace(p, gamma=str(Fraction(p.gamma) ** 2)) for p in parts
        )
        yield "the sampling rate squared", replace(ask, parts=squared), 1
    if ask.group > 1:
        yield "group ignored", replace(ask, group=1), 1
        yield "group of one times its size", replace(ask, group=1), ask.group
    if any(p.sensitivity != "1" for p in parts):
        yield "sensitivity ignored", replace(ask, parts=_each(parts, sensitivity="1")), 1
        sizes = {p.sensitivity for p in parts}
        if len(sizes) == 1:
            yield "sensitivity not squared", ask, 1 / Fraction(*sizes)
    yield from _in_float32(ask)
    yield "order α + 1", replace(ask, at=str(alpha + 1)), 1
    if alpha > 2:
        yield "order α − 1", replace(ask, at=str(alpha - 1)), 1
    if alpha.denominator != 1:
        floor = alpha.numerator // alpha.denominator
        yield "the next whole order", replace(ask, at=str(floor + 1)), 1
        if floor > 1:
            yield "the whole order below", replace(ask, at=str(floor)), 1
    factors = {
        "the CGF, (α − 1) ε(α)": alpha - 1,
        "ε(α) (α − 1)/α": (alpha - 1) / alpha,
        "twice ε(α)": Fraction(2),
        "half ε(α)": Fraction(1, 2),
    }
    for factor in dict.fromkeys(factors.values()):  # at α = 2 and α = 3 two of them are one number
        yield " or ".join(what for what, value in factors.items() if value == factor), ask, factor
    if all(p.mechanism in ("Gaussian", "Laplace") for p in parts):
        for size, what in (
            (2, "twice the sensitivity or half the noise, as of a record replaced"),
            (Fraction(1, 2), "half the sensitivity or twice the noise"),
        ):
            sized = tuple(
                replace(p, sensitivity=str(Fraction(p.sensitivity) * size)) for p in parts
            )
            yield what, replace(ask, parts=sized), 1


def _in_float32(ask: Ask) -> Iterator[tuple[str, Ask, int]]:
    """With one kind of number rounded to float32 before anything is computed."""
    parts = ask.parts
    noises = tuple(
        replace(p, parameters=tuple((name, float32(x)) for name, x in p.parameters)) for p in parts
    )
    rates = tuple(p if p.gamma is None else replace(p, gamma=float32(p.gamma)) for p in parts)
    yield "the parameter of the noise rounded to float32", replace(ask, parts=noises), 1
    yield "the sampling rate rounded to float32", replace(ask, parts=rates), 1
    yield "the order rounded to float32", replace(ask, at=float32(ask.at)), 1


def float32(text: str) -> str:
    """The float32 next to a number, exactly; the number itself where none is near."""
    number = Fraction(text)
    rounded = nearest_float32(number)
    if rounded in (None, number) or not 2.0**-126 <= abs(number) < 2.0**127:
        return text
    return f"{Decimal(float(rounded)):f}"


def _each(parts: tuple[AskedPart, ...], **changes: Any) -> tuple[AskedPart, ...]:
    return tuple(replace(part, **changes) for part in parts)
