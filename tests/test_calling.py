"""Calls with arguments that do not fit, in Python and in text; constructors by other names."""

import inspect

import pytest

import symacct
from symacct import (
    FiniteMechanism,
    Gaussian,
    LimitError,
    Node,
    ParseError,
    RandomizedResponse,
    parse,
)
from symacct.core.calling import explained
from symacct.core.errors import ArgumentError, DomainError
from symacct.expressions.node import kinds
from tests import wrong_types

FUNCTIONS = ("dp_sgd", "band_mf", "truncated_poisson", "sample_with_replacement", "sampled_descent")
MAKERS = {
    f"{name}.{maker}": getattr(kind, maker)
    for name, kind in kinds().items()
    for maker in vars(kind).get("makers", ())
}
CALLS = {
    **{name: call for name, (call, _) in wrong_types.constructors().items()},
    **{name: getattr(symacct, name) for name in FUNCTIONS},
    **MAKERS,
}


def wrong_calls(call):
    """Too many arguments, one of another name, one twice, and none where one is needed."""
    parameters = inspect.signature(call).parameters.values()
    names = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    needed = [one.name for one in parameters if one.default is one.empty]
    yield [None] * (len(names) + 1), {}, f"{len(names) + 1} arguments"
    yield [], {names[0] + "x": None}, f"'{names[0]}x'"
    yield [None], {names[0]: None}, f"{names[0]} twice"
    if needed:
        yield [], {}, f"no {needed[0]}"


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_does_not_fit_is_one_line_with_what_fits(name):
    call, shown = CALLS[name], name.removeprefix("laws.")
    for values, keywords, found in wrong_calls(call):
        with pytest.raises(ArgumentError) as raised:
            call(*values, **keywords)
        message = str(raised.value)
        assert message.startswith(f"{shown}: found ")
        assert found in message
        assert f"needed {shown}(" in message
        assert "\n" not in message
        assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in FUNCTIONS])
def test_in_a_text_it_is_the_same_with_its_column(name):
    if not inspect.signature(CALLS[name]).parameters:
        return
    with pytest.raises(ParseError, match=rf"^column 1: {name}: found .*needed {name}\(") as raised:
        parse(f"{name}({', '.join(['1'] * 30)})")
    assert "30 arguments" in str(raised.value)


RESULT = Gaussian(5).report("1e-5")
OWNERS = {
    "Node": Gaussian(5),
    "Guarantee": RESULT.guarantee,
    "Enclosure": RESULT.epsilon,
    "PrivacyReport": RESULT,
    "Accountant": symacct.Accountant(),
    "Filter": symacct.Filter(1, "1e-5"),
    "Odometer": symacct.Odometer("1e-5"),
    "Risk": symacct.risk(Gaussian(5)),
}
#: How the package itself walks an expression; nobody types these.
INNER = {"walk", "rebuild", "parameters", "symbolic_parameters", "fields"}
QUESTIONS = {
    f"{owner}.{name}": getattr(made, name)
    for owner, made in OWNERS.items()
    for kind in getattr(symacct, owner).__mro__
    for name, found in vars(kind).items()
    if inspect.isfunction(found) and name[0] != "_" and name not in INNER
}
PUBLIC = {name: getattr(symacct, name) for name in symacct.__all__}
ASKED = {**QUESTIONS, **{name: x for name, x in PUBLIC.items() if inspect.isfunction(x)}}
for open_ended in ("limits", "theorem"):  # which take any name, and say which ones they know
    ASKED.pop(open_ended)


@pytest.mark.parametrize("name", ASKED)
def test_so_is_every_question_and_every_public_function(name):
    short = name.rpartition(".")[2]
    with pytest.raises(ArgumentError, match=f"^{short}: found the argument 'tarrget'") as raised:
        ASKED[name](tarrget=3)
    assert f"needed {short}(" in str(raised.value)


def test_the_name_that_other_libraries_give_to_what_is_to_be_met_has_a_pointer():
    for call in (Gaussian(5).report, Gaussian(5).epsilon, symacct.dp_sgd):
        with pytest.raises(ArgumentError, match=r"calibrate\(m, epsilon, delta\) finds"):
            call("1e-5", target_epsilon=3)


def test_an_error_of_one_s_own_function_stays_as_it_is():
    def fails(x):
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine") as raised:
        explained(fails)(3)
    assert not isinstance(raised.value, ArgumentError)


@pytest.mark.parametrize("call", [*CALLS.values()])
def test_the_signature_is_the_constructor_s_own(call):
    """As help, notebooks and the reference show it."""
    shown = [*inspect.signature(call).parameters]
    assert shown != ["values", "keywords"]
    if isinstance(call, type) and issubclass(call, Node):
        assert shown == [*call.constructor]


GOOD_MAKERS = {
    "RandomizedResponse.of_epsilon": ["1, 4", "log(3)", "epsilon=1/2, k=3"],
    "ExponentialMechanism.of_noise": ["4", "4, sensitivity=1/3"],
    "PermuteAndFlip.of_noise": ["4, 2"],
    "ExponentialFamily.over_radii": ["'exp(kappa)'", "B='kappa', sensitivity=1/2"],
    "FiniteMechanism.randomized_response": ["3, 2"],
    "FiniteMechanism.exponential": ["[[0, 1], [-1, 0], [1, 1]], 3/2"],
    "FiniteMechanism.permute_and_flip": ["[[0, 0], [1, 0]], 2"],
}


def test_every_other_constructor_can_be_written_as_text():
    plain = {"register", "from_json"}
    for kind in map(dict(kinds()).get, kinds()):
        static = {n for n, x in vars(kind).items() if isinstance(x, classmethod | staticmethod)}
        made = {name for name in static if name[0] != "_"} - plain
        assert made == set(vars(kind).get("makers", ())), kind
    assert set(GOOD_MAKERS) == set(MAKERS)


@pytest.mark.parametrize(
    ("name", "arguments"), [(name, one) for name, listed in GOOD_MAKERS.items() for one in listed]
)
def test_what_it_makes_is_an_expression_like_any_other(name, arguments):
    m = parse(f"{name}({arguments})")
    assert m is parse(repr(m))
    assert parse(f"3*PoissonSubsample({name}({arguments}), 1/9)").children[0].children == (m,)


def test_it_is_what_python_makes():
    assert parse("RandomizedResponse.of_epsilon(1, 4)") is RandomizedResponse.of_epsilon(1, 4)
    made = FiniteMechanism.exponential([[0, 1], [1, 0]], 3)
    assert parse("FiniteMechanism.exponential([[0, 1], [1, 0]], 3)") is made


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("RandomizedResponse.of_epsilo(1)", ParseError, "did you mean RandomizedResponse.of_eps"),
        ("RandomizedResponse.of_epsilon", ParseError, "needed RandomizedResponse.of_epsilon[(]"),
        ("RandomizedResponse.rdp(2)", ParseError, "found the name 'RandomizedResponse.rdp'"),
        ("Gaussian.__class__(2)", ParseError, "found the name 'Gaussian.__class__'"),
        ("FiniteMechanism.randomized_response(10**9, 2)", LimitError, "laws and answers"),
        ("FiniteMechanism.exponential([[0, 10**9], [1, 0]], 2)", LimitError, "base[*][*]score"),
        ("FiniteMechanism.exponential([[0, 3/2], [1, 0]], 2)", DomainError, "a whole number"),
        ("FiniteMechanism.permute_and_flip([1, 0], 2)", DomainError, "needed a list such as"),
    ],
)
def test_no_other_name_and_no_large_size_is_taken(text, error, said):
    with pytest.raises(error, match=said):
        parse(text)
