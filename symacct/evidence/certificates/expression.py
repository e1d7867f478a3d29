"""An expression as a certificate has it: a tree of JSON types, and its text with all named."""

from __future__ import annotations

from fractions import Fraction
from operator import itemgetter
from typing import Any

from symacct.evidence.certificates.refusal import no_certificate, number_text
from symacct.export.description import describe
from symacct.export.wording import value as described
from symacct.kernel.claims import EITHER
from symacct.kernel.formula import value_text
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose
from symacct.mechanisms import (
    ZCDP,
    DistributionPair,
    FiniteMechanism,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
)
from symacct.mechanisms.response import response_of
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement

SAMPLES = (PoissonSubsample, SubsampleWithoutReplacement)
#: The parameters of each mechanism, and what they must be above.
LEAVES: dict[type[Node], dict[str, int]] = {
    Gaussian: {"sigma": 0, "sensitivity": 0},
    Laplace: {"b": 0, "sensitivity": 0},
    RandomizedResponse: {"p": 0},
    PureDP: {"epsilon": 0},
    ZCDP: {"rho": 0, "xi": -1},
}
#: The parameters of mechanisms that are laws in numbers.
LAWS: dict[type[Node], tuple[str, ...]] = {FiniteMechanism: ("laws",), DistributionPair: ("P", "Q")}


def parts_of(node: Node) -> list[tuple[Node, int]]:
    """The parts of an expression and their counts, in the order of the parts' texts."""
    terms = list(node.terms.items()) if isinstance(node, Compose) else [(node, 1)]
    counted = [(part, count) for part, count in terms if isinstance(count, int)]
    if not terms or len(counted) < len(terms):
        raise no_certificate(f"the composition {node!r}")
    return sorted(counted, key=lambda term: written(term[0])[1])


def written(node: Node, inside: bool = False) -> tuple[dict[str, Any], str]:
    """The tree and the text of an expression; DomainError for what no certificate speaks of.

    >>> from symacct import Laplace
    >>> tree, text = written(2 * Laplace("2/4"))
    >>> print(text, tree["terms"][0][0])
    2*Laplace(b='1/2', sensitivity='1') 2
    """
    name = type(node).__name__
    if isinstance(node, Compose):
        terms = [(*written(part, inside), number_text(count)) for part, count in parts_of(node)]
        terms = sorted(terms, key=itemgetter(1))
        tree: dict[str, Any] = {"type": name, "terms": [[n, one] for one, _, n in terms]}
        texts = [text if count == "1" else f"{count}*{text}" for _, text, count in terms]
        return tree, " + ".join(texts)
    if isinstance(node, SAMPLES) and not inside:
        below, text = written(node.mechanism, inside=True)
        gamma, relation = _number(node, "gamma", 0, 1), node.adjacency.relation.value
        tree = {"type": name, "mechanism": below, "gamma": gamma, "adjacency": relation}
        return tree, f"{name}(mechanism={text}, gamma='{gamma}', adjacency='{relation}')"
    if made := response_of(node):
        epsilon = value_text(made[0])
        shown = described(made[0])
        raise no_certificate(
            describe(node),
            f"it is {shown}-DP: the certificate of PureDP({epsilon}) in its place proves a "
            "larger ε, which is true of this mechanism too",
        )
    if type(node) in LAWS and _is_plain(node):
        laws = {field: _laws(node.fields()[field]) for field in LAWS[type(node)]}
        named = ", ".join(f"{field}={value!r}" for field, value in laws.items())
        return {"type": name, **laws}, f"{name}({named})"
    if type(node) not in LEAVES or node.claim.adjacency != EITHER:
        where = " inside a sample" if inside else f" under {node.claim.adjacency}"
        raise no_certificate(
            f"{name}{where if isinstance(node, SAMPLES) or type(node) in LEAVES else ''}"
        )
    most = 1 if isinstance(node, RandomizedResponse) else None
    values = {field: _number(node, field, low, most) for field, low in LEAVES[type(node)].items()}
    named = ", ".join(f"{field}='{value}'" for field, value in values.items())
    return {"type": name, **values}, f"{name}({named})"


def _is_plain(node: Node) -> bool:
    """Is nothing said of the laws but what they are?"""
    fields = node.fields()
    return (
        node.claim.adjacency == EITHER
        and fields.get("with_record", "either") == "either"
        and fields.get("records") is None
        and all(isinstance(fields[field], tuple) for field in LAWS[type(node)])
    )


def _laws(law: Any) -> Any:
    """A law, or a list of laws, as a certificate has it."""
    return [_laws(x) for x in law] if isinstance(law, tuple) else number_text(law)


def _number(node: Node, field: str, least: int, most: int | None) -> str:
    """A parameter that is a number of its range."""
    value = node.fields()[field]
    if isinstance(value, Fraction | int):
        text = number_text(value)
        if value > least and (most is None or value < most):
            return text
    raise no_certificate(f"{type(node).__name__} with {field} = {described(value)}")
