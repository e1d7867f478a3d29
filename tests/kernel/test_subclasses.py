"""A plain subclass of a mechanism or an operation has what is proved of its parent."""

from functools import cache

import pytest

from symacct import (
    Compose,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    laws,
    theorem,
)
from symacct.kernel.claims import ADD_REMOVE, EITHER, FINITE_ORDERS, Kind
from symacct.kernel.errors import DomainError, SoundnessError
from symacct.kernel.node import Mechanism, Node, kinds
from symacct.kernel.operation import Operation
from symacct.kernel.theorem_registry import always, forget, is_about, theorems

ORDERS = (2, 5, "5/2", "inf")


@cache
def plain(kind):
    """A subclass that changes nothing, the same one every time."""
    return type(f"My{kind.__name__}", (kind,), {"__doc__": "What its parent is."})


def mine(node):
    """The node, each class in it replaced by a plain subclass of it."""
    done = {}
    for one in node.walk():
        kind = plain(type(one))
        if isinstance(one, Compose):
            done[one] = kind({done[part]: count for part, count in one.terms.items()})
        else:
            fields = one.fields()
            inner = {"mechanism": done[one.mechanism]} if "mechanism" in fields else {}
            done[one] = kind(**fields | inner)
    return done[node]


#: What each operation is given beside a mechanism.
GIVEN = {
    **{"Convexify": (4,), "GroupPrivacy": (3,), "RandomAllocation": (3,), "Scale": ("1/3",)},
    **{"PoissonSubsample": ("1/3",), "SubsampleWithoutReplacement": ("1/3",), "PostProcess": ()},
    **{"RepeatAndSelect": (laws.Poisson(3),), "Either": (Gaussian(3), "1/2")},
    "Failing": ("1e-6",),
}

MADE = {
    "leaf": Gaussian(2),
    "sample": PoissonSubsample(Gaussian(2), "1/10"),
    "replaced": PoissonSubsample(Gaussian(2), "1/10", "replace_one"),
    "fixed size": SubsampleWithoutReplacement(Gaussian(2), "1/10"),
    "composition": 10 * PoissonSubsample(Gaussian(2), "1/10") + Laplace(3),
    "group": GroupPrivacy(PoissonSubsample(Gaussian(2), "1/10"), 3),
}


@pytest.mark.parametrize("name", MADE)
def test_a_subclass_has_the_curve_and_the_numbers_of_its_parent(name):
    node = MADE[name]
    own = mine(node)
    assert all(type(one).__name__.startswith("My") for one in own.walk())
    assert own.claim == node.claim
    for alpha in ORDERS:
        assert str(own.rdp(alpha, digits=10)) == str(node.rdp(alpha, digits=10))
        assert own.rdp(alpha).claim.kind is node.rdp(alpha).claim.kind
    for conversion in ("improved", "exact"):
        found, known = (m.epsilon("1e-5", conversion=conversion, digits=6) for m in (own, node))
        assert (str(found), found.kind) == (str(known), known.kind)


@pytest.mark.parametrize("operation", [*GIVEN, "Compose"])
def test_what_is_about_an_operation_is_about_its_subclass(operation):
    kind = kinds()[operation]
    about = [one for one in theorems() if operation in one.operation]
    assert about
    made = sample_of(kind)
    own = mine(made)
    for one in about:
        assert is_about(one, own) == is_about(one, made)
        for alpha in (2, 3):
            reason = one.why_not(own, alpha)
            assert (reason and reason.replace("My", "")) == one.why_not(made, alpha)


def sample_of(kind):
    if kind is Compose:
        return Compose({Gaussian(2): 3, Laplace(2): 1})
    return kind(Gaussian(2), *GIVEN[kind.__name__])


def test_a_theorem_about_a_subclass_is_not_about_its_parent():
    class Mine(PoissonSubsample):
        """A sample of records that are drawn by me."""

    @theorem(
        "MINE-OF-SUBCLASS",
        operation=Mine,
        kind=Kind.UPPER,
        source="me",
        orders=FINITE_ORDERS,
        adjacency=ADD_REMOVE,
        status="proved",
        monotone=True,
        applies=always,
    )
    def bound(ctx, eps, alpha, gamma):
        """ε′(α) <= ε(α)"""
        return eps(alpha)

    try:
        own, parent = (kind(Gaussian(2), "1/10") for kind in (Mine, PoissonSubsample))
        about = {one.name for one in theorems() if is_about(one, own)}
        theirs = {one.name for one in theorems() if is_about(one, parent)}
        assert about - theirs == {"MINE-OF-SUBCLASS"}
        assert theirs < about
        assert str(own.rdp(3, by="MINE-OF-SUBCLASS")) == str(Gaussian(2).rdp(3))
    finally:
        forget("MINE-OF-SUBCLASS")


def test_no_class_takes_the_name_of_one_of_the_package():
    """Else a text that names a sample would build what the class of that name does."""
    for kind in (PoissonSubsample, Gaussian):
        parent = Operation if issubclass(kind, Operation) else Mechanism
        with pytest.raises(DomainError, match=kind.__name__):
            type(kind.__name__, (parent,), {"__new__": lambda cls, mechanism: None})
        assert kinds()[kind.__name__] is kind


def test_a_theorem_is_not_about_a_class_of_the_same_name_in_another_module():
    def in_module(module):
        def new(cls, mechanism):
            return cls._intern(mechanism=mechanism)

        fields = {"__new__": new, "__module__": module, "__qualname__": "Thinned"}
        return type("Thinned", (Operation,), fields)

    mine = in_module("mine")
    try:
        theorem(
            "THINNED-OF-MINE",
            operation=mine,
            kind=Kind.UPPER,
            source="me",
            orders=FINITE_ORDERS,
            adjacency=EITHER,
            status="proved",
            monotone=True,
            applies=always,
        )(lambda ctx, eps, alpha: eps(alpha) / 4)
        assert mine(Gaussian(2)).rdp(2).claim.theorems == ("THINNED-OF-MINE",)
        again = in_module("mine")  # as a cell of a notebook that runs again makes it
        assert again(Gaussian(2)).rdp(2) == mine(Gaussian(2)).rdp(2)
        with pytest.raises(SoundnessError, match="no upper bound is proved"):
            in_module("theirs")(Gaussian(2))
    finally:
        forget("THINNED-OF-MINE")
        del Node._kinds["Thinned"]


def test_an_operation_of_its_own_has_no_theorem_of_another():
    class Sampled(Operation):
        """The mechanism on a sample."""

        def __new__(cls, mechanism):
            return cls._intern(mechanism=mechanism)

    del Node._kinds["Sampled"]  # no text names it
    with pytest.raises(SoundnessError, match="no upper bound is proved"):
        Sampled(Gaussian(2))


def test_a_gaussian_that_writes_something_of_its_own_has_answers_of_unknown_kind():
    class Plain(Gaussian):
        """What its parent is."""

    class Moved(Gaussian):
        """A Gaussian of queries that follow what came before."""

        premises = ("each query may follow what came before",)

    class OfMoved(Moved):
        """What its parent is."""

    assert Plain(2).is_one_query
    assert Plain(2).is_of_vectors
    for kind in (Moved, OfMoved):
        assert not kind(2).is_one_query
        assert not kind(2).is_of_vectors
        assert SubsampleWithoutReplacement(kind(2), "1/10").rdp(2) >= MADE["fixed size"].rdp(2)
