"""Questions that rooms above the kernel answer: attached, with types, opened when asked."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import symacct
from symacct import Enclosure, Gaussian, Guarantee, Node, Theorem
from symacct.kernel.attached import Question, attach, question
from symacct.kernel.theorem_registry import Theorems

PACKAGE = Path(symacct.__file__).parent
CLASSES = {kind.__name__: kind for kind in (Node, Guarantee, Enclosure, Theorem, Theorems)}
ATTACHED = {
    (CLASSES[kind], name): home
    for kind, homes in symacct._QUESTIONS.items()
    for home, names in homes.items()
    for name in names
}


def parsed(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def registered():
    """The class, the question and the module of every function that says that it answers one."""
    for file in PACKAGE.glob("*/**/*.py"):
        home = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.walk(parsed(file)):
            for one in getattr(node, "decorator_list", ()):
                if isinstance(one, ast.Call) and ast.unparse(one.func) == "question":
                    yield (one.args[0].id, one.args[1].value), home


def test_what_is_attached_is_registered_and_the_other_way_round():
    found = list(registered())
    assert len(dict(found)) == len(found)
    assert dict(found) == {(kind.__name__, name): home for (kind, name), home in ATTACHED.items()}


@pytest.mark.parametrize(
    ("kind", "name"), ATTACHED, ids=lambda x: x if isinstance(x, str) else x.__name__
)
def test_each_question_has_its_function(kind, name):
    answer = getattr(kind, name)
    assert inspect.isfunction(answer)
    assert answer.__module__ == f"symacct.{ATTACHED[kind, name]}"
    assert vars(kind)[name] is answer
    assert name.startswith("_") or inspect.getdoc(answer)


def stated():
    """The signature and the type of the answer that the stub states of each question."""
    for kind in parsed(PACKAGE / "questions.pyi").body:
        for one in kind.body if isinstance(kind, ast.ClassDef) else ():
            yield (kind.name.removesuffix("Questions"), one.name), one


def written(arguments):
    """The arguments but the first: kinds, names, defaults and types, as Python writes them."""
    del arguments.args[0]
    return ast.unparse(arguments)


def shown(answer):
    """The arguments of a function in the form of `written`, with the values of its defaults."""
    text = str(inspect.signature(answer)).partition(" -> ")[0]
    plain = f"def f{text}: ..."
    [made] = ast.parse(plain).body
    for one in ast.walk(made.args):
        if isinstance(one, ast.arg) and isinstance(one.annotation, ast.Constant):
            one.annotation = ast.parse(one.annotation.value).body[0].value
    return written(made.args)


def test_the_stub_states_the_signature_of_each_question():
    """What Python and a notebook call themselves, `__repr__` and `_repr_html_`, needs no types."""
    known = {
        (kind.__name__, name): getattr(kind, name)
        for kind, name in ATTACHED
        if not name.startswith(("__", "_repr_"))
    }
    found = dict(stated())
    assert found.keys() == known.keys()
    for key, one in found.items():
        assert written(one.args) == shown(known[key]), key
        assert ast.unparse(one.returns) == known[key].__annotations__["return"], key


def test_a_module_is_imported_when_it_is_first_asked():
    program = """
import sys
from symacct import Gaussian, Node
print("symacct.export.latex.display" in sys.modules, "sympy" in sys.modules)
dir(Gaussian(5))
print("symacct.export.latex.display" in sys.modules)
print(Gaussian(5).latex.__name__, Gaussian(5).latex(2) == Node.latex(Gaussian(5), 2))
print("symacct.export.latex.display" in sys.modules)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert ended.stdout.split() == ["False", "False", "False", "latex", "True", "True"]


def test_a_subclass_may_answer_itself_and_ask_the_class_above():
    class Asked:
        pass

    class Below(Asked):
        def form(self):
            return f"below {super().form()}"

    attach(Asked, {"kernel.attached": ["form"]})
    assert isinstance(vars(Asked)["form"], Question)
    with pytest.raises(LookupError, match="answers no question 'form'"):
        Below().form()
    question(Asked, "form")(lambda asked: type(asked).__name__)
    assert Asked().form() == "Asked"
    assert Below().form() == "below Below"


def test_what_is_registered_before_is_not_attached_again():
    class Asked:
        pass

    question(Asked, "form")(lambda asked: "form")
    attach(Asked, {"export.formula": ["form"]})
    assert Asked().form() == "form"


def test_help_and_completion_show_the_function():
    node = Gaussian(5)
    assert inspect.getdoc(node.latex).startswith("Write ε(α) of `m` as a LaTeX display")
    assert list(inspect.signature(node.latex).parameters) == ["alpha", "names", "by"]
    assert node.latex.__self__ is node
    public = {name for kind, name in ATTACHED if kind is Node and not name.startswith("_")}
    assert public <= set(dir(node))
    assert {"certificate", "cite", "latex", "statement"} <= set(dir(Guarantee))
