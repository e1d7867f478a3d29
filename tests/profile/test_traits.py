"""What is asked of a loss is asked by name: no module asks which class of losses it is."""

import ast
from fractions import Fraction
from pathlib import Path

import symacct
from symacct.profile.losses.finite import Atoms

TOP = Path(symacct.__file__).parent
LOSSES = TOP / "profile/losses"


def classes():
    """The file of every class that is defined among the losses."""
    return {
        node.name: file
        for file in LOSSES.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }


def asked(node):
    """Expressions of classes that a value's own is compared with, or a function is chosen by."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
            yield kinds
        case ast.MatchClass(cls=kind):
            yield kind
        case ast.FunctionDef(decorator_list=marks, args=ast.arguments(args=[first, *_])):
            for mark in marks:
                if ast.unparse(mark).endswith(".register") and first.annotation:
                    yield first.annotation
                elif isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith(".register"):
                    yield from mark.args


def names(kinds):
    return {one.id for one in ast.walk(kinds) if isinstance(one, ast.Name)}


def test_no_module_asks_for_the_class_of_a_loss():
    own = classes()
    assert len(own) > 20
    found = [
        f"{file.relative_to(TOP)}:{node.lineno} {name}"
        for file in sorted(TOP.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for kinds in asked(node)
        for name in names(kinds) & own.keys()
        if own[name] != file
    ]
    assert found == []


def test_one_outcome_has_no_lattice():
    """As of the 0-DP rest of a mechanism that tells something only where it fails."""
    assert Atoms(((Fraction(1), Fraction(1)),)).lattice is None
