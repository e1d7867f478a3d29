"""The text grammar and the JSON documents take expressions and nothing else."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symacct import (
    Compose,
    DomainError,
    Gaussian,
    Laplace,
    LimitError,
    ParseError,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    Scale,
    SymacctError,
    from_json,
    limits,
    parse,
)
from tests.support import expressions

M = Gaussian(5)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("Gaussian(5)", M),
        ("  Gaussian ( 5 , ) ", M),
        ("Gaussian(sigma=5)", M),
        ("Gaussian(5, sensitivity='1/2')", Gaussian(5, "1/2")),
        ('Gaussian("5")', M),
        ("(Gaussian(5))", M),
        ("Gaussian(10/2)", M),
        ("Gaussian(2*2 + 1)", M),
        ("Gaussian(7 - 2)", M),
        ("Gaussian(2**2 + 1)", M),
        ("Gaussian(50e-1)", M),
        ("Gaussian(.5e1)", M),
        ("Gaussian(1_0/2)", M),
        ("Gaussian(--5)", M),
        ("2*Gaussian(5)", 2 * M),
        ("Gaussian(5)*2", 2 * M),
        ("Gaussian(5) + Gaussian(5)", 2 * M),
        ("2*3*Gaussian(5)", 6 * M),
        ("3*(Gaussian(5) + Laplace(2))", 3 * M + 3 * Laplace(2)),
        ("Compose(Gaussian(5), Laplace(2))", M + Laplace(2)),
        ("PoissonSubsample(Gaussian(5), 1/1000)", PoissonSubsample(M, "1/1000")),
        ("PoissonSubsample(Gaussian(5), 0.001)", PoissonSubsample(M, "1/1000")),
        ("PoissonSubsample(Gaussian(5), 1e-3)", PoissonSubsample(M, "1/1000")),
        ("PoissonSubsample(mechanism=Gaussian(5), gamma='0.1e-2')", PoissonSubsample(M, "1/1000")),
        ("RandomizedResponse(0.1)", RandomizedResponse("1/10")),
        ("600_000*Gaussian(5)", 600_000 * M),
        ("PureDP(1, 'add_remove')", PureDP(1, "add_remove")),
        ("Scale(Gaussian(5), 1/2)", Scale(M, "1/2")),
        ("Compose()", Compose()),
        ("0*Gaussian(5)", Compose()),
    ],
)
def test_the_text_of_an_expression(text, node):
    assert parse(text) is node


@given(expressions)
@settings(max_examples=40)
def test_numbers_in_text_are_exact_quoted_or_not(node):
    text = repr(node)
    if "<function" in text:
        return
    assert parse(text) is node
    assert parse(text.replace(" ", "")) is node
    assert parse(f"((({text})))") is node
    assert parse(text.replace("'", '"')) is node


FORBIDDEN = [
    "", " ", "()", "5", "'5'", "Gaussian", "Gaussian(", "Gaussian)", "Gaussian(5))", "(Gaussian(5)",
    "Gaussian(5) Gaussian(5)", "Gaussian(5),", "Gaussian(5);", "gaussian(5)", "Gauss(5)",
    "Gaussian()", "Gaussian(5, 6, 7)", "Gaussian(5, sigma=5)", "Gaussian(sigma=5, 6)",
    "Gaussian(sigma=5, sigma=6)", "Gaussian(tau=5)", "Gaussian(*[5])", "Gaussian(**{})",
    "Gaussian(5) - Gaussian(5)", "-Gaussian(5)", "Gaussian(5) / 2", "2 / Gaussian(5)",
    "Gaussian(5) * Gaussian(5)", "Gaussian(5) ** 2", "2 ** Gaussian(5)", "Gaussian(5) + 5",
    "Gaussian(5) + '5'", "Gaussian(5) * '2'", "Gaussian(1/0)", "Gaussian('1/0')",
    "Gaussian(5).rdp(2)", "Gaussian(5).sigma", "Gaussian.__new__", "Gaussian.__class__",
    "__import__('os')", "__builtins__", "__Gaussian__(5)", "os", "eval('5')", "exec('')",
    "open('x')", "print(5)", "getattr(Gaussian(5), 'sigma')", "type(5)", "dir()", "vars()",
    "globals()", "lambda: 5", "(lambda: Gaussian(5))()", "Gaussian(5) if True else 5",
    "f'{5}'", "f\"Gaussian({5})\"", "rb'5'", "'a' 'b'", "'5'*3", "Gaussian(5)[0]", "[Gaussian(5)]",
    "{Gaussian(5): 2}", "{Gaussian(5)}", "Gaussian(5) == Gaussian(5)",
    "Gaussian(5) < 3",
    "Gaussian(5) and Gaussian(5)", "not Gaussian(5)", "Gaussian(5) or 1", "x := Gaussian(5)",
    "(x := 5)", "x = Gaussian(5)", "import os", "del x", "Gaussian(5)\nimport os",
    "Gaussian(5) # x",
    "Gaussian(5) @ 2", "Gaussian(5) % 2", "Gaussian(5) // 2", "Gaussian(5) | Gaussian(5)", "~5",
    "Gaussian(0x5)", "Gaussian(5j)", "Gaussian(nan)", "Gaussian(inf)", "Gaussian('nan')",
    "Gaussian('inf')", "Gaussian(None)", "Gaussian(True)", "True", "None", "...", "Gaussian(...)",
    "Gaussian('5\\n')", "Gaussian('\\x35')", "Gaussian(5", "Gaussian 5", "Gaussian(5 6)", "$",
    "`ls`",
    "Gaussian(５)x", "Node(5)", "Mechanism(5)", "Accountant()", "symacct.Gaussian(5)",
    "Curve(lambda a: a, adjacency='either')", "Curve('alpha')", "Curve('alpha', adjacency='x')",
    "Curve('beta', adjacency='either').rdp(2)", "Curve('__import__', adjacency='either')",
    "Curve('alpha.__class__', adjacency='either')", "Curve('f(alpha)', adjacency='either')",
    "Curve('Gaussian(5)', adjacency='either')", "Symbol('x')", "Gaussian(Symbol(5))",
    "Gaussian(Symbol('x y'))", "Gaussian(Symbol('__x'*99))", "Gaussian(Symbol('x', evil=True))",
    "Gaussian(Symbol('x', positive=5))", "Gaussian(exp())", "Gaussian(log('5'))",
    "Gaussian(exp(Gaussian(5)))", "Gaussian(sin(5))", "Gaussian(factorial(9))",
    "Compose(5)", "Compose('Gaussian(5)')", "1.5*Gaussian(5)", "'3'*Gaussian(5)", "pi*Gaussian(5)",
]  # fmt: skip


@pytest.mark.parametrize("text", FORBIDDEN, ids=range(len(FORBIDDEN)))
def test_everything_else_is_refused(text):
    with pytest.raises((ParseError, DomainError, SymacctError)) as caught:
        parse(text)
    message = str(caught.value)
    assert "\n" not in message
    assert "found" in message or "needed" in message or "argument" in message


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("Gaussian(5) + Gauss(5)", 15),
        ("Gaussian(5))", 12),
        ("Gaussian(5) $", 13),
        ("Gaussian(5).x", 12),
        ("Gaussian(5)[0]", 12),
        ("2*os", 3),
        ("lambda: 5", 1),
        ("Gaussian(5) < 5", 13),
        ("Gaussian(tau=5)", 1),
    ],
)
def test_a_parse_error_names_the_column(text, column):
    with pytest.raises(ParseError, match=rf"^column {column}: "):
        parse(text)


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ParseError, match=r"found the name 'Gauss', needed one of .*Gaussian"):
        parse("Gauss(5)")


@pytest.mark.parametrize("what", [None, 5, M, b"Gaussian(5)", ["Gaussian(5)"], len])
def test_only_text_is_parsed(what):
    with pytest.raises(ParseError, match="needed text"):
        parse(what)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 3_000_000,
        "(" * 3_000_000 + "Gaussian(5)" + ")" * 3_000_000,
        "(" * 100_000 + "Gaussian(5)" + ")" * 100_000,
        "PostProcess(" * 1000 + "Gaussian(5)" + ")" * 1000,
        "Gaussian(" * 100_000,
        "Gaussian(1e999999999)",
        "Gaussian(10**999999999)",
        "Gaussian(2**(2**(2**(2**(2**(2**2))))))",
        "Gaussian(" + "9" * 1_000_000 + ")",
        "1e999999999*Gaussian(5)",
        "-" * 300_000 + "5",
        "Gaussian(" + "-" * 100_000 + "5)",
        "Gaussian(" + "2**" * 50_000 + "1)",
        "x" * 5_000_000,
        "Gaussian('" + "5" * 3_000_000 + "')",
        "Curve('" + "(" * 100_000 + "', adjacency='either')",
        "Curve('alpha**999999999999', adjacency='either')",
        " " * 4_300_000 + "Gaussian(5)",
    ],
    ids=lambda t: f"{t[:24].strip()}… {len(t)}",
)
def test_absurd_texts_are_refused_at_once(text):
    with pytest.raises((LimitError, ParseError)) as caught:
        parse(text)
    assert len(str(caught.value)) < 1000


def test_long_but_flat_texts_are_read():
    assert parse(" + ".join(["Gaussian(5)"] * 5000)) is 5000 * M
    assert parse("(" * 50 + "Gaussian(5)" + ")" * 50) is M
    assert parse("Gaussian(" + "-" * 40 + "5)") is M


@given(st.text(max_size=60))
@settings(max_examples=300)
def test_no_text_gives_anything_but_an_expression_or_our_error(text):
    try:
        assert parse(text) is parse(repr(parse(text)))
    except SymacctError as error:
        assert "\n" not in str(error)  # noqa: PT017


PIECES = ["Gaussian", "Laplace", "(", ")", ",", "5", "1/2", "'1/2'", "+", "*", "-", "**", "=",
          "sigma", "alpha", "Curve", "Symbol", "exp", " ", "2", "PoissonSubsample", "pi",
          "'"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14))
@settings(max_examples=400)
def test_no_shuffle_of_the_grammar_s_pieces_does(pieces):
    try:
        node = parse("".join(pieces))
    except SymacctError:
        return
    assert parse(repr(node)) is node


def test_a_long_expression_has_a_short_text():
    node = M
    for i in range(19):
        node = PoissonSubsample(node + Laplace(i + 1) + 2 * node, "1/2") + node
    with limits(text_bytes=2**14):
        assert len(repr(node)) < 2**15
        assert "…" in repr(node)


# --- JSON


def document(*nodes, **rest):
    return json.dumps({"symacct": 1, "nodes": list(nodes), **rest})


GAUSSIAN = {"type": "Gaussian", "sigma": "5", "sensitivity": "1"}


def test_a_json_document_lists_nodes_children_first():
    written = json.loads((2 * PoissonSubsample(M, "1/9") + M).to_json())
    assert written["symacct"] == 1
    assert [node["type"] for node in written["nodes"]][-1] == "Compose"
    assert written["nodes"].count(GAUSSIAN) == 1
    assert from_json(document(GAUSSIAN)) is M
    assert from_json(document(GAUSSIAN).encode()) is M


BAD_JSON = [
    "", "{", "null", "5", '"Gaussian(5)"', "[]", "{}", '{"symacct": 1}',
    '{"symacct": 1, "nodes": []}',
    '{"symacct": 2, "nodes": [' + json.dumps(GAUSSIAN) + "]}",
    '{"nodes": [' + json.dumps(GAUSSIAN) + "]}",
    '{"symacct": 1, "nodes": {}}', '{"symacct": 1, "nodes": "x"}', "NaN", "[" * 100_000,
    document(5), document(None), document("Gaussian"), document([]), document({}),
    document({"type": "Gauss"}), document({"type": None}), document({"type": []}),
    document({"type": "__class__"}), document({"type": "Node"}), document({"type": "Gaussian"}),
    document({**GAUSSIAN, "extra": "1"}), document({"type": "Gaussian", "sigma": "5"}),
    document({**GAUSSIAN, "sigma": 5}), document({**GAUSSIAN, "sigma": 5.0}),
    document({**GAUSSIAN, "sigma": True}), document({**GAUSSIAN, "sigma": None}),
    document({**GAUSSIAN, "sigma": ["5"]}), document({**GAUSSIAN, "sigma": "x"}),
    document({**GAUSSIAN, "sigma": "-5"}), document({**GAUSSIAN, "sigma": "nan"}),
    document({**GAUSSIAN, "sigma": {"node": 0}}), document({**GAUSSIAN,
    "sigma": {"formula": "alpha.x"}}),
    document({**GAUSSIAN, "sigma": {"formula": 5}}), document({**GAUSSIAN,
    "sigma": {"formula": None}}),
    document({**GAUSSIAN, "sigma": {"formula": "__import__('os')"}}),
    document({**GAUSSIAN, "sigma": {"formula": "5", "x": 1}}),
    document({"type": "PostProcess", "mechanism": {"node": 0}}),
    document(GAUSSIAN, {"type": "PostProcess", "mechanism": {"node": 1}}),
    document(GAUSSIAN, {"type": "PostProcess", "mechanism": {"node": -1}}),
    document(GAUSSIAN, {"type": "PostProcess", "mechanism": {"node": "0"}}),
    document(GAUSSIAN, {"type": "PostProcess", "mechanism": {"node": True}}),
    document(GAUSSIAN, {"type": "PostProcess", "mechanism": {"node": 0.0}}),
    document(GAUSSIAN, {"type": "PostProcess", "mechanism": "Gaussian(5)"}),
    document(GAUSSIAN, {"type": "Compose", "terms": [[0, 2]]}),
    document(GAUSSIAN, {"type": "Compose", "terms": [[0]]}),
    document(GAUSSIAN, {"type": "Compose", "terms": [[0, "1/2"]]}),
    document(GAUSSIAN, {"type": "Compose", "terms": [[0, "-1"]]}),
    document(GAUSSIAN, {"type": "Compose", "terms": [["0", "1"]]}),
    document(GAUSSIAN, {"type": "Compose", "terms": {"0": "1"}}),
    document(GAUSSIAN, {"type": "Compose", "terms": None}),
    document(GAUSSIAN, {"type": "Compose", "parts": []}),
    document(GAUSSIAN, {"type": "Compose", "terms": [], "x": 1}),
    document(GAUSSIAN, {"type": "PoissonSubsample", "mechanism": {"node": 0}, "gamma": "2"}),
    document(GAUSSIAN, {"type": "GroupPrivacy", "mechanism": {"node": 0}, "c": "x"}),
    document({"type": "PureDP", "epsilon": "1", "adjacency": "x"}),
    document({"type": "PureDP", "epsilon": "1", "adjacency": {}}),
    document({"type": "Curve", "f": {"formula": "alpha"}, "kind": "upper", "adjacency": None,
              "at_infinity": None}),
    document({"type": "Curve", "f": {"formula": "alpha"}, "kind": "x", "adjacency": "either",
              "at_infinity": None}),
]  # fmt: skip


@pytest.mark.parametrize("text", BAD_JSON, ids=range(len(BAD_JSON)))
def test_bad_json_is_refused(text):
    with pytest.raises(SymacctError) as caught:
        from_json(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("what", [None, 5, {"symacct": 1, "nodes": [GAUSSIAN]}, [GAUSSIAN], M])
def test_json_is_text(what):
    with pytest.raises(ParseError, match="needed text"):
        from_json(what)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ParseError):
        from_json(b"\xff\xfe\xfa")


def test_absurd_json_is_refused_at_once():
    with pytest.raises(LimitError):
        from_json(" " * 5_000_000)
    chain = [GAUSSIAN] + [{"type": "PostProcess", "mechanism": {"node": i}} for i in range(1000)]
    with pytest.raises(LimitError, match="nesting depth"):
        from_json(document(*chain))
    with limits(nodes=10), pytest.raises(LimitError):
        from_json(document(*[GAUSSIAN] * 11))
    with pytest.raises(LimitError):
        from_json(document({**GAUSSIAN, "sigma": "1e999999999"}))
    huge = {"type": "Compose", "terms": [[0, "1e999999999"]]}
    with pytest.raises(LimitError):
        from_json(document(GAUSSIAN, huge))


def test_a_million_runs_are_one_entry():
    text = (10**60 * M).to_json()
    assert len(text) < 300
    assert from_json(text) is 10**60 * M


def test_only_the_symbols_named_are_read():
    node = parse("PoissonSubsample(Gaussian(2*sigma), gamma)", symbols=["sigma", "gamma"])
    assert {s.name for s in node.free_symbols} == {"sigma", "gamma"}
    assert node.subs({"sigma": "5/2", "gamma": "1/1000"}) is PoissonSubsample(Gaussian(5), "1/1000")
    with pytest.raises(ParseError, match="found the name 'gamma'"):
        parse("PoissonSubsample(Gaussian(sigma), gamma)", symbols=["sigma"])
    with pytest.raises(DomainError, match="'mu', the free symbols are gamma, sigma"):
        node.subs({"mu": 1})


@pytest.mark.parametrize(
    "name", ["Gaussian", "exp", "pi", "2x", "a b", "σ", "__import__('os')", ""]
)
def test_a_symbol_is_a_plain_new_name(name):
    with pytest.raises(ParseError, match=r"^symbol: found"):
        parse("Gaussian(5)", symbols=[name])
