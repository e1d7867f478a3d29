"""Products that an expression has at least: what is left of it by post-processing.

Dropping a part of a composition is post-processing; so is asking about one record of a group. A
record may be replaced by one that contributes what all the others do, which is its removal.
"""

from __future__ import annotations

import itertools
from functools import singledispatch

from symacct.claims import Kind
from symacct.errors import AssumptionError
from symacct.expr import Node
from symacct.operations.compose import Compose
from symacct.operations.convexify import Convexify
from symacct.operations.group import GroupPrivacy
from symacct.operations.subsample import Sampling
from symacct.profile.pairs import Product, composed, products, sampled_once

_NOTHING = Product((), Kind.EXACT)


def one_run_each(found: list[Product]) -> list[Product]:
    """Each part alone, run once: less than all of them, and in closed form."""
    parts = {part for product in found for part, _ in product.runs}
    return [Product(((part, 1),), Kind.EXACT) for part in parts]


def products_below(node: Node) -> list[Product]:
    """Products none of which has a larger profile than the node; an empty one says nothing."""
    try:
        return _below(node)
    except AssumptionError:  # several mechanisms run on one sample
        return [_NOTHING]


@singledispatch
def _below(node: Node) -> list[Product]:
    known = products.dispatch(type(node)) is not products.dispatch(object)
    found = products(node) if known else []
    return [product for product in found if product.kind is Kind.EXACT] or [_NOTHING]


@_below.register
def _(node: Compose) -> list[Product]:
    choices = [
        [(product, count) for product in products_below(part)] for part, count in node.terms.items()
    ]
    return [composed(choice) for choice in itertools.product(*choices)]


@_below.register
def _(node: Sampling) -> list[Product]:
    return [sampled_once(product, node.gamma) for product in products_below(node.mechanism)]


@_below.register(GroupPrivacy)
@_below.register(Convexify)
def _(node: GroupPrivacy | Convexify) -> list[Product]:
    return products_below(node.mechanism)
