"""The Rényi curve of an expression, and the order that answers an (ε, δ) question best."""
