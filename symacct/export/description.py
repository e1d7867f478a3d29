"""An expression in words, as a privacy section says it; words as text, Markdown or LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from symacct.kernel.answer import exact_decimal
from symacct.kernel.claims import Adjacency, Claim, Kind, Relation, with_relation
from symacct.kernel.errors import in_few_digits, is_float, is_long
from symacct.kernel.exact import INFINITY, LazyModule, printers, sympy, text
from symacct.kernel.node import Counted, Marked, Node, Pressing, pieces
from symacct.kernel.operation import Compose, Count, Operation
from symacct.kernel.sources import WORKS
from symacct.laws.density import Density
from symacct.laws.law import Law

# --- words with mathematics in them
#
# Words are made once, by templates with fields in their places. What is no word in them is marked
# where it is written, and `written` escapes all the rest: as text, Markdown or LaTeX.

if TYPE_CHECKING:
    from symacct.export.latex import printer, sentences
    from symacct.export.latex.printer import PaperPrinter
else:  # they need libraries that words do without
    printer = LazyModule("symacct.export.latex.printer")
    sentences = LazyModule("symacct.export.latex.sentences")

#: A composition or a table of at most this many parts names them one by one.
LISTED = 12
#: Between these stands what is written as it is, of the signs that Unicode leaves to private use;
#: mathematics between dollar signs.
_MARK = "\ue000{}\ue001"
_MARKED = re.compile("\ue000([^\ue001]*)\ue001")
#: These words follow a number that a float stated, and are no part of it.
_OF_FLOAT = " (as float64)"


@dataclass(frozen=True)
class Form:
    """How words are escaped, and whether formulas, code and citations are LaTeX or Markdown."""

    name: str
    escaped: Callable[[str], str] = str
    printer: PaperPrinter | None = None  # of formulas, where it is not that of displays

    @property
    def is_tex(self) -> bool:
        """Are formulas written as LaTeX?"""
        return self.name == "latex"


#: The forms in which a description is written, by their names.
_FORMS = {
    "text": Form("text"),
    "markdown": Form("markdown", lambda words: re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", words)),
    "latex": Form("latex", lambda words: str(sentences.words(words))),
}
#: The names of these forms, as options have them.
FORMS = tuple(_FORMS)
_FORM: ContextVar[Form] = ContextVar("form", default=_FORMS["text"])


def written(form: str, words: Callable[[], str], by: PaperPrinter | None = None) -> str:
    """Write what `words` makes, in this form: "text", "markdown" or "latex".

    Words are escaped, and what they mark as written is not. Formulas in LaTeX are by the printer
    `by`, if one is given.
    """
    kept = _FORMS[form]
    before = _FORM.set(Form(kept.name, kept.escaped, by))
    try:
        parts = _MARKED.split(words())
        return "".join(part if i % 2 else kept.escaped(part) for i, part in enumerate(parts))
    finally:
        _FORM.reset(before)


def code(text: str) -> str:
    """Write code or a hash as such, in the form in force."""
    match _FORM.get().name:
        case "latex":
            return _MARK.format(rf"\texttt{{{sentences.plain_tex(text)}}}")
        case "markdown":
            return _MARK.format(f"`{text}`")
    return text


def cited(key: str, place: str) -> str:
    """Cite a work by its key and the place in it: by its authors, or in LaTeX by \\cite."""
    if _FORM.get().is_tex:
        where = f"[{{{sentences.words(place)}}}]" if place else ""
        return _MARK.format(rf"\cite{where}{{{sentences.cite_key(key)}}}")
    work = WORKS[key].named if key in WORKS else key
    return f"[{work}, {place}]" if place else f"[{work}]"


def shown(fields: Mapping[str, object]) -> dict[str, Counted]:
    """Write what stands in the places of a template: text as it is, parameters by `value`."""
    return {k: Counted(v if isinstance(v, str) else value(v)) for k, v in fields.items()}


def filled(template: str, /, **fields: object) -> str:
    """Fill a template with its fields; between dollar signs it is mathematics."""
    placed = shown(fields)
    return "".join(
        _set(_about(part.format(**placed)), is_maths) for part, is_maths in pieces(template)
    )


def sentence(words: str) -> str:
    """Write a sentence of a theorem or of a user, with its mathematics where that is marked.

    >>> print(written("latex", lambda: sentence(Marked("a rate $γ <= 1/5$, and 100% of it"))))
    a rate $\\gamma \\leq 1/5$, and 100{\\%} of it
    """
    parts = pieces(words.template) if isinstance(words, Marked) else [(words, False)]
    # Signs that are ours are none of a user's.
    return "".join(_set(_MARKED.sub(r"\1", part), is_maths) for part, is_maths in parts)


def _set(part: str, is_maths: bool) -> str:
    """Write a part of a template; in LaTeX mathematics, with formulas among it, is one formula.

    Mathematics that LaTeX does not know stays as it is.
    """
    if not is_maths or not _FORM.get().is_tex:
        return part
    number, of_float, _ = part.partition(_OF_FLOAT)
    parts = _MARKED.split(number)
    plain = [sentences.mathematics(piece) if piece else "" for piece in parts[::2]]
    if None in plain:
        return part
    parts[::2] = [piece or "" for piece in plain]
    parts[1::2] = [piece.strip("$") for piece in parts[1::2]]
    formula = " ".join(filter(None, parts))
    left, _, right = formula.partition("=")
    same = left.strip() == right.strip()  # a letter for a symbol that is that letter
    return maths(left.strip() if same else formula) + of_float


def _about(words: str) -> str:
    """Say a number of few digits as readers do: not "= ≈"."""
    return words.replace("= ≈", "≈").replace("probability ≈", "probability about")


def maths(tex: str) -> str:
    """Mark a formula in LaTeX as a part of words."""
    return _MARK.format(f"${tex}$")


# --- parameters


def value(x: object) -> str:
    """Write a parameter as a reader does: a decimal of at most 12 characters, else a fraction.

    A long fraction is about a decimal. A law or a table is told in words and mathematics.
    """
    if isinstance(x, Law):
        return _law(x)
    if isinstance(x, tuple):
        return _table(x)
    if isinstance(x, sympy.Expr):
        return _spoken(x)
    if not isinstance(x, Fraction):
        return "∞" if x == INFINITY else str(x)
    decimal = exact_decimal(x)
    if decimal is not None and len(decimal) <= 12:
        is_power = _FORM.get().is_tex and "e" in decimal
        return maths(sentences.in_powers(decimal)) if is_power else decimal
    is_read = x.denominator == 1 or not is_long(x.numerator, x.denominator)
    return text(x) if is_read else in_few_digits(x)


def _law(law: Law) -> str:
    """Name a law with its parameters, as the Poisson law (rate = 10), or by its density."""
    if isinstance(law, Density):
        ends = (_END.get(str(end)) or value(end) for end in (law.cuts[0], law.cuts[-1]))
        on = " < x < ".join(ends)
        where = "" if on == "−∞ < x < ∞" else f" for {on}"
        scaled = "" if law.mass == 1 else ", divided by its integral"
        return f"the law of density {_spoken(law.__dict__['formula'])}{where}{scaled}"
    name = " ".join(re.findall("[A-Z][a-z]*", type(law).__name__))
    letters = {_LETTERS.get(name, name): x for name, x in law.parameters.items()}
    stated = (
        filled(f"${letter} = {{x}}$" if len(letter) == 1 else f"{letter} = {{x}}", x=x)
        for letter, x in letters.items()
    )
    return f"the {_LAWS.get(name, name)} law ({', '.join(stated)})"


#: The ends of a range, as words write them.
_END = {"-inf": "−∞", "inf": "∞"}
_LETTERS = {"eta": "η", "gamma": "γ", "sigma": "σ", "theta": "θ"}  # a law's parameters, in words
_LAWS = {"Truncated Negative Binomial": "truncated negative binomial"}  # names that are no person's


def _table(rows: tuple[object, ...]) -> str:
    """Write probabilities in brackets, (1/2, 1/2); of many the first few and their number."""
    more = f", … ({len(rows):,} in all)" if len(rows) > LISTED else ""
    return f"({', '.join(map(value, rows[:LISTED]))}{more})"


def _spoken(formula: sympy.Expr) -> str:
    """Write a formula for readers, with √ and e for Euler's number: 3√3, e^2/(e^2 + 1).

    A long number in it is rounded to few digits, and "≈" then begins the formula.
    """
    long = {x for x in formula.atoms(sympy.Rational) if x.q != 1 and is_long(x.p, x.q)}
    short = {x: _few_digits(x) for x in long}
    about, brief = "≈ " if long else "", formula.xreplace(short)
    if _FORM.get().is_tex:
        return about + maths(printer.in_text(brief, _FORM.get().printer))
    return about + str(_spoken_printer()().doprint(brief))


def _few_digits(x: sympy.Rational) -> sympy.Expr:
    """Make a symbol, with the sign of x before it, that is written as |x| in few digits."""
    digits = in_few_digits(Fraction(abs(int(x.p)), int(x.q)))
    symbol = sympy.Symbol(re.sub(r"≈ | \(.*", "", digits), positive=True)
    return symbol if x > 0 else -symbol


@cache
def _spoken_printer() -> type[Any]:
    """Make the class of SymPy printers that write a formula as a reader of text expects it."""

    class Spoken(printers()[0]):  # type: ignore[misc]  # made where SymPy is
        def _print_Symbol(self, symbol: sympy.Symbol) -> str:  # noqa: N802
            return "α" if symbol.name == "alpha" else str(super()._print_Symbol(symbol))

        def _print_Exp1(self, number: sympy.Expr) -> str:  # noqa: N802
            return "e"

        def _print_Pi(self, number: sympy.Expr) -> str:  # noqa: N802
            return "π"

        def _print_Abs(self, size: sympy.Expr) -> str:  # noqa: N802
            return f"|{self._print(size.args[0])}|"

        def _print_exp(self, power: sympy.Expr) -> str:
            """Write e^2, e^0.5 or e^(x + 1)."""
            exponent = power.exp
            is_rational = isinstance(exponent, sympy.Rational)
            number = Fraction(exponent.p, exponent.q) if is_rational else None
            shown = self._print(exponent) if number is None else value(number)
            return f"e^{shown}" if re.fullmatch(r"[\w.]+", shown) else f"e^({shown})"

        def _print_Mul(self, product: sympy.Expr) -> str:  # noqa: N802
            text = str(super()._print_Mul(product))
            return re.sub(r"(?<=\d)\*(?=√)", "", text).replace("*", "·")

        def _print_Pow(self, power: sympy.Expr, rational: bool = False) -> str:  # noqa: N802
            """Print a power with ^ between, √ for a square root."""
            base, exponent = power.as_base_exp()
            if abs(exponent) != sympy.S.Half or rational:
                return str(super()._print_Pow(power, rational)).replace("**", "^")
            inside = self._print(base)
            root = f"√{inside}" if base.is_Atom and base.is_nonnegative else f"√({inside})"
            return root if exponent > 0 else f"1/{root}"

    return Spoken


# --- an expression in words

#: At most this many sensitivities are named one by one.
_MOST_SENSITIVITIES = 4
#: A description beside a number has about this many characters at most.
_MOST_CHARACTERS = 600
#: This matches the innermost brackets.
_BRACKETS = re.compile(r"\([^()]*\)")
#: Python writes no number from this one on by f"{n:,}".
_UNWRITTEN = 10**4300


def describe(m: Node) -> str:
    """Describe what was done, as a noun phrase.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> describe(1000 * PoissonSubsample(Gaussian(5), "1/100"))
    '1,000 runs of the Gaussian mechanism (σ = 5, sensitivity 1), each on a fresh Poisson sample \
(each record kept independently with probability 0.01)'
    """
    return _described(m, _Naming(LISTED))


def describe_tex(
    m: Node, names: Mapping[Node, str] | None = None, printer: PaperPrinter | None = None
) -> str:
    """Describe what was done, as a noun phrase in LaTeX; parts that have `names` by these.

    With `names` all parts of a composition are told one by one.
    """
    naming = _Naming(LISTED) if names is None else _Naming(len(m.children) + 1, names)
    return written("latex", lambda: _described(m, naming), printer)


@dataclass(frozen=True)
class _Naming:
    """How parts are told: of a composition up to `listed` one by one, some by names in LaTeX."""

    listed: int
    names: Mapping[Node, str] = field(default_factory=dict)


def _described(m: Node, naming: _Naming, drawn: str = "") -> str:
    """Describe what was done, by the template of its class, or by its fields if it has none.

    `drawn` is said before how a sample in it is drawn: ", each" for each of several runs.
    """
    if isinstance(m, Compose):
        return _composition(m, naming)
    is_bare = "{each}" in m.words
    each = drawn
    if is_bare and any(isinstance(x, Compose) and x not in naming.names for x in m.children):
        drawn, each = "", drawn or ", all"
    if "words" in vars(type(m)):  # a subclass is not what its parent is called
        placed_fields = {k: _part(x, naming, drawn, is_bare) for k, x in m._word_fields().items()}
        return filled(m.words, **placed_fields, each=each)
    # The relation is said where the guarantee is.
    known = {k: v for k, v in m.fields().items() if v is not None and k != "adjacency"}
    placed = shown({k: _part(x, naming, drawn) for k, x in known.items()})
    listed = ", ".join(f"{k} = {x}" for k, x in placed.items())
    return f"the mechanism {type(m).__name__} ({listed})"


def _part(x: object, naming: _Naming, drawn: str, is_bare: bool = False) -> object:
    """Return a parameter as it is, and a mechanism by its name or in words.

    Several runs stand in brackets, unless `is_bare` says that the template needs none.
    """
    if not isinstance(x, Node):
        return x
    if x in naming.names:
        return maths(naming.names[x])
    words = _described(x, naming, drawn)
    return f"({words})" if isinstance(x, Compose) and x.terms and not is_bare else words


def _composition(m: Compose, naming: _Naming) -> str:
    """Describe a composition by its parts, or by their number where there are many."""
    if not m.terms:
        return "no mechanism at all"
    if len(m.terms) > naming.listed:
        return _together([f"{_runs(m.runs)} of {len(m.terms):,} mechanisms"])
    runs = [words for words, _ in _runs_of_parts(m, naming)]
    return runs[0] if len(runs) == 1 else _together(runs)


def _runs_of_parts(m: Compose, naming: _Naming) -> list[tuple[str, Count]]:
    """Describe the runs of each mechanism, with how many they are, sorted by their words."""
    parts = []
    for part, count in m.terms.items():
        is_fresh = count != 1 and _samples_worded(part) == 1  # each run has a sample of its own
        parts.append((str(_part(part, naming, ", each" if is_fresh else "")), count))
    return [(f"{_runs(count)} of {part}", count) for part, count in sorted(parts)]


def _samples_worded(m: Node) -> int:
    """Count the samples that the words of m say to be drawn, those in a composition left out."""
    if isinstance(m, Compose):
        return 0
    worded = (x for x in m._word_fields().values() if isinstance(x, Node))
    return ("{each}" in m.words) + sum(map(_samples_worded, worded))


def _together(runs: list[str]) -> str:
    """Join the parts of a composition, by semicolons if one has a comma outside brackets."""
    outside, former = "".join(runs), ""
    while outside != former:
        outside, former = _BRACKETS.sub("", outside), outside
    between, last = ("; ", "; and ") if ", " in outside else (", ", " and ")
    begun = f"{between.join(runs[:-1])}{last}" if runs[1:] else ""
    return f"the adaptive composition of {begun}{runs[-1]}"


def _runs(n: Count) -> str:
    """Say how many runs there are: one run, 1,000 runs, n runs."""
    if isinstance(n, int):
        counted = f"{n:,}" if n < _UNWRITTEN else text(Fraction(n))
        return "one run" if n == 1 else f"{counted} runs"
    return f"{value(n)} runs"


#: These words stand where no theorem is behind a number.
OWN_CURVE = "the mechanism's own curve"
#: Tables label each kind by the side of the truth that it is on.
KIND_LABELS = {
    Kind.LOWER: "↑ lower",
    Kind.EXACT: "= exact",
    Kind.UPPER: "↓ upper",
    Kind.NEITHER: "≈ neither",
}


def kind_label(claim: Claim) -> str:
    """Label the kind of a claim, and say where it is not certified."""
    return KIND_LABELS[claim.kind] + ("" if claim.certified else " (not certified)")


def _changed(adjacency: Adjacency) -> str:
    """Say how many records neighbours differ in."""
    return "one record" if adjacency.group == 1 else f"up to {adjacency.group} records"


def neighbours(adjacency: Adjacency, m: Node | None = None) -> str:
    """Say in which records the datasets differ that the guarantee makes hard to tell apart.

    `m` says which of its parameters an open relation was stated for, and whether it is local.
    """
    records = _changed(adjacency)
    if adjacency.relation is Relation.ADD_REMOVE:
        return f"neighbouring datasets differ by adding or removing {records}"
    if adjacency.relation is Relation.REPLACE_ONE:
        return f"neighbouring datasets differ by replacing {records}"
    if adjacency.relation is Relation.ZERO_OUT:
        place = "its place" if adjacency.group == 1 else "their places"
        return (
            f"neighbouring datasets differ by zeroing out {records}, with nothing in {place} and "
            "a public number of places"
        )
    if m is not None and m._is_local:
        answer = "the true answer" if adjacency.group == 1 else "the true answers"
        return f"neighbouring datasets differ in {answer} of {records} (local differential privacy)"
    stated = {node._stated_by: None for node in m.walk()} if m is not None else {}
    stated.pop(Node._stated_by, None)
    return (
        f"neighbouring datasets differ by adding or removing {records}, or by replacing {records}, "
        f"whichever the mechanism's {next(iter(stated), Node._stated_by)} were stated for"
    )


def is_open(adjacency: Adjacency, m: Node | None) -> bool:
    """Is it open which of the two relations the parameters were stated for?

    It is not for local privacy, where neighbours differ in one answer.
    """
    return adjacency.relation is Relation.EITHER and not (m is not None and m._is_local)


def neighbours_short(adjacency: Adjacency) -> str:
    """Say the relation in few words: add or remove one record."""
    return f"{_RELATIONS[adjacency.relation]} {_changed(adjacency)}"


#: The words for each relation in a table.
_RELATIONS = {
    Relation.ADD_REMOVE: "add or remove",
    Relation.REPLACE_ONE: "replace",
    Relation.ZERO_OUT: "zero out",
    Relation.EITHER: "add, remove or replace",
}


def samplings(m: Node) -> list[str]:
    """List how records are drawn in m, in few words: Poisson sampling."""
    nodes = [node for node, _, run, _ in _contexts(m, m.claim.adjacency.relation) if run]
    drawing = [
        operation._drawing
        for operation in nodes
        if isinstance(operation, Operation) and operation._changes_size
    ]
    return list(filter(None, dict.fromkeys(drawing)))


def _contexts(m: Node, relation: Relation) -> list[tuple[Node, Relation, bool, bool]]:
    """List each node of m, the relation it is read for, and whether it was run, and on a sample.

    Mechanisms come before what was done to them. A node was not run where a premise says what was,
    and the node only costs as much.
    """
    contexts = {(m, relation, True, False): None}
    left = list(contexts)
    while left:
        node, read, run, sampled = left.pop()
        if isinstance(node, Operation):
            if node._read_adjacency.relation is not Relation.EITHER:
                read = node._read_adjacency.relation
            run, sampled = run and node._is_run_below, sampled or node._changes_size
        new = [
            context for x in node.children if (context := (x, read, run, sampled)) not in contexts
        ]
        left += new
        contexts |= dict.fromkeys(new)
    return list(reversed(contexts))


#: These premises are those of every number.
ALWAYS = (
    "the mechanism runs as it is described, with ideal randomness",
    "nothing else about the data is released",
)


def own_premises(m: Node, adjacency: Adjacency | None = None) -> list[str]:
    """List what has to be true of the program that ran, beyond what holds of every program.

    `adjacency` stands for a relation that m leaves open.

    >>> from symacct import Gaussian
    >>> own_premises(Gaussian(5))
    ['one record changes the query by no more than its sensitivity, in the Euclidean norm']
    """
    listed: list[str] = []
    for node, relation, run, sampled in _contexts(m, (adjacency or m.claim.adjacency).relation):
        if run or not node._says_who_takes_part:
            stated = node._premises_in_sample if sampled else node._premises_for
            listed += (_filled(premise, node) for premise in stated(relation))
    return list(dict.fromkeys(listed))


def _filled(premise: str, node: Node) -> str:
    """Fill the sentence with the parameters of the node."""
    if "{" not in premise:
        return premise
    fields = {k: v for k, v in node.fields().items() if not isinstance(v, Node)}
    return premise.format(**shown(fields))


def pressing_premises(m: Node, adjacency: Adjacency | None = None) -> list[str]:
    """List the premises that are said beside the number itself: many a run does not meet them.

    They are about persons whose answers are missing, about the unit of noise for a replaced record,
    and what an author stated.
    """
    return [premise for premise in own_premises(m, adjacency) if isinstance(premise, Pressing)]


def premises(m: Node, adjacency: Adjacency | None = None) -> list[str]:
    """List what has to be true of the program that ran, for what is proved to be about it.

    `adjacency` stands for a relation that m leaves open.

    >>> from symacct import Gaussian
    >>> premises(Gaussian(5))[-1]
    'nothing else about the data is released'
    """
    return [*own_premises(m, adjacency), *ALWAYS]


def about(m: Node, adjacency: Adjacency | None = None) -> str:
    """Say the relation of m's curve and the sensitivities of its noise, which every ε needs.

    `adjacency` stands for a relation that m leaves open.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> about(10 * PoissonSubsample(Gaussian(5), "1/100") + Gaussian(8, sensitivity=2))
    'add_remove, sensitivities 1 and 2'
    """
    return ", ".join(filter(None, [str(adjacency or m.claim.adjacency), sensitivity(m)]))


def pictured(*nodes: Node, adjacency: str | Adjacency | None = None) -> str:
    """Say what `about` says of all nodes, in words for the legend of a picture; a relation once.

    `adjacency` stands for a relation that a node leaves open.
    """
    noises: dict[str, dict[str, None]] = {}
    for m in nodes:
        stated = (
            m.claim.adjacency if adjacency is None else with_relation(m.claim.adjacency, adjacency)
        )
        noises.setdefault(neighbours_short(stated), {})[sensitivity(m)] = None
    named = (
        ", ".join(filter(None, [relation, " or ".join(filter(None, noise))]))
        for relation, noise in noises.items()
    )
    return " and ".join(named)


def in_few_words(m: Node) -> str:
    """Describe what was done; a long composition by its first parts and all sensitivities.

    No part is cut, and what is left out is counted.
    """
    words = describe(m)
    if len(words) <= _MOST_CHARACTERS:
        return words
    first = _first_parts(m) if isinstance(m, Compose) else ""
    return ", ".join(filter(None, [first or _described(m, _Naming(0)), sensitivity(m)]))


def _first_parts(m: Compose) -> str:
    """Describe as many mechanisms as there is room for, and count the others; empty for none."""
    parts = _runs_of_parts(m, _Naming(LISTED))
    lengths = accumulate(len(words) for words, _ in parts)
    named = sum(length <= _MOST_CHARACTERS for length in lengths)
    left = parts[named:]
    if not named or not left:
        return describe(m) if named else ""
    others = f"{len(left):,} other mechanism{'s' * (len(left) > 1)}"
    rest = f"{_runs(sum(count for _, count in left))} of {others}"
    return _together([*(words for words, _ in parts[:named]), rest])


def sensitivity(m: Node) -> str:
    """Say the sensitivities in m, as "sensitivity 1"; empty where no part has one."""
    stated = (node.fields().get("sensitivity") for node in m.walk())
    values = sorted({value(each) for each in stated if each is not None})
    if len(values) > _MOST_SENSITIVITIES:
        return f"{len(values)} sensitivities"
    plural = "sensitivities" if len(values) > 1 else "sensitivity"
    listed = " and ".join(filter(None, [", ".join(values[:-1]), *values[-1:]]))
    return f"{plural} {listed}" if values else ""


def float_note(m: Node) -> str:
    """Write a line about the first parameter that is the bits of a float; empty without one."""
    stated = (x for node in m.walk() for x in node.fields().values())
    first = next((x for x in stated if isinstance(x, Fraction) and is_float(x)), None)
    if first is None:
        return ""
    return f"{float(first)!r} stands for the bits of that float, which are another number"
