"""The command line: a file per kind of command; importing one adds its commands to `main`."""

from symacct.cli import asking, coding, exploring, formulas, knowledge, papers, reference, verifying
from symacct.cli.frame import main

__all__ = [
    "asking",
    "coding",
    "exploring",
    "formulas",
    "knowledge",
    "main",
    "papers",
    "reference",
    "verifying",
]
