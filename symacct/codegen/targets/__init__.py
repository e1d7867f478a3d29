"""The languages that code is written in, a file for each and a line here."""

from symacct.codegen.targets.c import CWriter
from symacct.codegen.targets.multiprecision import MpmathWriter
from symacct.codegen.targets.numpy_arrays import NumpyWriter
from symacct.codegen.targets.python import PythonWriter
from symacct.codegen.writer import Writer

#: The languages that `code` writes, by the names that users call them.
TARGETS: dict[str, type[Writer]] = {
    target.name: target for target in (NumpyWriter, MpmathWriter, PythonWriter, CWriter)
}
