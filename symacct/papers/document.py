"""A paper's section on one mechanism: definition, formula, assumptions, values, bibliography."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

import sympy

from symacct.export.citation import STATED, each_work, sources_of
from symacct.export.description import describe_tex, neighbours, sentence, written
from symacct.export.latex.display import Display
from symacct.export.latex.number_formula import UnwrittenError, number_latex
from symacct.export.latex.printer import PaperPrinter
from symacct.export.latex.sentences import SymbolNames, cite_key, plain_tex
from symacct.export.tables import table
from symacct.kernel import parameters
from symacct.kernel.accountant import asked_of
from symacct.kernel.attached import question
from symacct.kernel.claims import Kind, Source
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import Numeric, expression, typed_value
from symacct.kernel.node import Marked, Mechanism, Node, as_node
from symacct.kernel.parameters import By
from symacct.kernel.sources import WORKS
from symacct.kernel.theorem_registry import Theorem
from symacct.papers.statement import citations, statement
from symacct.results.screen import Written

#: The document needs this package beyond LaTeX's own classes.
_BASE: tuple[str, ...] = ("amsmath",)
#: Its tables need these as well.
PACKAGES = (*_BASE, "booktabs", "siunitx")

#: The title of a document about a curve, and of one about a number.
_OF_CURVE = r"R\'enyi differential privacy of a mechanism $\mathcal{M}$"
_OF_NUMBER = r"Differential privacy of a mechanism $\mathcal{M}$"
#: The table has these orders where neither orders nor a δ are given.
_FEW_ORDERS = (2, 4, 8)

#: What a document says of a number by its kind.
_KINDS = {
    Kind.EXACT: "This is exact: a mechanism of this description attains it.",
    Kind.UPPER: "This is an upper bound.",
    Kind.LOWER: "This is a lower bound, and no guarantee.",
    Kind.NEITHER: "This is refuted, and no bound.",
}


@question(Node, "paper")
def paper(
    m: Node,
    alphas: Iterable[Numeric] | None = None,
    delta: Numeric | None = None,
    names: Mapping[str | sympy.Symbol, str] | None = None,
    values: Mapping[str | sympy.Symbol, Numeric] | None = None,
    by: By = None,
    digits: int = 6,
) -> str:
    r"""Write a complete LaTeX document about `m`, for pdflatex with amsmath, booktabs and siunitx.

    The formula keeps the symbols of `m`; the table of ε(α) at the orders `alphas`, and ε at
    `delta` if one is given, put in `values`, and are left out where a symbol stays open. With
    `delta` the best proved ε stands first with its own formula, and there is a table only of orders
    that are given; without, it is of the orders 2, 4 and 8. Raises
    as `latex`, `table` and `epsilon` do; DomainError names the symbol that `values` leaves open.

    >>> from symacct import Gaussian
    >>> paper(Gaussian(5)).splitlines()[0]
    '\\documentclass{article}'
    """
    display = Display(as_node(m, "expression"), names=names, by=by)
    theorems = display.formulas[-1].theorems
    leaves = [leaf for leaf in m.walk() if isinstance(leaf, Mechanism)]
    sources = [t.source for t in theorems] + [s for leaf in leaves for s in leaf.claim.sources]
    numbers_given = parameters.mapping(values, "paper, values", "{'sigma': 5}")
    numbers = m.subs(numbers_given) if numbers_given else m
    if numbers_given and numbers.free_symbols:
        left = ", ".join(sorted(symbol.name for symbol in numbers.free_symbols))
        raise DomainError(f"paper: values leave the symbol {left} open, needed a number for it")
    parts = [_section("Mechanism", _mechanism(m, display))]
    is_open, packages = bool(numbers.free_symbols), _BASE
    if delta is not None and not is_open:
        g = asked_of(numbers, delta, digits=digits, by=by)
        said = [statement(g, "latex", digits)]
        with contextlib.suppress(UnwrittenError):  # no formula of its laws is known
            if g.needs_no_order:
                said.append(f"The number is that of the formula\n{number_latex(g, names, by)}")
        parts.append(_section("Guarantee", said))
        sources += sources_of(g)
    parts += [
        _section("Formula", _formula(m, display)),
        _section("Theorems", _theorems(theorems, m)),
    ]
    orders = _FEW_ORDERS if alphas is None and delta is None else alphas
    if orders is not None and not is_open:
        packages = PACKAGES
        parts.append(_section("Values", _values(numbers, orders, by, digits, numbers_given)))
    title = _OF_CURVE if delta is None else _OF_NUMBER
    preamble = [
        r"\documentclass{article}",
        *(rf"\usepackage{{{package}}}" for package in packages),
        r"\allowdisplaybreaks",
        rf"\title{{{title}}}",
        r"\author{Formulas and values: symacct}",
        r"\begin{document}",
        r"\maketitle",
    ]
    lines = [*preamble, *parts, *_bibliography(sources), r"\end{document}", ""]
    return Written("\n".join(lines))


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join([rf"\section{{{title}}}", *lines])


def _mechanism(m: Node, display: Display) -> Iterator[str]:
    """Yield every part of the expression, the whole first, each described once."""
    parts = list(reversed(list(m.walk())))
    names = {part: rf"\mathcal{{M}}_{{{place}}}" for place, part in enumerate(parts)}
    names[parts[0]] = r"\mathcal{M}"
    yield r"\begin{description}"
    for part in parts:
        kind = rf"\textsf{{{plain_tex(type(part).__name__)}}}"
        yield rf"\item[${names[part]}$] {kind}: {describe_tex(part, names, display.printer)}."
    yield r"\end{description}"


def _formula(m: Node, display: Display) -> Iterator[str]:
    """Yield the formula of the curve, and what is claimed of it."""
    claim = display.formulas[0].claim
    yield r"The R\'enyi differential privacy of $\mathcal{M}$, in nats, is"
    yield r"\begin{align*}"
    yield " \\\\\n".join(display.rows())
    yield r"\end{align*}"
    yield f"{_KINDS[claim.kind]} Here {neighbours(claim.adjacency, m)}."
    if not claim.certified:
        yield "Part of it is stated by the user, or not proved."


def _theorems(theorems: Iterable[Theorem], m: Node) -> Iterator[str]:
    """Yield what the formula rests on: theorems with their assumptions, and leaves' sources."""
    yield r"\begin{description}"
    for theorem in theorems:
        yield _item(theorem.name, partial(_about, theorem))
    for leaf in dict.fromkeys(type(node) for node in m.walk() if isinstance(node, Mechanism)):
        sources = [s for node in m.walk() if type(node) is leaf for s in node.claim.sources]
        yield _item(leaf.__name__, partial(_cited, sources[0]))
    yield r"\end{description}"


def _item(name: str, words: Callable[[], str]) -> str:
    return rf"\item[{plain_tex(name)}] {written('latex', words)}."


def _about(theorem: Theorem) -> str:
    """Write a theorem's source, orders, assumptions, and its status where it is not proved."""
    orders, assumes = sentence(Marked(theorem.orders.words)), sentence(theorem.assumes)
    status = "" if theorem.status == "proved" else f". This is {theorem.status}"
    return f"{_cited(theorem.source)}, for {orders}. Assumes {assumes}{status}"


def _cited(source: Source) -> str:
    """Write the places in each work with a reference to it, or that a user stated it."""
    stated = f"stated by the user: {source.place}".removesuffix(": ")
    return stated if source.key == STATED else citations((source,)).strip()


def _values(
    m: Node,
    alphas: Iterable[Numeric],
    by: By,
    digits: int,
    values: Mapping[str | sympy.Symbol, Numeric],
) -> Iterator[str]:
    """Yield the table of ε(α), and the numbers that are put in for the symbols."""
    symbols = [
        f"${SymbolNames()(str(key))} = "
        f"{PaperPrinter(SymbolNames()).doprint(expression(typed_value(value)))}$"
        for key, value in values.items()
    ]
    yield f"Table~\\ref{{tab:values}} gives values{' for ' if symbols else ''}{', '.join(symbols)}."
    yield table(m, alphas, digits, by=() if by is None else [by]).latex(label="tab:values")


def _bibliography(sources: Iterable[Source]) -> Iterator[str]:
    """Yield the works that are cited, each once and in the order of first use."""
    keys = dict.fromkeys(
        each.key for source in sources for each in each_work(source) if each.key != STATED
    )
    if not keys:
        return
    yield r"\begin{thebibliography}{99}"
    for key in keys:
        work = WORKS.get(key)
        yield rf"\bibitem{{{cite_key(key)}}}"
        if work is None:
            yield f"{plain_tex(key)}."
            continue
        known = work.fields()
        where = [known[at] for at in ("journal", "booktitle", "howpublished") if at in known]
        eprint = [f"arXiv:{known['eprint']}"] if "eprint" in known else []
        yield (
            f"{known['author'].replace(' and ', ', ')}. \\emph{{{known['title']}}}. "
            f"{', '.join(dict.fromkeys([*where, *eprint]))}, {known['year']}."
        )
    yield r"\end{thebibliography}"
