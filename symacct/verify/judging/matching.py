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

#: Relative distance up to which two float64 computations of one formula are taken for the same: a
#: larger one lets a formula fit by chance, a smaller one misses sums that were rounded on the way.
#: Whether an answer passes for a proved bound that its peer names rests on it.
SAME = Fraction(1, 10**9)


def same(value: Fraction, bounds: tuple[Bound, Bound], allowed: Fraction = SAME) -> bool:
    """low (1 − allowed) <= value <= high (1 + allowed); False where low is ∞."""
    low, high = bounds
    return low != float("inf") and low * (1 - allowed) <= value <= high * (1 + allowed)


def matched(
    oracle: Oracle, ask: Ask, value: Fraction, beside: Sequence[tuple[Ask, Fraction]] = ()
) -> str | None:
    """Names the first of the `candidates` whose value this is, up to SAME; None if none is.

    It has to give the values `beside`, each at its own question, too. None also for kinds of
    question but "rdp", for the value 0, and for an exact truth itself: a mistake that changes
    nothing explains nothing.
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

    Of a name "A or B", two formulas of one number elsewhere, either may be the one here.
    """
    alike = set(name.split(" or "))
    enclosures = (
        bounds for other, bounds in candidates(oracle, ask) if alike & {*other.split(" or ")}
    )
    return any(same(value, bounds) for bounds in enclosures)


def proves(name: str, ask: Ask) -> bool:
    """Is this the name of a proved theorem, no lower bound, under just the question's adjacency?"""
    try:
        theorem = theorem_registry.named(name)
    except SymacctError:
        return False
    proved = theorem.status == theorem_registry.PROVED and theorem.kind is not Kind.LOWER
    return proved and str(theorem.adjacency) == ask.adjacency


def claimed(oracle: Oracle, ask: Ask, name: str) -> tuple[Bound, Bound] | None:
    """Encloses the value at a question about RDP of the theorem that a peer names, of any kind.

    None for another kind of question, for an unknown name, and where the theorem has no value:
    no part is sampled as it is about, the order is beyond 4096, or it does not hold there.
    """
    return _by_theorem(oracle, ask, name) if ask.kind == "rdp" else None


def candidates(oracle: Oracle, ask: Ask) -> Iterator[tuple[str, tuple[Bound, Bound]]]:
    """Yields (name, enclosure of its value) of every formula that an RDP is compared with.

    First theorems about the samplings, then likely mistakes, then theorems about every curve. A
    mistake at which nothing changes is left out, as is all that has no value.
    """
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


#: How the names of theorems begin that hold for every curve: they explain the least.
_GENERIC = ("VEH14", "WBK19-C10")
#: The largest order at which a theorem is evaluated: above it, sums over all orders below take
#: minutes, and no theorem is named.
_LARGEST_ORDER = 4096
#: Approximations that accountants compute, at the number of terms τ that their paper proposes.
_WITH_OPTIONS = ("ZW19-T11:tau=50", "ZW19-T20:tau=50")


def _theorems(
    oracle: Oracle, ask: Ask, names: list[str]
) -> Iterator[tuple[str, tuple[Bound, Bound]]]:
    """Yields (name, enclosure) of those of the theorems that have a value."""
    for name in names:
        bounds = _by_theorem(oracle, ask, name)
        if bounds is not None:
            yield name, bounds


def _by_theorem(oracle: Oracle, ask: Ask, name: str) -> tuple[Bound, Bound] | None:
    """Encloses the theorem's value for both readings of the question; None where it has none."""
    try:
        if not any(_is_of(name, part) for part in ask.parts) or Fraction(ask.at) > _LARGEST_ORDER:
            return None
        lows, highs = zip(*(_sum_of_parts(oracle, r, name) for r in readings(ask)), strict=True)
    except SymacctError:
        return None
    return min(lows), max(highs)


def _sum_of_parts(oracle: Oracle, ask: Ask, name: str) -> tuple[Bound, Bound]:
    """Sums the theorem's values of the parts it is about and the best ones of the others."""
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
    """Is the theorem about operations of this part's sampling? Never where nothing is sampled."""
    if part.sampling == "none":
        return False
    return SAMPLINGS[part.sampling].__name__ in theorem_registry.named(name).operation


def _mistakes(ask: Ask) -> Iterator[tuple[str, Ask, Fraction | int]]:
    """Yields (name of a mistake, the RDP question whose truth it computes, that truth's factor)."""
    alpha = Fraction(ask.at)
    parts = ask.parts
    if any(p.sampling != "none" for p in parts):
        yield "sampling ignored", replace(ask, parts=_each(parts, sampling="none", gamma=None)), 1
    if any(p.sampling == "without_replacement" for p in parts):
        poisson = replace(ask, parts=_each(parts, sampling="poisson"), adjacency="add_remove")
        yield "Poisson sampling under add/remove", poisson, 1
    if any(p.count > 1 for p in parts):
        two = " or one run too few" if len(parts) == 1 and parts[0].count == 2 else ""
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
    """Yields mistakes of one kind of number rounded to float32 before anything is computed."""
    parts = ask.parts
    noises = tuple(
        replace(p, parameters=tuple((name, float32(x)) for name, x in p.parameters)) for p in parts
    )
    rates = tuple(p if p.gamma is None else replace(p, gamma=float32(p.gamma)) for p in parts)
    yield "the parameter of the noise rounded to float32", replace(ask, parts=noises), 1
    yield "the sampling rate rounded to float32", replace(ask, parts=rates), 1
    yield "the order rounded to float32", replace(ask, at=float32(ask.at)), 1


def float32(text: str) -> str:
    """The text of a number rounded to float32; itself for one, and outside of [2^−126, 2^127)."""
    number = Fraction(text)
    rounded = nearest_float32(number)
    if rounded in (None, number) or not 2.0**-126 <= abs(number) < 2.0**127:
        return text
    return f"{Decimal(float(rounded)):f}"


def _each(parts: tuple[AskedPart, ...], **changes: Any) -> tuple[AskedPart, ...]:
    """The parts, each with these fields changed."""
    return tuple(replace(part, **changes) for part in parts)
