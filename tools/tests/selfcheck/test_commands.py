"""Commands in texts: those that exist pass, those that do not are named with their place."""

import pytest

from tools import ROOT
from tools.selfcheck.static import commands

HELP = {
    ("-m", "pytest"): "  -n NUM   processes\n  -q\n  --hint   show the next hint\n  --seed=N\n",
    ("-m", "tools.cli"): "Usage: course\n\nCommands:\n  quiz    Questions.\n  status  The month.\n  count   Bytes.\n",
    ("-m", "tools.cli", "count"): "Options:\n  --help\n",
    ("-m", "tools.cli", "quiz"): "Options:\n  --interview   three questions\n",
    ("-m", "tools.cli", "status"): "Options:\n  --help\n",
    ("course",): "  --here   use this Python\n",
}


@pytest.fixture
def faults(course, monkeypatch):
    """What is wrong with a README of one line."""
    monkeypatch.setattr(commands, "_help", lambda arguments, root: HELP[arguments])
    monkeypatch.setattr(commands, "_pages", lambda root: {})

    def found(line: str) -> list[str]:
        course.write("README.md", line + "\n")
        return [str(problem) for problem in commands.commands_exist(course.root)]

    return found


@pytest.mark.parametrize("line", [
    "Run `pytest week1/day1`, or `./course week1/day1`.",
    "    ./course quiz week1/day1 --interview",
    "python3 -m pytest week1/day1 -n 2 --hint --seed=7 and so on",
    "pytest week1/day1/test_adding.py::test_total_adds_every_value",
    "Tests run under pytest on every machine, and pytest-xdist spreads them.",
    "`./course quiz DAY` asks; `./course UNIT/NAME`, `pytest week1/...` and `./course --here` are fine.",
    "`python -m tools.say`, `python -m tools.cli quiz week1/day1`",
    "`./course python -m tools.say`, `./course python -m timeit pass`, ./course python -c \"print(1)\"",
])  # fmt: skip
def test_a_command_that_exists_passes(faults, course, line):
    course.write("tools/say.py", "")
    assert faults(line) == []


@pytest.mark.parametrize("line, words", [
    ("`./course qiuz week1/day1`", "`./course qiuz week1/day1`: there is no sub-command qiuz"),
    ("./course prepares everything.", "`./course prepares everything.`: there is no sub-command prepares"),
    ("`python -m tools.cli qiuz`", "`python -m tools.cli qiuz`: there is no sub-command qiuz"),
    ("`./course quiz --loud`", "`./course quiz --loud`: there is no option --loud"),
    ("`./course week1/day9`", "`./course week1/day9`: there is no week1/day9"),
    ("`pytest week1/day1 --hnit`", "`pytest week1/day1 --hnit`: there is no option --hnit"),
    ("run pytest week7/day1.", "`pytest week7/day1.`: there is no week7/day1"),
    ("`python3 -m pytest -z`", "`python3 -m pytest -z`: there is no option -z"),
    ("`python -m tools.nothing`", "`python -m tools.nothing`: there is no tools.nothing to run"),
    ("`./course python -m week1.day9`", "`./course python -m week1.day9`: there is no week1.day9 to run"),
    ("`./course python week1/none.py`", "`./course python week1/none.py`: there is no week1/none.py"),
    ("`python -m tools.course`", "`python -m tools.course`: there is no tools.course to run"),
])  # fmt: skip
def test_a_command_that_does_not_exist_is_named_with_its_place(faults, line, words):
    assert faults(line) == [f"README.md, line 1: {words}"]


def test_a_lesson_names_the_python_that_has_the_packages(faults, course):
    course.edit("week1/day1/adding.py", "pytest week1/day1", 'python -c "print(1)"; pytest week1/day1')
    assert faults("python -m timeit pass") == [
        "week1/day1/adding.py, line 13: `python -c`: ./course python finds the packages in any terminal"
    ]
    course.edit("week1/day1/adding.py", "python -c", "./course python -c")
    assert faults("") == []


def test_a_command_that_calls_a_bench_file_needs_one_beside_the_lesson(faults, course):
    course.write("week1/day1/day.toml", "")
    assert faults("`./course count week1/day1`") == [
        "README.md, line 1: `./course count week1/day1`: count has nothing to call: "
        "there is no bench_*.py in week1/day1"
    ]
    course.write("week1/day1/bench_adding.py", "WORKLOADS = ()\n")
    assert faults("`./course count week1/day1`") == []


def test_lessons_days_documents_and_messages_are_read_too(faults, course):
    course.write("docs/SETUP.md", "# Set up\n\npytest --no1\n")
    course.write("tools/say.py", 'NAME = "x"\nTEXT = f"try ./course {NAME} or\\n./course nothing1"\n')
    course.write("tools/tests/test_say.py", '"pytest --no-matter"\n')
    course.edit("week1/day1/adding.py", "pytest week1/day1", "pytest --no2")
    course.edit("week1/day1/day.toml", "Use len.", "Use len, see ./course no3")
    assert faults("")[0:4] == [
        "docs/SETUP.md, line 3: `pytest --no1`: there is no option --no1",
        "week1/day1/day.toml, line 5: `./course no3`: there is no sub-command no3",
        "tools/say.py, line 2: `./course nothing1`: there is no sub-command nothing1",
        "week1/day1/adding.py, line 13: `pytest --no2`: there is no option --no2",
    ]


def test_one_process_prints_the_help_that_each_sub_command_prints_by_itself():
    pages = commands._pages(ROOT)
    assert pages.keys() == commands._subcommands(ROOT)
    for name in ("quiz", "check"):  # click's, and argparse's
        assert pages[name] == commands._help(("-m", "tools.cli", name), ROOT)


def test_where_that_process_fails_each_is_asked_by_itself(course):
    course.write("tools/__init__.py", "")
    course.write("tools/cli/__init__.py", "")
    course.write("tools/cli/__main__.py", "print('Commands:\\n  quiz  Questions.')\n")
    assert commands._subcommands(course.root) == {"quiz"}
    assert commands._pages(course.root) == {}
    assert commands._options("quiz", course.root) == frozenset()
