"""Certificates altered so that what they claim or show is no longer true, each in one way."""

import json
import random
from fractions import Fraction

#: What makes a mechanism less private: which way a parameter has to go.
WORSE = {
    "sigma": -1, "b": -1, "sensitivity": 1, "p": 1, "epsilon": 1, "rho": 1, "xi": 1, "gamma": 1,
}  # fmt: skip
CURVES = {
    "Gaussian": "MIR17-T2", "Laplace": "MIR17-T2", "RandomizedResponse": "MIR17-T2",
    "PureDP": "KOV15", "ZCDP": "BS16-D1.1",
}  # fmt: skip
THEOREMS = [
    "ALCKS21", "BS16-D1.1", "CKS20-P12", "KOV15", "MIR17-P1", "MIR17-P3", "MIR17-T2", "MTZ19-EXACT",
    "PAIR-EXACT", "S22-POISSON", "TRIPLE-DOMINATED", "TRIPLE-FINITE", "TRIPLE-LINE", "TRIPLE-PURE",
    "ZDW22",
]  # fmt: skip


def text_of(tree):
    """The text of a tree, as docs/certificates.md has it."""
    if tree["type"] == "Compose":
        texts = [(count, text_of(node)) for count, node in tree["terms"]]
        return " + ".join(text if count == "1" else f"{count}*{text}" for count, text in texts)
    named = (
        f"{name}={text_of(value) if isinstance(value, dict) else repr(value)}"
        for name, value in tree.items()
        if name != "type"
    )
    return f"{tree['type']}({', '.join(named)})"


def nodes_of(tree):
    """Every node but the compositions."""
    if tree["type"] == "Compose":
        for _, node in tree["terms"]:
            yield from nodes_of(node)
        return
    yield tree
    if "mechanism" in tree:
        yield from nodes_of(tree["mechanism"])


def counts_of(tree):
    """The lists whose first entry is a count."""
    if tree["type"] == "Compose":
        for term in tree["terms"]:
            yield term
            yield from counts_of(term[1])
    elif "mechanism" in tree:
        yield from counts_of(tree["mechanism"])


def moved(text, factor):
    """A number times a factor."""
    return str(Fraction(text) * Fraction(factor))


def last_digit(text):
    """About a unit of the last digit of the 12, or fewer, that a number is claimed to."""
    value = Fraction(text)
    digits = next(k for k in range(60) if (value * 10**k).denominator == 1)
    return Fraction(1, 10**digits)


# Each takes a document and a random.Random, changes the document and says what it did, or gives
# None where it is about other documents.


def epsilon_by_two_last_digits(document, draw):
    if document["epsilon"] == "2":
        return None  # it was given
    lowered = Fraction(document["epsilon"]) - draw.choice([2, 3, 10]) * last_digit(
        document["epsilon"]
    )
    document["epsilon"] = str(lowered)
    return f"ε {lowered}"


def epsilon_by_a_share(document, draw):
    factor = draw.choice(["99/100", "9/10", "1/2", "1/100"])
    document["epsilon"] = moved(document["epsilon"], factor)
    return f"ε {document['epsilon']}"


def delta_by_a_share(document, draw):
    document["delta"] = moved(document["delta"], draw.choice(["99/100", "9/10", "1/10", "1/10000"]))
    return f"δ {document['delta']}"


def a_count(document, draw):
    counts = list(counts_of(document["mechanism"]))
    if not counts:
        return None
    term = draw.choice(counts)
    count = int(term[0])
    term[0] = str(draw.choice([count + count // 50 + 1, 2 * count, count * 10]))
    document["expression"] = text_of(document["mechanism"])
    return f"the count {count} is {term[0]}"


def a_parameter(document, draw):
    node = draw.choice(list(nodes_of(document["mechanism"])))
    name = draw.choice([name for name in node if name in WORSE])
    by = Fraction(draw.choice([1, 2, 5, 20]), 100)
    if name == "p":  # further from ½
        node[name] = str(Fraction(node[name]) + by * (1 - Fraction(node[name])))
    elif name == "xi":
        node[name] = str(Fraction(node[name]) + by)
    elif name == "sensitivity" and draw.random() < 0.5:
        node[name] = moved(node[name], 2)
    else:
        node[name] = moved(node[name], 1 + WORSE[name] * by)
    document["expression"] = text_of(document["mechanism"])
    return f"{node['type']}, {name} {node[name]}"


def the_text_alone(document, draw):
    old = document["expression"]
    places = [i for i, letter in enumerate(old) if letter.isdigit()]
    place = draw.choice(places)
    digit = draw.choice([x for x in "0123456789" if x != old[place]])
    document["expression"] = old[:place] + digit + old[place + 1 :]
    return f"the text alone, at {place}"


def the_tree_alone(document, draw):
    text = document["expression"]
    said = a_parameter(document, draw)
    document["expression"] = text
    return f"the tree alone: {said}"


def the_order(document, draw):
    if document["proof"]["method"] != "renyi":
        return None
    above_one = Fraction(document["proof"]["order"]) - 1
    factor = Fraction(draw.choice([50, 80, 95, 105, 120, 200]), 100)
    document["proof"]["order"] = str(1 + above_one * factor)
    return f"α − 1 times {factor}"


def a_bound(document, draw):
    if document["proof"]["method"] != "renyi":
        return None
    bound = draw.choice(document["proof"]["bounds"])
    factor = draw.choice([1 - Fraction(1, 10**15), Fraction(99, 100), Fraction(1, 2), 2, 10])
    bound["epsilon"] = moved(bound["epsilon"], factor)
    return f"a bound times {float(factor)}"


def the_theorem_of_a_bound(document, draw):
    if document["proof"]["method"] != "renyi":
        return None
    bound = draw.choice(document["proof"]["bounds"])
    bound["theorem"] = draw.choice([name for name in THEOREMS if name != bound["theorem"]])
    if draw.random() < 0.5:  # what is trusted says so too
        used = {one["theorem"] for one in document["proof"]["bounds"]} | {"MIR17-P1"}
        leaves = [node["type"] for node in nodes_of(document["mechanism"])]
        used |= {CURVES[kind] for kind in leaves if kind in CURVES}
        document["theorems"] = sorted(used)
    return f"by {bound['theorem']}"


def what_is_trusted(document, draw):
    names = document["theorems"]
    other = draw.choice([name for name in THEOREMS if name not in names])
    how = draw.choice(["one more", "one less", "another", "twice", "out of order"])
    place = draw.randrange(len(names))
    if how == "one more":
        names = sorted([*names, other])
    elif how == "one less":
        names = names[:place] + names[place + 1 :]
    elif how == "another":
        names = sorted([*names[:place], other, *names[place + 1 :]])
    elif how == "twice" or len(names) == 1:
        names = sorted([*names, names[place]])
    else:
        names = names[1:] + names[:1]
    document["theorems"] = names
    return f"trusted: {how}, {names}"


def the_conversion(document, draw):
    if document["proof"]["method"] != "renyi":
        return None
    proof = document["proof"]
    others = [x for x in ("classic", "improved", "optimal") if x != proof["conversion"]]
    proof["conversion"] = draw.choice(others)
    if proof.pop("place", None) is None and proof["conversion"] == "optimal":
        proof["place"] = "1/2"  # near the lowest place it would be proved, and more than claimed
    return f"by the {proof['conversion']} conversion"


def the_place(document, draw):
    if "place" not in document["proof"]:
        return None
    factor = draw.choice(["101/100", "99/100", "1/2", "2", "1/1000000"])
    document["proof"]["place"] = moved(document["proof"]["place"], factor)
    return f"the place times {factor}"


def the_relation(document, draw):
    others = [x for x in ("add_remove", "replace_one", "either") if x != document["relation"]]
    document["relation"] = draw.choice(others)
    return f"the relation {document['relation']}"


def the_relation_of_a_sample(document, draw):
    samples = [node for node in nodes_of(document["mechanism"]) if "adjacency" in node]
    if not samples or document["proof"]["method"] != "renyi":
        return None
    both = {"add_remove": "replace_one", "replace_one": "add_remove"}
    changed = [draw.choice(samples)] if draw.random() < 0.5 else samples
    for node in changed:
        node["adjacency"] = both[node["adjacency"]]
    document["expression"] = text_of(document["mechanism"])
    if len(changed) == len(samples):
        document["relation"] = changed[0]["adjacency"]
    return f"{len(changed)} samples under the other relation"


def a_sample_of_the_other_scheme(document, draw):
    node = draw.choice(list(nodes_of(document["mechanism"])))
    if node.get("adjacency") != "replace_one":
        return None  # under add/remove both schemes have one curve
    node["type"] = "PoissonSubsample"
    document["expression"] = text_of(document["mechanism"])
    return "a Poisson sample"


def no_sample(document, draw):
    """Run on all the data."""
    terms = list(counts_of(document["mechanism"]))
    term = draw.choice(terms) if terms else [None, document["mechanism"]]
    if term[1]["type"] not in ("PoissonSubsample", "SubsampleWithoutReplacement"):
        return None
    term[1] = term[1]["mechanism"]
    document["expression"] = text_of(document["mechanism"])
    return f"no sample of {term[1]['type']}"


def a_part_less(document, draw):
    if document["mechanism"]["type"] != "Compose" or document["proof"]["method"] != "renyi":
        return None
    terms = document["mechanism"]["terms"]
    if len(terms) < 3:
        return None
    place = draw.randrange(len(terms))
    what = draw.choice(["terms", "bounds", "order"])
    if what == "order":
        terms.append(terms.pop(place)) if place + 1 < len(terms) else terms.insert(0, terms.pop())
    else:
        (terms if what == "terms" else document["proof"]["bounds"]).pop(place)
    document["expression"] = text_of(document["mechanism"])
    return f"{what} changed at {place}"


def a_contour(document, draw):
    if document["proof"]["method"] != "contour":
        return None
    direction = draw.choice(["removed", "added"])
    line = document["proof"][direction]
    name = draw.choice(["c", "step", "nodes"] if direction == "removed" else ["c", "step"])
    if name == "nodes":
        line[name] = str(draw.randint(1, int(line[name]) // 2))
    else:
        # δ(ε) of a record added may be far below δ, where a rather poor contour is good enough.
        factor = Fraction(draw.randint(3, 8)) * (1 if direction == "removed" else 10)
        line[name] = moved(line[name], factor if name == "step" else 1 / factor)
    return f"{direction}, {name} {line[name]}"


def the_method(document, draw):
    others = [x for x in ("renyi", "contour", "sum") if x != document["proof"]["method"]]
    document["proof"]["method"] = draw.choice(others)
    return f"the method {document['proof']['method']}"


def a_key(document, draw):
    places = [document, document["proof"], *nodes_of(document["mechanism"])]
    place = draw.choice(places)
    names = [x for x in place if x not in ("format", "version", "type", "method")]
    if not names:
        return None
    name = draw.choice(names)
    how = draw.choice(["gone", "new", "renamed"])
    value = place[name] if how == "new" else place.pop(name)
    if how != "gone":
        place[f"{name}_2"] = value
    return f"{name} is {how}"


def how_a_number_is_written(document, draw):
    node = draw.choice([document, *nodes_of(document["mechanism"])])
    name = draw.choice([x for x in node if x in {*WORSE, "delta"}])
    value = Fraction(node[name])
    above, below = value.numerator, value.denominator
    ways = [
        f"{2 * above}/{2 * below}", f"{above}/{-below}", f"-{value}", f"+{value}", f" {value}",
        f"0{value}", f"{float(value)!r}0", f"{value}e0", "", "nan", "inf", "1/0", "٣", float(value),
        above, None, [str(value)], {"p": str(value)}, True,
    ]  # fmt: skip
    node[name] = draw.choice(ways)
    return f"{name} written as {node[name]!r}"


def a_type(document, draw):
    node = draw.choice(list(nodes_of(document["mechanism"])))
    others = {
        "RandomizedResponse": ("PureDP", "p", "epsilon"),
        "PureDP": ("RandomizedResponse", "epsilon", "p"),
    }
    if node["type"] not in others:
        return None
    kind, old, new = others[node["type"]]
    value = node.pop(old)
    node["type"], node[new] = kind, "4/5" if value == "1" else value
    document["expression"] = text_of(document["mechanism"])
    return f"{kind}({node[new]})"


def a_key_twice(document, draw):
    return "a key twice"


WAYS = [
    epsilon_by_two_last_digits, epsilon_by_a_share, delta_by_a_share, a_count, a_parameter,
    the_text_alone, the_tree_alone, the_order, a_bound, the_theorem_of_a_bound, what_is_trusted,
    the_conversion, the_place, the_relation, the_relation_of_a_sample, a_sample_of_the_other_scheme,
    no_sample, a_part_less, a_contour, the_method, a_key, how_a_number_is_written, a_type,
    a_key_twice,
]  # fmt: skip


def altered(texts, count, seed):
    """So many (name, what was altered, text), over all certificates and ways in turn."""
    draw = random.Random(seed)
    made = 0
    while made < count:
        way = WAYS[made % len(WAYS)]
        name = draw.choice(sorted(texts))
        document = json.loads(texts[name])
        said = way(document, draw)
        if said is None:
            continue
        text = json.dumps(document)
        if way is a_key_twice:
            key = draw.choice(sorted(document))
            text = f'{{"{key}": {json.dumps(document[key])}, {text[1:]}'
        made += 1
        yield name, f"{way.__name__}: {said}", text


# Forged by hand: what an attacker tries. Each is (what it is, a function of the documents by name).

_HUGE = "1" + "0" * 390


def _edited(name, edit):
    def forge(documents):
        document = json.loads(json.dumps(documents[name]))
        edit(document)
        return json.dumps(document)

    return forge


def _leaf(**changes):
    """A sampled Gaussian with other parameters, in tree and text alike."""

    def edit(document):
        node = document["mechanism"]["terms"][0][1]
        for name, value in changes.items():
            where = node if name in node else node["mechanism"]
            where[name] = value
        document["expression"] = text_of(document["mechanism"])

    return edit


def _count(value):
    def edit(document):
        document["mechanism"]["terms"][0][0] = value
        document["expression"] = text_of(document["mechanism"])

    return edit


def _line(**changes):
    return lambda document: document["proof"]["removed"].update(changes)


def _proof(**changes):
    return lambda document: document["proof"].update(changes)


def _finite(**changes):
    """Laws in numbers of which the masses are no laws, or say something else."""

    def edit(document):
        document["mechanism"] = {"type": "FiniteMechanism", **changes}
        document["expression"] = text_of(document["mechanism"])
        document["relation"], document["theorems"] = "either", ["ZDW22"]

    return edit


RENYI, CONTOUR, SUM = "sampled_gaussian", "sampled_gaussian_exact", "answers_exact"
FORGED = {
    "ε as NaN": _edited(RENYI, lambda d: d.update(epsilon="nan")),
    "ε below 0": _edited(RENYI, lambda d: d.update(epsilon="-1")),
    "ε is true": _edited(RENYI, lambda d: d.update(epsilon=True)),
    "ε in other digits": _edited(RENYI, lambda d: d.update(epsilon="\uff11")),
    "ε with a line's end": _edited(RENYI, lambda d: d.update(epsilon="1\n")),
    "ε with an underscore": _edited(RENYI, lambda d: d.update(epsilon="1_0")),
    "δ of 1": _edited(RENYI, lambda d: d.update(delta="1")),
    "δ above 1": _edited(RENYI, lambda d: d.update(delta="3/2")),
    "δ of 0": _edited(RENYI, lambda d: d.update(delta="0")),
    "ε of 0": _edited(RENYI, lambda d: d.update(epsilon="0")),
    "order 1": _edited(RENYI, _proof(order="1")),
    "order ½": _edited(RENYI, _proof(order="1/2")),
    "an order next to 1": _edited(RENYI, _proof(order=f"{_HUGE[:-1]}1/{_HUGE}")),
    "a huge order": _edited(RENYI, _proof(order=_HUGE)),
    "a bound below 0": _edited(RENYI, lambda d: d["proof"]["bounds"][0].update(epsilon="-1/2")),
    "no bounds": _edited(RENYI, _proof(bounds=[])),
    "bounds as an object": _edited(RENYI, _proof(bounds={})),
    "a conversion as a theorem": _edited(
        RENYI, lambda d: d["proof"]["bounds"][0].update(theorem="CKS20-P12")
    ),
    "no noise": _edited(RENYI, _leaf(sigma="0")),
    "hardly any noise": _edited(RENYI, _leaf(sigma=f"1/{_HUGE}")),
    "a little noise": _edited(RENYI, _leaf(sigma="1/2000000")),
    "a rate of 0": _edited(RENYI, _leaf(gamma="0")),
    "a rate of 1": _edited(RENYI, _leaf(gamma="1")),
    "a rate above 1": _edited(RENYI, _leaf(gamma="3/2")),
    "a count of 0": _edited(RENYI, _count("0")),
    "a count below 0": _edited(RENYI, _count("-5")),
    "a count of ½": _edited(RENYI, _count("1/2")),
    "a count without quotes": _edited(RENYI, _count(5)),
    "a huge count": _edited(RENYI, _count(_HUGE)),
    "a huge count on a contour": _edited(CONTOUR, _count(_HUGE)),
    "many runs on a contour": _edited(CONTOUR, _count("1000000000000")),
    "a contour left of its pole": _edited(CONTOUR, _line(c="-1/2")),
    "a contour through its pole": _edited(CONTOUR, _line(c="0")),
    "a contour far to the right": _edited(CONTOUR, _line(c="1000000")),
    "a contour next to its pole": _edited(CONTOUR, _line(c=f"1/{_HUGE}")),
    "one huge step": _edited(CONTOUR, _line(step=_HUGE, nodes="1")),
    "a step of 0": _edited(CONTOUR, _line(step="0")),
    "small steps, the tail forgotten": _edited(CONTOUR, _line(step="1/1000000", nodes="1")),
    "wide steps, aliases": _edited(CONTOUR, _line(step="20", nodes="4")),
    "no nodes": _edited(CONTOUR, _line(nodes="0")),
    "more nodes than there is time": _edited(CONTOUR, _line(nodes="1" + "0" * 30)),
    "one direction alone": _edited(CONTOUR, lambda d: d["proof"].pop("added")),
    "a sum over noise": _edited(CONTOUR, lambda d: d.update(proof={"method": "sum"})),
    "more runs than a sum has time for": _edited(SUM, _count("1" + "0" * 50)),
    "the guarantee of another expression": lambda documents: json.dumps(
        {**documents[RENYI], "proof": documents["zcdp_sampled"]["proof"]}
    ),
    "a composition in itself": _edited(
        RENYI,
        lambda d: d["mechanism"].update(terms=[["1", d["mechanism"]["terms"][0][1]]] * 2),
    ),
    "deep": lambda documents: '{"mechanism": ' + "[" * 50_000 + "]" * 50_000 + "}",
    "deep compositions": lambda documents: (
        '{"type": "Compose", "terms": [["1", ' * 400 + "0" + "]]}" * 400
    ),
    "of 10 MB": lambda documents: json.dumps(documents[RENYI]) + " " * 10_000_000,
    "a key twice inside": lambda documents: json.dumps(documents[RENYI]).replace(
        '"sigma":', '"sigma": "100", "sigma":'
    ),
    "a number without quotes": lambda documents: json.dumps(documents[RENYI]).replace(
        '"1/100000"', "1e-5"
    ),
    "half a letter": _edited(RENYI, lambda d: d.update(expression="\ud800")),
    "laws of more than 1": _edited(SUM, _finite(laws=[["1/2", "2/3"], ["1/2", "1/2"]])),
    "masses below 0": _edited(SUM, _finite(laws=[["3/2", "-1/2"], ["1/2", "1/2"]])),
    "one law": _edited(SUM, _finite(laws=[["1/2", "1/2"]])),
    "laws of other outcomes": _edited(SUM, _finite(laws=[["1"], ["1/2", "1/2"]])),
    "no outcomes": _edited(SUM, _finite(laws=[[], []])),
    "laws that tell all": _edited(SUM, _finite(laws=[["1", "0"], ["0", "1"]])),
    "a third law that tells more": _edited(
        SUM, _finite(laws=[["1/2", "1/2"], ["12/25", "13/25"], ["1/100", "99/100"]])
    ),
    "by a Rényi curve": _edited(
        SUM,
        lambda d: (
            _finite(laws=[["1/2", "1/2"], ["1/3", "2/3"]])(d),
            d.update(
                theorems=["CKS20-P12", "MIR17-T2"],
                proof={
                    "method": "renyi",
                    "order": "2",
                    "conversion": "improved",
                    "bounds": [{"theorem": "MIR17-T2", "epsilon": "1/100"}],
                },
            ),
        ),
    ),
}
