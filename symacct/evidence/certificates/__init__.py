"""Certificates: an (ε, δ) guarantee with all that a checker needs to prove it again."""

from symacct.evidence.certificates.document import certificate
from symacct.evidence.certificates.forms import FORMS

__all__ = ["FORMS", "certificate"]
