"""What is proved about operations, a file per paper; importing this registers all of it.

The order counts: of theorems that give one value, the first that was registered is named.

>>> from symacct import Gaussian, PoissonSubsample
>>> print(PoissonSubsample(Gaussian(5), "1/1000").rdp(2, digits=5, by="S22-POISSON").claim)
upper (add_remove; integer orders >= 2) by S22-POISSON
"""

# ruff: isort: off
from symacct.theory.amplification import acg16 as acg16
from symacct.theory.amplification import allocation as allocation
from symacct.theory.amplification import bdrs18 as bdrs18
from symacct.theory.amplification import blog as blog
from symacct.theory.amplification import coins as coins
from symacct.theory.amplification import elementary as elementary
from symacct.theory.amplification import pairs as pairs
from symacct.theory.amplification import groups as groups
from symacct.theory.amplification import mtz19 as mtz19
from symacct.theory.amplification import ps22 as ps22
from symacct.theory.amplification import s22 as s22
from symacct.theory.amplification import shuffled as shuffled
from symacct.theory.amplification import tau_terms as tau_terms
from symacct.theory.amplification import triples as triples
from symacct.theory.amplification import veh14 as veh14
from symacct.theory.amplification import wbk19 as wbk19
from symacct.theory.amplification import zw19 as zw19
from symacct.theory.amplification import directions as directions
from symacct.theory.amplification import zeroed as zeroed
