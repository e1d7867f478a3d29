"""`pytest --symacct PEER`: `symacct verify` as one test of your own suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from symacct.verify.reporting.judgement import Judgement


class NotSoundError(Exception):
    """A peer failed its test; the message is the report on it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of `symacct verify` to pytest."""
    group = parser.getgroup("symacct", "tests of accountants against certified enclosures")
    add = group.addoption
    add(
        "--symacct",
        action="append",
        default=[],
        metavar="PEER",
        help=(
            "A bundled adapter's name, or a command that answers by docs/verification.md of "
            "symacct. Each gets one test."
        ),
    )
    add("--symacct-quick", action="store_true", help="Test each for less than thirty seconds.")
    add("--symacct-fail-on", metavar="VERDICT", help=("The same as --fail-on of `symacct verify`."))
    add("--symacct-allow-rounding", action="store_true", help="As --allow-rounding of it.")
    add("--symacct-baseline", metavar="FILE", help="The same as --baseline of `symacct verify`.")


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Adds one test for each peer."""
    peers = config.getoption("--symacct")
    items.extend(Verified.from_parent(session, name=f"symacct[{p}]", peer=p) for p in peers)


class Verified(pytest.Item):
    """One run of verify, which fails as the command's exit status would."""

    def __init__(self, *, peer: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.peer = peer

    def runtest(self) -> None:
        """Fails for a defect that fails the run, or where too little could be judged."""
        from symacct.verify.reporting.document import document, too_little

        judgement = self._judgement()
        sections = document(judgement).sections
        self.add_report_section(
            "call", "symacct", "\n\n".join(section.text for section in sections)
        )
        if judgement.status == 1:
            raise NotSoundError("\n\n".join(section.text for section in sections if section.fails))
        if judgement.status:
            raise NotSoundError(f"{self.peer}: {too_little(judgement.report)}")

    def _judgement(self) -> Judgement:
        """Runs verify on the peer and judges the report by the options of pytest."""
        from symacct.verify import FULL, QUICK, adapters, verify
        from symacct.verify.peer import peers
        from symacct.verify.reporting.judgement import Judgement, KnownFindings, read

        option = self.config.getoption
        bundled = self.peer in adapters()
        argv = peers.adapter(self.peer).command(peers.interpreter(None)) if bundled else None
        extent = QUICK if option("--symacct-quick") else FULL
        file = option("--symacct-baseline")
        known = {} if file is None else read(file)
        command = argv or peers.words(self.peer)
        report = verify(command, extent, known=lambda peer: known.get(peer, KnownFindings()).asks)
        findings = known.get(report.peer, KnownFindings())
        allowed = option("--symacct-allow-rounding")
        return Judgement(report, option("--symacct-fail-on"), findings, allowed)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Shows what was found, without our frames."""
        if isinstance(excinfo.value, NotSoundError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Gives the test's name."""
        return self.path, None, self.name
