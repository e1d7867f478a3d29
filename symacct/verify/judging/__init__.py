"""What a value is held against, and the verdict on it."""
