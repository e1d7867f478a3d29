"""Formulas in LaTeX as papers on privacy print them."""
