"""Where peers come from: bundled adapters, an interpreter of their own, a throwaway environment."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symacct.kernel.deadline import progress
from symacct.kernel.errors import echo, reason, suggestion
from symacct.verify.peer.process import PeerError

#: The folder of the bundled adapters.
_FOLDER = Path(__file__).parents[1] / "adapters"
#: PEP 723: a block of comments at the head of a script that names what it needs.
_METADATA = re.compile(r"(?m)^# /// script$\n(?P<content>(?:^#(?:| .*)$\n)+?)^# ///$")
#: Seconds that pip may take, or making an environment, with large packages on a slow line.
_INSTALL_SECONDS = 900


@dataclass(frozen=True)
class Adapter:
    """A peer, by its name, that a bundled script speaks the protocol for."""

    name: str
    script: Path

    @property
    def requirements(self) -> tuple[str, ...]:
        """What pip has to install for it, as the script's head lists it; else its name."""
        return tuple(_metadata(self.script).get("dependencies", [self.name]))

    @property
    def without_dependencies(self) -> bool:
        """Are the requirements all that is needed, whatever the packages themselves ask for?"""
        return bool(_settings(_metadata(self.script)).get("no-deps"))

    def command(self, python: str) -> list[str]:
        """The words that run it in an interpreter, isolated: it imports neither us nor itself."""
        return [python, "-I", str(self.script), self.name]


def _metadata(script: Path) -> dict[str, Any]:
    """The TOML in the head of a script; {} if it has none."""
    match = _METADATA.search(script.read_text(encoding="utf-8"))
    if match is None:
        return {}
    lines = (line[2:] if line.startswith("# ") else "" for line in match["content"].split("\n"))
    return tomllib.loads("\n".join(lines))


def _settings(metadata: dict[str, Any]) -> dict[str, Any]:
    return dict(metadata.get("tool", {}).get("symacct", {}))


def adapters() -> dict[str, Adapter]:
    """Every bundled adapter by the name of its peer, sorted; a script may speak for several."""
    named = (
        Adapter(name, script)
        for script in _FOLDER.glob("[a-z]*.py")
        for name in _settings(_metadata(script)).get("peers", [script.stem.replace("_", "-")])
    )
    return {peer.name: peer for peer in sorted(named, key=lambda peer: peer.name)}


def adapter(name: str) -> Adapter:
    """The adapter of a peer, in any case and with _ for -; PeerError for an unknown one."""
    known = adapters()
    try:
        return known[name.lower().replace("_", "-")]
    except KeyError:
        other = f"one of {', '.join(known) or '(none bundled)'}; or --command for any other program"
        raise PeerError(f"peer: found {echo(name)}{suggestion(name, known, other)}") from None


def words(command: str) -> list[str]:
    """A command line as words, split as a shell does; PeerError for none or an open quote."""
    try:
        split = shlex.split(command)
    except ValueError as error:
        raise PeerError(f"--command: found {command!r}, which cannot be split: {error}") from None
    if not split:
        raise PeerError("--command: found nothing, needed a program")
    return split


def interpreter(path: str | None) -> str:
    """The interpreter named, found on PATH, or for None the one that runs symacct; or PeerError."""
    if path is None:
        return sys.executable
    program = shutil.which(path)
    if program is None:
        raise PeerError(f"--python: found {path!r}, needed a Python interpreter that exists")
    return program


@contextlib.contextmanager
def environments(
    python: str | None, install: bool, version: str | None
) -> Iterator[Callable[[str], list[str]]]:
    """Yields words(name) that run a peer; with `install` in an environment that pip fills.

    It is made at the first words(name), once for all peers of equal requirements, and is gone at
    the end. Without `install` the packages have to be there, and `version` says nothing.
    """
    made: dict[tuple[str, ...], str] = {}
    with contextlib.ExitStack() as stack:

        def words_of(name: str) -> list[str]:
            bundled, base = adapter(name), interpreter(python)
            needed = bundled.requirements
            if install and needed not in made:
                with progress(f"installing {' '.join(needed)}"):
                    made[needed] = stack.enter_context(throwaway(bundled, base, version))
            return bundled.command(made[needed] if install else base)

        yield words_of


@contextlib.contextmanager
def throwaway(adapter: Adapter, python: str, version: str | None) -> Iterator[str]:
    """An interpreter in a new environment with the peer at this version, gone at the end."""
    requirements = list(adapter.requirements)
    if version is not None:
        requirements[0] = pinned(requirements[0], version)
    with tempfile.TemporaryDirectory(prefix="symacct-peer-") as folder:
        isolated = _make_environment(python, folder)
        alone = ["--no-deps"] if adapter.without_dependencies else []
        _run([isolated, "-m", "pip", "install", "--quiet", *alone, *requirements], "pip install")
        yield isolated


def pinned(requirement: str, version: str) -> str:
    """The requirement's name and extras at this version alone; PeerError if it is none."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+!_-]*", version):
        raise PeerError(f"--version: found {version!r}, needed a version such as 1.2.3")
    name = re.match(r"[A-Za-z0-9._-]+(?:\[[^\]]*\])?", requirement)
    return f"{name.group() if name else requirement}=={version}"


def _make_environment(python: str, folder: str) -> str:
    """Makes an environment of this interpreter in the folder; returns its own interpreter."""
    if Path(python) == Path(sys.executable):
        venv.create(folder, with_pip=True)
    else:
        _run([python, "-m", "venv", folder], "python -m venv")
    return str(Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python")


def _run(command: list[str], what: str) -> None:
    """Runs a command of an installation, or raises PeerError: too long, no program, its error."""
    try:
        done = subprocess.run(  # noqa: S603  # an interpreter and pip, no shell
            command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise PeerError(f"{what}: found no end after {_INSTALL_SECONDS} s") from None
    except OSError as error:
        raise PeerError(f"{what}: {command[0]!r} cannot be run ({reason(error)})") from None
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        raise PeerError(f"{what} failed: {last[0][:300] if last else 'no message'}")
