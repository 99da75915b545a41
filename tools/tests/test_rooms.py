"""The house as pyproject.toml and tools/__init__.py describe it: floors, no circles, and every room on its floor."""

import re
import tomllib

import pytest

import tools
from tools import ROOT

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
FLOORS = [set(re.split(r" [|:] ", layer)) for layer in CONTRACTS[0]["layers"]][::-1]


def test_no_import_goes_up_and_none_in_a_circle(monkeypatch, capsys):
    cli = pytest.importorskip("importlinter.cli", reason="import-linter is not here; ./course check --dev installs it")
    monkeypatch.chdir(ROOT)
    assert cli.lint_imports(no_cache=True) == cli.EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_the_tree_in_the_docstring_is_the_one_that_is_checked():
    told = re.findall(r"\d ((?:\w+, )*\w+)(?=  |$)", tools.__doc__, re.M)
    assert [set(floor.split(", ")) for floor in told] == FLOORS


def test_every_room_has_a_floor():
    rooms = {
        path.stem for path in (ROOT / "tools").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert rooms - {"tests", "__init__"} == set.union(*FLOORS)
