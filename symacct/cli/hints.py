"""What an option is called here that is called otherwise elsewhere, or in another command."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

import click

_ALIKE = 0.75  # the least share of signs that a misspelt option has in common with the right one

#: Names that options had before one concept had one name; they are taken, and a note is printed.
_BEFORE = {"--format": "--form", "--target": "--form"}

#: What others call an option of ours; of several the first that the command has.
_ALSO_CALLED = {
    "sigma": ("noise-multiplier",),
    "lot-size": ("batch-size",),
    "alpha": ("orders",),
    "alphas": ("alpha", "orders"),
    "order": ("alpha", "orders"),
    "orders": ("alpha",),
    "theorem": ("by",),
    "bound": ("by",),
    "method": ("conversion", "by"),
    "accountant": ("conversion",),
    "precision": ("digits",),
    "language": ("form",),
    "lang": ("form",),
    "output-format": ("form",),
    "output": ("out", "file", "figure"),
    "save": ("out", "file", "figure"),
    "value": ("prints",),
    "printed": ("prints",),
    "variable": ("in",),
    "parameter": ("in", "over"),
    "around": ("at",),
    "eps": ("epsilon",),
    "relation": ("adjacency",),
    "neighbors": ("adjacency",),
    "neighbours": ("adjacency",),
    "names": ("name",),
    "over": ("grid",),
    "grid": ("over",),
}

#: An option that is a value of another one.
_VALUES = {
    "replace-one": ("--adjacency", "replace_one"),
    "replacement": ("--adjacency", "replace_one"),
    "substitute": ("--adjacency", "replace_one"),
    "add-remove": ("--adjacency", "add_remove"),
    "poisson": ("--sampling", "poisson"),
    "without-replacement": ("--sampling", "without_replacement"),
    "shuffle": ("--sampling", "shuffled"),
    "shuffled": ("--sampling", "shuffled"),
    "exact": ("--conversion", "exact"),
    "improved": ("--conversion", "improved"),
    "classic": ("--conversion", "classic"),
    "tex": ("--form", "latex"),
    "md": ("--form", "markdown"),
}

#: What is no option of a command, in words.
_NOT_HERE = {
    ("delta", "--delta"): "delta answers the smallest δ, and --epsilon is what is given, as in "
    "--epsilon 1; symacct epsilon EXPR --delta 1e-5 answers the smallest ε",
    ("epsilon", "--epsilon"): "epsilon answers the smallest ε, and --delta is what is given, as in "
    "--delta 1e-5; symacct delta EXPR --epsilon 1 answers the smallest δ",
    ("rdp", "--delta"): "rdp answers ε(α), and --alpha is what is given; symacct epsilon EXPR "
    "--delta 1e-5 answers the ε to report",
    (
        "cite",
        "--form",
    ): "cite prints BibTeX and has no other form; --json has the sources as a list",
    (
        "latex",
        "--form",
    ): "latex prints LaTeX and has no other form; symacct code EXPR --form python "
    "prints the formula as code",
    ("cite", "--epsilon"): "cite takes --delta, for the works behind the ε that is reported",
    ("optimum", "--alpha"): "optimum finds the best order itself; symacct rdp EXPR --alpha 8 "
    "answers ε(α) at a given one",
    ("theorems", "--by"): "the name of a theorem is the argument, as in symacct theorems ZW19-T8",
    ("sweep", "--epsilon"): "write --over epsilon=1",
    ("sweep", "--alpha"): "write --over alpha=2,8,32",
    ("reference", "--alpha"): "the orders are a grid here, as in --grid alpha=2,8",
    ("code", "--alpha"): "the function that code prints takes every order up to --max-order",
}


#: What is written, for example, for an option that is missing.
_EXAMPLES = {
    "delta": "1e-5", "epsilon": "1", "alpha": "2,8,inf", "n": "60000", "batch_size": "256",
    "over": "sigma=1,2,4 --over delta=1e-5", "target": "python",
}  # fmt: skip


def example(name: str, given: Sequence[str]) -> str:
    """What is written for an option that is missing; a δ by how many records there are."""
    found = re.search(r"(?:^| )--n[ =](\d[\d_]*)(?: |$)", " ".join(given))
    if name == "delta" and found and (n := int(found[1])) > 1:
        return f"1e-{len(str(n)) + 1}, for example, which is below 1/n for n = {n:,}"
    return f"{_EXAMPLES[name]}, for example" if name in _EXAMPLES else ""


def renamed(args: list[str], command: click.Command, say: Callable[[str], None]) -> list[str]:
    """The arguments with an option by its name of today, and a note for each that had another."""
    known = _names(command)
    found = []
    for word in args:
        option, equals, value = word.partition("=")
        new = _BEFORE.get(option)
        if new is not None and option not in known and new in known:
            say(f"Note: {option} is called {new} in every command")
            word = f"{new}{equals}{value}"
        found.append(word)
    return found


def instead(option: str, command: click.Command) -> str:
    """What to write for an option that the command has not, in words; nothing if unknown."""
    known, name = _names(command), option.strip("-")
    if said := _NOT_HERE.get((command.name or "", option)):
        return f"No such option {option!r}: {said}."
    for other in _ALSO_CALLED.get(name, ()):
        if f"--{other}" in known:
            return f"No such option {option!r}. Did you mean '--{other}'?"
    if name in ("out", "output", "save"):
        return f"No such option {option!r}: what is printed goes to a file by > FILE."
    taking, value = _VALUES.get(name, ("--form", name))
    if taking in known and (taking != "--form" or value in _forms(command)):
        return f"No such option {option!r}. Did you mean '{taking} {value}'?"
    return ""


def similar(option: str, command: click.Command) -> list[str]:
    """The options that an unknown one may be meant for: shortened or misspelt."""
    known = _names(command)
    if (meant := f"--{option.strip('-')}") in known:
        return [meant]
    begun = [one for one in known if one.startswith(meant)]
    return begun or difflib.get_close_matches(option, known, cutoff=_ALIKE)


def _names(command: click.Command) -> list[str]:
    return [one for parameter in command.params for one in parameter.opts]


def _forms(command: click.Command) -> list[str]:
    """The forms that the command prints."""
    for parameter in command.params:
        if "--form" in parameter.opts and isinstance(parameter.type, click.Choice):
            return list(map(str, parameter.type.choices))
    return []
