"""What a search found: one candidate decided, and the whole attack."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symacct.export.cards import card
from symacct.kernel.answer import Enclosure
from symacct.kernel.claims import Kind
from symacct.kernel.exact import INFINITY, Order


@dataclass(frozen=True)
class Trial:
    """One candidate, decided: "refuted", "holds", or "tie" where `bits` did not tell them apart.

    `truth` and `bound` are enclosures; for a lower bound "refuted" means bound > truth.
    `ratio` encloses bound/truth, `moment_ratio` (e^{(α−1)bound} − 1)/(e^{(α−1)truth} − 1); each is
    None where it is not finite or means nothing. `bits` are those of the last balls.
    """

    scheme: str
    alpha: Order
    laws: tuple[tuple[str, tuple[Fraction, ...]], ...]
    numbers: tuple[tuple[str, Fraction], ...]
    truth: Enclosure
    bound: Enclosure
    verdict: str
    bits: int
    ratio: Enclosure | None
    moment_ratio: Enclosure | None

    @property
    def order(self) -> str:
        """The order α as text."""
        return "∞" if self.alpha == INFINITY else str(self.alpha)

    @property
    def shown_ratio(self) -> Enclosure | None:
        """The ratio that says more where both are large: that of the moments, if there is one."""
        return self.moment_ratio or self.ratio

    def __str__(self) -> str:
        """Write the candidate's numbers and laws, the truth, the bound and their ratios."""
        lines = [f"{self.scheme}, α = {self.order}"]
        lines += [f"  {name} = {x}" for name, x in self.numbers]
        lines += [f"  {name} = ({', '.join(map(str, law))})" for name, law in self.laws]
        lines += [f"  truth = {self.truth}", f"  bound = {self.bound}"]
        for name, x in (("bound/truth", self.ratio), ("of the moments − 1", self.moment_ratio)):
            if x is not None:
                lines.append(f"  {name} = {x}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the candidate for JSON, fractions as text."""
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
    """The result of a search: a `witness`, the `closest` candidate that was decided, or a `tie`.

    Each is None where there is none. `candidates` counts those that were tried, and `schemes` those
    of each scheme. A search that finds no witness proves nothing.

    >>> from symacct import falsify
    >>> attack = falsify("T8-WITHOUT-REPLACEMENT", budget=2000)
    >>> attack.refuted, attack.theorem
    (True, 'T8-WITHOUT-REPLACEMENT')
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
    nearest: tuple[Trial, ...]
    #: From which sides it was attacked: "upper" looks for truth > bound, "lower" for the reverse.
    sides: tuple[Kind, ...]

    def __repr__(self) -> str:
        return f"Attack: {str(self).splitlines()[0]}"

    def _repr_html_(self) -> str:
        """Show the attack as a card: its outcome, what was searched, and each trial."""
        tried = ", ".join(f"{name} ({count:,})" for name, count in self.schemes)
        trials = {"witness": self.witness, "closest": self.closest, "equal": self.tie}
        rows = [
            ("outcome", f"{self.theorem}: {self.outcome}"),
            ("says", " ".join(self.statement.split())),
            ("kind", str(self.kind)),
            ("searched", f"{self.candidates:,} candidates, budget {self.budget:,}"),
            ("schemes", tried),
            ("seed", str(self.seed)),
            *((name, _in_a_line(trial)) for name, trial in trials.items() if trial is not None),
        ]
        return card(rows)

    @property
    def refuted(self) -> bool:
        """Was a violation proved?"""
        return self.witness is not None

    @property
    def attacked(self) -> bool:
        """Did any scheme make candidates that the statement is about?"""
        return bool(self.candidates)

    @property
    def outcome(self) -> str:
        """Say in a few words what the search found."""
        if self.witness is not None:
            return "refuted"
        if not self.attacked:
            return "not attacked: no scheme makes mechanisms that it is about"
        return "attained, not violated" if self.tie else "no violation found"

    def __str__(self) -> str:
        """Write the outcome in a line, then the schemes that were tried and the closest trials."""
        tried = f"{self.candidates:,} candidates, seed {self.seed}"
        lines = [f"{self.theorem} ({self.kind}): {self.outcome} ({tried})"]
        lines += [f"  tried: {name}, {count:,}" for name, count in self.schemes]
        for label, trial in (("witness", self.witness), ("closest", self.closest)):
            if trial is not None:
                lines.append(f"{label}: {trial}")
        if self.tie is not None and self.witness is None:
            lines.append(f"equal to {self.tie.bits} bits: {self.tie}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the attack for JSON."""
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
            "sides": [str(side) for side in self.sides],
            **{name: trial and trial.as_dict() for name, trial in trials.items()},
            "nearest": [trial.as_dict() for trial in self.nearest],
        }


def _in_a_line(trial: Trial) -> str:
    """Write a trial in one line."""
    return "; ".join(map(str.strip, str(trial).splitlines()))
