# /// script
# requires-python = ">=3.11"
# dependencies = ["jax-privacy"]
# ///
"""JAX Privacy's DpsgdTrainingAccountant on privacy losses; asked as in jax_privacy.py."""

from __future__ import annotations

import runpy
import sys
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

through_rdp = types.SimpleNamespace(
    **runpy.run_path(str(Path(__file__).with_name("jax_privacy.py")))
)
CONFIG = "PldAccountantConfig"


def hello():
    """The accountant that goes through no RDP."""
    return through_rdp.hello_by(peer="jax-privacy (PLD)", conversion="none")


if __name__ == "__main__":
    line.speak(hello, through_rdp.answer_by(CONFIG))
