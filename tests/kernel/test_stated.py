"""What decides a claim is stated by its author: leaving any of it out is an error, everywhere."""

from dataclasses import replace

import pytest

from symacct import (
    DomainError,
    Gaussian,
    Kind,
    PoissonSubsample,
    SoundnessError,
    Source,
    theorem,
    theorems,
)
from symacct.kernel import conversion as conversion_register
from symacct.kernel.claims import ADDED, UNKNOWN, why_no_one_way
from symacct.kernel.conversion import Conversion, of_one_order, register
from symacct.kernel.node import Node, kinds
from symacct.mechanisms import Mechanism
from tests.thinning import covering

CURVE = ("curve", "excess", "at_one", "at_infinity")
DECIDING = ("kind", "attained", "convex", "source")
OF_A_THEOREM = (
    "operation",
    "kind",
    "source",
    "orders",
    "adjacency",
    "applies",
    "monotone",
    "status",
)


def below(cls):
    for sub in cls.__subclasses__():
        yield sub
        yield from below(sub)


GIVING = sorted(
    {c for c in below(Mechanism) if set(CURVE) & vars(c).keys() and c.__module__[:8] == "symacct."},
    key=lambda c: c.__name__,
)


def again(cls, without=None):
    """The class written once more, under no name that a text may use."""
    body = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__", without)}
    try:
        return type(cls)(cls.__name__, cls.__bases__, body)
    finally:
        if cls.__name__ in kinds():
            Node._kinds[cls.__name__] = cls


@pytest.mark.parametrize("cls", GIVING, ids=lambda c: c.__name__)
def test_a_class_that_gives_a_curve_states_what_it_is(cls):
    again(cls)
    stated = [name for name in DECIDING if name in vars(cls)]
    assert "kind" in (*stated, *cls._constructor)
    for name in stated:
        if name in cls._constructor:
            continue
        decides = name in ("kind", "source") or (
            name == "attained" and vars(cls).get("kind") is not Kind.UPPER
        )
        if decides and (name != "source" or "__new__" in vars(cls)):
            with pytest.raises(SoundnessError, match=f"found no {name}.*write {name} = "):
                again(cls, without=name)


@covering()
@pytest.mark.parametrize("cls", GIVING, ids=lambda c: c.__name__)
@pytest.mark.parametrize("part", [*CURVE, "stable_excess", "excesses"])
def test_no_class_has_another_curve_than_its_base(cls, part):
    """Theorems know noise by its class: twice Gaussian's curve had the same bounds of samples."""
    stated = {"kind": Kind.UPPER, "attained": UNKNOWN, "convex": False, "source": Source("me", "")}
    with pytest.raises(SoundnessError, match=f"class Other: .*curve.*{cls.__name__}.*Mechanism"):
        type(cls)("Other", (cls,), {**stated, part: lambda self, ctx: None})


def test_a_node_s_own_default_is_the_safe_side():
    assert vars(Node)["attained"] is UNKNOWN
    assert not UNKNOWN.by_one_pair
    assert not UNKNOWN.is_swapped
    assert why_no_one_way([UNKNOWN, UNKNOWN], 2) is not None


@pytest.mark.parametrize("left_out", ["kind", "attained", "source"])
@pytest.mark.parametrize("kind", [Kind.EXACT, Kind.UPPER, Kind.LOWER])
def test_a_mechanism_of_one_s_own(kind, left_out):
    body = {
        "kind": kind,
        "attained": ADDED,
        "source": Source("me", ""),
        "__new__": lambda cls: cls._intern(),
        "curve": lambda self, ctx: lambda alpha: ctx.number(alpha) / 50,
    }
    try:
        type(Mechanism)("Mine", (Mechanism,), body)
        del body[left_out]
        if (left_out, kind) == ("attained", Kind.UPPER):
            assert not type(Mechanism)("Mine", (Mechanism,), body)().attained.by_one_pair
        else:
            with pytest.raises(SoundnessError, match=f"class Mine: found no {left_out}, needed"):
                type(Mechanism)("Mine", (Mechanism,), body)
    finally:
        Node._kinds.pop("Mine", None)


@pytest.mark.parametrize("kind", ["exact", "upper", "lower"])
def test_a_kind_in_a_string_is_none(kind):
    """A curve of kind="lower" gave a guarantee: it is not the object Kind.LOWER."""
    body = {"kind": kind, "attained": ADDED, "source": Source("me", "")}
    with pytest.raises(DomainError, match=f"class Mine, kind: found '{kind}', needed kind = Kind"):
        type(Mechanism)("Mine", (Mechanism,), {**body, "curve": lambda self, ctx: None})
    Node._kinds.pop("Mine", None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("kind", "high"), ("source", 7), ("orders", "all"), ("adjacency", "near")),
        *(("monotone", "yes"), ("applies", True)),
    ],
)
def test_a_theorem_states_it_in_the_right_sort(field, value):
    known = theorems()[0]
    fields = {name: getattr(known, name) for name in OF_A_THEOREM}
    fields |= {"operation": PoissonSubsample, field: value}
    with pytest.raises(DomainError, match=f"theorem NEW, {field}: found .*needed "):
        theorem("NEW", **fields)(known.bound)
    assert "NEW" not in {t.name for t in theorems()}


def test_a_mechanism_s_curve_is_some_bound():
    body = {"kind": Kind.NEITHER, "attained": UNKNOWN, "source": Source("me", "")}
    cls = type(Mechanism)("Mine", (Mechanism,), {**body, "curve": lambda self, ctx: None})
    with pytest.raises(SoundnessError, match="bounds nothing"):
        cls._intern()


@pytest.mark.parametrize("left_out", OF_A_THEOREM)
def test_a_theorem_states_what_decides_its_claim(left_out):
    known = theorems()[0]
    operation = tuple(kinds()[name] for name in known.operation)
    fields = {name: getattr(known, name) for name in OF_A_THEOREM} | {"operation": operation}
    del fields[left_out]
    with pytest.raises(SoundnessError, match=rf"theorem NEW: found no {left_out}"):
        theorem("NEW", **fields)(known.bound)
    assert "NEW" not in {t.name for t in theorems()}


@pytest.mark.parametrize("known", of_one_order(), ids=lambda c: c.name)
@pytest.mark.parametrize("left_out", ["one_valley", "status"])
def test_a_conversion_states_what_decides_its_claim(known, left_out):
    fields = {**vars(known), "name": "new"}
    del fields[left_out]
    with pytest.raises(SoundnessError, match=f"conversion new: found no {left_out}.*write"):
        Conversion(**fields)


@pytest.fixture
def registered():
    before = dict(conversion_register._conversions)
    yield register
    conversion_register._conversions.clear()
    conversion_register._conversions.update(before)


@pytest.mark.parametrize("known", of_one_order(), ids=lambda c: c.name)
def test_no_conversion_replaces_another(known, registered):
    with pytest.raises(DomainError, match=f"conversion {known.name}: already registered"):
        registered(replace(known, one_valley=False))
    assert known in of_one_order()


@pytest.mark.parametrize("status", ["conjecture", "approximation", "refuted"])
@pytest.mark.parametrize("ask", ["epsilon", "delta"])
def test_a_conversion_that_is_not_proved_gives_no_guarantee(status, ask, registered):
    registered(replace(of_one_order()[0], name="mine", status=status))
    with pytest.raises(SoundnessError, match=f"conversion mine: found the status '{status}'"):
        getattr(Gaussian(5), ask)("1/100", conversion="mine")
    registered(replace(of_one_order()[0], name="mine, proved", status="proved"))
    assert getattr(Gaussian(5), ask)("1/100", conversion="mine, proved").conversion


@pytest.mark.parametrize("status", ["", "Proved", None, 5])
def test_a_status_is_one_of_four(status):
    with pytest.raises((DomainError, SoundnessError), match="status"):
        replace(of_one_order()[0], status=status)
    with pytest.raises((DomainError, SoundnessError), match="status"):
        replace(theorems()[0], status=status)
