"""Run a peer and report on it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from symacct.kernel.answer import nearest_float
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import probability, rational, whole
from symacct.verify.asking.questions import FULL, Extent
from symacct.verify.asking.session import Session
from symacct.verify.judging.verdict import ALLOWANCE, Count
from symacct.verify.peer.process import Peer
from symacct.verify.peer.protocol import Answer, Ask
from symacct.verify.reporting.report import PlottedError, Report

_TIMEOUT = 10.0
_MAX_POINTS = 5000


def verify(
    command: Sequence[str],
    extent: Extent = FULL,
    seed: int = 0,
    timeout: Numeric = _TIMEOUT,
    progress: Callable[[str, int], None] = lambda stage, asked: None,
    allowance: Numeric = ALLOWANCE,
    known: Callable[[str], Iterable[Ask]] = lambda peer: (),
) -> Report:
    """A Report on the program that `command` runs; or PeerError, ProtocolError.

    `allowance` is the share of the truth that an answer may be off and still be right. What is
    `known` of a peer, by its name, is asked first.
    """
    if not isinstance(extent, Extent):
        raise DomainError(f"verify, extent: found {echo(extent)}, needed FULL or QUICK")
    if not callable(progress):
        raise DomainError(f"verify, progress: found {echo(progress)}, needed a function")
    probability(allowance, "verify, allowance")
    allowed = rational(allowance, "verify, allowance")
    seed, begun = whole(seed, "verify, seed"), time.monotonic()
    with Peer(command, timeout) as peer:
        session = Session(peer, extent, seed, progress, allowed, tuple(known(peer.hello.peer)))
        session.run()
    return Report(
        peer=peer.hello.peer,
        version=peer.hello.version,
        command=peer.command,
        asked=session.asked,
        unsupported=session.unsupported,
        seconds=time.monotonic() - begun,
        worked=session.clock(),
        seed=seed,
        clusters=session.clusters.ranked(),
        incidents=peer.incidents,
        judged=len(session.judge.judged),
        answered=len(session.judge.answered),
        gone=session.gone,
        allowance=allowed,
        within_rounding=len(session.judge.within_rounding),
        worst_within=session.judge.worst_within,
        skipped=session.skipped,
        searched=session.searched,
        again=session.again,
        undecided=len(session.judge.undecided),
        kinds=_kinds(session),
        least=extent.least,
        cut=[*session.cut, *_cut_short(session.short)],
        given=extent.seconds,
        points=_points(session),
    )


def _kinds(session: Session) -> list[Count]:
    """What was judged of each kind: of the rows, and of compositions that could be asked."""
    judge = session.judge
    rows = [judge.count(*kind) for kind in judge.kinds]
    return rows + [judge.count_composed(kind) for kind in session.composed]


def _cut_short(stages: Sequence[str]) -> list[str]:
    """One sentence about all stages that had too little time."""
    names, many = ", ".join(stages), len(stages)
    cut = f"{many} stages of the run were" if many > 1 else "One stage of the run was"
    return [f"{cut} cut short, because the time was used up: {names}."] if stages else []


def _points(session: Session) -> list[PlottedError]:
    found = (_point(session, ask, answer) for ask, answer in session.points[:_MAX_POINTS])
    return [point for point in found if point is not None]


def _point(session: Session, ask: Ask, answer: Answer) -> PlottedError | None:
    truth = session.oracle.known(ask)
    if truth is None or answer.finite is None or truth.upper in (0, math.inf) or not truth.lower:
        return None
    end = truth.lower if answer.finite < truth.lower else truth.upper
    inside = truth.lower <= answer.finite <= truth.upper
    try:
        error = 0.0 if inside else float(answer.finite / Fraction(end) - 1)
    except OverflowError:
        return None
    part, unit = ask.parts[0], math.ulp(nearest_float(Fraction(end)))
    return PlottedError(
        alpha=float(Fraction(ask.at)),
        scale=float(Fraction(part.parameters[0][1])),
        gamma=None if part.gamma is None else float(Fraction(part.gamma)),
        error=error,
        label=f"{part.mechanism}, {part.sampling.replace('_', ' ')}",
        ask=ask,
        ulps=0.0 if inside else nearest_float(abs(answer.finite - Fraction(end)) / Fraction(unit)),
    )
