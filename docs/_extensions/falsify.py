"""docs/falsify.md from real runs: `python docs/_extensions/falsify.py [BUDGET]`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from symacct.adversary.claims import CLAIMS
from symacct.adversary.falsify import Attack, Trial, falsify
from symacct.kernel.answer import format_shared
from symacct.kernel.theorem_registry import theorems
from symacct.theory.conversion import of_one_order

PAGE = Path("docs") / "falsify.md"
BUDGET = 200_000
SEED = 0
_MORE = 10
_NEAR = 1e-3  # ratios this near to 1 are shown by how much they miss it

#: What stands above the tables, and what follows from them.
_INTRODUCTION, _CONCLUSIONS = (
    Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("<!-- conclusions -->\n")
)


def page(budget: int = BUDGET, seed: int = SEED) -> str:
    """The page, from runs made now."""
    names = [*(t.name for t in theorems()), *(c.name for c in of_one_order())]
    known = [_attacked(name, budget, seed) for name in names]
    wrong = [falsify(name, budget, seed) for name in CLAIMS]
    parts = [
        _INTRODUCTION.format(budget=budget, seed=seed),
        _CONCLUSIONS.format(refuted=", ".join(a.theorem for a in known if a.refuted) or "none"),
        "## Theorems and conversions\n",
        *_table(known),
        "\n## Claims that are wrong, and slips that are only looser\n",
        *_claims(wrong),
        "\n## Witnesses\n",
        *(
            f"### {attack.theorem}\n\n```text\n{attack.witness}\n```\n"
            for attack in [*known, *wrong]
            if attack.refuted
        ),
    ]
    return "\n".join(parts)


def _attacked(name: str, budget: int, seed: int) -> Attack:
    """A run, or where each candidate of it counted once, as none took an integral, a longer one."""
    found = falsify(name, budget, seed)
    if found.refuted or found.candidates < budget:
        return found
    return falsify(name, _MORE * budget, seed)


def _table(attacks: Iterable[Attack]) -> list[str]:
    rows = ["| theorem | kind | attacked by | candidates | outcome | nearest ratio, by order |"]
    rows.append("| --- | --- | --- | --- | --- | --- |")
    for attack in attacks:
        schemes = "; ".join(sorted(name for name, _ in attack.schemes)) or "–"
        cells = (attack.theorem, attack.kind, schemes, f"{attack.candidates:,}", _outcome(attack))
        rows.append(f"| {' | '.join(map(str, cells))} | {_nearest(attack)} |")
    return rows


def _outcome(attack: Attack) -> str:
    """The outcome; where ties hide them, how near the nearest candidate that is none came."""
    if attack.tie is None or attack.closest is None or attack.refuted:
        return attack.outcome
    apart = attack.closest
    return f"{attack.outcome}; else {_ratio(apart)} at α = {apart.order} ({apart.scheme})"


def _nearest(attack: Attack) -> str:
    if attack.refuted:
        return "see its witness"
    return ", ".join(f"{trial.order}: {_ratio(trial)}" for trial in attack.nearest) or "–"


def _ratio(trial: Trial) -> str:
    if trial.verdict == "tie":
        return "equal"
    ratio = trial.shown_ratio
    if ratio is None:
        return "–"
    off = float(ratio.lower - 1)
    if abs(off) < _NEAR:
        return f"1 {'+' if off > 0 else '−'} {abs(off):.0e}"
    return format_shared(ratio.lower, ratio.upper, 4)


def _claims(attacks: Iterable[Attack]) -> list[str]:
    rows = ["| claim | what it says | candidates | outcome | bound/truth |"]
    rows.append("| --- | --- | --- | --- | --- |")
    for attack in attacks:
        trial = attack.witness or attack.closest or attack.tie
        ratio = trial and trial.ratio
        shown = format_shared(ratio.lower, ratio.upper, 5) if ratio else "–"
        source = CLAIMS[attack.theorem].theorem.source.place
        said = f"{source}: {attack.statement}".replace("|", "\\|")
        cells = (attack.theorem, said, f"{attack.candidates:,}", attack.outcome, shown)
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return rows


def main() -> None:
    """Write the page."""
    budget = int(sys.argv[1]) if len(sys.argv) > 1 else BUDGET
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(budget), encoding="utf-8")


if __name__ == "__main__":
    main()
