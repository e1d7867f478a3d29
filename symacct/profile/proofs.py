"""What proves a number of a profile: the pairs, and the way that gave the number.

Each has a code, under which the table of results (theory/catalogue.toml) has its statement.
"""

from symacct.kernel.sources import ZDW22
from symacct.theory.catalogue import proof

#: The conversion that a profile answers, and the work that it is of.
NAME = "exact"
SOURCE = ZDW22.at(
    "dominating pairs and their composition; SYMACCT, docs/proofs/contours.md, complex-sum"
)

PAIRS = proof("PROFILE-PAIRS")
CONTOURS = proof("PROFILE-CONTOUR")
GRIDS = proof("PROFILE-GRID")
AT_0 = proof("PROFILE-AT-0")
LARGEST_LOSS = proof("PROFILE-LARGEST-LOSS")
SINGLE_RUN = proof("PROFILE-ONE-RUN")
LAPLACE = proof("PROFILE-LAPLACE")
DENSITIES = proof("PROFILE-DENSITY")
FINITE = proof("PROFILE-FINITE")
LATTICE = proof("PROFILE-LATTICE")
INTEGERS = proof("PROFILE-INTEGERS")
SINGLE_INTEGER = proof("PROFILE-ONE-INTEGER")
BOUNDED_RANGE = proof("PROFILE-BOUNDED-RANGE")
GAUSSIAN = proof("BW18-T8")
SMOOTHED = proof("PROFILE-SMOOTHED")
BEST_OF_RUNS = proof("PROFILE-BEST-OF-RUNS")
OF_A_CURVE = proof("PROFILE-OF-CURVE")
MANY_PARTS = proof("PROFILE-MANY-PARTS")
