"""Where it is proved that a number of a profile is right, by what gave the number."""

from symacct.core.claims import Source
from symacct.core.sources import BW18, SYMACCT


def _in_section_16(place: str) -> Source:
    return SYMACCT.at(f"docs/proofs.md, section 16, {place}")


CONTOURS = _in_section_16("the sum over complex orders and its error")
GRIDS = _in_section_16("runs on a grid of losses")
AT_0 = _in_section_16("what is asked for, and the value at 0")
LARGEST_LOSS = _in_section_16("what is asked for, and the largest loss")
ONE_RUN = _in_section_16("one run")
LAPLACE = _in_section_16("Laplace noise, sampled or not")
DENSITIES = _in_section_16("densities on the line")
FINITE = _in_section_16("finite laws")
LATTICE = _in_section_16("finite laws, one lattice")
INTEGERS = _in_section_16("finite laws, and a sum over all outcomes")
ONE_INTEGER = SYMACCT.at("docs/proofs.md, section 21")
BOUNDED_RANGE = SYMACCT.at("docs/proofs.md, section 24")
GAUSSIAN = BW18.at("Theorem 8")

PROOFS = (
    CONTOURS, GRIDS, AT_0, LARGEST_LOSS, ONE_RUN, LAPLACE, DENSITIES, FINITE, LATTICE, INTEGERS,
    ONE_INTEGER, BOUNDED_RANGE, GAUSSIAN,
)  # fmt: skip
