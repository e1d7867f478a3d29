"""Plots of bounds: exact curves, upper and lower bounds drawn apart. They need matplotlib."""

from symacct.explore.plots.landmarks import phase_transition, takeover
from symacct.explore.plots.plotting import plot, plot_sweep
from symacct.explore.plots.profiles import plot_profile, plot_runs

__all__ = ["phase_transition", "plot", "plot_profile", "plot_runs", "plot_sweep", "takeover"]
