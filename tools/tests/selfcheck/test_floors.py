"""Floors: a file beside each unit and in each room of tests; a loss in one place is seen, whatever others gained."""

import tomllib
from pathlib import Path

import pytest

from tools import ROOT
from tools.course.content import catalogue
from tools.selfcheck import check, floors, golden, parts
from tools.selfcheck.findings import Findings
from tools.selfcheck.verdicts import Verdict

DAY = "reference/week1/day1"
ROOM = "tools/tests/selfcheck"
ASKS = 'pytest.importorskip("{package}")'


def passed(kind: str, *subjects: str) -> list[Findings]:
    return [Findings("any", [Verdict(kind, subject, True) for subject in subjects])]


def faults(found: Findings) -> list[tuple[str, str]]:
    return [(each.subject, each.detail.splitlines()[0]) for each in found.verdicts if not each.passed]


# Where a check counts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, subject, place",
    [
        ("lesson tests", "week1/day1: test_a", DAY),
        ("wrong answers", "week2/katas/sums: forgets", "reference/week2/katas/sums"),
        ("static rules", "week1/day1: no_literal_seeds", DAY),
        ("tests of the tools", "tools/tests/selfcheck/deep/test_it.py::test_a", ROOM),
        ("tests of the tools", "tools/tests/test_it.py::test_a", "tools/tests"),
        ("dev tests", "tools/tests/pages/test_pages.py::test_a[1-2]", "tools/tests/pages"),
        ("transcripts", "stub_serial", "tools/tests/golden"),
    ],
)
def test_a_check_counts_where_it_belongs(tmp_path, kind, subject, place):
    assert floors.counts(passed(kind, subject), [], tmp_path, []) == {(place, kind): 1}


@pytest.mark.parametrize(
    "kind, subject",
    [("static rules", "commands exist"), ("dev tests", "ruff check ."), ("mutants killed", "week1/day1: x")],
)
def test_some_checks_have_no_floor(tmp_path, kind, subject):
    assert floors.counts(passed(kind, subject), [], tmp_path, []) == {}


def test_what_failed_does_not_count(tmp_path):
    found = [Findings("week1/day1", [Verdict("lesson tests", "week1/day1: test_a", False)])]
    assert floors.counts(found, [], tmp_path, []) == {}


def test_a_test_that_asks_for_more_packages_counts_in_the_part_for_authors_alone(course):
    course.write("tools/tests/pages/test_it.py", ASKS.format(package="marimo"))
    test = "tools/tests/pages/test_it.py::test_a"
    assert floors.counts(passed("tests of the tools", test), [], course.root, ["marimo"]) == {}
    assert len(floors.counts(passed("dev tests", test), [], course.root, ["marimo"])) == 1


def test_every_mutant_that_the_machine_makes_counts_whether_it_runs_or_not(course):
    found = floors.counts([], [course.unit()], course.root, [])
    assert list(found) == [(DAY, floors.MUTANTS)] and found[DAY, floors.MUTANTS] >= 5


# Holding ------------------------------------------------------------------------------------------


def test_a_count_below_its_floor_is_a_fault_that_names_the_place_and_what_to_do(course):
    course.write(f"{DAY}/floors.toml", '"lesson tests" = 2\n"wrong answers" = 6\n')
    counted = {(DAY, "lesson tests"): 2, (DAY, "wrong answers"): 5}
    found = floors.kept(counted, ("lesson tests", "wrong answers"), [course.unit()], course.root)
    [lost] = [each for each in found.verdicts if not each.passed]
    assert lost.subject == f"{DAY}/floors.toml: wrong answers"
    assert lost.detail.splitlines() == [
        "5 passed, and 6 did before",
        "bring back what is lost; or lower the number, and say why in the commit message",
    ]


def test_a_gain_in_one_place_hides_no_loss_in_another(course):
    course.write(f"{DAY}/floors.toml", '"lesson tests" = 2\n')
    course.write(f"{ROOM}/floors.toml", '"tests of the tools" = 5\n')
    counted = {(DAY, "lesson tests"): 9, (ROOM, "tests of the tools"): 4}
    found = floors.kept(counted, ("lesson tests", "tests of the tools"), [course.unit()], course.root)
    assert faults(found) == [(f"{ROOM}/floors.toml: tests of the tools", "4 passed, and 5 did before")]


def test_a_kind_that_did_not_run_is_not_held(course):
    course.write(f"{DAY}/floors.toml", '"lesson tests" = 2\n"wrong answers" = 6\n')
    assert not faults(floors.kept({(DAY, "lesson tests"): 2}, ("lesson tests",), [course.unit()], course.root))


def test_a_place_where_nothing_passed_any_more_is_a_fault(course):
    course.write("reference/week1/day2/floors.toml", '"lesson tests" = 2\n')  # and no unit
    course.write("tools/tests/lost/floors.toml", '"lesson tests" = 1\n')
    found = floors.kept({}, ("lesson tests",), [course.unit()], course.root)
    assert [place for place, _ in faults(found)] == [
        "reference/week1/day2/floors.toml: lesson tests",
        "tools/tests/lost/floors.toml: lesson tests",
    ]


def test_what_has_no_floor_yet_is_a_fault_that_names_the_command(course):
    found = floors.kept({(DAY, "lesson tests"): 2}, ("lesson tests",), [course.unit()], course.root)
    assert faults(found) == [(f"{DAY}/floors.toml: lesson tests", "2 passed, and no floor keeps them")]
    assert "./course check --raise-floors" in found.verdicts[0].detail


# Raising ------------------------------------------------------------------------------------------


def test_floors_are_raised_and_never_lowered(course):
    course.write(f"{DAY}/floors.toml", '"lesson tests" = 2\n"wrong answers" = 6\n"transcripts" = 3\n')
    counted = {(DAY, "lesson tests"): 4, (DAY, "wrong answers"): 5}
    found = floors.raised(counted, ("lesson tests", "wrong answers"), course.root)
    assert floors.read(course.root / DAY / "floors.toml") == {"lesson tests": 4, "transcripts": 3, "wrong answers": 6}
    assert found.notes == [f"raised in {DAY}/floors.toml"]
    assert floors.raised(counted, ("lesson tests", "wrong answers"), course.root).notes == []


@pytest.mark.parametrize("number, floor", [(7, 7), (57, 57), (125, 120), (1299, 1200)])
def test_tests_of_the_tools_are_held_to_two_figures(course, number, floor):
    course.write(f"{ROOM}/test_it.py", "")
    floors.raised({(ROOM, "tests of the tools"): number}, ("tests of the tools",), course.root)
    assert floors.read(course.root / ROOM / "floors.toml") == {"tests of the tools": floor}


def test_raising_is_refused_where_something_failed(monkeypatch, capsys):
    monkeypatch.setattr(check, "lacking", lambda extra: [])
    monkeypatch.setattr(check.floors, "raised", None)
    bad = Findings("week1/day1", [Verdict("lesson tests", "week1/day1: test_a", False)])
    monkeypatch.setattr(check, "_run", lambda *jobs: [bad])
    assert check.main(["week1/day1", "--only", "static", "--raise-floors"]) == 1


@pytest.mark.parametrize(
    "arguments, kinds",
    [
        ([], {kind for part in check.PARTS if part != "tools" for kind in floors.OF_PART[part]}),
        (["--tools"], {"tests of the tools"}),
        (["--quick"], {"lesson tests", "static rules", "transcripts"}),
        (["--dev"], {"dev tests"}),
        (["week1/day1"], {*floors.OF_PART["units"], "static rules"}),
        (["--only", "static"], {"static rules"}),
    ],
)
def test_each_form_holds_the_floors_of_what_it_runs(monkeypatch, arguments, kinds):
    held = set()
    monkeypatch.setattr(check, "lacking", lambda extra: [])
    monkeypatch.setattr(check, "_run", lambda *jobs: [])
    monkeypatch.setattr(check.floors, "counts", lambda *_: {})
    monkeypatch.setattr(
        check.floors, "kept", lambda passed, those, units, root: held.update(those) or Findings("floors")
    )
    assert check.main(arguments) == 0
    assert held == kinds


# The course's own ---------------------------------------------------------------------------------


def files() -> list[Path]:
    return [*ROOT.glob("reference/**/floors.toml"), *ROOT.glob("tools/tests/**/floors.toml")]


def test_every_unit_and_every_room_of_tests_has_floors_and_nothing_else_has():
    rooms = {path if path.is_dir() else path.parent for part in parts.TESTS for path in parts.tests_of(part, ROOT)} | {
        golden.GOLDEN
    }
    units = {ROOT / "reference" / name for name in catalogue.names()}
    assert {file.parent for file in files()} == rooms | units


def test_floors_are_of_kinds_that_some_form_holds():
    known = {kind for kinds in floors.OF_PART.values() for kind in kinds}
    for file in files():
        assert tomllib.loads(file.read_text(encoding="utf-8")).keys() <= known, file
