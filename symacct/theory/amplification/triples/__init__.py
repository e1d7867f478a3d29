"""The largest Rényi divergence of a sampled mechanism, as that of three laws.

For neighbouring datasets the two sampled outputs are mixtures over the same samples J of the
records they share, of m = (1−γ)q + γp and n = (1−γ)q + γp′, where p and p′ are the laws with the
one or the other record beside J, and q is that with neither. So ε′(α) is the largest D_α(m‖n) over
the triples (p, p′, q) that can occur (docs/proofs.md, section 14):

- Poisson, add/remove, and fixed size, add/remove: p′ = q, or p = q;
- Poisson, replace-one: (p, q) and (p′, q) are neighbours under add/remove;
- fixed size, replace-one: all three are neighbours of each other under replace-one.
"""

from symacct.theory.amplification.triples import (
    dominated,
    finite,
    gaussian,
    gaussian_poisson,
    line,
    pure,
    triangle,
)

__all__ = ["dominated", "finite", "gaussian", "gaussian_poisson", "line", "pure", "triangle"]
