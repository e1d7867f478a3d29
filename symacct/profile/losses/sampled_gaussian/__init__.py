"""The loss of the sampled Gaussian mechanism, and its moments."""
