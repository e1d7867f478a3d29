"""What is proved: amplification and conversion, a file a paper, and the catalogue of results.

Who registers a theorem of their own finds `always` and `forget` here too.
"""

from symacct.kernel.theorem_registry import always, forget

__all__ = ["always", "forget"]
