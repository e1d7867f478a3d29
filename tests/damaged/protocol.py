"""The line protocol, both ways: what a peer may print, and what an adapter may be sent."""

import json
import os
import random
import re
import subprocess
from decimal import Decimal
from fractions import Fraction

from symacct.kernel.answer import nearest_float
from symacct.verify.asking import covering, questions
from symacct.verify.asking.questions import Extent
from symacct.verify.asking.session import Session
from symacct.verify.judging.truth import Oracle
from symacct.verify.judging.verdict import Judge
from symacct.verify.peer.process import Incidents
from symacct.verify.peer.protocol import Answer, Ask, AskedPart, Hello
from symacct.verify.peer.reading import ProtocolError, read_answer, read_hello, read_object
from symacct.verify.reporting import page
from symacct.verify.reporting.defects import Clusters
from symacct.verify.reporting.document import document
from symacct.verify.reporting.judgement import Judgement
from symacct.verify.reporting.report import Report
from tests.damaged import mutations

ANSWERS = [
    {"id": 7, "value": 0.25, "claims": "ZW19-T8", "alpha": "5/2", "seconds": 1e-3},
    {"id": 7, "value": "0.125", "reproduce": ["import mine", "print(mine.rdp(2))"]},
    {"id": 7, "error": "OverflowError: math range error", "seconds": 0.5},
    {"id": 7, "unsupported": "fractional orders"},
]
HELLO = {
    "id": 0,
    "peer": "p",
    "version": "1",
    "compose": True,
    "conversion": "improved",
    "default_orders": [1.5, 2, 64],
    "order_grid": True,
    "how": {"count": ["number", "repeat"], "alpha": ["float", "int"]},
    "supports": [
        {"mechanism": "Gaussian", "sampling": "poisson", "asks": ["rdp", "epsilon", "delta"]},
        {"mechanism": "Laplace", "orders": "integer", "min_order": 3, "max_order": 256},
        {"mechanism": "ZCDP", "adjacency": "replace_one", "min_order": "3/2"},
    ],
}
ASKS = [
    Ask("rdp", (AskedPart("Gaussian", (("sigma", "2"),)),), "3"),
    Ask("rdp", (AskedPart("Gaussian", (("sigma", "2"),), "poisson", "0.1", 10),), "2.5"),
    Ask(
        "rdp",
        (AskedPart("Laplace", (("b", "1"),), "without_replacement", "0.1"),),
        "4",
        "replace_one",
    ),
    Ask("epsilon", (AskedPart("Gaussian", (("sigma", "2"),)),), "1e-5"),
    Ask("delta", (AskedPart("Gaussian", (("sigma", "2"),)),), "1"),
]
TINY = Extent(1, 1, 2, 2, 1, 1, 2, 3)
ORACLE = Oracle()


def line(chance, valid):
    """What a peer may print in place of a valid line."""
    if chance.random() < 0.3:
        return mutations.damaged(chance, json.dumps(valid).encode())
    return mutations.document(chance, valid).encode("utf-8", "surrogatepass")


def number_line(chance):
    """A line whose value may be any odd number, or text."""
    odd = mutations.Raw(chance.choice(mutations.NUMBERS))
    row = {"id": 7, "value": chance.choice([odd, chance.choice(mutations.TEXTS)])}
    claims = {"claims": chance.choice(mutations.TEXTS)} if chance.random() < 0.5 else {}
    return mutations.text({**row, **claims}).encode("utf-8", "surrogatepass")


def read(found):
    """(the answer, None) or (None, the typed error) of a line."""
    row = read_object(found)
    if row is None:
        return None, "no object"
    try:
        return read_answer(row, 1.0), row
    except ProtocolError as error:
        return None, str(error)


def check_answer(seed):
    """A line is an answer of the right types, its value the number written, or a ProtocolError."""
    chance = random.Random(seed)
    answer, row = read(line(chance, chance.choice(ANSWERS)))
    if answer is None:
        return
    assert sum(x is not None for x in (answer.value, answer.error, answer.unsupported)) == 1
    assert 0 <= answer.seconds <= 1
    assert all(isinstance(one, str) and len(one) <= 2000 for one in answer.reproduce)
    for text in (answer.error, answer.unsupported, answer.claims, answer.alpha):
        assert text is None or (type(text) is str and len(text) <= 300)
        assert text is None or text.encode() is not None
    if answer.finite is not None:
        plain = str(row["value"]).strip()
        if re.fullmatch(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?", plain, re.ASCII):
            assert answer.finite == Fraction(Decimal(plain))


def check_judged(seed):
    """Whatever was read is judged, reported and drawn; only a number below the truth is unsound."""
    chance = random.Random(seed)
    judge, clusters, ask = Judge(ORACLE, Hello("p", "1", ())), Clusters(), chance.choice(ASKS)
    broken = line(chance, chance.choice(ANSWERS[:2])) if seed % 2 else number_line(chance)
    answer, _ = read(broken)
    if answer is None:
        return
    found = judge.judge(ask, answer)
    clusters.note(found, lambda ask: None)
    clusters.complete(judge.complete)
    report = Report("p", "1", ["peer"], 1, 0, 1.0, 0, clusters.ranked(), Incidents())
    assert json.loads(report.to_json())["unsound"] is report.unsound
    truth = ORACLE.truth(ask)
    if report.unsound:
        below = answer.value < truth.upper
        assert below or nearest_float(answer.value) == float("-inf")
    if seed % 50 == 0:
        assert "<html" in page.page([document(Judgement(report))], [])


def check_hello(seed):
    """A hello is a ProtocolError, or questions end and each is one that the peer takes."""
    chance = random.Random(seed)
    row = read_object(line(chance, HELLO))
    if row is None:
        return
    try:
        hello = read_hello(row)
    except ProtocolError:
        return
    rows = {(row.mechanism, row.sampling, row.adjacency): row for row in hello.supports}
    asks = filter(hello.offers, covering.covering(hello, TINY, seed))
    for ask in [*questions.points(hello, TINY, seed), *asks]:
        part = ask.parts[0]
        kinds = [r for r in hello.supports if r.mechanism == part.mechanism]
        assert (part.mechanism, part.sampling, ask.adjacency) in rows
        assert ask.kind != "rdp" or any(r.takes(Fraction(ask.at)) for r in kinds), ask
        assert json.loads(ask.line(3))["id"] == 3
    for ask in questions.compositions(hello, TINY, seed):
        assert sum(1 for _ in questions.variants(hello, ask, questions.whole_sizes())) < 100


class Mad:
    """Stands for a running peer: answers with whatever lines the chance gives, in no time."""

    greeted = 0.0
    busy = starts = 0.0

    def __init__(self, chance):
        self.chance, self.incidents, self.command = chance, Incidents(), ["mad"]
        self.hello = read_hello(read_object(json.dumps(HELLO).encode()))

    def ask(self, ask):
        plain = self.chance.random() < 0.5
        valid = self.chance.choice(ANSWERS)
        answer, _ = read(number_line(self.chance) if plain else line(self.chance, valid))
        return answer or Answer(error="malformed")

    def fresh(self):
        """Nothing is remembered."""


def check_session(seed):
    """A whole run against a mad peer ends, and its report can be written."""
    mad = Mad(random.Random(seed))
    session = Session(mad, TINY, seed)
    session.oracle.accountant = ORACLE.accountant
    session.run()
    assert json.loads(session.report.to_json())["asked"] > 0


def check_adapter(command, environment, seed, lines):
    """An adapter answers each line by one of its own, whatever it is sent, and then goes on."""
    chance = random.Random(seed)
    good = ASKS[0].line(5)
    sent = [
        line(chance, json.loads(good)).replace(b"\n", b" ").strip() or b"x" for _ in range(lines)
    ]
    sent = [one if b"repeat" not in one else b"[]" for one in sent]
    done = subprocess.run(
        command,
        input=b"\n".join([*sent, b"[]", b"no JSON", b"\xff", good.encode(), b""]),
        env={**os.environ, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [read_object(one) for one in done.stdout.splitlines()]
    assert len(answers) == lines + 4
    assert None not in answers
    assert all(("value" in one) + ("error" in one) + ("unsupported" in one) == 1 for one in answers)
    assert all("error" in one for one in answers[-4:-1])
    assert "error" not in answers[-1]
