"""The languages that code is written in, a file for each and a line here."""

from symacct.export.code.targets.c import CWriter
from symacct.export.code.targets.julia import JuliaWriter
from symacct.export.code.targets.multiprecision import MpmathWriter
from symacct.export.code.targets.numpy_arrays import NumpyWriter
from symacct.export.code.targets.python import PythonWriter
from symacct.export.code.writer import Writer

#: What the code can be for.
TARGETS: dict[str, type[Writer]] = {
    target.name: target
    for target in (NumpyWriter, MpmathWriter, PythonWriter, CWriter, JuliaWriter)
}
