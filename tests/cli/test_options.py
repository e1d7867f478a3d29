"""The options of a command come from the signature and the docstring of what answers."""

import inspect

import click
import pytest
from click.testing import CliRunner

from symacct import Node, calibrate_risk, dp_sgd
from symacct.adversary.falsify import falsify
from symacct.cli import main, verifying
from symacct.cli.frame import SHARED
from symacct.kernel import limits
from symacct.verify import PeerError

#: Of some commands the Python function that answers, and parameters that are taken from it.
ANSWERED = {
    "epsilon": (Node.epsilon, ["delta", "conversion", "orders", "by"]),
    "delta": (Node.delta, ["epsilon", "conversion", "orders", "by"]),
    "code": (Node.code, ["by", "max_order", "accuracy", "points"]),
    "expand": (Node.expansion, ["at", "order", "alpha", "by", "within"]),
    "calibrate": (calibrate_risk, ["advantage", "tpr", "fpr", "mu", "rho", "baseline"]),
    "dpsgd": (dp_sgd, ["n", "batch_size", "epochs", "steps", "sampling", "accumulation"]),
    "falsify": (falsify, ["budget", "seed"]),
}


def options(verb):
    params = main.get_command(None, verb).params
    return {one.name: one for one in params if isinstance(one, click.Option)}


@pytest.mark.parametrize("verb", main.list_commands())
def test_every_option_says_in_a_sentence_what_it_is(verb):
    for name, option in options(verb).items():
        assert (option.help or " ")[0].isupper(), name
        assert option.help.endswith("."), name
        assert "`" not in option.help, name


@pytest.mark.parametrize("verb", ANSWERED)
def test_an_option_is_required_and_has_a_default_as_the_parameter_does(verb):
    function, names = ANSWERED[verb]
    for name in names:
        parameter, option = inspect.signature(function).parameters[name], options(verb)[name]
        assert option.required is (parameter.default is parameter.empty)
        if parameter.default not in (parameter.empty, None):
            assert str(option.default) == str(parameter.default)
        if "int" in str(parameter.annotation).split():
            assert option.type is click.INT


def test_a_sentence_of_the_docstring_is_the_help():
    shown = options("code")["accuracy"].help
    assert f"`accuracy` is {shown[0].lower()}{shown[1:]}" in " ".join(Node.code.__doc__.split())
    assert "--reconstruction succeeds" in options("calibrate")["baseline"].help


def test_what_is_shared_is_one_option_of_every_command():
    for name in ("by", "also", "ask", "conversion", "adjacency", "as_json"):
        said = {options(verb)[name].help for verb in main.list_commands() if name in options(verb)}
        assert SHARED[name].help in said
        # Formulas are by one order alone, and dpsgd's relation follows from its sampling.
        assert len(said) == 1 + (name in ("conversion", "adjacency"))


def test_what_is_required_is_asked_for_by_its_option():
    ended = CliRunner().invoke(main, ["epsilon", "Gaussian(5)"])
    assert ended.exit_code == 2
    assert "'--delta'" in ended.stderr


@pytest.mark.parametrize("verb", main.list_commands())
def test_a_command_is_given_every_parameter_of_its_own(verb):
    own = inspect.signature(main.get_command(None, verb).callback.__wrapped__).parameters
    kept = {name for name, option in options(verb).items() if not option.expose_value}
    assert kept <= {"seconds"} - own.keys()


def test_the_seconds_of_a_run_are_no_limit_of_a_question(monkeypatch):
    """`verify --seconds` is the work of a whole run, and may be a fraction."""
    seen = []

    def verify(words, extent, *_):
        seen.append((extent.seconds, limits.current().seconds))
        raise PeerError("nothing is asked here")

    monkeypatch.setattr(verifying, "verify", verify)
    asked = ["verify", "--command", "false", "--quick", "--seconds", "2.5"]
    assert "nothing is asked here" in CliRunner().invoke(main, asked).output
    assert seen == [(2.5, limits.Limits().seconds)]
