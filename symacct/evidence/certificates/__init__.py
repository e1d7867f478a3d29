"""Certificates: an (ε, δ) guarantee with all that a checker needs to prove it again."""

from symacct.evidence.certificates.document import FORMS, certificate

__all__ = ["FORMS", "certificate"]
