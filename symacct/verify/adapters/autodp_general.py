# /// script
# requires-python = ">=3.9"
# dependencies = ["autodp"]
# ///
"""The peer autodp with its general sampling bounds, the default; everything else is autodp.py."""

import runpy
from pathlib import Path

runpy.run_path(
    str(Path(__file__).with_name("autodp.py")), init_globals={"GENERAL": True}, run_name="__main__"
)
