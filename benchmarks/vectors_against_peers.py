"""Ask the test vectors of other accountants: what they answer outside of the proved ends, by tag.

`python -m benchmarks.vectors_against_peers --python PEERS/bin/python [--most 0] [--page FILE]`
writes the tables into docs/vectors.md, below its marker. PEERS is an environment with
dp-accounting, autodp and opacus; their adapters of `symacct verify` are asked in processes of
their own. `--most` bounds the questions of a file, spread over it evenly.
"""

from __future__ import annotations

import argparse
import json
import math
import select
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import symacct

ROOT = Path(__file__).parents[1]
ADAPTERS = Path(symacct.__file__).parent / "verify" / "adapters"
PEERS = ("dp_accounting", "dp_accounting_pld", "autodp", "opacus")
#: Those that take seconds for an answer are asked fewer questions of a file.
SLOW = {"dp_accounting_pld": 20}
MARKER = "<!-- What follows is written by python -m benchmarks.vectors_against_peers. -->\n"
TOLERANCE, PATIENCE = 1e-9, 20.0
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
        self.hello = self.ask({"ask": "hello", "protocol": 1}, patience=120)
        self.offered = {
            (asks, row["mechanism"], row["sampling"], row["adjacency"])
            for row in self.hello.get("supports", ())
            for asks in row["asks"]
        }

    def ask(self, row: Row, patience: float = PATIENCE) -> Row:
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                self.command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"id": 0, **row}).encode() + b"\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], patience)[0]:
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


def questions(most: int) -> Iterator[tuple[str, Row]]:
    """What is asked, and each question of its kind."""
    for path in sorted((ROOT / "vectors").glob("*_*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["asks"] in AT:
            listed = document["questions"]
            step = max(1, len(listed) // most) if most else 1
            yield from ((document["asks"], question) for question in listed[::step])


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


def asked_of(peer: Peer, most: int) -> tuple[dict[tuple[str, str], Counter[str]], int]:
    """{(rdp or profile, tag): counts}, and how many questions the peer does not offer."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    not_offered = 0
    for asks, question in questions(most):
        parts = [part_of(part) for part in question["parts"]]
        relation = peer.relation(asks, question, parts)
        name, at = AT[asks]
        answer: Row = {"unsupported": "not offered"}
        if relation is not None:
            row = {"ask": asks, "parts": parts, "adjacency": relation, "how": {}}
            answer = peer.ask({**row, f"{at}_float": double(question[name])})
        results = judged(question, answer)
        not_offered += not results
        if results:
            for tag in ("all", *(question["tags"] or ["ordinary"])):
                found["rdp" if asks == "rdp" else "profile", tag].update(["asked", *results])
    return found, not_offered


HEADS = ("asked", "answered", "wrong", "unsound", "error")
SAID = {
    "rdp": "ε(α), of which the truth is a number",
    "profile": "ε(δ) and δ(ε), of which a sound answer by Rényi orders is above the truth",
}


def table(peer: Peer, found: dict[tuple[str, str], Counter[str]], not_offered: int) -> str:
    """What became of the questions, by tag."""
    lines = [f"### {peer.hello['peer']} {peer.hello.get('version', '')}, `{name_of(peer)}`\n"]
    lines.append(f"{not_offered:,} questions are of what it does not offer.\n")
    for what, said in SAID.items():
        rows = sorted((tag, counts) for (kind, tag), counts in found.items() if kind == what)
        if not rows:
            continue
        lines.append(f"| {said} | asked | answered | off by more than 1e-9 | below | no number |")
        lines.append("| --- " * 6 + "|")
        for tag, counts in rows:
            lines.append("| " + " | ".join((tag, *(f"{counts[h]:,}" for h in HEADS))) + " |")
        lines.append("")
    return "\n".join(lines)


def name_of(peer: Peer) -> str:
    return Path(peer.command[-1]).stem


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="the peers' interpreter")
    parser.add_argument("--most", type=int, default=0, help="questions of a file; 0 is all")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "vectors.md")
    parser.add_argument("--peers", nargs="*", default=PEERS)
    given = parser.parse_args()
    made = []
    for name in given.peers:
        peer = Peer(name, given.python)
        if not peer.offered:
            raise SystemExit(f"{name}: found {peer.hello}, needed an installed peer")
        most = min(filter(None, (given.most, SLOW.get(name, 0))), default=0)
        made.append(table(peer, *asked_of(peer, most)))
        peer.end()
        print(made[-1], flush=True)
    text = given.page.read_text(encoding="utf-8") if given.page.exists() else ""
    given.page.write_text(
        text.partition(MARKER)[0] + MARKER + "\n" + "\n".join(made), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
