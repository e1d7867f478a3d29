"""What proves a number of a profile: the pairs, and the way that gave the number.

Each has a code, under which the table of results (theory/catalogue.toml) has its statement
and names the same source.
"""

from symacct.kernel.claims import Proof
from symacct.kernel.sources import BW18, SYMACCT, ZDW22

#: The conversion that a profile answers, and the work that it is of.
NAME = "exact"
SOURCE = ZDW22.at(
    "dominating pairs and their composition; SYMACCT, docs/proofs/contours.md, complex-sum"
)

#: The proofs that an answer of the profile may rest on, each with its code and its lemmas.
PAIRS = Proof("PROFILE-PAIRS", ZDW22.at("dominating pairs and their composition"))
CONTOURS = Proof("PROFILE-CONTOUR", SYMACCT.at("docs/proofs/contours.md, complex-sum"))
GRIDS = Proof("PROFILE-GRID", SYMACCT.at("docs/proofs/grids.md, loss-grid"))
AT_0 = Proof("PROFILE-AT-0", SYMACCT.at("docs/proofs/contours.md, zero-epsilon"))
LARGEST_LOSS = Proof("PROFILE-LARGEST-LOSS", SYMACCT.at("docs/proofs/pairs.md, privacy-profile"))
SINGLE_RUN = Proof("PROFILE-ONE-RUN", SYMACCT.at("docs/proofs/losses.md, density-run"))
LAPLACE = Proof("PROFILE-LAPLACE", SYMACCT.at("docs/proofs/losses.md, laplace-run and few-laplace"))
DENSITIES = Proof("PROFILE-DENSITY", SYMACCT.at("docs/proofs/losses.md, density-run"))
FINITE = Proof("PROFILE-FINITE", SYMACCT.at("docs/proofs/losses.md, finite-laws"))
LATTICE = Proof("PROFILE-LATTICE", SYMACCT.at("docs/proofs/losses.md, one-lattice"))
INTEGERS = Proof("PROFILE-INTEGERS", SYMACCT.at("docs/proofs/losses.md, integer-outcomes"))
SINGLE_INTEGER = Proof(
    "PROFILE-ONE-INTEGER", SYMACCT.at("docs/proofs/mechanisms.md, integer-tails")
)
ALLOCATIONS = Proof("PROFILE-ALLOCATION", SYMACCT.at("docs/proofs/allocations.md, sums-of-ratios"))
BOUNDED_RANGE = Proof(
    "PROFILE-BOUNDED-RANGE", SYMACCT.at("docs/proofs/selection.md, bounded-range-profile")
)
GAUSSIAN = Proof("BW18-T8", BW18.at("Theorem 8"))
SMOOTHED = Proof("PROFILE-SMOOTHED", SYMACCT.at("docs/proofs/triples.md, smoothed-stick"))
BEST_OF_RUNS = Proof(
    "PROFILE-BEST-OF-RUNS", SYMACCT.at("docs/proofs/selection.md, selected-profile")
)
OF_A_CURVE = Proof("PROFILE-OF-CURVE", SYMACCT.at("docs/proofs/currencies.md, curve-pair"))
MANY_PARTS = Proof("PROFILE-MANY-PARTS", SYMACCT.at("docs/proofs/grids.md, many-parts"))
SHUFFLED = Proof(
    "PROFILE-SHUFFLED", SYMACCT.at("docs/proofs/mechanisms.md, three-clones and moved-clones")
)
