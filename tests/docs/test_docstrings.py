"""The form of every docstring, and what the docstring of a public name says."""

import ast
import inspect
import math
import re
from dataclasses import is_dataclass
from enum import EnumMeta
from pathlib import Path

import pytest

import symacct
from symacct import Node, Source
from symacct.kernel.node import Mechanism
from symacct.kernel.sources import WORKS

PACKAGE = Path(symacct.__file__).parent
FILES = sorted(PACKAGE.glob("**/*.py"))

#: A first word in lower case: a letter, a function, a name in code, the first of a formula.
SYMBOL = (
    r"(?:(?!a (?!log)[A-Za-z])[a-z](?![a-z])|(?:log|exp|max|min|sup|ess sup|inf|lim|deg)(?![a-z])"
    r"|[a-z]*[\d_]\w*\b|[a-z]+ ?[·/↦<>=*(^+Σ])"
)
#: How a formula begins; it ends without a period, as on a page.
FORMULA = re.compile(rf"{SYMBOL}|[^A-Za-z`\"]|[A-Z](?:[_(\[^]| [<>=]| − )")
ENDS = (".", "?", "!", ":")
#: What only a reader of another docstring understands.
POINTERS = re.compile(
    r"\A(?:The same|Those|That|These|They|Its?|Their|Such|Likewise)\b"
    r"|\bas above\b|\bditto\b|\bthe same, "
)


def tree(file):
    """A module as Python reads it."""
    return ast.parse(file.read_text(encoding="utf-8"))


def docstrings(file):
    """Each docstring of a file with the line that it begins on."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree(file)):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


def faults(text):
    """What is wrong with the form of a docstring."""
    first, *further = re.split(r"\n\s*\n", text)
    line = first.split("\n")[0]
    formula = FORMULA.match(line)
    if re.match(r"[a-z]", line) and not re.match(SYMBOL, line):
        yield "begins with a small letter"
    if not first.rstrip().endswith(ENDS):
        if not formula:
            yield "has a first sentence that does not end before the empty line"
        elif further and re.match(r"[a-z]{2}", further[0]) and not re.match(SYMBOL, further[0]):
            yield "has a formula that goes on after an empty line"
    if not formula and not line.endswith((*ENDS, ";")):
        yield "has a first line that ends within a clause"
    yield from (f"says {said!r}" for said in POINTERS.findall(text))
    for line in re.findall(r"^(?!\s*(?:>>>|\.\.\.)).*$", text, re.MULTILINE):
        # Of equal records the first one made is printed: it may have been written otherwise.
        for top, bottom in re.findall(r"'(\d+)/(\d+)'", line):
            if math.gcd(int(top), int(bottom)) > 1:
                yield f"prints {top}/{bottom}, which is not in lowest terms"


def test_the_form_of_every_docstring():
    found = [
        f"{file}:{line}: {fault}"
        for file in FILES
        for line, text in docstrings(file)
        for fault in faults(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "is_good"),
    [
        ("The bound of a sum.", True),
        ("ε′(α) <= ε(α), as if the step were told", True),
        ("log(1 + γ(e^x − 1)), x >= 0\n\nNothing cancels.", True),
        ("a sum of terms.", False),
        ("The bound of a sum, and of\n\nits terms.", False),
        ("The bound of a sum over\nall orders.", False),
        ("Σ x_i over what is left\n\nby the cut.", False),
        ("The same in float64.", False),
        ("Those of the pairs exchanged.", False),
        ("A bound, rounded as above.", False),
        ("A rate.\n\n>>> sample('6/10')\nSample('3/5')", True),
        ("A rate.\n\n>>> sample('3/5')\nSample('6/10')", False),
    ],
)
def test_the_rules_tell_good_from_bad(text, is_good):
    assert (not list(faults(text))) is is_good


#: A method of so many lines is read beside its class, or beside the method that it overrides.
SHORT = 3
#: Written into generated code as they stand, where each line costs the reader of that code.
RUNTIME = PACKAGE / "codegen" / "runtime"


def silent(tree):
    """The line and the name of each function that does not say what it does.

    A class says what its constructor takes; a function in another one and an overload are read
    where they stand.
    """
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for owner in (tree, *classes):
        for node in owner.body:
            if not isinstance(node, kinds) or node.name in ("__init__", "__new__"):
                continue
            is_overload = any("overload" in ast.unparse(by) for by in node.decorator_list)
            is_long = node.end_lineno - node.lineno >= SHORT
            if is_long and not is_overload and not ast.get_docstring(node):
                yield node.lineno, node.name


def test_a_function_says_what_it_does():
    found = [
        f"{file}:{line}: {name}"
        for file in FILES
        if file.parent != RUNTIME
        for line, name in silent(tree(file))
    ]
    assert found == []


def silent_in(text):
    """Names of the functions of a text that do not say what they do, with their lines."""
    return list(silent(ast.parse(text)))


def test_the_rule_tells_functions_with_words_from_those_without():
    assert silent_in("def f(x):\n    y = x\n    z = y\n    return z\n") == [(1, "f")]
    assert silent_in('def f(x):\n    """x"""\n    y = x\n    return y\n') == []
    assert silent_in("class A:\n    def f(self):\n        return 1\n") == []
    method = "    def f(self):\n        x = 1\n        y = x\n        return y\n"
    assert silent_in("class A(B):\n" + method) == [(2, "f")]
    assert silent_in("class A(B):\n" + method.replace("f(", "__init__(")) == []


#: What the package shows. An error or a warning says in its message what was found and needed.
PUBLIC = {
    name: thing
    for name in symacct.__all__
    if not (isinstance(thing := getattr(symacct, name), type) and issubclass(thing, Exception))
}


def missing(thing):
    """What the docstring of a public name does not say."""
    text = inspect.getdoc(thing) or ""
    prose = text.split(">>>")[0]
    is_node = isinstance(thing, type) and issubclass(thing, Node)
    if prose == text:
        yield "an example"
    if (is_node or "ε" in prose) and not re.search(r"\bnats\b", prose):
        yield "the unit, nats"
    if is_node and issubclass(thing, Mechanism):
        source = thing.source
        stated = isinstance(source, Source) and source.key in WORKS
        wanted = f"Source: {str(source).removeprefix('SYMACCT, ')}." if stated else "No source is"
        if wanted not in " ".join(prose.split()):
            yield wanted
    # A record that answers come as, a kind and a module are not called.
    if not (inspect.ismodule(thing) or is_dataclass(thing) or issubclass(type(thing), EnumMeta)):
        taken = inspect.signature(thing).parameters
        yield from (
            f"the argument {name}" for name in taken if not re.search(rf"\b{name}\b", prose)
        )
        if taken and not re.search(r"Error\b|\bRaises\b", prose):
            yield "the errors"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_says_what_its_user_needs(name):
    """Arguments, units, errors, a mechanism's source as `cite` gives it, and an example."""
    assert list(missing(PUBLIC[name])) == []
