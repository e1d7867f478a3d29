"""Random texts, documents and command lines: from the grammar, and valid ones with damage done."""

import json
import random
import time

from symacct import SymacctError, from_json, parse
from tests.extremes import bounded

SECONDS = 1  # for a text of up to 1 KB, by the processor's clock
LENGTH = 1000

NUMBERS = ["5", "1/2", "0.001", "1e-8", "1e9999", "1/1e9999", "9**9999", "1e400-1", "0", "-1",
           "3000", "1_000", "sqrt(2)", "log(3)", "exp(1)", "pi", "E", "Rational(1, 3)", "2**0.1",
           "True", "'1/7'", "9" * 300, "alpha", "Symbol('x')", "Symbol('y', positive=True)",
           "10**400", "1/3"]  # fmt: skip
BINARY = ["+", "-", "*", "/", "**"]
FUNCTIONS = ["exp", "log", "sqrt", "Abs", "Min", "Max", "Rational"]
LAWS = ["laws.Poisson", "laws.Geometric", "laws.Normal", "Chi", "laws.Binomial", "laws.Uniform"]
LEAVES = ["Gaussian", "Laplace", "RandomizedResponse", "PureDP", "ZCDP", "TCDP", "Curve",
          "DistributionPair", "ExponentialFamily"]  # fmt: skip
OPERATIONS = ["PoissonSubsample", "SubsampleWithoutReplacement", "PostProcess", "Scale",
              "GroupPrivacy", "Convexify", "Compose"]  # fmt: skip
RECIPES = [
    "dp_sgd",
    "band_mf",
    "truncated_poisson",
    "sample_with_replacement",
    "sampled_descent",
    "thresholded",
]
NOISE = ["(", ")", "[", "]", ",", "=", "*", "**", "-", "'", '"', "\x00", "\ud800", "\xff", "é", "∞",
         "nan", "inf", "None", "True", "\n", " ", ".", "e", "9" * 60, "1e99999", "__import__",
         "exp(", "log(", "sqrt(", "**9999", "Max("]  # fmt: skip
VALID = [
    "600000*PoissonSubsample(Gaussian(5), '1/1000') + Laplace('1/3')",
    "Curve('Min(alpha/50 + log(2), 3)', kind='upper', adjacency='either', at_infinity=3)",
    "DistributionPair(['1/2', '1/2'], ['1/4', '3/4'])",
    "3*(Gaussian(sqrt(2)) + PureDP('1/3', 'add_remove'))",
    "DistributionPair(laws.Poisson(3), laws.Poisson(4))",
    "Gaussian(exp(log(2)/3)*sqrt(6)/sqrt(10), sensitivity=Max(sqrt(2), sqrt(3)))",
    "Convexify(GroupPrivacy(Scale(PostProcess(Laplace(2)), '1/2'), 3), 12)",
    "dp_sgd(60000, 256, 1.1, epochs=15) + dp_sgd(60000, 512, 1.5, steps=5)",
    "band_mf(10000, 7, 2, bands=2, steps=3, strategy=[[1,0,0],[1/2,1,0],[0,1/2,1]])",
    "sampled_descent(PoissonSubsample(Gaussian(4), 1/10), 10**6, 1)",
    "truncated_poisson(Gaussian(4), 1/100, 10**7, 101000)",
]


def number(source, depth):
    """The text of a number, or of what nearly is one."""
    if depth == 0 or source.random() < 0.3:
        return source.choice(NUMBERS)
    if source.random() < 0.3:
        inner = ", ".join(number(source, depth - 1) for _ in range(source.choice((1, 1, 2, 3))))
        return f"{source.choice(FUNCTIONS)}({inner})"
    left, right = number(source, depth - 1), number(source, depth - 1)
    text = f"{left}{source.choice(BINARY)}{right}"
    return f"({text})" if source.random() < 0.6 else text


def expression(source, depth):
    """The text of an expression by the grammar, its parameters often impossible."""
    if depth == 0 or source.random() < 0.3:
        values = [number(source, source.randrange(4)) for _ in range(source.choice((1, 1, 2, 3)))]
        if source.random() < 0.1:
            values = [f"{source.choice(LAWS)}({value})" for value in values]
        if source.random() < 0.1:
            values = [f"[{value}, {value}]" for value in values]
        return f"{source.choice(LEAVES)}({', '.join(values)})"
    if source.random() < 0.4:
        parts = [expression(source, depth - 1) for _ in range(2)]
        return f"{number(source, 1)}*({' + '.join(parts)})"
    if source.random() < 0.1:
        return recipe(source, depth)
    more = [number(source, 2) for _ in range(source.randrange(2))]
    return f"{source.choice(OPERATIONS)}({', '.join([expression(source, depth - 1), *more])})"


def recipe(source, depth):
    """The text of a function that writes an expression, its arguments often impossible."""
    name = source.choice(RECIPES)
    first = [] if name in ("dp_sgd", "band_mf") else [expression(source, depth - 1)]
    whole = [str(source.randrange(1, 10**digits)) for digits in range(1, 9)]
    numbers = [source.choice((number(source, 1), *whole)) for _ in range(source.randrange(2, 5))]
    named = source.sample(["epochs=3", "steps=7", "bands=2", "sampling=min_sep",
                           "sampling='shuffled'", "adjacency=replace_one"], 2)  # fmt: skip
    return f"{name}({', '.join([*first, *numbers, *named[: source.randrange(3)]])})"


def damaged(source, text):
    """The text with a few pieces cut, doubled, exchanged or put in."""
    for _ in range(source.randrange(1, 5)):
        i, j = sorted(source.randrange(len(text) + 1) for _ in range(2))
        piece = source.choice([source.choice(NOISE), text[i:j], "", number(source, 1)])
        text = text[:i] + piece + text[source.choice((i, j)) :]
    return text


def any_text(source):
    """A text of up to 1 KB."""
    text = source.choice(VALID) if source.random() < 0.4 else expression(source, 3)
    return (damaged(source, text) if source.random() < 0.5 else text)[:LENGTH]


def any_document(source):
    """A JSON document: one of ours with damage done to its text or to its values."""
    text = parse(source.choice(VALID)).to_json()
    if source.random() < 0.4:
        return damaged(source, text)
    document = json.loads(text)
    for _ in range(source.randrange(1, 4)):
        _exchange(source, document)
    return json.dumps(document)


def _exchange(source, value):
    """Some value within the document, replaced by another of any type."""
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = source.choice(keys)
        if not isinstance(value[key], dict | list) or source.random() < 0.3:
            value[key] = source.choice(_ODD)(source)
            return
        value = value[key]


_ODD = [
    lambda source: number(source, 2),
    lambda source: {"formula": number(source, 3)},
    lambda source: {"law": f"{source.choice(LAWS)}({number(source, 1)})"},
    lambda source: {"node": source.choice([-1, 0, 1, 2, "0", 1e300, None, 10**30])},
    lambda source: source.choice(
        [None, True, [], {}, [[]], "", "\ud800", "\x00", -1, 10**400, 1e308, ["1/2", "1/2"]]
    ),
    lambda source: source.choice(LEAVES + OPERATIONS),
]


def check(read, text):
    """`read(text)` is an expression with a text of its own, or a typed error in one line, soon."""
    start = time.process_time()
    with bounded(60 * SECONDS):
        node, message = _answer(read, text)
    assert time.process_time() - start < SECONDS, f"more than {SECONDS} s: {text!a}"
    if node is None:
        assert "\n" not in message, ascii(text)
        assert len(message.encode()) < 2000, ascii(text)
        return False
    assert parse(repr(node)) is node, ascii(text)
    assert from_json(node.to_json()) is node, ascii(text)
    return True


def _answer(read, text):
    try:
        return read(text), ""
    except SymacctError as error:
        return None, str(error)


#: The options of a command, each with a good value.
COMMANDS = {
    "rdp": {"--alpha": "2", "--digits": "5"},
    "epsilon": {"--delta": "1e-5", "--orders": "2,8", "--digits": "5"},
    "delta": {"--epsilon": "1", "--orders": "2,8", "--digits": "5"},
    "cite": {"--alpha": "2"},
    "explain": {"--alpha": "2"},
    "latex": {"--alpha": "2", "--name": "sigma=s"},
    "graph": {"--form": "tree"},
    "statement": {"--delta": "1e-5", "--form": "text"},
    "table": {"--alpha": "2,4", "--digits": "4", "--caption": "A table"},
    "sweep": {"--over": "delta=1e-5,1e-6", "--file": "kept.jsonl", "--csv": "t.csv"},
    "plot": {"--orders": "2,4", "--out": "plot.svg"},
    "calibrate": {"--epsilon": "1", "--delta": "1e-5", "--digits": "4"},
    "expand": {"--in": "sigma", "--at": "inf", "--order": "3", "--alpha": "2"},
    "optimum": {"--delta": "1e-5", "--conversion": "classic"},
    "check": {},
    "reference": {"--grid": "alpha=2,3", "--csv": "r.csv", "--digits": "5"},
    "code": {"--form": "python", "--points": "5", "--max-order": "8", "--accuracy": "1e-9"},
}
VALUES = ["2", "1/2", "1e-5", "inf", "nan", "-1", "0", "1e999999", "", " ", "2,3", "1..3", "3..1",
          "sigma=1,2", "delta=1e-5", "alpha=2", "sigma", "=", "1:2:3:log", "0:1:2:log", "ZW19-T5",
          "/", "nowhere/file", "/proc/self/mem", "9" * 5000, "\udcff", "a\x00b", "∞", "--",
          "gamma=\\input{x}", "python", "numpy", "text", "csv", "[", "'", "10**5000"]  # fmt: skip
SMALL = ["Gaussian(5)", "Laplace(2)", "Gaussian(sigma)", "RandomizedResponse(1/3)", "Curve(", "",
         "Gaussian('\udcff')", "\x00", "Compose()", "-", "3*PureDP(1)", "9**9**9"]  # fmt: skip


def any_command(source):
    """The words of a command line: a good one, an expression or some options exchanged or gone."""
    name = source.choice(list(COMMANDS))
    good = "Gaussian(sigma)" if name in ("calibrate", "latex") else "Gaussian(5)"
    words = [name, good if source.random() < 0.7 else source.choice(SMALL)]
    for option, value in COMMANDS[name].items():
        if source.random() < 0.9:
            words += [option, value if source.random() < 0.7 else source.choice(VALUES)]
    if source.random() < 0.1:
        words.insert(source.randrange(len(words) + 1), source.choice(VALUES))
    return words


def cases(kind, seed, count):
    """The texts of one seed."""
    source = random.Random(f"{kind.__name__} {seed}")
    return (kind(source) for _ in range(count))
