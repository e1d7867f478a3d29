"""An expression as a certificate has it: a tree of JSON types, and its text, numbers reduced."""

from __future__ import annotations

from fractions import Fraction
from operator import itemgetter
from typing import Any

from symacct.certificates.refusal import no_certificate
from symacct.core.claims import EITHER
from symacct.expressions.node import Node
from symacct.mechanisms import ZCDP, Gaussian, Laplace, PureDP, RandomizedResponse
from symacct.operations.compose import Compose
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement

SAMPLES = (PoissonSubsample, SubsampleWithoutReplacement)
#: The parameters of each mechanism, and what they are where the text does not say it.
LEAVES: dict[type[Node], dict[str, str | None]] = {
    Gaussian: {"sigma": None, "sensitivity": "1"},
    Laplace: {"b": None, "sensitivity": "1"},
    RandomizedResponse: {"p": None},
    PureDP: {"epsilon": None},
    ZCDP: {"rho": None, "xi": "0"},
}
_RELATIONS = {PoissonSubsample: "add_remove", SubsampleWithoutReplacement: "replace_one"}


def parts_of(node: Node) -> list[tuple[Node, int]]:
    """The parts of an expression and their counts, in the order of the parts' texts."""
    terms = node.terms.items() if isinstance(node, Compose) else [(node, 1)]
    if not terms or not all(isinstance(count, int) for _, count in terms):
        raise no_certificate(f"the composition {node!r}")
    counted = [(part, count) for part, count in terms if isinstance(count, int)]
    return sorted(counted, key=lambda term: written(term[0])[1])


def written(node: Node, inside: bool = False) -> tuple[dict[str, Any], str]:
    """The tree and the text of an expression; DomainError for what no certificate speaks of.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> tree, text = written(2 * PoissonSubsample(Gaussian(1), "256/60000"))
    >>> print(text, tree["terms"][0][0])
    2*PoissonSubsample(Gaussian(1), '8/1875') 2
    """
    if isinstance(node, Compose):
        terms = [(*written(part, inside), count) for part, count in parts_of(node)]
        terms = sorted(terms, key=itemgetter(1))
        tree = {"type": "Compose", "terms": [[str(count), one] for one, _, count in terms]}
        texts = [text if count == 1 else f"{count}*{text}" for _, text, count in terms]
        return tree, " + ".join(texts)
    name = type(node).__name__
    if isinstance(node, SAMPLES):
        if inside:
            raise no_certificate(f"{name} inside a sample")
        below, text = written(node.mechanism, inside=True)
        gamma, relation = _number(node, "gamma"), node.adjacency.relation.value
        arguments = [text, _shown(gamma)]
        if relation != _RELATIONS[type(node)]:
            arguments.append(f"adjacency='{relation}'")
        if not 0 < Fraction(gamma) < 1:
            raise no_certificate(f"{name} at the rate {gamma}")
        tree = {"type": name, "mechanism": below, "gamma": gamma, "adjacency": relation}
        return tree, f"{name}({', '.join(arguments)})"
    if type(node) not in LEAVES or node.claim.adjacency != EITHER:
        relation = f" under {node.claim.adjacency}" if type(node) in LEAVES else ""
        raise no_certificate(f"{name}{relation}")
    values = {field: _number(node, field) for field in LEAVES[type(node)]}
    if any(value == "0" for field, value in values.items() if field != "xi"):
        raise no_certificate(f"{name} with a parameter 0")
    if isinstance(node, RandomizedResponse) and values["p"] == "1":
        raise no_certificate("RandomizedResponse(1)")
    arguments = [
        _shown(value) if default is None else f"{field}={_shown(value)}"
        for (field, default), value in zip(LEAVES[type(node)].items(), values.values(), strict=True)
        if value != default
    ]
    return {"type": name, **values}, f"{name}({', '.join(arguments)})"


def _number(node: Node, field: str) -> str:
    value = node.fields()[field]
    if not isinstance(value, Fraction | int):
        raise no_certificate(f"{type(node).__name__} with {field} = {value}")
    return str(Fraction(value))


def _shown(number: str) -> str:
    return number if number.isdigit() else f"'{number}'"
