"""The adversary: a search for a finite mechanism that violates a claimed bound.

Candidates are found in float64 by random search and hill climbing, then rounded to small fractions
and decided in certified balls; what is called refuted is proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from symacct import theory as register
from symacct.arithmetic.ball import precision
from symacct.claims import (
    ADD_REMOVE,
    EITHER,
    FINITE_ORDERS,
    INTEGER_ORDERS,
    REPLACE_ONE,
    Claim,
    Kind,
    Orders,
    Source,
)
from symacct.claims import kind as named_kind
from symacct.conversion import conversions
from symacct.conversion.conversion import Conversion
from symacct.domains import whole
from symacct.enclosure import Enclosure, from_ball
from symacct.errors import DomainError, SymacctError
from symacct.exact import INFINITY
from symacct.explore.attacks.claims import CLAIMS
from symacct.explore.attacks.climb import Found, Ruler, applies, balls, climb, suitable
from symacct.explore.attacks.finite import Candidates
from symacct.explore.attacks.schemes import BY_CONDITION, SCHEMES, Itself, Scheme
from symacct.theory import Theorem

_WHOLE = (2, 3, 4, 5, 6, 8, 12)
_REAL = (1, Fraction(5, 4), Fraction(3, 2), 2, Fraction(5, 2), 3, Fraction(9, 2), 8)
_ROUNDS = 16  # generations of one climb
_DENOMINATORS = (10, 30, 100, 1000, 10**4, 10**6)
_FIRST_BITS, _LAST_BITS = 128, 1024
_DIGITS = 15
_VIOLATION = 1e-9  # a float64 score above which a proof is tried at once
_CHECKED = 24  # candidates taken from the search to the proof
_SLOW = 16  # a candidate whose bound is not evaluated on arrays counts this often


@dataclass(frozen=True)
class Trial:
    """One candidate, decided: "refuted", "holds", or "tie" where no precision told the sides apart.

    `truth` and `bound` are enclosures; for a lower bound "refuted" means bound > truth.
    `ratio` encloses bound/truth, `moment_ratio` (e^{(α−1)bound} − 1)/(e^{(α−1)truth} − 1).
    """

    scheme: str
    alpha: Any
    laws: tuple[tuple[str, tuple[Fraction, ...]], ...]
    numbers: tuple[tuple[str, Fraction], ...]
    truth: Enclosure
    bound: Enclosure
    verdict: str
    ratio: Enclosure | None
    moment_ratio: Enclosure | None

    @property
    def order(self) -> str:
        """α as text."""
        return _order_text(self.alpha)

    @property
    def shown_ratio(self) -> Enclosure | None:
        """The ratio that says more where both are large: that of the moments, if there is one."""
        return self.moment_ratio or self.ratio

    def __str__(self) -> str:
        lines = [f"{self.scheme}, α = {self.order}"]
        lines += [f"  {name} = {x}" for name, x in self.numbers]
        lines += [f"  {name} = ({', '.join(map(str, law))})" for name, law in self.laws]
        lines += [f"  truth = {self.truth}", f"  bound = {self.bound}"]
        for name, x in (("bound/truth", self.ratio), ("of the moments − 1", self.moment_ratio)):
            if x is not None:
                lines.append(f"  {name} = {x}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The candidate for JSON, fractions as text."""
        return {
            "scheme": self.scheme,
            "alpha": self.order,
            "numbers": {name: str(x) for name, x in self.numbers},
            "laws": {name: [str(x) for x in law] for name, law in self.laws},
            "truth": self.truth.as_dict(),
            "bound": self.bound.as_dict(),
            "verdict": self.verdict,
            "ratio": self.ratio and self.ratio.as_dict(),
            "moment_ratio": self.moment_ratio and self.moment_ratio.as_dict(),
        }


@dataclass(frozen=True)
class Attack:
    """What a search found against a statement: a `witness`, or how near it came.

    `closest` is the candidate with the bound nearest to the truth among those where both were told
    apart; `tie` one where they were not, as for a bound that is attained.
    """

    theorem: str
    kind: Kind
    statement: str
    budget: int
    seed: int
    candidates: int
    schemes: tuple[tuple[str, int], ...]
    witness: Trial | None
    closest: Trial | None
    tie: Trial | None
    #: The nearest candidate at each order, ties included.
    nearest: tuple[Trial, ...] = ()

    @property
    def refuted(self) -> bool:
        """Was a violation proved?"""
        return self.witness is not None

    @property
    def attacked(self) -> bool:
        """Did any scheme apply?"""
        return bool(self.candidates)

    @property
    def outcome(self) -> str:
        """In a few words."""
        if self.witness is not None:
            return "refuted"
        if not self.attacked:
            return "not attacked: no scheme makes mechanisms that it speaks of"
        return "attained, not violated" if self.tie else "no violation found"

    def __str__(self) -> str:
        tried = f"{self.candidates:,} candidates, seed {self.seed}"
        lines = [f"{self.theorem} ({self.kind}): {self.outcome} ({tried})"]
        lines += [f"  tried: {name}, {count:,}" for name, count in self.schemes]
        for label, trial in (("witness", self.witness), ("closest", self.closest)):
            if trial is not None:
                lines.append(f"{label}: {trial}")
        if self.tie is not None and self.witness is None:
            lines.append(f"equal to {_LAST_BITS} bits: {self.tie}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The attack for JSON."""
        trials = {"witness": self.witness, "closest": self.closest, "tie": self.tie}
        return {
            "theorem": self.theorem,
            "kind": str(self.kind),
            "statement": self.statement,
            "outcome": self.outcome,
            "budget": self.budget,
            "seed": self.seed,
            "candidates": self.candidates,
            "schemes": dict(self.schemes),
            **{name: trial and trial.as_dict() for name, trial in trials.items()},
            "nearest": [trial.as_dict() for trial in self.nearest],
        }


def falsify(
    theorem: Any,
    budget: int = 20_000,
    seed: int = 0,
    about: str | None = None,
    kind: Any = "upper",
    orders: Orders = INTEGER_ORDERS,
) -> Attack:
    """Search `budget` candidates for a finite mechanism that violates the statement.

    `theorem` is a name ("ZW19-T5", "improved", or a wrong claim such as "T8-SHIFTED"), a Theorem, a
    Conversion, or a function `bound(ctx, eps, alpha, ...)` about the operation `about`. The same
    seed makes the same search. Raises DomainError for anything else.

    >>> falsify("T8-WITHOUT-REPLACEMENT", budget=2000).refuted
    True
    """
    budget = whole(budget, "falsify, budget", least=1)
    name, stated, statements = _statements(theorem, about, kind, orders)
    searches = [s for one, schemes in statements for s in _searches(one, schemes)]
    search = _Search(searches, budget, np.random.default_rng(seed))
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
    )


# --- what is attacked

_Statement = tuple[Theorem, tuple[Scheme, ...] | None]


def _statements(
    given: Any, about: str | None, kind: Any, orders: Orders
) -> tuple[str, Theorem, list[_Statement]]:
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
            f"falsify: found {given!r}, needed a theorem, its name, a conversion or a function "
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
        raise DomainError(f"falsify: found {name!r}, needed one of {', '.join(names)}") from None


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
            f"falsify, about: found {about!r}, needed one of {', '.join(sorted(known))}"
        )
    adjacency = {"PoissonSubsample": ADD_REMOVE, "SubsampleWithoutReplacement": REPLACE_ONE}
    return Theorem(
        name=getattr(bound, "__name__", "bound"),
        about=about,
        kind=kind,
        source=Source("user", ""),
        orders=orders,
        adjacency=adjacency.get(about, EITHER),
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
            bound=bound,
        )
        for about, bound in (("epsilon", to_epsilon), ("delta", to_delta))
    ]


# --- which searches


@dataclass(frozen=True)
class _Task:
    """One statement, one scheme, one order, one side."""

    theorem: Theorem
    scheme: Scheme
    alpha: Any
    side: Kind


def _searches(theorem: Theorem, chosen: tuple[Scheme, ...] | None) -> Iterator[_Task]:
    """Every scheme that makes mechanisms the theorem speaks of, at every order it speaks of."""
    sides = {Kind.EXACT: (Kind.UPPER, Kind.LOWER)}.get(theorem.kind, (theorem.kind,))
    for scheme in chosen if chosen is not None else _schemes(theorem):
        side = theorem.kind if chosen is not None else scheme.side
        orders = scheme.orders or (_WHOLE if theorem.orders.whole else (*_REAL, INFINITY))
        spoken = [alpha for alpha in orders if register.covers(theorem.orders, alpha)]
        if side in sides and spoken and suitable(theorem, scheme, spoken[0]):
            yield from (_Task(theorem, scheme, alpha, side) for alpha in spoken)


def _schemes(theorem: Theorem) -> list[Scheme]:
    """The schemes about the theorem's operations, and those by its own condition."""
    if theorem.reads == "itself":
        return [Itself(side=theorem.kind)]
    found = [scheme for scheme in SCHEMES if scheme.about in theorem.about.split()]
    if theorem.name in BY_CONDITION:
        found.append(BY_CONDITION[theorem.name])
    return found


class _Search:
    """Climbs over all tasks in turn until the budget is used up or a violation is proved."""

    def __init__(self, tasks: list[_Task], budget: int, rng: Any) -> None:
        self.tasks = [tasks[i] for i in rng.permutation(len(tasks))]
        self.budget = budget
        self.rng = rng
        self.rulers: dict[_Task, Ruler] = {}
        self.tried: dict[str, int] = {}
        self.found: list[tuple[_Task, Found]] = []
        self.witness: Trial | None = None
        self.closest: Trial | None = None
        self.tie: Trial | None = None
        self.nearest: dict[Any, Trial] = {}

    def run(self) -> None:
        spent, turn = 0, 0
        while self.tasks and spent < self.budget and self.witness is None:
            task = self.tasks[turn % len(self.tasks)]
            if task not in self.rulers:
                self.rulers[task] = Ruler(task.theorem, task.scheme, task.alpha, task.side)
            ruler = self.rulers[task]
            found, tried = climb(ruler, self.rng, self._rounds())
            self.tried[task.scheme.name] = self.tried.get(task.scheme.name, 0) + tried
            spent += tried if ruler.vectorised else _SLOW * tried
            turn += 1
            if found is not None:
                self.found.append((task, found))
                if found.score > _VIOLATION:
                    self._settle(task, found)
        if self.witness is None:
            self.found.sort(key=lambda pair: -pair[1].score)
            for task, found in self._worth_deciding():
                self._settle(task, found)

    def _rounds(self) -> int:
        """Fewer generations where the budget would not reach every task."""
        return max(4, min(_ROUNDS, self.budget // (64 * max(1, len(self.tasks)))))

    def _worth_deciding(self) -> list[tuple[_Task, Found]]:
        """The nearest candidates over all, and the nearest of each order."""
        nearest: dict[Any, tuple[_Task, Found]] = {}
        for task, found in self.found:
            nearest.setdefault((task.alpha, task.scheme.name), (task, found))
        chosen = {id(found): (task, found) for task, found in self.found[:_CHECKED]}
        chosen |= {id(found): (task, found) for task, found in nearest.values()}
        return list(chosen.values())

    def _settle(self, task: _Task, found: Found) -> None:
        """Decide the candidate, from the smallest fractions on where a violation is in sight."""
        hopeful = found.score > _VIOLATION
        for denominator in _DENOMINATORS if hopeful else _DENOMINATORS[-1:]:
            trial = decide(
                task.theorem,
                task.scheme,
                found.candidate.one(0, denominator),
                task.alpha,
                task.side,
            )
            if trial is None:
                continue
            if trial.verdict == "refuted":
                self.witness = trial
                return
            known = self.nearest.get(task.alpha)
            if known is None or _gap(trial) < _gap(known):
                self.nearest[task.alpha] = trial
            if trial.verdict == "tie":
                self.tie = self.tie or trial
            elif self.closest is None or _gap(trial) < _gap(self.closest):
                self.closest = trial


def _gap(trial: Trial) -> Any:
    """How far the bound is from the truth: the ratio that says more, above or below 1."""
    ratio = trial.shown_ratio
    if ratio is None:
        return INFINITY
    return max(ratio.upper - 1, 1 - ratio.lower)


# --- deciding one candidate


def decide(theorem: Theorem, scheme: Scheme, c: Candidates, alpha: Any, side: Kind) -> Trial | None:
    """The exact candidate decided in balls of growing precision.

    None where the statement does not speak of it.
    """
    if not scheme.surely_admits(c, alpha) or not applies(theorem, scheme, c, alpha):
        return None
    bits = _FIRST_BITS
    while bits <= _LAST_BITS:
        with precision(bits):
            try:
                pair = balls(theorem, scheme, c, alpha)
            except SymacctError:
                return None
            verdict = "" if pair is None else _verdict(*pair, side)
            if pair is not None and (verdict or bits == _LAST_BITS):
                return _trial(theorem, scheme, c, alpha, verdict or "tie", *pair)
        bits *= 2
    return None


def _verdict(truth: arb, bound: arb, side: Kind) -> str:
    """What is proved: "refuted" or "holds" where the balls are apart, "" where they are not."""
    low, high = (truth, bound) if side is Kind.UPPER else (bound, truth)
    return "refuted" if low > high else "holds" if low < high else ""


def _trial(
    theorem: Theorem,
    scheme: Scheme,
    c: Candidates,
    alpha: Any,
    verdict: str,
    truth: arb,
    bound: arb,
) -> Trial:
    exact = Claim(Kind.EXACT, theorem.adjacency)

    def enclosed(x: arb, claim: Claim = exact) -> Enclosure:
        return from_ball(x, claim, _DIGITS, True, signed=True)

    def divided(a: arb, b: arb) -> Enclosure | None:
        x = a / b
        return enclosed(x) if x.is_finite() else None

    ratio, moments = divided(bound, truth), None
    if scheme.by_moments and alpha not in (1, INFINITY):
        lam = arb(alpha.numerator) / alpha.denominator - 1
        moments = divided((lam * bound).expm1(), (lam * truth).expm1())
    return Trial(
        scheme=scheme.name,
        alpha=alpha,
        laws=scheme.laws(c),
        numbers=tuple((name, c.number(name)) for name in c.numbers),
        truth=enclosed(truth),
        bound=enclosed(bound, theorem.claim),
        verdict=verdict,
        ratio=ratio,
        moment_ratio=moments,
    )


def _order_text(alpha: Any) -> str:
    return "∞" if alpha == INFINITY else str(alpha)
