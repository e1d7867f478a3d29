"""What leaves symacct: formulas, explanations."""
