"""Zhu, Dong, Wang 2022: composition by dominating pairs, and the profile from complex moments."""

from symacct.core.sources import ZDW22
from symacct.theory.conversion.conversion import WholeProfile, register

register(
    WholeProfile(
        name="exact",
        source=ZDW22.at(
            "dominating pairs and their composition; SYMACCT, docs/proofs.md, section 16, the sum "
            "over complex orders and its error"
        ),
        status="proved",
    )
)
