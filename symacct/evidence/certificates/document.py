"""The JSON document of a certificate, of which `checker/check.py` believes nothing; its forms."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from symacct.evidence.certificates.coq import coq
from symacct.evidence.certificates.expression import no_certificate, number_text, written
from symacct.evidence.certificates.profile import by_profile
from symacct.evidence.certificates.renyi import by_renyi
from symacct.kernel.accountant import BY_ORDERS
from symacct.kernel.answer import Guarantee
from symacct.kernel.attached import question
from symacct.kernel.errors import DomainError
from symacct.results.screen import Document

# --- the document

#: A certificate says that it is one, and in which version of its format.
FORMAT, VERSION = "symacct certificate", "1"


@question(Guarantee, "certificate")
def certificate(guarantee: Guarantee) -> dict[str, Any]:
    """Write down all that is needed to prove an (ε, δ) guarantee again, in JSON types.

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
    if m._rewritten is not m:
        why = "; ".join(m._rewrites)
        raise no_certificate(f"what is rewritten ({why})", f"ask for that of {m._rewritten!r}")
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


# --- forms
#
# How a certificate is written: a form is a function from a guarantee to the text of a file.

#: A number for Coq has at most this many significant digits: its integral then takes a minute. More
#: would take longer.
_COQ_DIGITS = 9


def as_json(guarantee: Guarantee) -> str:
    """Write the certificate as JSON, for `checker/check.py`."""
    return json.dumps(certificate(guarantee), indent=1, ensure_ascii=False) + "\n"


def as_coq(guarantee: Guarantee) -> str:
    """Write the certificate as a file for Coq, its number with at most nine digits."""
    return coq(guarantee, min(guarantee.asked.digits_asked, _COQ_DIGITS))


def of_the_reported(
    ask: Callable[..., Guarantee], how: Mapping[str, Any], write: Callable[[Guarantee], str]
) -> tuple[str, str]:
    """Write the certificate of the number to report, or of that by Rényi orders and say why.

    `ask` asks for the guarantee by `how`, and `write` makes the text. DomainError where neither has
    a certificate, or a number was pinned that has none.
    """
    best = ask(**how)
    try:
        return write(best), ""
    except DomainError as error:
        if not best.is_best or best.conversion == BY_ORDERS:
            raise
        usual = ask(conversion=BY_ORDERS)
        here = f"this certifies {usual.letter} = {usual.asked.rounded()} by Rényi orders"
        why = f"{here}, and not the {best.asked.rounded()} to report: {error.finding}"
        return write(usual), why


#: How a certificate is written, by its form.
FORMS: dict[str, Callable[[Guarantee], str]] = {"json": as_json, "coq": as_coq}
