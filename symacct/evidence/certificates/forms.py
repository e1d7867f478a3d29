"""How a certificate is written: a form is a function from a guarantee to the text of a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from symacct.evidence.certificates.coq import coq
from symacct.evidence.certificates.document import certificate
from symacct.kernel.accountant import BY_ORDERS
from symacct.kernel.answer import Guarantee
from symacct.kernel.errors import DomainError

_COQ_DIGITS = 9  # an integral to so many takes Coq a minute


def as_json(guarantee: Guarantee) -> str:
    """The certificate as JSON, for `checker/check.py`."""
    return json.dumps(certificate(guarantee), indent=1, ensure_ascii=False) + "\n"


def as_coq(guarantee: Guarantee) -> str:
    """The certificate as a file for Coq, its number with the digits asked for, at most nine."""
    return coq(guarantee, min(guarantee.asked.digits_asked, _COQ_DIGITS))


def of_the_reported(
    ask: Callable[..., Guarantee], how: Mapping[str, Any], write: Callable[[Guarantee], str]
) -> tuple[str, str]:
    """The certificate of the number to report, or of the one by Rényi orders and why it is that."""
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


FORMS: dict[str, Callable[[Guarantee], str]] = {"json": as_json, "coq": as_coq}
