"""What is checked, and what others can check: verify, check, falsify, certificate, vectors."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import click

from symacct.adversary.falsify import Attack, falsify
from symacct.cli.frame import File, Like, command, in_numbers, one_of, refuse, show, write, writing
from symacct.cli.group import findings_alone_are_1, print_note
from symacct.evidence import vectors
from symacct.evidence.certificates import FORMS
from symacct.evidence.certificates.document import of_the_reported
from symacct.explore.sweeps import NEEDED
from symacct.kernel.accountant import asked_of
from symacct.kernel.deadline import progress, tell_so_far
from symacct.kernel.errors import SymacctError
from symacct.papers import paper_check
from symacct.papers.paper_check import CheckedNumbers
from symacct.verify import FULL, QUICK, PeerError, Report, adapters, verify
from symacct.verify.judging.verdict import VERDICTS
from symacct.verify.peer import peers
from symacct.verify.peer.protocol import Ask
from symacct.verify.reporting import accuracy, page
from symacct.verify.reporting.document import document, lacking_rows, too_little
from symacct.verify.reporting.judgement import Judgement, KnownFindings, read

#: One answer may take this many seconds where nothing else is said.
_TIMEOUT = 10.0
#: With --quick it may take this many seconds.
_QUICK_TIMEOUT = 2.5
#: Progress is told after this many questions.
_PROGRESS_QUESTIONS = 20


@command("verify", prints_json=False, epilog=None)
@findings_alone_are_1()
def verify_command(
    peer: str | None = None,
    /,
    every: Annotated[bool, Like(names=("--all",))] = False,
    command: str | None = None,
    python: str | None = None,
    install: bool = False,
    version: str | None = None,
    quick: bool = False,
    seconds: Annotated[float | None, Like(type=click.FloatRange(1, 10**6))] = None,
    json: File = None,
    html: File = None,
    seed: int = 0,
    fail_on: Annotated[str | None, click.Choice(VERDICTS)] = None,
    baseline: File = None,
    allowance: str = "1e-9",
    allow_rounding: bool = False,
    map_file: Annotated[str | None, Like(names=("--map",), metavar="FILE")] = None,
    replay: File = None,
    timeout: Annotated[float | None, click.FloatRange(0.1, 3600)] = None,
) -> None:
    """Test another accountant against certified enclosures.

    PEER is the name of an accountant that symacct knows, such as opacus. It runs in the
    interpreter of --python, or in a temporary environment with --install. The exit status is 1 if
    a value is below what is proved, or has a verdict that --fail-on includes. It is 3 if too few
    answers could be judged.

    \b
    Example:
      symacct verify opacus --install --quick
    \f
    every: Test every bundled peer, one after another.
    command: Test a program that answers by the protocol of docs/verification.md.
    python: The Python interpreter in which the peer is installed.
    install: Install the peer in a temporary environment.
    version: The version of the peer that --install takes.
    quick: Ask fewer questions, for less than thirty seconds.
    seconds: How many seconds of work the run may take.
    json: Write the findings to FILE as JSON.
    html: Write a page with plots to FILE.
    seed: The same seed asks the same questions.
    fail_on: Exit with status 1 at this verdict and at those listed before it. By default only a
        value below what is proved does so.
    baseline: A file of an earlier --json. Only new findings fail.
    allowance: The relative error that is tolerated.
    allow_rounding: Do not fail by findings that rounding to float64 explains.
    map_file: Write the largest errors to FILE, as a table in Markdown.
    replay: Ask the worst questions of earlier runs again. FILE keeps them.
    timeout: How many seconds one answer may take.
    """
    if (peer is not None) + every + (command is not None) != 1:
        raise PeerError(f"needed one of PEER ({', '.join(adapters())}), --command or --all")
    if every:
        refuse("with --all, needed one PEER", "version", "map_file", "replay")
    if command is not None:
        refuse("with --command, needed PEER, whose packages are known", "install")
    if not install:
        refuse("without --install, needed both", "version")
    if any(map(math.isnan, filter(None, (timeout, seconds)))):
        raise PeerError("--timeout, --seconds: found nan, needed a number of seconds")
    known = {} if baseline is None else read(baseline)
    before = [] if replay is None else accuracy.replayed(replay)
    files = json, html, map_file, replay
    for file in files:
        _refuse_unwritable(file)
    if html is not None:
        page.needs()
    extent = QUICK if quick else FULL
    extent = extent if seconds is None else replace(extent, seconds=seconds)
    timeout = timeout or (_QUICK_TIMEOUT if quick else _TIMEOUT)

    def asks(name: str) -> tuple[Ask, ...]:
        """List what is asked again: what the baseline knows of a peer, and the worst cases."""
        worst = (each.ask for each in before)
        return tuple(dict.fromkeys((*known.get(name, KnownFindings()).asks, *worst)))

    reports: list[Report] = []
    absent: list[tuple[str, str]] = []
    left = list(adapters()) if every else [peer]
    with peers.environments(python, install, version) as words:
        while left:
            name = left.pop(0)
            try:
                argv = words(str(name)) if command is None else peers.words(command)
                with progress("verify"):
                    reports.append(verify(argv, extent, seed, timeout, _tell, allowance, asks))
            except SymacctError as error:
                if not every:
                    raise
                kind = "" if isinstance(error, PeerError) else f"{type(error).__name__}: "
                absent.append((str(name), f"{kind}{error}"))
            # A run of all that is cut loses one peer, and what it knew is written.
            unreached = [(str(name), "not reached yet") for name in left]
            _write(json, _as_json(reports, [*absent, *unreached], every))
    for name, why in absent:
        print_note(f"{name}: not run: {why}")
    judged = [
        Judgement(report, fail_on, known.get(report.peer, KnownFindings()), allow_rounding)
        for report in reports
    ]
    documents = [document(each) for each in judged]
    for written in documents:
        show(written)
    _write(map_file, accuracy.table(reports[0]) if map_file else "")
    _write(replay, accuracy.grown(before, reports[0]) if replay else "")
    _write(html, page.page(documents, absent) if html else "")
    for file in dict.fromkeys(files):
        if file is not None:
            print_note(f"written: {file}")
    for each in judged:
        if not each.report.enough:
            print_note(f"{each.report.peer}: {too_little(each.report)}")
            for kind, answered, seen in lacking_rows(each.report):
                print_note(f"  {kind}: {answered} answered, {seen} judged")
    raise SystemExit(min((each.status for each in judged if each.status), default=0))


def _tell(stage: str, count: int) -> None:
    """Tell how many questions were asked so far, now and then."""
    if count % _PROGRESS_QUESTIONS == 0:
        tell_so_far(f"{stage}, {count:,} questions asked")


def _as_json(reports: list[Report], absent: list[tuple[str, str]], every: bool) -> str:
    """Write the JSON of one report, or of every peer's, with those that were not run and why."""
    if not every:
        return reports[0].to_json()
    rows = [report.as_dict() for report in reports]
    gone = [{"peer": name, "why": why} for name, why in absent]
    return json.dumps(
        {"peers": rows, "absent": gone}, indent=2, ensure_ascii=False, allow_nan=False
    )


def _refuse_unwritable(file: str | None) -> None:
    """Refuse a report that could not be written before the run, by an InputError.

    A file that did not exist is made and removed again.
    """
    if file is None:
        return
    path = Path(file)
    with writing(file):
        existed = path.exists()
        with path.open("a", encoding="utf-8"):
            pass
        if not existed:
            path.unlink()


def _write(file: str | None, text: str) -> None:
    """Write the text and a line's end to a file, if one is named."""
    if file is not None:
        write(file, f"{text}\n")


@command("certificate", "delta epsilon conversion orders by seconds", prints_json=False)
def certificate_command(
    expr: str,
    /,
    delta: str | None,
    epsilon: str | None,
    form: Annotated[str, click.Choice(list(FORMS))] = "json",
    digits: Annotated[
        int, Like("How many digits the claim has: at most 12, and at most 9 for Coq.")
    ] = 6,
    out: Path | None = None,
    **how: Any,
) -> None:
    """Write a guarantee of EXPR with a proof that others can check.

    It is the guarantee that the commands epsilon and delta report first, if symacct can write a
    certificate for it. Otherwise it is the guarantee by Rényi orders, and a note gives the reason.

    "python checker/check.py FILE" checks a JSON certificate without symacct. Coq with the package
    coq-interval checks a Coq certificate, with the library in the folder coq/ of symacct.

    \b
    Example:
      symacct certificate "100 * Gaussian(50)" --delta 1e-5 --out run.json
    \f
    form: The form of the certificate: JSON for checker/check.py, or a file for Coq.
    out: The file to write. By default the certificate is printed.
    """
    m = in_numbers(expr)
    one_of("certificate", delta=delta, epsilon=epsilon)
    with progress("certificate"):
        ask = functools.partial(asked_of, m, delta, epsilon, digits=digits)
        text, note = of_the_reported(ask, how, FORMS[form])
    if note:
        print_note(f"Note: {note}")
    if out is None:
        click.echo(text, nl=False)
        return
    write(out, text)
    checked = {"json": f"python checker/check.py {out}"}.get(
        form, "Coq, as docs/certificates.md says,"
    )
    click.echo(f"{out} holds the {form} certificate; {checked} checks it without symacct")


@command("check", "delta epsilon conversion by", epilog=None)
@findings_alone_are_1()
def check_command(
    what: Annotated[str, Like(metavar="FILE|EXPR")],
    /,
    prints: str | None = None,
    alpha: str | None = None,
    direction: Annotated[str, click.Choice(paper_check.DIRECTIONS)] = paper_check.SAFE,
    as_json: bool = False,
    **how: Any,
) -> None:
    """Check the printed numbers of a paper, or one number of EXPR.

    FILE is a CSV file of lines EXPR,delta,printed, of which each is an ε that a paper prints. With
    --prints, one number of EXPR is checked, and --delta, --epsilon or --alpha says which question
    it answers. A guarantee that is rounded down is not true as printed, even if its digits are
    right. A guarantee that is larger than the value rounded up is true but loose. The exit status
    is 1 if a number is not true as printed. It is 2 if a line of FILE cannot be read. The other
    lines are still checked.

    \b
    Examples:
      symacct check examples/papers.csv --conversion classic
      symacct check "Gaussian(5)" --alpha 2 --prints 0.04
    \f
    prints: One printed number, which is checked for EXPR.
    alpha: The Rényi order at which the printed number is ε(α).
    direction: How the paper rounds the number: safe is up, as a guarantee is rounded, and down for
        a lower bound.
    """
    questions = {"delta": how.pop("delta"), "epsilon": how.pop("epsilon"), "alpha": alpha}
    if prints is not None:
        one_of("check", **questions)
        ((name, value),) = ((name, x) for name, x in questions.items() if x is not None)
        in_numbers(what)  # a parameter without a value is refused before anything is computed
        ask = next(ask for ask, needed in NEEDED.items() if needed == name)
        entry = paper_check.PaperEntry(what, ask, value, prints, "command line", direction, **how)
        checked = CheckedNumbers([paper_check.check_entry(entry)], is_one=True)
    else:
        refuse("and no --prints, needed the number printed, as in --prints 0.73", *questions)
        lines = paper_check.check_file(Path(what), direction=direction, **how)
        checked = CheckedNumbers(list(lines))
    show(checked, as_json)
    if checked.status:
        raise SystemExit(checked.status)


@command("vectors", "seed", vectors.write, prints_json=False, epilog=None)
def vectors_command(
    out: Annotated[str, Like(metavar="DIR")] = "vectors",
    only: Annotated[tuple[str, ...], Like(metavar="FILE")] = (),
    *,
    seed: str,
) -> None:
    """Write test vectors for other accountants, as JSON files.

    Each vector is a question with a lower and an upper end of its answer. The same seed makes the
    same bytes on every machine.

    \b
    Example:
      symacct vectors --out vectors --only rdp_randomized_response
    \f
    out: Write into DIR.
    only: Write only FILE, such as rdp_laplace. This option can be repeated.
    seed: The questions are drawn by this seed.
    """
    with writing(out):
        written = vectors.write(Path(out), only, seed)
    for path in written:
        click.echo(path)


@command("falsify", "budget seed", falsify, epilog=None)
def falsify_command(theorem: str, /, budget: int, seed: int) -> Attack:
    """Search for a small mechanism that violates THEOREM.

    THEOREM is the code of a theorem, such as ZW19-T5, or the name of a conversion, such as
    improved.

    \b
    Example:
      symacct falsify ZW19-T5 --budget 200
    """
    return falsify(theorem, budget, seed)
