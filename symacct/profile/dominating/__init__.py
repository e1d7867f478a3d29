"""Which dominating pairs an expression has."""
