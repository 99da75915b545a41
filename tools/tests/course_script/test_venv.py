"""The .venv that `course` finds: used as it is, brought up to date, made anew, or left alone because it is not ours."""

import shutil
import sys

import pytest

from tools.tests.course_script.checkout import ABSENT, PYTHON

WORKED = "asked .venv: -m pytest week1/day1"
THIS = "{}.{}".format(*sys.version_info)


@pytest.fixture
def furnished(bare):
    """A checkout whose .venv is finished, with a package in it that nobody asked for."""
    bare.run("week1/day1")
    bare.write(".venv/lib/left_over.py", "")
    bare.forget()
    return bare


def lose_python(furnished):
    (furnished.root / ".venv/bin/python").unlink()


def replace_python(furnished):
    lose_python(furnished)
    (furnished.root / ".venv/bin/python").symlink_to(furnished.stubs / "python.sh")


def interrupt(furnished):
    furnished.write(".venv/course-stamp", f"unfinished\n {furnished.root}/.venv")


def empty_stamp(furnished):
    furnished.write(".venv/course-stamp", "")


def half_emptied(furnished):
    """As a kill leaves it after the stamp, and before the last of what was there is gone."""
    interrupt(furnished)
    lose_python(furnished)


def move(furnished):
    (furnished.root / ".venv").rename(furnished.root / "old")
    shutil.copytree(furnished.root / "old", furnished.root / ".venv")
    stamp = furnished.root / ".venv/course-stamp"
    stamp.write_text(stamp.read_text().replace("/the course/", "/the old course/"))


@pytest.mark.parametrize("damage", [lose_python, replace_python, interrupt, empty_stamp, half_emptied, move])
def test_venv_that_cannot_be_trusted_is_made_anew(furnished, damage):
    damage(furnished)
    assert furnished.run("week1/day1").out == WORKED
    assert furnished.steps() == ["venv", "pip", "pip"]
    assert not (furnished.root / ".venv/lib/left_over.py").exists()


def test_changed_constraints_bring_venv_up_to_date_without_making_it_anew(furnished):
    furnished.write("constraints.txt", "pytest==9.2.1\n")
    told = furnished.run("week1/day1").err.splitlines()
    assert told[0] == "Bringing .venv up to date with pyproject.toml and constraints.txt."
    assert furnished.steps() == ["pip", "pip"]
    assert (furnished.root / ".venv/lib/left_over.py").exists()


def test_change_to_pyproject_that_names_no_package_leaves_venv_alone(furnished):
    pyproject = furnished.root / "pyproject.toml"
    pyproject.write_text(pyproject.read_text() + "[tool.pytest.ini_options]\n")
    assert furnished.run("week1/day1").out == WORKED
    assert furnished.steps() == []


def test_venv_made_by_hand_is_used_as_it_is(bare):
    by_hand(bare.root / ".venv", "pytest", "surely_not_installed")
    bare.depend(ABSENT, compilers='"numba-cuda>=0.20"')
    assert bare.run("week1/day1").out == WORKED
    assert bare.steps() == []


def test_venv_made_by_hand_that_lacks_a_package_is_left_alone(bare):
    by_hand(bare.root / ".venv", "pytest")
    ran = bare.run("week1/day1")
    assert ran.told(".venv was not made by ./course, and lacks surely-not-installed. It is left alone.")
    assert "mv .venv old-venv" in ran.err and len(ran.err.splitlines()) == 3
    assert bare.steps() == [] and (bare.root / ".venv/bin/python").exists()


def test_folder_that_is_no_environment_is_left_alone(bare):
    bare.write(".venv/thesis.tex", "")
    assert bare.run("week1/day1").told(".venv was not made by ./course, and lacks pytest. It is left alone.")
    assert (bare.root / ".venv/thesis.tex").exists()


def test_check_dev_adds_nothing_to_a_venv_made_by_hand(bare):
    by_hand(bare.root / ".venv", "pytest", "surely_not_installed")
    bare.depend(ABSENT, dev='"ruff>=0.14"')
    assert bare.run("check", "--dev").told(".venv was not made by ./course, and lacks ruff. It is left alone.")
    assert bare.run("check").out == "asked .venv: -m tools.cli check"


@pytest.mark.parametrize("typed, extra", [("check --dev", "dev"), ("week1/day1/explore_tiles.py", "pages")])
def test_what_needs_more_packages_adds_them_to_ours_once_and_disturbs_nothing(furnished, typed, extra):
    furnished.write("week1/day1/explore_tiles.py", "")
    furnished.depend(ABSENT, **{extra: '"ruff>=0.14"'})
    furnished.run("week1/day1")
    furnished.forget()
    furnished.pip(
        "",
        f"""cd '{furnished.root}/.venv/lib'
for name in pytest surely_not_installed ruff; do
    mkdir -p python{THIS}/site-packages/$name-9.2.dist-info
    printf 'Name: %s\\nVersion: 9.2\\n' $name > python{THIS}/site-packages/$name-9.2.dist-info/METADATA
done""",
    )
    first = furnished.run(*typed.split())
    assert first.out.startswith("asked .venv: -m ") and first.err == "Adding ruff to .venv, once."
    assert f"--editable {furnished.root}[compilers,{extra}] " in furnished.asked()[-1]
    assert furnished.run(*typed.split()).err == ""
    assert furnished.steps() == ["pip"]


def test_adding_packages_that_fails_leaves_what_is_there(furnished):
    furnished.depend(ABSENT, dev='"ruff>=0.14"')
    furnished.run("week1/day1")
    furnished.pip("ERROR: something new", "exit 1")
    assert furnished.run("check", "--dev").told("The set-up of .venv failed: ERROR: something new")
    assert furnished.run("week1/day1").out == WORKED
    assert (furnished.root / ".venv/lib/left_over.py").exists()


# A .venv that is a link --------------------------------------------------------------------------


@pytest.fixture
def disk(bare, tmp_path):
    """A folder that the bare checkout's .venv links to."""
    (bare.root / ".venv").symlink_to(tmp_path / "large disk/venv")
    return tmp_path / "large disk/venv"


@pytest.mark.parametrize("exists", [True, False])
def test_link_to_an_empty_folder_is_filled_and_kept(bare, disk, exists):
    if exists:
        disk.mkdir(parents=True)
    assert bare.run("week1/day1").out == WORKED
    assert (bare.root / ".venv").is_symlink() and (disk / "bin/python").exists()

    interrupt(bare)
    bare.write(".venv/lib/left_over.py", "")
    assert bare.run("week1/day1").out == WORKED
    assert bare.steps() == ["venv", "pip", "pip"] * 2
    assert (bare.root / ".venv").is_symlink() and not (disk / "lib/left_over.py").exists()


@pytest.mark.parametrize(
    "stamp", [None, "", "unfinished", "unfinished\n /another/course/.venv", "0a1b\n/usr/bin/python3 /x"]
)
def test_link_to_what_is_not_ours_is_left_alone(bare, disk, stamp):
    by_hand(disk, "pytest")
    (disk / "thesis.tex").touch()
    if stamp is not None:
        (disk / "course-stamp").write_text(stamp)
    ran = bare.run("week1/day1")
    assert ran.told(
        f".venv links to {disk}, which was not made by ./course, and lacks surely-not-installed. It is left alone."
    )
    assert "rm .venv" in ran.err and len(ran.err.splitlines()) == 3
    assert (disk / "thesis.tex").exists() and (disk / "bin/python").exists()
    assert bare.steps() == []


def test_link_to_an_environment_that_has_the_packages_is_used_as_it_is(bare, disk):
    by_hand(disk, "pytest", "surely_not_installed")
    (disk / "course-stamp").write_text("0a1b\n/usr/bin/python3 /another/course/.venv")
    assert bare.run("week1/day1").out == WORKED
    assert bare.steps() == []


def test_link_to_itself_is_told_in_a_line(bare):
    (bare.root / ".venv").symlink_to(".venv")
    ran = bare.run("week1/day1")
    assert ran.told(ran.err.splitlines()[-1]) and ran.err.splitlines()[-1].startswith("[Errno 17] File exists")


def by_hand(folder, *packages):
    """An environment with these packages, which the script did not make."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").write_text(PYTHON)
    (folder / "bin/python").chmod(0o755)
    for name in packages:
        information = folder / f"lib/python{THIS}/site-packages/{name}-9.2.dist-info"
        information.mkdir(parents=True)
        (information / "METADATA").write_text(f"Name: {name}\nVersion: 9.2\n")
