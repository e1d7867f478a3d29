"""The schemes there are, one at least for each operation, and which of them attack a statement."""

from __future__ import annotations

from symacct.adversary.schemes import noise, operations
from symacct.adversary.schemes.curves import HockeyStick, RaisedCurve, TrueEpsilon
from symacct.adversary.schemes.samplings import CROSSED, POISSON, REPLACED, SkewedRight
from symacct.adversary.schemes.scheme import USUAL_RELATION, Scheme
from symacct.kernel.claims import EITHER
from symacct.kernel.theorem_registry import Theorem

#: All schemes, from which `falsify` takes those about a statement.
SCHEMES: tuple[Scheme, ...] = (
    *POISSON,
    *REPLACED,
    *CROSSED,
    *noise.SCHEMES,
    *operations.SCHEMES,
    *operations.REPEATED,
    RaisedCurve(),
    HockeyStick(),
    TrueEpsilon(),
    operations.Averages(),
)

#: These schemes check a theorem's own condition, which the package cannot prove of a mechanism.
_BY_CONDITION: dict[str, Scheme] = {"ZW19-T8": SkewedRight(), "ZW19-T11": SkewedRight()}


def attacking(theorem: Theorem) -> list[Scheme]:
    """List the schemes about the theorem's operations, and the one by its own condition.

    A theorem about other orders of the same curve has schemes of its own.
    """
    if theorem.reads == "itself":
        return [operations.Itself(about, theorem.kind) for about in theorem.operation]
    schemes = [scheme for scheme in SCHEMES if _is_about(theorem, scheme)]
    if theorem.name in _BY_CONDITION:
        schemes.append(_BY_CONDITION[theorem.name])
    return schemes


def _is_about(theorem: Theorem, scheme: Scheme) -> bool:
    """Does the scheme sample as the theorem says, for the theorem's relation or for any?"""
    if scheme.about not in theorem.operation:
        return False
    usual = USUAL_RELATION.get(scheme.about, EITHER)
    if theorem.adjacency == EITHER:
        return scheme.relation is None
    return (scheme.relation or usual) in (EITHER, theorem.adjacency)
