"""The modules above the expressions that a node or a guarantee passes its questions to.

`m.epsilon(...)` is a method for convenience: the accountant, which answers it, stands above the
expression. These are the only imports that go down the map in CONTRIBUTING, and each happens when
the first such question is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symacct.kernel.exact import LazyModule

if TYPE_CHECKING:
    from symacct import codegen, text
    from symacct.accountant.currencies import concentrated, gdp, tradeoff
    from symacct.baselines import ways
    from symacct.evidence import certificates
    from symacct.explore import plots, risk_calibration
    from symacct.export import (
        cards,
        citation,
        description,
        explanation,
        formula,
        graph,
    )
    from symacct.export.expansions import expansion, optimum
    from symacct.export.latex import display, number_formula
    from symacct.kernel import accountant
    from symacct.papers import document, report, statement
else:
    accountant = LazyModule("symacct.kernel.accountant")
    cards = LazyModule("symacct.export.cards")
    certificates = LazyModule("symacct.evidence.certificates")
    citation = LazyModule("symacct.export.citation")
    codegen = LazyModule("symacct.codegen")
    concentrated = LazyModule("symacct.accountant.currencies.concentrated")
    description = LazyModule("symacct.export.description")
    display = LazyModule("symacct.export.latex.display")
    document = LazyModule("symacct.papers.document")
    expansion = LazyModule("symacct.export.expansions.expansion")
    explanation = LazyModule("symacct.export.explanation")
    formula = LazyModule("symacct.export.formula")
    gdp = LazyModule("symacct.accountant.currencies.gdp")
    graph = LazyModule("symacct.export.graph")
    number_formula = LazyModule("symacct.export.latex.number_formula")
    optimum = LazyModule("symacct.export.expansions.optimum")
    plots = LazyModule("symacct.explore.plots")
    report = LazyModule("symacct.papers.report")
    risk_calibration = LazyModule("symacct.explore.risk_calibration")
    statement = LazyModule("symacct.papers.statement")
    text = LazyModule("symacct.text")
    tradeoff = LazyModule("symacct.accountant.currencies.tradeoff")
    ways = LazyModule("symacct.baselines.ways")

__all__ = [
    "accountant",
    "cards",
    "certificates",
    "citation",
    "codegen",
    "concentrated",
    "description",
    "display",
    "document",
    "expansion",
    "explanation",
    "formula",
    "gdp",
    "graph",
    "number_formula",
    "optimum",
    "plots",
    "report",
    "risk_calibration",
    "statement",
    "text",
    "tradeoff",
    "ways",
]
