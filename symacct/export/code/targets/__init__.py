"""The languages that code is written in, a file for each."""

from symacct.export.code.targets.c import CWriter
from symacct.export.code.targets.multiprecision import MpmathWriter
from symacct.export.code.targets.numpy_arrays import NumpyWriter
from symacct.export.code.targets.python import PythonWriter

__all__ = ["CWriter", "MpmathWriter", "NumpyWriter", "PythonWriter"]
