# /// script
# requires-python = ">=3.9"
# dependencies = ["opacus", "numpy", "scipy"]
#
# [tool.symacct]
# no-deps = true
# ///
"""Opacus' analysis by Gaussian DP and a central limit theorem, loaded without PyTorch."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

ASKS = ["epsilon", "delta", "mu"]
PLACE, NEEDED = "opacus/accountants/analysis/gdp.py", "opacus"


def answer(ask):
    """The answer's fields."""
    peer = line.module_at(PLACE, NEEDED)
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
    seconds = time.perf_counter() - begun
    reproduce = [*line.loading(PLACE), f"print({source})"]
    return {"value": repr(float(value)), "seconds": seconds, "reproduce": reproduce}


def hello():
    """Who computes, and what may be asked; loads the peer, so that no answer is slow for that."""
    line.module_at(PLACE, NEEDED)
    kinds, how = [("Gaussian", "poisson", "add_remove")], {"numbers": line.NUMBERS}
    more = {"peer": "opacus (GDP)", "compose": False, "conversion": "none", "how": how}
    return line.hello_of("opacus", kinds, ASKS, **more)


if __name__ == "__main__":
    line.speak(hello, answer)
