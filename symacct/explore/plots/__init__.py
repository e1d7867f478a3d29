"""Plots of bounds: exact curves, upper and lower bounds drawn apart. They need matplotlib."""

from symacct.explore.plots.landmarks import phase_transition, takeover
from symacct.explore.plots.plotting import plot, plot_sweep

__all__ = ["phase_transition", "plot", "plot_sweep", "takeover"]
