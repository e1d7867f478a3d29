"""A Sphinx extension: the page of theorems, written from the register of claims at each build."""

import re
from pathlib import Path
from typing import Any

import symacct
from symacct.expressions.theorem_registry import Theorem

HEAD = """# Theorems in use

Every theorem that symacct applies, from its own register: what it says, what it assumes, and the
name to give as `by=`. In the formulas ε is the curve of the mechanism that is sampled or composed,
ε′ the curve of the result. [The table of the papers' results](theorems.md) also has what is no
bound on a curve.
"""


def plain(text: str) -> str:
    """In one line, its signs no Markdown."""
    return re.sub(r"([\\*_|<\[\]])", r"\\\1", " ".join(text.split()))


def section(theorem: Theorem) -> str:
    """One theorem: its formula, then its claim."""
    status = "" if theorem.status == "proved" else f", **{theorem.status}**"
    facts = {
        "What": f"{theorem.kind}, {theorem.adjacency}, {theorem.orders}{status}",
        "About": theorem.about,
        "Source": str(theorem.source),
        "Assumes": plain(theorem.assumes or "nothing further"),
    }
    lines = "\n".join(f"- **{name}**: {fact}" for name, fact in facts.items())
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
