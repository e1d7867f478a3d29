"""Certificates for Coq: the examples in coq/examples, and coqc's verdict on them.

The examples are written by `python -m tests.coq --write`, and compiled by `make coq`.
"""

import re
import resource
import shutil
import subprocess
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from symacct import parse
from symacct.evidence.certificates.coq import coq

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "coq"
EXAMPLES = LIBRARY / "examples"
#: The library's files in the order in which they are compiled.
FILES = [line for line in (LIBRARY / "_CoqProject").read_text().split() if line.endswith(".v")]
NEEDED = (
    "needed Coq 8.16 with coq-interval; install them, on Debian: "
    "apt-get install --no-install-recommends coq libcoq-interval"
)
COQC = shutil.which("coqc")
MISSING = None if COQC else f"found no coqc, {NEEDED}"
#: What a theorem may rest on beside its hypotheses: Coq's reals, and its machine numbers.
AXIOMS = re.compile(
    r"(?:Uint63|PrimInt63|FloatAxioms|PrimFloat|FloatOps|SpecFloat|ClassicalDedekindReals)\.\w+"
    r"|FunctionalExtensionality\.functional_extensionality_dep|Classical_Prop\.classic"
)


@dataclass(frozen=True)
class Example:
    """A question whose answer is a file, and which of the three forms the file has."""

    name: str
    form: str  # whole, real or finite
    expression: str
    how: dict = field(default_factory=dict, hash=False)
    integrates: bool = False

    def text(self):
        """The file as it is written today."""
        return coq(parse(self.expression).epsilon("1e-5", **{"conversion": "improved"} | self.how))

    def file(self):
        """The file in the repository."""
        return (EXAMPLES / f"{self.name}.v").read_text(encoding="utf-8")


LISTED = [
    Example("gaussians", "real", "20*Gaussian(10) + 5*Gaussian(8) + ZCDP(1/100)"),
    Example("laplace", "real", "50*Laplace(20) + PureDP(1/10)", {"conversion": "classic"}),
    Example("response", "finite", "100*RandomizedResponse(11/20)"),
    Example(
        "sampled_response",
        "finite",
        "1000*PoissonSubsample(RandomizedResponse(3/4), 1/100) + 10*RandomizedResponse(11/20)",
    ),
    Example(
        "sampled_gaussian",
        "whole",
        "3516*PoissonSubsample(Gaussian(11/10), 256/60000)",
        {"orders": "integer"},
    ),
    Example(
        "sampled_composition",
        "whole",
        "100*PoissonSubsample(Laplace(2) + 2*PureDP(1/3), 1/50)",
        {"orders": "integer", "by": "S22-POISSON"},
    ),
    Example("sampled_laplace", "real", "1000*PoissonSubsample(Laplace(1), 1/100)", integrates=True),
    Example(
        "sampled_gaussian_real",
        "real",
        "3516*PoissonSubsample(Gaussian(11/10), 256/60000)",
        integrates=True,
    ),
]


def lowered(text):
    """A file's claim with the last of ε's six digits one less: what it says is no longer so."""
    (claimed,) = re.findall(r"Definition epsilon : R := \(?([\d/ ]+)\)?\.", text)
    epsilon = Fraction(claimed.replace(" ", ""))
    unit = Fraction(10) ** (len(str(int(epsilon))) - 6) if epsilon >= 1 else Fraction(1, 10**6)
    while epsilon < 1 and epsilon < 10**5 * unit:
        unit /= 10
    less = epsilon - unit
    wrong = f"Definition epsilon : R := ({less.numerator} / {less.denominator})."
    return re.sub(r"Definition epsilon : R := .*", wrong, text)


@dataclass(frozen=True)
class Verdict:
    """What coqc says of a file, in how many seconds of processor time."""

    accepted: bool
    said: str
    seconds: float

    @property
    def too_small(self):
        """Was it refused because a number is too small, and for nothing else?"""
        return not self.accepted and "Numerical evaluation failed to conclude" in self.said


def compile_file(file, folder, seconds=600):
    """Compile a file against the library that was compiled in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run(
        [str(COQC), "-w", "none", "-Q", str(folder), "Symacct", str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return Verdict(run.returncode == 0, run.stdout + run.stderr, spent)


def compile_library(folder):
    """Copy the library to a folder and compile it there; each file with its verdict."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(LIBRARY / name, folder)
        yield name, compile_file(folder / name, folder)


def judged(name, text, folder, audited=False):
    """Coq's verdict on a text, and if it is audited the axioms that its last theorem rests on."""
    file = folder / f"{name}.v"
    audit = "\nPrint Assumptions guarantee.\n" if audited else ""
    file.write_text(text + audit, encoding="utf-8")
    return compile_file(file, folder)


def axioms(said):
    """The axioms that `Print Assumptions` lists: a name, and its type after a colon."""
    listed = said.partition("Axioms:\n")[2]
    return set(re.findall(r"^([\w.]+)(?: :|$)", listed, re.M))
