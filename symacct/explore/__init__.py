"""Looking at bounds: comparison side by side."""
