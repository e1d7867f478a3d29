"""Certificates: an (ε, δ) guarantee with all that a checker needs to prove it again."""

from symacct.certificates.document import certificate
from symacct.certificates.forms import FORMS

__all__ = ["FORMS", "certificate"]
