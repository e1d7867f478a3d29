"""Laws of the common families and those given by a density, and D_α of one from another."""
