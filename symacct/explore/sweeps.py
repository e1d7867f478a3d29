"""Sweeps: one question over a grid of parameters, on any executor, resumable."""

from __future__ import annotations

import csv
import functools
import hashlib
import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, overload

from symacct.explore.grids import axis_values
from symacct.export.cards import grid
from symacct.export.description import KIND_LABELS, OWN_CURVE, about
from symacct.export.tables import in_full
from symacct.kernel import exact, limits, parameters
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, Guarantee, found_order, order_text
from symacct.kernel.claims import Kind
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import progress as shown_progress
from symacct.kernel.errors import (
    DomainError,
    ExecutorError,
    StorageError,
    SymacctError,
    echo,
    reason,
)
from symacct.kernel.exact import INFINITY, Numeric, sympy
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import By
from symacct.results.screen import Part, Tabled
from symacct.text import from_json
from symacct.version import __version__

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import Table as ArrowTable


# --- a worker
#
# Questions in as text, answers out as text; nothing else is shared.

Answer = dict[str, Any]


def answer(task: str) -> str:
    """Answer a task's questions, in their order; the task and the answers are JSON text.

    A task is {"limits": {…}, "settings": {"ask": …, "digits": …, "by": …, "conversion": …,
    "orders": …}, "expression": JSON text, "questions": [[["sigma", "5"], …, ["alpha" or "delta" or
    "epsilon", number as text]]]}, the symbols' values first. A task with "error" in the place of
    the expression has that answer everywhere. A question that cannot be answered has an "error"
    for an answer and does not touch the others.
    """
    read = json.loads(task)
    settings = read["settings"]
    if "error" in read:  # the expression has no text
        return json.dumps([{"error": read["error"]}] * len(read["questions"]))
    answers: list[Answer] = []
    with limits.limits(**read["limits"]):
        accountant = Accountant(settings["digits"])
        try:
            m = from_json(read["expression"])
        except SymacctError as error:
            return json.dumps([_error(error)] * len(read["questions"]))
        # One set of parameters is asked at several orders, δ or ε.
        for chosen, questions in groupby(read["questions"], lambda question: question[:-1]):
            numbers = [question[-1][1] for question in questions]
            try:
                at = m.subs(dict(chosen)) if chosen else m
                answers += [_answer(accountant, settings, at, number) for number in numbers]
            except SymacctError as error:  # there is no mechanism of these parameters
                answers += [_error(error)] * len(numbers)
        return json.dumps(answers)


def _error(error: SymacctError) -> Answer:
    return {"error": f"{type(error).__name__}: {error}"}


def _answer(accountant: Accountant, settings: Answer, m: Node, number: str) -> Answer:
    """Answer one question at α, δ or ε, as `settings` ask it, or return its error as an answer."""
    by = tuple(settings["by"]) if isinstance(settings["by"], list) else settings["by"]
    try:
        if settings["ask"] == "rdp":
            enclosure = accountant.rdp(m, number, by=by)
            return shown(in_full(enclosure, m, exact.order(number), by, accountant.digits))
        how = {"conversion": settings["conversion"], "orders": settings["orders"], "by": by}
        guarantee: Guarantee = getattr(accountant, settings["ask"])(m, number, **how)
    except SymacctError as error:
        return _error(error)
    return {**_of(guarantee), "how": _how(guarantee)}


def _of(g: Guarantee) -> Answer:
    """Show the number asked of a guarantee, with its Rényi order where there is one.

    "optimal" says whether no order does better.
    """
    if g.needs_no_order:
        return shown(g.asked)
    order = "inf" if g.alpha == INFINITY else order_text(g.alpha, 12)
    return {**shown(g.asked), "order": order, "optimal": g.optimal}


def _how(g: Guarantee) -> str:
    """Say how the number was found: the profile, or the order, the theorems and the conversion."""
    if g.needs_no_order:
        how = "exact profile" if g.kind is Kind.EXACT else "profile of a dominating pair"
    else:
        theorems = ", ".join(g.claim.theorems) or OWN_CURVE
        how = f"order {found_order(g.alpha)} by {theorems}, {g.conversion} conversion"
    return "; ".join(filter(None, [how, g.note]))


def shown(x: Enclosure) -> Answer:
    """Write the value on its safe side, both of its ends rounded outwards, and its claim."""
    return {
        "value": x.rounded(),
        "lower": x.rounded_down(),
        "upper": x.rounded_up(),
        "kind": str(x.claim.kind),
        "certified": x.certified,
        "theorems": " ".join(x.claim.theorems),
    }


#: A sweep asks one of these, each with the number that it needs besides the free symbols.
NEEDED = {"rdp": "alpha", "epsilon": "delta", "delta": "epsilon"}


# --- a results file
#
# A header, and a line for each point as it is computed; a kill at any moment loses no full line.
#
# Each line ends in a digest of the header and of itself, so that what the disk, a tool or a slip of
# the hand changed is no answer. It is no signature: who can write the file can write a digest.

try:
    import fcntl
except ImportError:  # not on Windows: there two sweeps must not share a file
    fcntl = None  # type: ignore[assignment]

Record = dict[str, Any]
#: A line's digest begins after these bytes.
_DIGEST = b', "digest": "'


class ResultsFile:
    """A file of records, which keeps the answers of a sweep by point as they come.

    `header` says which sweep it is. `records` has what an earlier run of the same sweep left.
    Raises StorageError for a foreign, corrupt or busy file, which is left as it is.
    """

    def __init__(self, path: Path, header: Record) -> None:
        self.path = path
        self.records: dict[int, Record] = {}
        self._header = header
        self._question = hashlib.sha256(_line(header))
        self._file = self._opened()
        try:
            with _errors_shown(f"results file {path}"):
                self._read()
        except BaseException:
            self.close()
            raise

    def _opened(self) -> IO[bytes]:
        """Open the file and lock it against other sweeps; StorageError if that is not possible.

        Without fcntl, as on Windows, there is no lock.
        """
        with _errors_shown(f"results file {self.path}"):
            file = open(self.path, "a+b")  # noqa: SIM115  # it stays open for the whole sweep
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                raise StorageError(
                    f"results file {self.path}: another sweep is writing it",
                    remedy="wait for its end or name another file",
                ) from None
        return file

    def _read(self) -> None:
        """Read what an earlier run left, or write the header into an empty file.

        A last line without its end was cut by a kill: it is cut off the file.
        """
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._lines(), 1):
            if not line.endswith(b"\n"):
                if number == 1 and not line.startswith(b'{"symacct sweep"'):
                    raise self._foreign("its first line is not that of a sweep")
                self._file.truncate(whole)
                break
            whole += len(line)
            if number > 1:
                self._add(line, number)
            elif self._parsed(line, 1) != self._header:
                raise self._foreign("it holds another sweep: another expression, grid or question")
        if not whole:
            self._write([_line(self._header)])

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines; StorageError for one that is longer than ours may be."""
        most = max(len(_line(self._header)), limits.current().text_bytes)
        while line := self._file.readline(most + 1):
            if len(line) > most:
                raise self._foreign(f"a line is longer than {most:,} bytes")
            yield line

    def _add(self, line: bytes, number: int) -> None:
        """Keep the record of a line; StorageError for one that is not whole or is of no point.

        Of two records of one point the later one counts.
        """
        content, _, digest = line.rpartition(_DIGEST)
        if digest != self._digest(content):
            raise self._foreign(
                f"line {number} does not match its digest (without that line, its point is "
                "computed again)"
            )
        record = self._parsed(content + b"}", number)
        point = record.pop("point", None)
        if type(point) is not int or not 0 <= point < self._header["points"]:
            raise self._foreign(f"line {number} is no record of a point")
        self.records[point] = record

    def _row(self, point: int, record: Record) -> bytes:
        """Write the line of a record, which ends in its digest."""
        content = _line({"point": point, **record}).removesuffix(b"}\n")
        return content + _DIGEST + self._digest(content)

    def _digest(self, content: bytes) -> bytes:
        """Return the end of a row: a digest of the header and of what the row says."""
        digest = self._question.copy()
        digest.update(content)
        return digest.hexdigest()[:32].encode() + b'"}\n'

    def _parsed(self, line: bytes, number: int) -> Record:
        """Read the JSON object of a line; StorageError for a line that is none."""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self._foreign(f"line {number} is no JSON object")
        return value

    def _foreign(self, fault: str) -> StorageError:
        """Make the error of a file that is not ours, or not as we wrote it."""
        return StorageError(
            f"results file {self.path}: {fault}; nothing was changed in it",
            remedy="name another file, or remove this one",
        )

    def add(self, records: dict[int, Record]) -> None:
        """Append the records, which are on the disk when this returns; StorageError if not."""
        self._write([self._row(point, record) for point, record in records.items()])
        self.records.update(records)

    def _write(self, lines: list[bytes]) -> None:
        """Append lines, down to the disk; a StorageError says how many points are safe."""
        before = os.fstat(self._file.fileno()).st_size
        safe = f"{len(self.records):,} of {self._header['points']:,} points are safe"
        room = "make room and run the same sweep again to go on"
        remedy = f"{safe} in its first {before:,} bytes; {room}"
        with _errors_shown(f"results file {self.path}", remedy):
            self._file.seek(0, os.SEEK_END)
            self._file.write(b"".join(lines))
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of the file; another sweep may use it."""
        with suppress(OSError):  # what could not be written was said, and closing tries it again
            self._file.close()


@contextmanager
def _errors_shown(file: str, remedy: str = "name another file") -> Iterator[None]:
    """Raise what the system says is wrong with a file as a StorageError."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{file}: {reason(error)}", remedy=remedy) from None


@functools.cache
def source_digest(package: Path = Path(__file__).parents[1]) -> str:
    """Compute a SHA-256 digest of every module of the package, by name and text, in hex.

    In a file's header it keeps answers of two states of the formulas apart.
    """
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        text = file.read_bytes()
        digest.update(f"{file.relative_to(package).as_posix()}\n{len(text)}\n".encode() + text)
    return digest.hexdigest()


def _line(record: Record) -> bytes:
    """Write a record as a line of JSON."""
    return json.dumps(record).encode() + b"\n"


# --- the sweep

#: A value of an axis, or several.
Values: TypeAlias = Numeric | Iterable[Numeric]

#: A worker is sent at least this many points at a time, unless fewer are left.
_LEAST_POINTS = 25
#: A worker is sent at most this many points at a time, so that finished ones are kept soon.
_MOST_POINTS = 100
#: Between the least and the most a worker is sent the points left divided by this: the last tasks
#: are small, so that all end together.
_TASKS_AHEAD = 64
#: At most this many tasks are under way in an executor.
_PENDING_TASKS = 64
#: The repr of a sweep shows this many points.
_REPR_ROWS = 3
#: The card of a sweep in a notebook shows this many points.
_CARD_ROWS = 20
#: A terminal shows this many points.
_SCREEN_ROWS = 40
#: A table has these columns after those of its axes.
COLUMNS = (
    "value", "lower", "upper", "kind", "certified", "order", "optimal", "theorems", "how",
    "error",
)  # fmt: skip
#: No parameter may have one of these names: a results file has "point" beside the columns.
_TAKEN = {*COLUMNS, "point"}


class Sweep(Sequence[Record]):
    """The records of a sweep, one for each point of the grid and in the order of the grid.

    Numbers are text. A record has the parameters of its point. If there is an answer, it also has
    `value` (rounded to the safe side), `lower`, `upper`, `kind` and `theorems`, and `order` for
    a guarantee of a Rényi order; a guarantee also has `how` it was found. If there is no answer,
    it has `error`. `axes` names the parameters, and `of` gives the relation and the sensitivity. ε
    is in nats. An index beyond the last record raises IndexError.

    >>> import sympy
    >>> from symacct import Gaussian, sweep
    >>> grid = {"sigma": [1, 2], "alpha": 2}
    >>> found = sweep(Gaussian(sympy.Symbol("sigma")), grid, "rdp", digits=3)
    >>> len(found), found[0]["value"]
    (2, '1')
    """

    #: The question, which names the number on a screen.
    _ask = "epsilon"

    def __init__(self, axes: Sequence[str], records: Sequence[Record], of: str) -> None:
        self.axes = tuple(axes)
        #: The relation, and the sensitivity.
        self.about = of
        self._records = tuple(records)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Record, ...]: ...
    def __getitem__(self, index: int | slice) -> Record | tuple[Record, ...]:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        """Write the first points, and how many more there are."""
        head = f"Sweep of {len(self):,} points over {', '.join(self.axes)}"
        lines = [f"<{'; '.join(filter(None, [head, self.about]))}>"]
        lines += map(self._line, self[:_REPR_ROWS])
        rest = len(self) - _REPR_ROWS
        return "\n  ".join([*lines, f"… and {rest:,} more"] if rest > 0 else lines)

    def _line(self, record: Record) -> str:
        """Write the parameters of a record, and its value or its error."""
        point = ", ".join(f"{name}={record[name]}" for name in self.axes)
        return f"{point}: {record.get('value') or record['error']}"

    def _repr_html_(self) -> str:
        """Lay the first 20 points in a table for a notebook, without the columns that are empty."""
        records = list(self)
        how = "how" if any("how" in record for record in records) else "theorems"
        names = [*self.axes, "value", "kind", how, "error"]
        columns = [name for name in names if any(record.get(name) for record in records)]
        rows = ([record.get(name, "") for name in columns] for record in records[:_CARD_ROWS])
        rest = len(self) - _CARD_ROWS
        more = f"… and {rest:,} more" if rest > 0 else ""
        below = filter(None, [more, f"relation: {self.about}"])
        return grid(columns, rows, "; ".join(below))

    def _screen_(self) -> Iterator[Part]:
        """Yield the first records as a table, how many more there are, and the relation."""
        number = {"rdp": "ε(α)", "epsilon": "ε", "delta": "δ"}[self._ask]
        yield Tabled(
            (*self.axes, f"{number} (rounded safely)", "kind", "how"),
            (
                [record[name] for name in self.axes] + _cells(record)
                for record in self[:_SCREEN_ROWS]
            ),
        )
        if len(self) > _SCREEN_ROWS:
            yield f"… and {len(self) - _SCREEN_ROWS:,} more; --csv or --file keeps them all"
        if self.errors:
            yield f"{len(self.errors):,} points have no answer; their error says why"
        yield f"relation: {self.about}"

    def as_dict(self) -> list[Record]:
        """Return the records for JSON."""
        return list(self)

    @property
    def errors(self) -> list[Record]:
        """The records of the points that have no answer."""
        return [record for record in self if "error" in record]

    def to_csv(self, path: str | Path) -> None:
        """Write a table with a row for each point. Raises StorageError."""
        path = parameters.path(path, "table")
        with _errors_shown(f"table {path}"), open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*self.axes, *COLUMNS], restval="")
            writer.writeheader()
            writer.writerows(self)

    def to_pandas(self) -> DataFrame:
        """Make a pandas DataFrame, numbers as text; pandas.to_numeric makes floats of them.

        Raises MissingPackageError without pandas.
        """
        pandas = parameters.package("pandas", "to_pandas", "pip install pandas, or use to_csv")
        made: DataFrame = pandas.DataFrame(list(self), columns=[*self.axes, *COLUMNS])
        return made

    def to_arrow(self) -> ArrowTable:
        """Make a pyarrow Table, which Polars, DuckDB and Parquet read; numbers as text.

        Raises MissingPackageError without pyarrow.
        """
        pyarrow = parameters.package("pyarrow", "to_arrow", "pip install pyarrow, or use to_csv")
        truths = {"certified", "optimal"}
        fields = [
            (name, pyarrow.bool_() if name in truths else pyarrow.string())
            for name in [*self.axes, *COLUMNS]
        ]
        made: ArrowTable = pyarrow.Table.from_pylist(list(self), schema=pyarrow.schema(fields))
        return made


def sweep(
    m: Node,
    over: Mapping[sympy.Symbol | str, Values],
    ask: str = "epsilon",
    *,
    digits: int = 12,
    by: By = None,
    conversion: str = BEST,
    orders: str | Iterable[Numeric] | None = None,
    executor: Executor | None = None,
    file: str | Path | None = None,
    progress: bool = True,
) -> Sweep:
    """Ask "rdp", "epsilon" or "delta" at every point of a grid of parameters.

    `over` gives values to each free symbol of m, which is the key itself or its name, and to the
    number that the question needs: "alpha" for rdp, "delta" for epsilon, "epsilon" for delta. A
    single value is a grid of one point. `executor` is any `concurrent.futures.Executor`, such as a
    process pool or Dask's `client.get_executor()`. Workers exchange text, so the digits are the
    same on all of them. With `file`, finished points are kept there, and the same sweep continues
    where an earlier one stopped. With `progress`, a long sweep reports how far it is, if standard
    error is a terminal.

    `ask` is the question, and `digits` are significant digits of the answers. `by`, `conversion`
    and `orders` are those of the methods of Node; with a conversion that is named, such as
    "improved", many points take less time. ε is in nats. A point without an answer is a record
    with an `error`. Raises DomainError for a grid that does not fit, LimitError for too many
    points, and ExecutorError or StorageError, which say what is kept.

    >>> import sympy
    >>> from symacct import Gaussian, sweep
    >>> grid = {"sigma": [1, 2], "delta": "1e-5"}
    >>> [r["value"] for r in sweep(Gaussian(sympy.Symbol("sigma")), grid, digits=5)]
    ['4.3772', '1.9931']
    """
    points = ParameterGrid(m, over, ask)
    names = list(by) if isinstance(by, tuple) else None if by is None else parameters.text(by, "by")
    settings = {
        "ask": ask,
        "digits": parameters.digits(digits),
        "by": names,
        "conversion": parameters.text(conversion, "conversion"),
        "orders": _orders(orders),
    }
    of = about(m)
    with ExitStack() as stack:
        stored = None
        if file is not None:
            stored = ResultsFile(parameters.path(file, "file"), points.header(settings))
            stack.callback(stored.close)
        done = dict(stored.records) if stored else {}
        wanted = parameters.flag(progress, "progress")
        shown = shown_progress("sweep", len(points), len(done), wanted)
        advance = stack.enter_context(shown)
        tasks = points.tasks(settings, done)
        here = ((numbers, json.loads(answer(task))) for numbers, task in tasks)
        results = here if executor is None else _elsewhere(tasks, executor)
        try:
            for numbers, answers in results:
                records = {
                    i: {**points.parameters(i), **a} for i, a in zip(numbers, answers, strict=True)
                }
                done.update(records)
                if stored:
                    stored.add(records)
                advance(len(records))
        except ExecutorError as error:
            safe = f"in {file}" if stored else "in .sweep"
            finding = f"{error.finding}; {len(done):,} of {len(points):,} points are safe {safe}"
            error.args = (finding,)
            error.remedy = "run the same sweep again to go on" if stored else ""
            error.sweep = Sweep(points.axes, [done[i] for i in sorted(done)], of)
            raise
    swept = Sweep(points.axes, [done[i] for i in range(len(points))], of)
    swept._ask = ask
    return swept


def _cells(record: Record) -> list[str]:
    """Write the value, its side of the truth and how it was found; or why there is none."""
    if "error" in record:
        return [record["error"], "", ""]
    how = record.get("how") or record["theorems"] or OWN_CURVE
    return [record["value"], KIND_LABELS[Kind(record["kind"])], how]


class ParameterGrid:
    """The points: every combination of the values, the question's own parameter running fastest.

    Raises DomainError where the values are not those of m's symbols and the question's parameter,
    and LimitError for too many points.
    """

    def __init__(self, m: Node, over: Mapping[sympy.Symbol | str, Values], ask: str) -> None:
        self.m = as_node(m, "sweep")
        parameters.one_of(ask, "ask", NEEDED)
        if not isinstance(over, Mapping):
            raise DomainError(
                f"sweep: found {echo(over)}, needed values by name: {{'sigma': [1, 2]}}"
            )
        values = {
            str(getattr(key, "name", key)): _values(key, value) for key, value in over.items()
        }
        symbols = sorted(symbol.name for symbol in self.m.free_symbols)
        needed = NEEDED[ask]
        if needed in symbols:
            raise DomainError(
                f"sweep: found the symbol {needed} in the expression, a name that the "
                "question itself needs",
                remedy="rename the symbol",
            )
        if taken := [name for name in symbols if name in _TAKEN]:
            raise DomainError(
                f"sweep: found the symbol {taken[0]} in the expression, a name that records have "
                "for something else",
                remedy="rename the symbol",
            )
        if set(values) != {*symbols, needed}:
            raise DomainError(
                f"grid: found values for {', '.join(sorted(map(str, values))) or 'nothing'}, "
                f"needed them for {', '.join([*symbols, needed])}"
            )
        self.question = needed
        inner = [name for name in values if name != needed]
        self.values = {name: values[name] for name in [*inner, needed]}
        self.axes = tuple(self.values)
        limits.check("points", len(self), "grid, points")

    def __len__(self) -> int:
        return math.prod(map(len, self.values.values()))

    def parameters(self, point: int) -> dict[str, str]:
        """Return the values at a point, counted from 0, by the names of the axes."""
        chosen = {}
        for name, values in reversed(self.values.items()):
            point, index = divmod(point, len(values))
            chosen[name] = values[index]
        return {name: chosen[name] for name in self.axes}

    def header(self, settings: Record) -> Record:
        """Return what a results file must agree with: the question, and what computes it."""
        return {
            "symacct sweep": 2,
            "version": __version__,
            "source": source_digest(),
            "expression": json.loads(self.m.to_json()),
            "over": self.values,
            "settings": settings,
            "points": len(self),
        }

    def tasks(
        self, settings: Record, done: Mapping[int, Record]
    ) -> Iterator[tuple[list[int], str]]:
        """Yield the points that are not done, some at a time, with the text that asks for them.

        The limits in force are part of the text, and hold in the worker.
        """
        left = (point for point in range(len(self)) if point not in done)
        count = len(self) - len(done)
        task: Record = {"limits": asdict(limits.current()), "settings": settings}
        try:
            task["expression"] = self.m.to_json()
        except SymacctError as error:  # which every point then has for an answer
            task |= _error(error)
        while count:
            size = max(_LEAST_POINTS, min(count // _TASKS_AHEAD, _MOST_POINTS))
            numbers = list(itertools.islice(left, size))
            count -= len(numbers)
            questions = [list(self.parameters(point).items()) for point in numbers]
            yield numbers, json.dumps({**task, "questions": questions})


def _values(name: object, values: Values) -> list[str]:
    """Return the values of one axis as exact text.

    Raises DomainError for an axis that has no name or no value, and for a value that is no number.
    """
    if not isinstance(name, str | sympy.Symbol):
        raise DomainError(f"sweep: found the axis {echo(name)}, needed a symbol or its name")
    texts = [_text(value, str(name)) for value in axis_values(values, str(name))]
    if not texts:
        raise DomainError(f"{name}: found no value, needed at least one")
    return texts


def _text(value: Numeric, name: str) -> str:
    """Return a number as exact text: a user's text as it is, and "inf" for ∞."""
    if exact.is_infinite(value):
        return "inf"
    number = exact.typed_value(value, name)
    return value.strip() if isinstance(value, str) else exact.text(number)


def _orders(orders: str | Iterable[Numeric] | None) -> str | list[str] | None:
    """Return the orders as text that JSON takes; a name of orders and None stay."""
    listed = parameters.orders(orders)
    return [_text(order, "orders") for order in listed] if isinstance(listed, list) else listed


Task = tuple[list[int], str]
Result = tuple[list[int], list[Record]]


def _elsewhere(tasks: Iterator[Task], executor: Executor) -> Iterator[Result]:
    """Yield results as they come, with few tasks under way.

    After a failure nothing more is sent; what is under way is still yielded, and then an
    ExecutorError is raised.
    """
    pending: dict[Future[str], list[int]] = {}
    failure: ExecutorError | None = None
    try:
        while True:
            while failure is None and len(pending) < _PENDING_TASKS:
                if (task := next(tasks, None)) is None:
                    break
                try:
                    pending[executor.submit(answer, task[1])] = task[0]
                except Exception as error:
                    failure = _died(error)
            if not pending:
                break
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                numbers = pending.pop(future)
                try:
                    answers = json.loads(future.result())
                except (Exception, CancelledError) as error:
                    failure = failure or _died(error)
                else:
                    yield numbers, answers
    finally:
        for future in pending:
            future.cancel()
    if failure is not None:
        raise failure


def _died(error: BaseException) -> ExecutorError:
    """Make the error of an executor that failed, from the first line of what it says."""
    fault = f"{type(error).__name__}: {error}".rstrip(": ").splitlines()[0]
    return ExecutorError(f"the executor failed ({fault})")
