"""The version, for what is below the package that shows it."""

__version__ = "0.1.0"
