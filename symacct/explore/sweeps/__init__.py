"""Sweeps: one question over a grid of parameters, on any executor, resumable."""

from symacct.explore.sweeps.sweeping import Sweep, Values, sweep

__all__ = ["Sweep", "Values", "sweep"]
