"""Looking at bounds: comparison, sweeps, plots, calibration, the adversary, a paper's numbers."""
