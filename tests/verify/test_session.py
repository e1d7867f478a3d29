"""How a run asks: simplest questions, neighbouring orders, history, hangs, laws."""

import json
import random
import re
import sys
import threading
import time
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest

from symacct.verify.asking import questions, session
from symacct.verify.asking.questions import FULL, QUICK, Extent
from symacct.verify.asking.session import verify
from symacct.verify.asking.simplify import SIMPLER, nearby, simplest
from symacct.verify.judging import matching, truth
from symacct.verify.judging.bounds import Truth
from symacct.verify.judging.verdict import Finding, Judge, sum_law
from symacct.verify.peer import process
from symacct.verify.peer.protocol import Answer, Ask, AskedPart, Hello, Support
from symacct.verify.reporting import page
from symacct.verify.reporting.document import document
from symacct.verify.reporting.judgement import Judgement
from tests.verify import fuzz
from tests.verify.peers import HELLO as HELLO_OF_A_PROGRAM
from tests.verify.peers import program

ROWS = (
    Support("Gaussian", asks=("rdp", "epsilon")),
    Support("Gaussian", "poisson", asks=("rdp", "delta")),
    Support("Laplace", "poisson", orders="integer", max_order=Fraction(64)),
)
HELLO = Hello(
    "p", "1", ROWS, compose=True, how={"count": ("number", "repeat"), "alpha": ("float", "int")}
)


def gaussian(sigma="1", count=1):
    return AskedPart("Gaussian", (("sigma", sigma),), count=count)


def test_the_grid_reaches_the_edges():
    asked = list(questions.points(HELLO, FULL, 0))
    orders = {Fraction(ask.at) for ask in asked}
    rates = {Fraction(p.gamma) for ask in asked for p in ask.parts if p.gamma}
    sigmas = {
        Fraction(p.parameters[0][1])
        for ask in asked
        for p in ask.parts
        if p.mechanism == "Gaussian"
    }
    assert min(orders) <= 1 + Fraction(2, 10**8)
    assert max(orders) == 100_000
    assert min(rates) <= Fraction(1, 10**9)
    assert max(rates) >= 1 - Fraction(1, 10**9)
    assert min(sigmas) <= Fraction(1, 20)
    assert max(sigmas) >= 10**4
    assert any(order.denominator > 1 for order in orders)


def test_a_row_is_asked_only_what_it_takes():
    for ask in questions.points(HELLO, FULL, 3):
        if ask.parts[0].mechanism == "Laplace":
            assert Fraction(ask.at).denominator == 1
            assert 2 <= Fraction(ask.at) <= 64


def test_the_same_seed_asks_the_same():
    assert list(questions.points(HELLO, QUICK, 1)) == list(questions.points(HELLO, QUICK, 1))
    assert list(questions.points(HELLO, QUICK, 1)) != list(questions.points(HELLO, QUICK, 2))


def test_every_row_is_met_early():
    first = list(questions.points(HELLO, FULL, 0))[:200]
    assert len({(ask.parts[0].mechanism, ask.parts[0].sampling) for ask in first}) == 3


def test_variants_have_numbers_of_their_own():
    base = Ask("rdp", (gaussian("2", 6),), "3")
    built = list(questions.variants(HELLO, base, questions.whole_sizes()))
    assert [dict(ask.how) for ask in built] == [*[{"count": "repeat"}] * 2, {"alpha": "int"}]
    assert [ask.parts[0].count for ask in built] == [6, 1500, 6]
    assert len({ask.parts for ask in [base, *built]}) == 4


def test_numbers_of_more_than_five_decimals_are_written_in_every_type_of_fractions():
    """What is rounded on its way is another number; whole types are given whole numbers."""
    types = ("float", "int", "numpy.float32", "Decimal")
    hello = replace(HELLO, how={"numbers": types, "alpha": types})
    for row in ROWS[:2]:
        part = replace(
            gaussian("2", 6), sampling=row.sampling, gamma=None if row.sampling == "none" else "0.5"
        )
        base = Ask("rdp", (part,), "3")
        for ask in questions.variants(hello, base, questions.whole_sizes()):
            ((key, way),) = ask.how
            number = ask.at if key == "alpha" else ask.parts[0].parameters[0][1]
            assert (Fraction(number) == round(Fraction(number), 5)) is (way == "int")
    laplace = AskedPart("Laplace", (("b", "2"),), "poisson", "0.5")
    asks = questions.variants(hello, Ask("rdp", (laplace,), "3"), questions.whole_sizes())
    assert [ask.at for ask in asks if dict(ask.how).keys() == {"alpha"}] == ["3"] * 3


def test_a_way_to_write_the_order_is_for_questions_with_an_order():
    base = Ask("epsilon", (gaussian("2", 6),), "1e-5")
    built = questions.variants(HELLO, base, questions.whole_sizes())
    assert [dict(ask.how) for ask in built] == [{"count": "repeat"}]


@pytest.mark.parametrize(("sigma", "asked"), [("0.5", True), ("0.1", False)])
def test_a_number_that_a_type_has_to_round_is_another_question(sigma, asked):
    ask = Ask("rdp", (gaussian(sigma, 6),), "3")
    assert questions.sensible(ask.built(numbers="numpy.float32")) is asked
    assert questions.sensible(ask.built(numbers="Decimal"))
    assert not questions.sensible(ask.built(numbers="int"))


def test_compositions_have_different_parts_under_one_relation():
    mixed = [ask for ask in questions.compositions(HELLO, FULL, 0) if len(ask.parts) > 1]
    assert mixed
    assert all(len(set(ask.parts)) > 1 for ask in mixed)
    assert any(len(set(ask.parts)) < len(ask.parts) for ask in mixed)


def test_a_composition_is_the_sum_of_its_runs():
    parts = (gaussian("1", 3), gaussian("2", 2))
    runs = [
        (Ask("rdp", (gaussian(s),), "2"), Answer(value=Fraction(v)))
        for s, v in (("1", 1), ("2", 4))
    ]
    assert sum_law(Ask("rdp", parts, "2"), Answer(value=Fraction(11)), runs) is None
    assert sum_law(Ask("rdp", parts, "2"), Answer(value=Fraction(5)), runs).law
    infinite = Answer(value=float("inf"))
    assert sum_law(Ask("rdp", parts, "2"), infinite, runs) is None
    for place in (0, 1):
        some = [(ask, infinite if i == place else said) for i, (ask, said) in enumerate(runs)]
        assert sum_law(Ask("rdp", parts, "2"), Answer(value=Fraction(5)), some) is None


def test_the_simplest_question_still_shows_it():
    """A defect above σ = 50: the simplest is found, and it is not another defect."""

    def probe(ask):
        if Fraction(ask.parts[0].parameters[0][1]) <= 50:
            return None
        return Finding("nan", ask, Answer(value=float("nan")))

    worst = probe(
        Ask(
            "rdp", (AskedPart("Gaussian", (("sigma", "8123"),), "poisson", "0.0371", 1000),), "33.3"
        )
    )
    simple = simplest(worst, probe)
    assert simple.ask == Ask(
        "rdp", (AskedPart("Gaussian", (("sigma", "100"),), "poisson", "0.5"),), "2"
    )


def test_a_smaller_defect_is_not_the_simpler_form_of_a_larger_one():
    def probe(ask):
        large = Fraction(ask.parts[0].parameters[0][1]) > 50
        value = Fraction(1, 4) if large else 1 - Fraction(1, 10**6)
        truth = Truth(Fraction(1), Fraction(1), True)
        return Finding("unsound", ask, Answer(value=value), truth, below=True)

    worst = probe(Ask("rdp", (gaussian("8123"),), "33.3"))
    assert simplest(worst, probe).ask == Ask("rdp", (gaussian("100"),), "2")


def test_many_small_steps_do_not_lose_the_worst():
    """The value is σ times too small: a smaller σ, step by step, would show hardly anything."""

    def probe(ask):
        sigma = Fraction(ask.parts[0].parameters[0][1])
        truth = Truth(Fraction(1), Fraction(1), True)
        return Finding("unsound", ask, Answer(value=1 / sigma), truth, below=True)

    worst = probe(Ask("rdp", (gaussian("39441"),), "2"))
    assert 1 - simplest(worst, probe).ratio >= (1 - worst.ratio) / 10


def test_the_question_shown_is_simple_and_its_error_large():
    """α − 1 for α is worst next to 1, and half of the truth at 2; a term is wrong from 3 on."""
    truth = Truth(Fraction(1), Fraction(1), True)

    def next_to_1(ask):
        alpha = Fraction(ask.at)
        return Finding("unsound", ask, Answer(value=(alpha - 1) / alpha), truth, below=True)

    worst = next_to_1(Ask("rdp", (gaussian(),), "1.00000001"))
    shown = simplest(worst, next_to_1)
    assert (shown.ask.at, shown.ratio) == ("2", 0.5)

    def from_3_on(ask):
        share = Fraction(int(ask.at) - 2, 1000)
        found = Finding("unsound", ask, Answer(value=1 - share), truth, below=True)
        return found if share else None

    assert simplest(from_3_on(Ask("rdp", (gaussian(),), "12")), from_3_on).ask.at == "3"


def test_numbers_nobody_thought_of_are_shortened():
    def probe(ask):
        wrong = Fraction(7200) < Fraction(ask.parts[0].parameters[0][1]) < Fraction(7300)
        return Finding("nan", ask, Answer(value=float("nan"))) if wrong else None

    worst = probe(Ask("rdp", (gaussian("7251.77"),), "2"))
    assert simplest(worst, probe).ask.parts[0].parameters[0][1] == "7250"


@pytest.mark.parametrize(
    ("edge", "worst"), [(3, 4096), (101, 4096), (1030, 4096), (4096, 4096), (70001, 2**17)]
)
def test_an_edge_is_bisected_to_where_it_is(edge, worst):
    def probe(ask):
        wrong = Fraction(ask.at) >= edge
        return Finding("nan", ask, Answer(value=float("nan"))) if wrong else None

    simple = simplest(probe(Ask("rdp", (gaussian(),), str(worst))), probe)
    assert simple.ask.at == str(edge)
    assert simple.note == f"the answer is right with α = {edge - 1} instead"


def test_the_plainest_question_cannot_be_made_simpler():
    plainest = Ask("rdp", (gaussian(),), "2")
    assert not [ask for simpler in SIMPLER for ask in simpler(plainest)]


@pytest.mark.parametrize(("p", "low", "high"), [("0.9", 0.5, 1), ("0.1", 0, 0.5)])
def test_points_nearby_stay_in_the_domain(p, low, high):
    chance = random.Random(0)
    ask = Ask("rdp", (AskedPart("RandomizedResponse", (("p", p),), "poisson", "0.6"),), "1.01")
    for _ in range(200):
        near = nearby(ask, chance)
        part = near.parts[0]
        assert low < Fraction(part.parameters[0][1]) < high
        assert 0 < Fraction(part.gamma) < 1
        assert Fraction(near.at) > 1


def test_an_answer_that_depends_on_the_history_is_traced(tmp_path):
    """A memo whose key lacks the order: right when asked first, wrong later."""
    body = """
        memo = globals().setdefault('memo', {})
        say({'value': memo.setdefault(sigma, value)})
    """
    report = verify(program(tmp_path, body), Extent(2, 1, 4, 0, 1, 0, 5, 60))
    (found,) = [c.shown for c in report.clusters if c.shown.before is not None][:1]
    assert found.verdict == "inconsistent"
    assert found.before.parts[0].parameters == found.ask.parts[0].parameters
    assert "asked first, the peer answers" in found.note


@pytest.mark.parametrize(
    ("factor", "cause"),
    [
        ("random.random()", "answers change by chance"),
        ("globals().setdefault('asked', iter(range(10**9))).__next__()", "depends on what was"),
    ],
)
def test_chance_is_told_from_a_count_of_what_was_asked(tmp_path, factor, cause):
    """Both have ever other answers to one question; only chance has others in a new process."""
    body = f"import random; say({{'value': value * (1 - 1e-5 * {factor})}})"
    report = verify(program(tmp_path, body), Extent(2, 1, 4, 0, 1, 0, 5, 60))
    assert {defect.cause.startswith(cause) for defect in report.defects} == {True}


def test_after_what_is_too_large_the_other_side_is_asked(tmp_path):
    """A sensitivity taken for its inverse: too large below 1, and somebody is at risk above."""
    hello = HELLO_OF_A_PROGRAM.replace("}]", ', "sensitivity": true}]')
    body = """
        size = ask["parts"][0].get("sensitivity_float", 1)
        say({'value': value / size**2})
    """
    peer = process.Peer(program(tmp_path, body, hello))
    with peer:
        asking = session.Session(peer, Extent(2, 1, 4, 0, 1, 0, 5, 60))
        part = replace(gaussian("2"), sensitivity="0.5")
        asking._judged([Ask("rdp", (part,), "4")])
        assert [one.worst.below for one in asking.clusters.ranked()] == [False]
        asking._refine()
        assert any(one.worst.below for one in asking.clusters.ranked())


def test_two_ways_are_as_wrong_where_they_are_equal_to_a_hundredth(tmp_path):
    hello = HELLO_OF_A_PROGRAM.replace("}]", '}], "conversion": "improved"')
    ask = Ask("epsilon", (gaussian(),), "1e-5")
    usual, near, far = (Finding("loose", ask, Answer(Fraction(x))) for x in ("2", "2.01", "3"))
    with process.Peer(program(tmp_path, "say({'value': value})", hello)) as peer:
        asking = session.Session(peer, Extent(2, 1, 4, 0, 1, 0, 5, 60))
        assert asking._as_good(usual, near)
        assert not asking._as_good(usual, far)


def test_what_is_plotted_of_a_baseline_has_one_part(tmp_path):
    """A box is about one mechanism; of a composition it would be the first."""
    known = tuple(Ask("rdp", parts, "2") for parts in ((gaussian(),), (gaussian(), gaussian("2"))))
    with process.Peer(program(tmp_path, "say({'value': value})")) as peer:
        asking = session.Session(peer, Extent(2, 1, 4, 0, 1, 0, 5, 60), known=known)
        asking._know()
    assert set(asking.report.again) == set(known)
    assert [ask for ask, _ in asking.points] == [known[0]]


def test_no_way_of_writing_and_no_sum_is_asked_at_an_order_that_the_peer_does_not_take(tmp_path):
    """Neither to find nor to simplify: an answer there breaks no promise."""
    hello = HELLO_OF_A_PROGRAM.replace(
        "}]", ', "orders": "integer"}], "how": {"count": ["repeat"]}'
    )
    body = "say({'value': value if alpha == int(alpha) else random.random()})"
    with process.Peer(program(tmp_path, f"import random; {body}", hello)) as peer:
        asking = session.Session(peer, Extent(2, 1, 4, 0, 1, 0, 5, 60))
        for at, answers in (("2", 2), ("1.5", 0)):
            for probe, more in ((asking._variant, {"count": "repeat"}), (asking._sum, {})):
                before = asking.report.asked
                assert probe(Ask("rdp", (gaussian("2", 6),), at).built(**more)) is None
                assert asking.report.asked - before == answers


def test_questions_that_hang_twice_are_not_asked_again(tmp_path):
    body = "time.sleep(100 if alpha == int(alpha) else 0); say({'value': value})"
    report = verify(program(tmp_path, body), Extent(9, 1, 6, 0, 0, 0, 3, 60), timeout=0.2)
    assert report.skipped > 10
    assert report.counts["slow"] >= 2
    assert report.incidents.timeouts < 20


def test_what_a_theorem_or_a_conversion_proves_takes_no_truth():
    """The value of a proved bound that the peer names, and what its conversion gives."""
    fixed = AskedPart("Gaussian", (("sigma", "5"),), "without_replacement", "0.01")
    hello, oracle = Hello("p", "1", ROWS, conversion="improved"), truth.Oracle()
    judge = Judge(oracle, hello)
    ask = Ask("rdp", (fixed,), "8", "replace_one")
    bound = Fraction(float(oracle.accountant.rdp(truth.node(ask), 8, by="WBK19-T9").upper))
    ends = Ask("epsilon", (gaussian(count=10),), "1e-5")
    best = Fraction(float(oracle.by_method(ends, "improved", None).upper))
    for one, value in ((ask, bound), (ends, best)):
        answer = Answer(value=value, claims="WBK19-T9" if one is ask else None)
        assert judge.judge(one, answer) is None
        assert judge.judge(one, answer) is None  # looked at again, it is no other answer
        assert oracle.known(one) is None
        less = replace(answer, value=value * Fraction(999, 1000))
        assert judge.judge(one, less).verdict == "wrong-formula"
        assert oracle.known(one) is not None
    assert len(judge.judged) == len(judge.answered) == 4


def test_a_bound_of_another_relation_or_from_below_proves_nothing():
    asked = {"add_remove": gaussian(), "replace_one": gaussian()}
    for relation, part in asked.items():
        ask = Ask("rdp", (part,), "2", relation)
        assert matching.proves("WBK19-T9", ask) is (relation == "replace_one")
        assert not matching.proves("ZW19-T6", ask)
        assert not matching.proves("WBK19-P11", ask)
        assert not matching.proves("no such theorem", ask)


def test_the_time_is_kept(tmp_path):
    seconds, pause = 0.4, 0.05
    body = f"time.sleep({pause}); say({{'value': value / 2}})"
    report = verify(program(tmp_path, body), Extent(9, 9, 14, 9, 5, 9, 60, seconds))
    # Idle seconds count as the share that is stated; and what was asked in advance.
    assert report.asked <= session._IDLE * seconds / pause + session._AHEAD + 1
    (cut,) = report.cut  # one sentence, however many stages it is about
    assert re.fullmatch(r"\d+ stages of the run were cut short, .* used up: .*remembering.*\.", cut)
    assert report.unsound


def test_the_time_of_a_run_never_goes_back(tmp_path):
    """Read while the peer computes, hangs, ends and is started again."""
    body = """
        ends = time.monotonic() + 0.02
        while time.monotonic() < ends: pass
        time.sleep(9 if alpha > 100 else 0)
        if 1 < sigma < 4: sys.exit(1)
        say({'value': value / 2})
    """
    read = defaultdict(list)  # by each thread

    class Read(session.Session):
        def _working(self):
            clock = super()._working()

            def noted():
                own = read[threading.get_ident()]
                own.append(clock())
                return own[-1]

            return noted

    peer = process.Peer(program(tmp_path, body), 0.2)
    with peer:
        Read(peer, Extent(2, 2, 6, 4, 2, 0, 3, 3, probes=40)).run()
    assert peer.incidents.ends
    assert peer.incidents.timeouts
    assert max(map(len, read.values())) > 100
    assert all(own == sorted(own) for own in read.values())


def test_no_clock_decides_what_is_asked(tmp_path, monkeypatch):
    """One seed asks one list, however long our own work and the peer's take."""
    peer, lists = program(tmp_path, "say({'value': value})"), []
    extent = Extent(2, 2, 3, 4, 2, 0, 1, 900, 20, 3, 12)
    asked = process.Peer.ask
    for pause in (0, 0.002):

        def slowly(self, ask, pause=pause):
            time.sleep(pause)
            lists[-1].append(ask)
            return asked(self, ask)

        monkeypatch.setattr(process.Peer, "ask", slowly)
        lists.append([])
        assert verify(peer, extent).cut == []
    assert lists[0] == lists[1]


def test_a_run_without_the_least_of_each_kind_has_no_verdict(tmp_path):
    hello = HELLO_OF_A_PROGRAM.replace('"version"', '"compose": true, "version"')
    peer = program(tmp_path, "time.sleep(0.02); say({'value': value})", hello)
    report = verify(peer, Extent(2, 2, 3, 4, 2, 0, 1, 0.0001, 20, 3, 12))
    assert "rdp of compositions" in [one.name for one in report.lacking]
    assert not report.enough


def test_random_answers_are_judged_and_reported(monkeypatch):
    monkeypatch.setattr(truth, "_LOWER_SIZE", 2**18)  # lower bounds that take longer: the soak
    assert_random_answers_are_judged(1, Extent(2, 2, 3, 1, 0, 2, 4, 900))


def assert_random_answers_are_judged(seed, extent):
    command = [sys.executable, fuzz.__file__, str(seed)]
    report = verify(command, extent, seed)
    assert report.unsound
    assert {"unsound", "negative", "nan", "inf", "exception"} <= set(report.counts)
    assert len(json.loads(report.to_json())["findings"]) == len(report.clusters)
    shown = page.page([document(Judgement(report))])
    assert shown.count("<pre>") == len(report.clusters)
    assert "None" not in shown
