"""The script `course`: where it sends what is typed, and which Python it picks."""

import ast
import re
import sys

import pytest

from tools import ROOT
from tools.requirements import allows
from tools.tests.course_script.checkout import PRESENT

HERE = "asked this Python:"

# Where it sends what is typed --------------------------------------------------------------------


@pytest.mark.parametrize("typed, sent", [
    ("week1/day1", "pytest week1/day1"),
    ("week1/day1 --hint -x", "pytest week1/day1 --hint -x"),
    ("week1 week1/day0", "pytest week1 week1/day0"),
    ("course::test_x", "pytest course::test_x"),
    ("--answers=reference", "pytest --answers=reference"),
    ("-q week1/day1", "pytest -q week1/day1"),
    ("", "tools.cli next"),
    ("status", "tools.cli status"),
    ("check --jobs 2", "tools.cli check --jobs 2"),
    ("quiz week1/day1", "tools.cli quiz week1/day1"),
    ("python -m week1.day1.shown", "week1.day1.shown"),
])  # fmt: skip
def test_paths_and_options_go_to_pytest_and_words_are_commands(checkout, typed, sent):
    assert checkout.script().route(typed.split()) == ["-m", *sent.split()]


def test_after_python_all_goes_to_the_courses_own_python_in_the_root(checkout):
    script = checkout.script()
    assert script.route(["python", "-c", "print(1)"]) == ["-c", "print(1)"] and script.route(["python"]) == []
    assert script.extras_for([]) == []
    assert checkout.run("python", "-c", "import os; print(os.getcwd())", cwd="week1/day1").out == str(checkout.root)


def test_what_was_asked_for_is_handed_over(checkout):
    assert checkout.run("week1/day1").out == f"{HERE} pytest week1/day1"
    assert checkout.run().out == f"{HERE} tools.cli next"


def test_inside_a_day_a_path_is_sought_there_and_then_from_the_root(checkout):
    checkout.write("week1/day1/test_x.py", "")
    assert checkout.run("test_x.py::test_y", cwd="week1/day1").out == f"{HERE} pytest test_x.py::test_y"
    assert checkout.run("week1/day0", cwd="week1/day1").out == f"{HERE} pytest {checkout.root}/week1/day0"
    assert checkout.run("quiz", "week1/day1", cwd="week1/day1").out == f"{HERE} tools.cli quiz week1/day1"


HELP = "./course status lists the days, ./course --help the commands."


@pytest.mark.parametrize("typed, told", [
    ("week1/dya1", "There is no day or kata 'week1/dya1'. Did you mean week1/day1?"),
    ("week1/dya1/", "There is no day or kata 'week1/dya1'. Did you mean week1/day1?"),
    ("week1/day11::test_x", f"There is no day or kata 'week1/day11'. {HELP}"),
    ("day1", "There is no day or kata 'day1'. Did you mean week1/day1?"),
    ("transfers", "There is no command 'transfers'. Did you mean week1/katas/transfers?"),
    ("chekc", "There is no command 'chekc'. Did you mean check?"),
    ("xyzzy", f"There is no command 'xyzzy'. {HELP}"),
    ("", f"There is no command ''. {HELP}"),
    ("x" * 300, f"There is no command '{'x' * 40}...'. {HELP}"),
    ("week1/" + "x" * 300, f"There is no day or kata 'week1/{'x' * 34}...'. {HELP}"),
])  # fmt: skip
def test_slip_of_the_finger_gets_a_suggestion(checkout, typed, told):
    script = checkout.script()
    with pytest.raises(script.Problem) as problem:
        script.route([typed])
    assert str(problem.value) == told


def test_slip_of_the_finger_costs_no_download(bare):
    assert bare.run("week1/dya1").told("There is no day or kata 'week1/dya1'. Did you mean week1/day1?")
    assert bare.asked() == []


def test_help_names_every_command_that_there_is(checkout):
    typer = pytest.importorskip("typer", reason="needs typer; it is not installed; pip install typer")
    from tools.cli.commands import app

    commands = sorted(typer.main.get_command(app).commands)
    script = checkout.script()
    assert sorted(script.COMMANDS) == commands
    assert set(commands) <= set(script.__doc__.split())
    assert checkout.run("--help").out == script.__doc__.strip()


@pytest.mark.parametrize(
    "closed, told",
    [
        (">/dev/full", "The output cannot be written (No space left on device)."),
        (">&-", "The output cannot be written (Bad file descriptor)."),
    ],
)
def test_standard_output_that_takes_nothing_is_told_in_a_line(checkout, closed, told):
    checkout.stub("shell", f'#!/bin/sh\nexec "$@" {closed}\n')
    ran = checkout.run("--help", before=[str(checkout.stubs / "shell")])
    assert (ran.code, ran.err) == (2, told)


def test_closed_standard_output_is_left_to_what_the_script_starts(checkout):
    checkout.stub("shell", '#!/bin/sh\nexec "$@" >&-\n')
    checkout.stub("pytest.py", "import sys; print('asked', file=sys.stderr)")
    assert checkout.run("week1/day1", before=[str(checkout.stubs / "shell")]).err == "asked"


# Which Python ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dependency, has", [
    ('"pytest>=8"', True),
    ('"pytest>=8,<100"', True),
    ('"pytest"', True),
    ('"pytest[toml]>=8"', True),
    ('"pytest>=100"', False),
    ('"pytest>=3,<8"', False),
    ('"surely-not-installed>=1"', False),
    ('"surely-not-installed[cu13]>=1"', False),
    ('''"surely-not-installed>=1 ; sys_platform == 'amiga'"''', True),
    (f'''"surely-not-installed>=1 ; sys_platform == '{sys.platform}'"''', False),
    (f'''"surely-not-installed>=1 ; sys_platform != '{sys.platform}'"''', True),
])  # fmt: skip
def test_a_python_serves_when_it_has_what_pyproject_names(checkout, dependency, has):
    checkout.depend(dependency)
    assert checkout.run("week1/day1").out.startswith(HERE if has else "asked .venv:")
    checkout.depend(PRESENT, compilers=dependency)
    assert checkout.run("week1/day1").out.startswith(HERE if has else "asked .venv:")


@pytest.mark.parametrize("typed, extra", [("check --dev", "dev"), ("week1/day1/explore_tiles.py", "pages")])
def test_what_needs_more_packages_names_them_where_this_python_serves_for_the_rest(checkout, typed, extra):
    checkout.write("week1/day1/explore_tiles.py", "")
    checkout.depend(PRESENT, **{extra: '"surely-not-installed>=1"'})
    assert checkout.run("check").out == f"{HERE} tools.cli check"
    assert checkout.run("week1/day1", "--dev").out == f"{HERE} pytest week1/day1 --dev"
    assert checkout.run("--here", "check", "--dev").out == f"{HERE} tools.cli check --dev"
    ran = checkout.run(*typed.split())
    assert ran.told("The Python that runs the course here lacks surely-not-installed. In the course's folder:")
    assert ran.err.endswith(f"{sys.executable} -m pip install -e '.[{extra}]' -c constraints.txt")
    assert checkout.asked() == []


def test_page_is_run_by_marimo_from_the_root(checkout):
    page = checkout.write("week1/day1/explore_tiles.py", "")
    checkout.stub("marimo.py", "import os, sys; print(*sys.argv[1:], 'in', os.getcwd())")
    for typed in ("week1/day1/explore_tiles.py", "explore_tiles.py"):
        assert checkout.run(typed, "--headless", cwd="week1/day1").out == f"run {page} --headless in {checkout.root}"


@pytest.mark.parametrize("version, ranges, inside", [
    ("2.13.0+cpu", ">=2.11,<2.14", True),
    ("2.11.0a0+nv26.1", ">=2.11,<2.14", True),  # as NVIDIA's containers have it
    ("2.14.0", ">=2.11,<2.14", False),
    ("2.9.1", ">=2.11,<2.14", False),
    ("3", ">=2", True),
])  # fmt: skip
def test_versions_compare_as_numbers(version, ranges, inside):
    assert allows(ranges, version) is inside


def test_python_that_lacks_a_package_leaves_the_work_to_venv(bare):
    assert bare.run("week1/day1").out == "asked .venv: -m pytest week1/day1"
    assert bare.run().out == "asked .venv: -m tools.cli next"


def test_here_takes_this_python_whatever_it_lacks(bare):
    assert bare.run("--here", "week1/day1").out == f"{HERE} pytest week1/day1"
    assert bare.run("--here").out == f"{HERE} tools.cli next"
    assert bare.asked() == []


def test_here_without_pytest_says_so(bare):
    bare.stub("sitecustomize.py", "import sys; sys.modules['pytest'] = None")
    assert bare.run("--here", "week1/day1").told(f"--here: {sys.executable} has no pytest.")


@pytest.mark.parametrize("version", [(3, 6), (3, 10)])
@pytest.mark.parametrize("file", ["course", "tools/__init__.py", "tools/requirements.py"])
def test_old_python_can_read_the_script_and_what_it_imports(file, version):
    ast.parse((ROOT / file).read_text(), feature_version=version)


def test_old_python_hands_over_to_a_newer_one_or_says_what_it_is(checkout):
    path = str(checkout.stubs)
    checkout.stub("sitecustomize.py", "import sys; sys.version_info, sys.version = (3, 8, 18), '3.8.18 (x)'")
    assert checkout.run("week1/day1", PATH=path).told(
        "This course needs Python 3.11 or newer. This is 3.8.18, and the PATH has no newer one."
    )
    checkout.stub("python3.13", "#!/bin/sh\nexit 127")  # a version manager's, for a version not in use
    checkout.stub("python3.12", '#!/bin/sh\ntest "$1" = -c || echo "newer: $@"')
    assert checkout.run("week1/day1", PATH=path).out == f"newer: {checkout.root}/course week1/day1"


def test_real_pyproject_is_written_in_lines_that_the_script_understands():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    for line in (*project["dependencies"], *extras):
        form = r"([\w.-]+)(\[\w+\])?(>=[\d.]+(,<[\d.]+)?)?( ; sys_platform [=!]= '\w+')?"
        dependency = re.fullmatch(form, line)
        assert dependency and dependency[1] in pinned, line


def test_broken_pyproject_is_named(checkout):
    checkout.write("pyproject.toml", "[project\n")
    ran = checkout.run("week1/day1")
    assert ran.told(ran.err) and ran.err.startswith("pyproject.toml is not valid TOML: ")
