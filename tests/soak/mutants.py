"""Small faults in the text of a module, each as `line: before → after, in: …`, and runs with one.

Tests are run in a copy of the tree, which has a module with a fault in the place of its own.
"""

import ast
import os
import resource
import shutil
import signal
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 4 << 30
OUT_OF_TIME = -signal.SIGXCPU
WAITED = 20  # seconds for each of processor time, on a machine that does much else

ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
ARITHMETIC |= {ast.Pow: ast.Mult, ast.FloorDiv: ast.Div}
NEGATED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.Is: ast.IsNot}
NEGATED |= {ast.In: ast.NotIn} | {after: before for before, after in NEGATED.items()}
JOINED = {ast.And: ast.Or, ast.Or: ast.And}
NAMES = {"min": "max", "lower": "upper", "all": "any", "log_p": "log_q"}
NAMES |= {after: before for before, after in NAMES.items()}
#: The end of a ball that is taken for a bound, and the other one.
ENDS = {"upper": "lower", "abs_upper": "abs_lower"}
ENDS |= {after: before for before, after in ENDS.items()}
#: What makes a ball of the bound of a remainder, or the bound of one.
REMAINDERS = {"up_to", "within", "acb_within", "geometric_tail"}
#: What says something to a reader, or to a type checker.
SPOKEN = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr)


def faults(node):
    """What may stand in the node's place."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in ARITHMETIC:
                yield ast.BinOp(left, ARITHMETIC[type(op)](), right)
            if isinstance(op, ast.Add | ast.Sub):
                yield left
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in NEGATED:
            yield ast.Compare(left, [NEGATED[type(op)]()], [right])
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(JOINED[type(op)](), values)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield ast.Name(NAMES[name], ast.Load())
        case ast.Attribute(value=value, attr=name) if name in NAMES:
            yield ast.Attribute(value, NAMES[name], ast.Load())
        case ast.AugAssign():
            yield ast.Pass()
        case ast.If(test=ast.Name() | ast.Attribute() | ast.Call() as test, body=body, orelse=rest):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, rest)


def bounds(node):
    """A bound turned round: the other end of a ball, a union without what it was widened by, or

    a remainder that is forgotten.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in ENDS:
            yield ast.Call(ast.Attribute(value, ENDS[name], ast.Load()), [], [])
        case ast.Call(func=ast.Attribute(value=value, attr="union"), args=[_]):
            yield value
        case ast.Call(func=ast.Name(id="arb"), args=[middle, _]):
            yield ast.Call(ast.Name("arb", ast.Load()), [middle], [])
        case ast.Call(func=ast.Name(id=name)) if name in REMAINDERS:
            yield ast.BinOp(node, ast.Mult(), ast.Constant(0))


#: What FAULTS may be.
FAULTS = {"all": faults, "bounds": bounds}


def places(node):
    """Everything below a node that computes."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, SPOKEN):
                yield child
                yield from places(child)


def edits(source, faults=faults):
    """(line, description, the bytes from and to, what stands there instead) for every fault."""
    lines = source.splitlines()
    starts = [0, *accumulate(len(line) for line in source.encode().splitlines(keepends=True))]
    for child in places(ast.parse(source)):
        for fault in faults(child):
            old, new = (child.test, fault.test) if isinstance(child, ast.If) else (child, fault)
            before, after = ast.unparse(old), ast.unparse(ast.fix_missing_locations(new))
            said = f"{old.lineno}: {before} → {after}, in: {lines[old.lineno - 1].strip()}"
            instead = after if isinstance(new, ast.stmt) else f"({after})"
            start = starts[old.lineno - 1] + old.col_offset
            end = starts[old.end_lineno - 1] + old.end_col_offset
            yield old.lineno, said.replace("\n", " "), (start, end, instead)


def edited(source, edit):
    """The text with one fault; all else of it is as it was, comments too."""
    start, end, instead = edit
    text = source.encode()
    return (text[:start] + instead.encode() + text[end:]).decode()


def mutants(source, faults=faults, section=None):
    """(description, text of the module) for every fault, or for those in a section's lines."""
    for line, said, edit in edits(source, faults):
        if section is None or line in section:
            yield said, edited(source, edit)


def sections(source):
    """The lines of each section of a module, by its heading: `# --- heading`."""
    lines = source.splitlines()
    heads = [(n, line[6:]) for n, line in enumerate(lines, 1) if line.startswith("# --- ")]
    ends = [n for n, _ in heads[1:]] + [len(lines) + 1]
    return {head: range(n, end) for (n, head), end in zip(heads, ends, strict=False)}


def copied(folder):
    """What git keeps of the tree, as it is now."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)  # noqa: S607
    for name in names.stdout.decode().split("\0")[:-1]:
        Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, Path(folder, name))


def put(path, text, number):
    """Write a module that no compiled one passes for: each has a time of its own."""
    path.write_text(text)
    os.utime(path, (number, number))


def pytest_run(folder, tests, *options, seconds=None):
    """(status, what it printed) of the tests there, within their processor time."""

    def bounded():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    environment = os.environ | {"PYTHONPATH": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or all is compiled for each fault
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=bounded,
    )
    try:
        printed, _ = process.communicate(timeout=seconds and WAITED * seconds)
        return process.returncode, printed.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return OUT_OF_TIME, ""
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
