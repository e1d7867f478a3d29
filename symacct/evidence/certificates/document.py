"""The JSON document of a certificate, of which `checker/check.py` believes nothing."""

from __future__ import annotations

from typing import Any

from symacct.evidence.certificates.expression import written
from symacct.evidence.certificates.profile import by_profile
from symacct.evidence.certificates.refusal import no_certificate, number_text
from symacct.evidence.certificates.renyi import by_renyi
from symacct.kernel.answer import Guarantee
from symacct.kernel.errors import DomainError
from symacct.kernel.questions import question
from symacct.results.written import Document

FORMAT, VERSION = "symacct certificate", "1"


@question(Guarantee, "certificate")
def certificate(guarantee: Guarantee) -> dict[str, Any]:
    """All that is needed to prove an (ε, δ) guarantee again, as a dict of JSON types.

    The number asked for is rounded up to the digits asked for, at most 12. Raises DomainError,
    "no certificate yet for …", for what the checker does not know. The format is that of
    docs/certificates.md; ε is in nats.

    >>> from symacct import Gaussian
    >>> document = certificate(Gaussian(5).epsilon("1e-5", 6, "improved"))
    >>> print(document["epsilon"], document["proof"]["bounds"][0]["theorem"])
    158863/200000 MIR17-T2
    """
    m = guarantee.mechanism
    if m is None:
        raise DomainError(
            "certificate: found a guarantee without its mechanism",
            remedy="ask its mechanism for the guarantee",
        )
    if m.rewritten is not m:
        why = "; ".join(m.rewrites)
        raise no_certificate(f"what is rewritten ({why})", f"ask for that of {m.rewritten!r}")
    tree, text = written(m)
    prove = by_profile if guarantee.conversion == "exact" else by_renyi
    epsilon, delta, theorems, proof = prove(guarantee, m)
    return Document(
        {
            "format": FORMAT,
            "version": VERSION,
            "expression": text,
            "mechanism": tree,
            "relation": str(m.claim.adjacency),
            "epsilon": number_text(epsilon),
            "delta": number_text(delta),
            "theorems": sorted(theorems),
            "proof": proof,
        }
    )
