"""The two laws of a pair in LaTeX, as its loss writes them."""

from __future__ import annotations

import sympy

from symacct.export.latex.printer import PaperPrinter, width_of
from symacct.export.latex.sentences import SymbolNames
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import expression
from symacct.profile.part import Part
from symacct.profile.written_laws import WrittenLaws

_LONGEST = 250  # width of a law that is printed


class UnwrittenError(DomainError):
    """The laws of a pair are not known in letters, or are too long to be read."""

    def __init__(
        self, finding: str = "latex: found a pair of laws that are not written", remedy: str = ""
    ) -> None:
        super().__init__(finding, remedy=remedy)


def laws_of(part: Part, names: SymbolNames) -> WrittenLaws:
    """P and Q of one part; UnwrittenError for what is not known so."""
    printer = PaperPrinter(names)
    found = part.in_latex(lambda x: printer.in_line(sympy.sympify(expression(x))))
    if found is None or max(width_of(law) for law in (found.P, found.Q)) > _LONGEST:
        raise UnwrittenError
    return found
