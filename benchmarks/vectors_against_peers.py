"""Ask the test vectors of other accountants: what they answer outside of the proved ends, by tag.

`python -m benchmarks.vectors_against_peers --python PEERS/bin/python [--minutes 60] [--page FILE]`
writes the tables into docs/evidence.md, below its marker. PEERS is an environment with
dp-accounting, autodp and opacus; their adapters of `symacct verify` are asked in processes of
their own. Each answer is kept in out/vectors_against_peers, so that a run that was ended goes on
where it was. The questions are asked in a drawn order: those asked until then are a fair sample.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import select
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import symacct

ROOT = Path(__file__).parents[1]
ADAPTERS = Path(symacct.__file__).parent / "verify" / "adapters"
KEPT = ROOT / "out" / "vectors_against_peers"
#: The one that takes seconds for an answer is the last.
PEERS = ("dp_accounting", "opacus", "autodp", "dp_accounting_pld")
MARKER = "<!-- What follows is written by python -m benchmarks.vectors_against_peers. -->\n"
#: PATIENCE is in seconds of the peer's processor, for the machine may be busy.
TOLERANCE, PATIENCE = 1e-9, 10.0
KINDS = {"gaussian": "Gaussian", "laplace": "Laplace", "randomized_response": "RandomizedResponse"}
SAMPLINGS = {"poisson": "poisson", "fixed_size": "without_replacement"}
AT = {"rdp": ("order", "alpha"), "epsilon": ("delta", "delta"), "delta": ("epsilon", "epsilon")}
Row = dict[str, Any]


class Peer:
    """An adapter in a process of its own, begun anew where it does not answer in time."""

    def __init__(self, name: str, python: str) -> None:
        # Not its folder first on the path: an adapter has the name of its peer.
        self.command = [python, "-P", str(ADAPTERS / f"{name}.py")]
        self.process: subprocess.Popen[bytes] | None = None
        self.hello = self.begin()
        self.offered = {
            (asks, row["mechanism"], row["sampling"], row["adjacency"])
            for row in self.hello.get("supports", ())
            for asks in row["asks"]
        }

    def begin(self) -> Row:
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, stderr=quiet)
        return self.ask({"ask": "hello", "protocol": 1}, patience=120)

    def ask(self, row: Row, patience: float = PATIENCE) -> Row:
        if self.process is None:
            self.begin()
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        before = processor_seconds(self.process.pid)
        self.process.stdin.write(json.dumps({"id": 0, **row}).encode() + b"\n")
        self.process.stdin.flush()
        while not select.select([self.process.stdout], [], [], 1.0)[0]:
            if processor_seconds(self.process.pid) - before > patience:
                self.end()
                return {"error": f"no answer in {patience:.0f} s"}
        line = self.process.stdout.readline()
        if not line:
            self.end()
            return {"error": "the process ended"}
        found: Row = json.loads(line)
        return found

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def relation(self, asks: str, question: Row, parts: list[Row]) -> str | None:
        """The relation to ask under; None where the peer does not offer the question."""
        told = question["relation"]
        # None of them says that it answers order 1; dp-accounting's rates are of whole sizes.
        sizes = self.hello["peer"] == "dp-accounting" and question_is_of_fixed_size(parts)
        if "order 1" in question["tags"] or sizes:
            return None
        for relation in ("add_remove", "replace_one") if told == "either" else (told,):
            asked = {(asks, p["mechanism"], p["sampling"], relation) for p in parts}
            if asked <= self.offered:
                return relation
        return None


def question_is_of_fixed_size(parts: list[Row]) -> bool:
    return any(part["sampling"] == "without_replacement" for part in parts)


def double(forms: list[str]) -> float:
    return math.inf if forms[1] == "Infinity" else float.fromhex(forms[1])


def part_of(part: Row) -> Row:
    """A part as the line protocol has it: the noise over the sensitivity."""
    made: Row = {"mechanism": KINDS.get(part["mechanism"], part["mechanism"])}
    move = double(part.get("sensitivity", ["1", "0x1p+0"]))
    for name in ("sigma", "b", "p"):
        if name in part:
            made[f"{name}_float"] = double(part[name]) / move
    made["sampling"] = SAMPLINGS.get(part.get("sampling", ""), "none")
    if "rate" in part:
        made["gamma_float"] = double(part["rate"])
    return {**made, "count": part.get("count", 1)}


def processor_seconds(pid: int) -> float:
    """What a process has used, on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def questions() -> list[tuple[str, str, Row]]:
    """Each question's key, what is asked and the question, in an order drawn once and for all."""
    found = []
    for path in sorted((ROOT / "vectors").glob("*_*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["asks"] in AT:
            listed = document["questions"]
            found += [(f"{path.stem} {row['n']}", document["asks"], row) for row in listed]
    random.Random(31).shuffle(found)  # noqa: S311
    return found


def judged(question: Row, answer: Row) -> list[str]:
    """Of an answer: answered, wrong, unsound, error."""
    if "unsupported" in answer:
        return []
    value = float(answer["value"]) if "value" in answer else math.nan
    if math.isnan(value):
        return ["error"]
    low, high = float(question["lower"]), float(question["upper"])
    if value < low * (1 - TOLERANCE) - sys.float_info.min:
        return ["answered", "wrong", "unsound"]
    is_above = value > high * (1 + TOLERANCE) + sys.float_info.min
    return ["answered", "wrong"] if is_above else ["answered"]


def answers_of(peer: Peer, until: float) -> dict[str, Row]:
    """What the peer answers to each question that it offers, by the question's key."""
    file = KEPT / f"{name_of(peer)}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    kept: dict[str, Row] = dict(map(json.loads, file.read_text(encoding="utf-8").splitlines()))
    with file.open("a", encoding="utf-8") as lines:
        for key, asks, question in questions():
            if key in kept:
                continue
            if time.monotonic() > until:
                break
            parts = [part_of(part) for part in question["parts"]]
            relation = peer.relation(asks, question, parts)
            name, at = AT[asks]
            answer: Row = {"unsupported": "not offered"}
            if relation is not None:
                row = {"ask": asks, "parts": parts, "adjacency": relation, "how": {}}
                answer = peer.ask({**row, f"{at}_float": double(question[name])})
            kept[key] = {x: answer[x] for x in ("value", "unsupported", "error") if x in answer}
            print(json.dumps([key, kept[key]]), file=lines, flush=True)
    return kept


def counted(answers: dict[str, Row]) -> tuple[dict[tuple[str, str], Counter[str]], Counter[str]]:
    """{(rdp or profile, tag): counts}, and how many were asked, not offered and left."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    all_of_them: Counter[str] = Counter()
    for key, asks, question in questions():
        if key not in answers:
            all_of_them["left"] += 1
            continue
        results = judged(question, answers[key])
        all_of_them["asked" if results else "not offered"] += 1
        kind = "rdp" if asks == "rdp" else "profile"
        fails = "error" in results or FAILS[kind] in results
        for tag in ("all", *(question["tags"] or ["ordinary"])) if results else ():
            found[kind, tag].update(["asked", *results, *(["fails"] if fails else [])])
    return found, all_of_them


HEADS = ("asked", "answered", "wrong", "unsound", "error")
SAID = {
    "rdp": "ε(α), whose true value is one number",
    "profile": "ε(δ) and δ(ε), where sound answers by Rényi orders lie above the truth",
}
#: What counts as a failure beside no number: off by more, or below.
FAILS = {"rdp": "wrong", "profile": "unsound"}


def share(counts: Counter[str]) -> str:
    """The share that fails."""
    return f"{100 * counts['fails'] / counts['asked']:.1f} %"


def table(
    peer: Peer, found: dict[tuple[str, str], Counter[str]], all_of_them: Counter[str]
) -> tuple[str, list[str]]:
    """What became of the questions, by tag; and the lines of the table of all peers."""
    title = f"{peer.hello['peer']} {peer.hello.get('version', '')}, `{name_of(peer)}`"
    lines, shares = [f"### {title}\n"], []
    lines.append(f"It does not offer {all_of_them['not offered']:,} of the questions.")
    if left := all_of_them["left"]:
        said = f"For lack of time {left:,} more questions, which a seed chose, were not asked."
        lines.append(said)
    lines.append("")
    for what, said in SAID.items():
        rows = sorted((tag, counts) for (kind, tag), counts in found.items() if kind == what)
        if not rows:
            continue
        lines.append(f"| {said} | asked | answered | off by more than 1e-9 | below | no number |")
        lines[-1] += " fails |"
        lines.append("| --- " * 7 + "|")
        for tag, counts in rows:
            cells = (tag, *(f"{counts[head]:,}" for head in HEADS), share(counts))
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
        total = found[what, "all"]
        shares.append(
            f"| {title} | {said.partition(',')[0]} | {total['asked']:,} | {share(total)} |"
        )
    return "\n".join(lines), shares


def name_of(peer: Peer) -> str:
    return Path(peer.command[-1]).stem


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="the peers' interpreter")
    parser.add_argument("--minutes", type=float, default=math.inf, help="to ask, in all")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "evidence.md")
    parser.add_argument("--peers", nargs="*", default=PEERS)
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    made, shares = [], ["| peer | asked for | asked | fails |", "| --- | --- | --- | --- |"]
    for name in given.peers:
        peer = Peer(name, given.python)
        if not peer.offered:
            raise SystemExit(f"{name}: found {peer.hello}, needed an installed peer")
        text, lines = table(peer, *counted(answers_of(peer, until)))
        made.append(text)
        shares += lines
        peer.end()
        print(made[-1], flush=True)
    text = given.page.read_text(encoding="utf-8") if given.page.exists() else ""
    tables = "\n".join(("\n".join(shares), "", *made))
    given.page.write_text(text.partition(MARKER)[0] + MARKER + "\n" + tables, encoding="utf-8")


if __name__ == "__main__":
    main()
