"""What is proved about operations, a file per paper; importing this registers all of it."""

from symacct.amplification import blog, elementary, pairs, tau_terms, veh14, wbk19, zw19

__all__ = ["blog", "elementary", "pairs", "tau_terms", "veh14", "wbk19", "zw19"]
