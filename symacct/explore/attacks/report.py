"""docs/falsify.md from real runs: `python -m symacct.explore.attacks.report [BUDGET]`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from symacct.conversion import of_one_order
from symacct.explore.attacks.claims import CLAIMS
from symacct.explore.falsify import Attack, Trial, falsify
from symacct.rounding import format_shared
from symacct.theory import theorems

PAGE = Path("docs") / "falsify.md"
BUDGET = 200_000
SEED = 0
_NEAR = 1e-3  # ratios this near to 1 are shown by how much they miss it

_INTRODUCTION = """# What the adversary found

Made by `python -m symacct.explore.attacks.report {budget}`; every run has a budget of
{budget:,} candidates and the seed {seed}. Do not edit. Any row can be had again by its name:
`symacct falsify T8-WITHOUT-REPLACEMENT --budget 5000` finds a witness and prints it.

`symacct.falsify(theorem, budget=, seed=)` draws finite mechanisms of two to four outcomes,
mixes them as the sampling scheme does, and climbs towards truth > bound in float64. The nearest
candidates are rounded to fractions and decided in balls of 128 to 1024 bits: what is called
refuted is proved, what is called attained is a tie at 1024 bits (at 256 or 128 where the truth is
an integral). A candidate whose bound has to be evaluated one by one counts 16 times, and more
where that takes an integral; the schemes take turns, each has at least one climb, and a search ends
at its first witness.

What is attacked, and with which curve:

- An **upper bound** reads ε(l) = the largest D_l over all ordered pairs of neighbouring outputs
  of the candidate; the truth is the larger direction of D_α of the outputs after the operation.
  Theorems about mechanisms with a known pair (Gaussian and Laplace noise, pure DP, tCDP) are
  attacked with finite mechanisms that the pair dominates, and with the noise itself; those under
  condition (4) with pairs that satisfy it, checked in exact fractions.
- A **lower bound** says that the pair that attains the curve also attains the bound. It reads
  the curve of that one pair, D_l(P‖Q), P being the law with the record; the truth is the larger
  direction of the sampled pair. An **exact** value is attacked from both sides. Of Gaussian and
  Laplace noise both directions of the sampled pair are integrated from the definition by flint's
  rigorous integration, which shares no formula with the package. Where P is the
  law without the record the same is false (T6-FROM-A-REMOVAL, L4-FROM-A-REMOVAL below): such a
  lower bound, and the word exact, speak of the class of all mechanisms that have the curve, in
  which the pair with its roles exchanged is another member.
- A **conversion** reads the larger direction of D_α of a pair; the truth is Σ max(0, P − e^ε
  Q), a fraction since e^ε is one. ε(δ) is attacked at δ = the true one, below which no smaller
  ε will do.

The ratios are (e^{{(α−1)·bound}} − 1)/(e^{{(α−1)·truth}} − 1), or bound/truth at α = 1 and ∞
and for conversions: the nearest to 1 at each order. Small divergences are the nearest to many
bounds, so a ratio near 1 there says that the leading term is right, not that the bound is
tight.
"""

_CONCLUSIONS = """## What follows

- Refuted among the registered theorems and conversions: {refuted}.
- BLOG-C26 is false for replace-one neighbours: Gaussian noise on three
  records whose values form a triangle with sides Δ in the plane violates it at order 2. The
  truth is enclosed from below by a closed form, see `NormalTriangle` in
  `explore/attacks/thresholds.py`.
- Conjecture 1 of the blog is false: exchange μ₂, ν₂ for ν₁, μ₁ and their averages are equal.
- Theorem 8's formula is for Poisson sampling alone, and Theorem 9 needs the 4 of its
  second term already for three laws.
- Theorem 27 on an upper bound of the curve can fall below the truth, though the bound is
  nondecreasing and its differences are not negative: it has to refuse all but exact curves.
- In the improved conversion, log((α−1)/α) is negative: leaving it out, or subtracting it, is
  looser and can't be refuted. Taking it twice, or adding the last term, is unsound; so is
  multiplying δ by α−1 instead of dividing.
- Theorem 6 and Lemma 4 as lower bounds are true of the class of mechanisms with a curve, not of
  each of them: where the removal of the record attains the curve, sampling does better.
"""


def page(budget: int = BUDGET, seed: int = SEED) -> str:
    """The page, from runs made now."""
    names = [*(t.name for t in theorems()), *(c.name for c in of_one_order())]
    known = [falsify(name, budget, seed) for name in names]
    wrong = [falsify(name, budget, seed) for name in CLAIMS]
    parts = [
        _INTRODUCTION.format(budget=budget, seed=seed),
        _CONCLUSIONS.format(refuted=", ".join(a.theorem for a in known if a.refuted) or "none"),
        "## Theorems and conversions\n",
        *_table(known),
        "\n## Claims that are wrong, and slips that are only looser\n",
        *_claims(wrong),
        "\n## Witnesses\n",
        *(_witness(attack) for attack in [*known, *wrong] if attack.refuted),
    ]
    return "\n".join(parts)


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


def _witness(attack: Attack) -> str:
    return f"### {attack.theorem}\n\n```text\n{attack.witness}\n```\n"


def main() -> None:
    """Write the page."""
    budget = int(sys.argv[1]) if len(sys.argv) > 1 else BUDGET
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(budget), encoding="utf-8")


if __name__ == "__main__":
    main()
