"""The kernel: numbers, expressions, theorems, sums, evaluation, conversions and answers."""
