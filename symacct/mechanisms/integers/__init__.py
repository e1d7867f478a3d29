"""Noise on whole numbers: discrete Gaussian, discrete Laplace, Skellam, and sums of it."""
