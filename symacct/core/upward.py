"""The modules above the expressions that a node or a guarantee passes its questions to.

`m.epsilon(...)` is a method for convenience: the accountant, which answers it, stands above the
expression. These are the only imports that go down the map in CONTRIBUTING, and each happens when
the first such question is asked.
"""

from typing import TYPE_CHECKING

from symacct.core.lazy_import import Later

if TYPE_CHECKING:
    from symacct import codegen, text
    from symacct.accountant import accountant, reported
    from symacct.accountant.currencies import concentrated, gdp, tradeoff
    from symacct.evidence import certificates
    from symacct.export import cards, citation, description, explanation, formula, graph
    from symacct.export.expansions import expansion, optimum
    from symacct.export.latex import display
    from symacct.papers import document, statement
else:
    accountant = Later("symacct.accountant.accountant")
    cards = Later("symacct.export.cards")
    certificates = Later("symacct.evidence.certificates")
    citation = Later("symacct.export.citation")
    codegen = Later("symacct.codegen")
    concentrated = Later("symacct.accountant.currencies.concentrated")
    description = Later("symacct.export.description")
    display = Later("symacct.export.latex.display")
    document = Later("symacct.papers.document")
    expansion = Later("symacct.export.expansions.expansion")
    explanation = Later("symacct.export.explanation")
    formula = Later("symacct.export.formula")
    gdp = Later("symacct.accountant.currencies.gdp")
    graph = Later("symacct.export.graph")
    optimum = Later("symacct.export.expansions.optimum")
    reported = Later("symacct.accountant.reported")
    statement = Later("symacct.papers.statement")
    text = Later("symacct.text")
    tradeoff = Later("symacct.accountant.currencies.tradeoff")

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
    "optimum",
    "reported",
    "statement",
    "text",
    "tradeoff",
]
