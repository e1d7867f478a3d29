"""JSON documents of expressions: what says one thing twice, or more than it needs, is refused."""

import copy
import json

import pytest

from symacct import Filter, Gaussian, ParseError, from_json, parse

EXPRESSIONS = [
    "Gaussian(5)",
    "3*Gaussian(5) + 2*Laplace(1/3) + PoissonSubsample(Gaussian(5), 1/100)",
    "PoissonSubsample(2*Laplace(2) + PureDP(1), 1/10, adjacency=replace_one)",
    "RepeatAndSelect(DistributionPair([1/2, 1/2], [1/4, 3/4]), laws.Poisson(3))",
    "Failing(Either(Gaussian(2), Curve('alpha/9', kind='upper', adjacency='either'), 1/3), 1e-6)",
    "FiniteMechanism([[1/2, 1/2], [1/4, 3/4], [1/3, 2/3]])",
]


def pairs_within(value):
    """Every object in a document, the document first."""
    if isinstance(value, dict):
        yield value
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        for part in parts:
            yield from pairs_within(part)


class Twice(dict):
    """An object that is written with one of its keys twice."""

    def __init__(self, pairs, key, value):
        super().__init__(pairs)
        self.again = key, value

    def items(self):
        return [*super().items(), self.again]


def changed(text, place, change):
    """The document with the object at this place given to `change`."""
    document = json.loads(text)
    change(list(pairs_within(document))[place])
    return document


def written(value):
    """JSON, keys that stand twice and all."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)}: {written(one)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    return (
        "[" + ", ".join(map(written, value)) + "]" if isinstance(value, list) else json.dumps(value)
    )


def objects_of(text):
    return list(pairs_within(json.loads(text)))


def with_key_twice(text, place, key, value):
    def within(part):
        if part is target:
            return Twice({k: within(one) for k, one in part.items()}, key, value)
        if isinstance(part, dict):
            return {k: within(one) for k, one in part.items()}
        return [within(one) for one in part] if isinstance(part, list) else part

    document = json.loads(text)
    target = list(pairs_within(document))[place]
    return written(within(document))


def moved(value, by):
    """The places of earlier nodes, all further on by so many."""
    if isinstance(value, dict):
        if "node" in value:
            return {"node": value["node"] + by}
        terms = [[place + by, count] for place, count in value.get("terms", [])]
        return {k: moved(one, by) for k, one in value.items()} | ({"terms": terms} if terms else {})
    return [moved(one, by) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_key_that_stands_twice_is_refused_wherever_it_stands(expression):
    text = parse(expression).to_json()
    for place, one in enumerate(objects_of(text)):
        for key, value in one.items():
            for again in (value, None):
                with pytest.raises(ParseError, match="twice, needed it once"):
                    from_json(with_key_twice(text, place, key, again))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_key_that_means_nothing_is_refused_wherever_it_stands(expression):
    text = parse(expression).to_json()
    for place, _ in enumerate(objects_of(text)):
        for key in ("comment", "", "Type", "delta2"):
            document = changed(text, place, lambda one, key=key: one.update({key: "1"}))
            with pytest.raises(ParseError) as caught:
                from_json(json.dumps(document))
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_node_that_no_other_is_made_of_is_refused(expression):
    m = parse(expression)
    nodes = json.loads(m.to_json())["nodes"]
    leaf = json.loads(Gaussian(7).to_json())["nodes"][0]
    before = [leaf, *(moved(one, 1) for one in nodes)]
    between = [*nodes[:-1], leaf, nodes[-1]]
    after = [*nodes, leaf]
    for one in (before, between, after):
        with pytest.raises(ParseError, match="found a node that no later one is made of"):
            from_json(json.dumps({"symacct": 1, "nodes": one}))
    assert from_json(json.dumps({"symacct": 1, "nodes": nodes})) is m


@pytest.mark.parametrize("number", [True, 1.0, "1", 2, None, [1]])
def test_the_format_is_the_number_one(number):
    document = json.loads(Gaussian(5).to_json()) | {"symacct": number}
    with pytest.raises(ParseError, match="found no"):
        from_json(json.dumps(document))


def test_so_is_a_budget():
    budget = Filter("1", "1e-6", orders=[8, 32])
    budget.spend(Gaussian(50))
    text = budget.to_json()
    assert Filter.from_json(text).to_json() == text
    for place, one in enumerate(objects_of(text)):
        for key, value in one.items():
            with pytest.raises(ParseError, match="twice, needed it once"):
                Filter.from_json(with_key_twice(text, place, key, value))
        document = changed(text, place, lambda one: one.update({"comment": "1"}))
        with pytest.raises(ParseError):
            Filter.from_json(json.dumps(document))
    document = copy.deepcopy(json.loads(text)) | {"symacct": True}
    with pytest.raises(ParseError):
        Filter.from_json(json.dumps(document))
