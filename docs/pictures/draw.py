"""The picture of the README: `python docs/pictures/draw.py`, some seconds."""

from pathlib import Path

import symacct as sa

step = sa.dp_sgd(n=60_000, batch_size=256, noise_multiplier="1.1", steps=1)
figure = sa.plot_runs(step, "1e-5", counts=[1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000])
figure.savefig(Path(__file__).with_name("runs.png"), dpi=100)
