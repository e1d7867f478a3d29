"""The functions that generated code calls, one file for each target; their text goes into it."""
