"""A relation by the field's own signs, on every verb and in every expression, or a remedy."""

import pytest
from click.testing import CliRunner

from symacct import (
    DomainError,
    Gaussian,
    GroupPrivacy,
    PoissonSubsample,
    parse,
)
from symacct.cli import main
from symacct.kernel.claims import ADD_REMOVE, EITHER, REPLACE_ONE, ZERO_OUT, adjacency
from symacct.text import parse_open
from tests.command_lines import GOOD
from tests.text.test_messages import EXPRESSIONS

SPELLINGS = {
    ADD_REMOVE: ["add_remove", "add/remove", "add-remove", "add_or_remove", "add-or-remove"],
    REPLACE_ONE: ["replace_one", "replace-one", "replace/one"],
    ZERO_OUT: ["zero_out", "zero-out"],
}
EACH = [(known, word) for known, words in SPELLINGS.items() for word in words]
OPTIONS = {
    name: {option for one in main.get_command(None, name).params for option in one.opts}
    for name in main.list_commands()
}
ASKED = sorted(name for name in GOOD if "--adjacency" in OPTIONS[name])


def answer(*words):
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize(("known", "word"), EACH)
def test_every_spelling_is_the_relation(known, word):
    name = known.relation.value
    step = PoissonSubsample(Gaussian(5), "1/100", adjacency=name)
    assert adjacency(word) == known
    assert PoissonSubsample(Gaussian(5), "1/100", adjacency=word) is step
    for written in (word, f"'{word}'", f'"{word}"'):
        for read in (parse, parse_open):
            assert read(f"PoissonSubsample(Gaussian(5), 1/100, adjacency={written})") is step
            assert read(f"3*PoissonSubsample(Gaussian(5), 1/100, adjacency={written})") is 3 * step


@pytest.mark.parametrize("verb", ASKED)
def test_every_verb_takes_every_spelling(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for known, words in SPELLINGS.items():
        said = [answer(verb, *GOOD[verb], "--adjacency", word) for word in words[::2]]
        assert {one.exit_code for one in said} == {0}, said[0].output
        assert {one.output for one in said} == {said[0].output}
        way = {ADD_REMOVE: "add", REPLACE_ONE: "replac", ZERO_OUT: "zero"}[known]
        assert way in said[0].output


def test_the_questions_of_one_number_have_the_option():
    assert {"rdp", "epsilon", "delta", "risk", "statement", "dpsgd"} <= set(ASKED)


@pytest.mark.parametrize("verb", ["rdp", "risk"])
def test_a_relation_that_the_expression_has_not_is_refused_with_the_remedy(verb):
    step = "PoissonSubsample(Gaussian(5), 1/100)"
    ended = answer(verb, step, *GOOD[verb][1:], "--adjacency", "replace-one")
    assert ended.exit_code == 2
    assert "found replace_one, needed add_remove" in ended.stderr
    assert "adjacency='replace_one'" in ended.stderr


def test_groups_stay_what_they_are():
    found = GroupPrivacy(Gaussian(5), 2).epsilon("1e-5", digits=6)
    assert found.under("replace-one").claim.adjacency.group == 2
    assert found.under("either") == found


def test_every_expression_says_its_relation():
    for text in EXPRESSIONS:
        m = parse_open(text)
        assert m.adjacency == m.claim.adjacency
    assert Gaussian(5).adjacency == EITHER
    assert parse("ZCDP(1, adjacency=replace_one)").adjacency == REPLACE_ONE
    assert parse("2*PoissonSubsample(ZCDP(1), 1/9)").adjacency == ADD_REMOVE


#: Relations that are none of the three, and words for one half of a relation.
OTHERS = [
    "zeroed", "zeroing out", "replace_special", "replace-with-null", "add", "remove",
    "removal", "deletion", "insert_one", "swap_labels", "label", "exchange two", "edge", "node",
    "substitute", "swap-one", "replace one two",
]  # fmt: skip


@pytest.mark.parametrize("word", [*OTHERS, *(f"{word}_special" for word in SPELLINGS[REPLACE_ONE])])
def test_no_relation_is_proposed_for_another_one(word):
    """A guarantee for one relation is none for another: what is meant is for its author to say."""
    needed = "needed 'add_remove', 'replace_one', 'zero_out' or 'either'"
    with pytest.raises(DomainError, match=needed):
        adjacency(word)
    told = answer("dpsgd", *GOOD["dpsgd"], "--adjacency", word).stderr
    assert needed in told
    assert "did you mean" not in told
