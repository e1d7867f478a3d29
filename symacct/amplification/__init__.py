"""What is proved about operations, a file per paper; importing this registers all of it."""

from symacct.amplification import (  # noqa: F401  # each puts its theorems on the register
    acg16,
    bdrs18,
    blog,
    either,
    elementary,
    finite_pairs,
    fs25,
    groups,
    mtz19,
    pairs,
    ps22,
    ps22_poisson,
    s22,
    tau_terms,
    triples,
    veh14,
    wbk19,
    wbk19_pure,
    zw19,
)
