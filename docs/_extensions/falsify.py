"""What the adversary found, for docs/theorems.md: `python docs/_extensions/falsify.py [BUDGET]`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from symacct.adversary.claims import CLAIMS
from symacct.adversary.falsify import Attack, Trial, falsify
from symacct.kernel.answer import format_shared
from symacct.kernel.conversion import of_one_order
from symacct.kernel.theorem_registry import theorems

PAGE = Path("docs") / "theorems.md"
START, END = "<!-- attacks -->", "<!-- end of attacks -->"
BUDGET = 200_000
SEED = 0
_MORE = 10
_NEAR = 1e-3  # ratios this near to 1 are shown by how much they miss it

_RUNS = """\
Every run has a budget of {budget:,} units and the seed {seed}. If each candidate costs one unit,
the run is repeated with ten times this budget. These registered theorems and conversions were
refuted: {refuted}.
"""


def tables(budget: int = BUDGET, seed: int = SEED) -> str:
    """The tables of all theorems and of all claims, from runs made now."""
    names = [*(t.name for t in theorems()), *(c.name for c in of_one_order())]
    known = [_attacked(name, budget, seed) for name in names]
    wrong = [falsify(name, budget, seed) for name in CLAIMS]
    refuted = ", ".join(a.theorem for a in known if a.refuted) or "none"
    parts = [
        _RUNS.format(budget=budget, seed=seed, refuted=refuted),
        "### Theorems and conversions\n",
        *_table(known),
        "\n### Claims that are wrong, and slips that are only looser\n",
        *_claims(wrong),
    ]
    return "\n".join(parts)


def _attacked(name: str, budget: int, seed: int) -> Attack:
    """A run, or where each candidate of it counted once, as none took an integral, a longer one."""
    found = falsify(name, budget, seed)
    if found.refuted or found.candidates < budget:
        return found
    return falsify(name, _MORE * budget, seed)


def _table(attacks: Iterable[Attack]) -> list[str]:
    rows = ["| theorem | kind | candidates | outcome | nearest ratio, by order |"]
    rows.append("| --- | --- | --- | --- | --- |")
    for attack in attacks:
        cells = (attack.theorem, attack.kind, f"{attack.candidates:,}", _outcome(attack))
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
        return "–"
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
    """Write the tables between their two marks on the page."""
    budget = int(sys.argv[1]) if len(sys.argv) > 1 else BUDGET
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    text = f"{before}{START}\n\n{tables(budget)}\n\n{END}{after}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
