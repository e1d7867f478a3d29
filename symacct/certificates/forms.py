"""How a certificate is written: a form is a function from a guarantee to the text of a file."""

from __future__ import annotations

import json
from collections.abc import Callable

from symacct.certificates.document import certificate
from symacct.results.enclosure import Guarantee


def as_json(guarantee: Guarantee) -> str:
    """The certificate as JSON, for `checker/check.py`."""
    return json.dumps(certificate(guarantee), indent=1, ensure_ascii=False) + "\n"


FORMS: dict[str, Callable[[Guarantee], str]] = {"json": as_json}
