"""A name or a value that a node does not have: the error says what was meant."""

import pytest

from symacct import DomainError, Gaussian, PoissonSubsample

NODES = [Gaussian(5), PoissonSubsample(Gaussian(5), "1/100"), 3 * Gaussian(5)]
QUESTIONS = ["statement", "epsilon", "delta", "report", "explain", "latex", "tradeoff"]


@pytest.mark.parametrize("node", NODES, ids=repr)
def test_a_misspelt_question_is_told_its_name(node):
    for name in QUESTIONS:
        for place in range(1, len(name)):
            wrong = name[:place] + name[place + 1 :]
            if wrong in dir(node):
                continue
            with pytest.raises(AttributeError, match=r"; (did you mean|write) ") as caught:
                getattr(node, wrong)
            assert caught.value.obj is None  # so that Python adds no second remedy
    with pytest.raises(AttributeError, match=r"did you mean statement\?$"):
        node.statment
    for name in ("zzz", "_repr_xml_", "_ipython_display_"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
            getattr(node, name)


@pytest.mark.parametrize(("form", "meant"), [("tex", "latex"), ("md", "markdown"), ("txt", "text")])
def test_a_form_by_another_name(form, meant):
    with pytest.raises(DomainError, match=f"did you mean {meant}\\?"):
        Gaussian(5).statement(delta="1e-6", form=form)


def test_a_delta_in_the_place_of_orders():
    with pytest.raises(DomainError, match=r"paper, alphas: found '1e-6'.*delta='1e-6'"):
        Gaussian(5).paper("1e-6")
