"""One case again: `python -m tests.damaged NAME SEED`."""

import sys
import tempfile
from pathlib import Path

from tests.damaged import prepared

name, seed = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    print(prepared(name, Path(folder))(int(seed)) or "holds")
