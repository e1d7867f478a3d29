"""Which laws a statement speaks of, which curve it reads and what it bounds: one file a scheme."""
