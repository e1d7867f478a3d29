# /// script
# requires-python = ">=3.9"
# dependencies = ["opacus", "numpy", "scipy"]
#
# [tool.symacct]
# no-deps = true
# peers = ["opacus", "opacus-gdp"]
# ///
"""Opacus: its analyses by RDP and by Gaussian DP, loaded by themselves without PyTorch."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

PLACE, NEEDED = "opacus/accountants/analysis/rdp.py", "opacus"
BY_CLT, ASKS = "opacus/accountants/analysis/gdp.py", ["epsilon", "delta", "mu"]
FUNCTIONS = dict.fromkeys(("poisson", "none"), "compute_rdp")


def spent(peer, ask, at, rdp):
    """(ε, its order, the expression that has it)"""
    delta = ask["delta_float"]
    value, best = peer.get_privacy_spent(orders=at, rdp=rdp, delta=delta)
    return value, best, f"peer.get_privacy_spent(orders=orders, rdp=rdp, delta={delta!r})"


def hello():
    """Who computes, and what may be asked; loads the peer, so that no answer is slow for that."""
    line.module_at(PLACE, NEEDED)
    kinds = [("Gaussian", sampling, "add_remove") for sampling in FUNCTIONS]
    grid = {"default_orders": line.DEFAULT_ORDERS, "order_grid": True}
    return line.hello_of("opacus", kinds, ["rdp", "epsilon"], how=line.HOW, **grid)


# --- Gaussian DP


def answer_by_clt(ask):
    """Computes ε, δ or μ by Gaussian DP and a central limit theorem."""
    peer = line.module_at(BY_CLT, NEEDED)
    part = line.the_part(ask, ASKS)
    if part["mechanism"] != "Gaussian" or part["sampling"] != "poisson":
        raise line.Unsupported(f"{part['mechanism']}, sampling {part['sampling']}")
    rate, sigma = (line.number(part, name, ask["how"]) for name in ("gamma", "sigma"))
    given = {"steps": part["count"], "noise_multiplier": sigma, "sample_rate": rate}
    shown = ", ".join(f"{key}={value!r}" for key, value in given.items())
    begun = time.perf_counter()
    if ask["ask"] == "mu":
        value, source = peer.compute_mu_poisson(**given), f"peer.compute_mu_poisson({shown})"
    elif ask["ask"] == "delta":
        value = peer.delta_eps_mu(eps=ask["epsilon_float"], mu=peer.compute_mu_poisson(**given))
        source = f"peer.delta_eps_mu(eps={ask['epsilon_float']!r}, mu="
        source += f"peer.compute_mu_poisson({shown}))"
    else:
        delta = ask["delta_float"]
        value = peer.compute_eps_poisson(**given, delta=delta)
        source = f"peer.compute_eps_poisson({shown}, delta={delta!r})"
    return line.answered(value, begun, [*line.loading(BY_CLT), f"print({source})"])


def hello_by_clt():
    """The analysis by Gaussian DP."""
    line.module_at(BY_CLT, NEEDED)
    kinds, how = [("Gaussian", "poisson", "add_remove")], {"numbers": line.NUMBERS}
    more = {"peer": "opacus (GDP)", "compose": False, "conversion": "none", "how": how}
    return line.hello_of("opacus", kinds, ASKS, **more)


if __name__ == "__main__":
    line.speak(
        ("opacus", hello, line.by_module(PLACE, NEEDED, FUNCTIONS, spent)),
        ("opacus-gdp", hello_by_clt, answer_by_clt),
    )
