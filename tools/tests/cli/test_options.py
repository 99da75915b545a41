"""Every option of every command, typed in the wrong ways: a line that names it, where to read more, and exit code 2."""

import pytest
import typer

from tools.cli.__main__ import main
from tools.cli.commands import app

COMMANDS = typer.main.get_command(app).commands
OPTIONS = [
    (name, parameter.opts[0], parameter.is_flag)
    for name, command in COMMANDS.items()
    for parameter in command.params
    if parameter.param_type_name == "option" and parameter.opts != ["--help"]
]
REQUIRED = {
    name: ["x" for parameter in command.params if parameter.param_type_name == "argument" and parameter.required]
    for name, command in COMMANDS.items()
}


def refused(arguments: list[str], root, capsys) -> list[str]:
    """What is said of a command line that is none."""
    assert main(arguments, root) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err.splitlines()


def test_the_sweep_knows_the_options():
    assert {
        ("compiled", "--chip", False),
        ("bench", "--csv", False),
        ("bench", "--plot", False),
        ("show", "--svg", False),
        ("report", "--output", False),
        ("quiz", "--review", True),
    } <= set(OPTIONS)


@pytest.mark.parametrize("command, option", [(name, option) for name, option, flag in OPTIONS if not flag])
def test_an_option_without_its_value_is_named(command, option, tmp_path, capsys):
    first, second = refused([command, *REQUIRED[command], option], tmp_path, capsys)
    assert option in first and "requires an argument" in first
    assert second == f"./course {command} --help tells more."


@pytest.mark.parametrize("command, option", [(name, option) for name, option, flag in OPTIONS if flag])
def test_a_flag_with_a_value_is_named(command, option, tmp_path, capsys):
    first, second = refused([command, *REQUIRED[command], f"{option}=x"], tmp_path, capsys)
    assert option in first and "does not take a value" in first
    assert second == f"./course {command} --help tells more."


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"check"}))  # check hands its options on
def test_an_option_that_a_command_does_not_have_is_named(command, tmp_path, capsys):
    first, second = refused([command, *REQUIRED[command], "--elsewhere"], tmp_path, capsys)
    assert first.startswith("No such option: --elsewhere")
    assert second == f"./course {command} --help tells more."


@pytest.mark.parametrize(
    "command, option", [(name, option) for name, option, flag in OPTIONS if not flag and option != "--chip"]
)
def test_a_file_without_a_name_is_refused(command, option, tmp_path, capsys):
    first, second = refused([command, *REQUIRED[command], f"{option}="], tmp_path, capsys)
    assert first == f"Invalid value for '{option}': the name of the file is empty."
    assert second == f"./course {command} --help tells more."


def test_a_chip_without_a_name_is_none(tmp_path, capsys):
    assert refused(["compiled", "--chip="], tmp_path, capsys)[0] == "No chip is called ''."
