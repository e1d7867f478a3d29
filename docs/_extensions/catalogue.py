"""A Sphinx extension: the page of theorems, written from the register of claims at each build."""

import re
from pathlib import Path
from typing import Any

import symacct
from symacct.kernel.claims import Kind
from symacct.kernel.theorem_registry import Theorem

HEAD = """# Theorems in use

This page lists every theorem that symacct applies. The heading is its name, which you can give as
`by=`. In the formulas, ε is the curve of the mechanism that is sampled or composed, and ε′ is the
curve of the result. A theorem is used only where its assumptions are known, or stated by you, to
hold. [The table of the papers' results](theorems.md) also lists results that are not bounds on a
curve.
"""
KINDS = {
    Kind.EXACT: "This formula is the exact curve",
    Kind.UPPER: "This is an upper bound of the curve",
    Kind.LOWER: "This is a lower bound of the curve",
    Kind.NEITHER: "This is neither an upper nor a lower bound of the curve",
}
RELATIONS = {
    "add_remove": "for neighbours by adding or removing a record",
    "replace_one": "for neighbours by replacing a record",
    "zero_out": "for neighbours by zeroing out a record",
    "either": "for any relation of neighbours",
}


def plain(text: str) -> str:
    """In one line, its signs no Markdown."""
    return re.sub(r"([\\*_|<\[\]])", r"\\\1", " ".join(text.split()))


def section(theorem: Theorem) -> str:
    """One theorem: its formula, then its claim."""
    names = theorem.about.split(", ")
    about = " and ".join(", ".join(f"`{name}`" for name in names).rsplit(", ", 1))
    relation = RELATIONS[str(theorem.adjacency)]
    status = "" if theorem.status == "proved" else f" Its status is **{theorem.status}**."
    assumes = plain(theorem.assumes or "nothing further")
    facts = (
        f"{KINDS[theorem.kind]} of {about}, {relation}, at {plain(str(theorem.orders))}.{status}",
        f"It assumes {assumes}." if assumes == "nothing further" else f"Assumptions: {assumes}.",
        f"The source is {theorem.source}.",
    )
    lines = "\n".join(f"- {fact}" for fact in facts)
    return f"## {theorem.name}\n\n{plain(theorem.statement)}\n\n{lines}\n"


def write(app: object) -> None:
    """Write catalogue.md beside the other pages."""
    page = "\n".join([HEAD, *map(section, symacct.theorems())])
    Path(app.srcdir, "catalogue.md").write_text(page, encoding="utf-8")


def keep_bars(*event: Any) -> None:
    """In our docstrings |x| is a modulus, and no substitution."""
    lines = event[-1]
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app: object) -> dict[str, bool]:
    app.connect("builder-inited", write)
    app.connect("autodoc-process-docstring", keep_bars)
    return {"parallel_read_safe": True}
