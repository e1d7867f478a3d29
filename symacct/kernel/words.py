"""Sentences that have their mathematics marked: "noise of $σ = {sigma}$" in a template.

A mechanism, an operation or a theorem states its own. In text the mathematics reads as it stands,
and in LaTeX `symacct.export.wording` writes it as a formula.
"""

from __future__ import annotations

_MARK = "$"


def pieces(template: str) -> list[tuple[str, bool]]:
    """The parts of a template, and of each whether it is mathematics.

    >>> pieces("a rate $γ <= 1/5$ of it")
    [('a rate ', False), ('γ <= 1/5', True), (' of it', False)]
    """
    parts = template.split(_MARK)
    if len(parts) % 2 == 0:
        return [(template, False)]  # a sign that is not closed marks nothing
    return [(part, place % 2 == 1) for place, part in enumerate(parts) if part]


def unmarked(template: str) -> str:
    """The template for plain text."""
    return "".join(part for part, _ in pieces(template))


class Marked(str):
    """A sentence as text, which knows what in it is mathematics.

    >>> sentence = Marked("a rate $γ <= 1/5$")
    >>> print(sentence)
    a rate γ <= 1/5
    >>> sentence.template
    'a rate $γ <= 1/5$'
    """

    template: str

    def __new__(cls, template: str) -> Marked:
        made = super().__new__(cls, unmarked(template))
        made.template = template.template if isinstance(template, Marked) else template
        return made


class Pressing(str):
    """A premise that many a run does not meet, so that it is said beside the number itself."""

    __slots__ = ()

    def format(self, *values: object, **fields: object) -> Pressing:
        return Pressing(super().format(*values, **fields))


class Counted(str):
    """A parameter in words; {steps:step} in a template counts it: one step, 16 steps."""

    __slots__ = ()

    def __format__(self, noun: str) -> str:
        if not noun:
            return str(self)
        return f"one {noun}" if self == "1" else f"{self} {noun}s"
