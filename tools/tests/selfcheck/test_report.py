"""What the self-check prints: faults, counts, floors, progress, and transcripts that are fit to be read."""

import subprocess
from functools import partial

import pytest

from tools.selfcheck import check, golden
from tools.selfcheck.findings import Findings, merged, report
from tools.selfcheck.progress import Progress
from tools.selfcheck.verdicts import Verdict

GOOD = Verdict("lesson tests", "week1/day1: test_a", True)
BAD = Verdict("lesson tests", "week1/day1: test_b", False, "failed\ngot 1")


def test_the_report_ends_with_the_faults_and_two_counts():
    unit = Findings("week1/day1", [GOOD, BAD], ["a note"], seconds=3.21)
    unit.skips["needs an NVIDIA GPU"] = 2
    assert report([unit]).splitlines() == [
        "week1/day1: a note", "",
        "skipped 2: needs an NVIDIA GPU", "",
        "     1  lesson tests", "",
        "   3.2 s  week1/day1", "",
        "FAILED lesson tests: week1/day1: test_b", "    failed", "    got 1", "",
        "1 passed, 1 failed",
    ]  # fmt: skip


def test_parts_of_one_name_are_added_up():
    [one] = merged([Findings("transcripts", [GOOD], seconds=1.0), Findings("transcripts", [BAD], seconds=2.0)])
    assert (one.verdicts, one.seconds, one.passed) == ([GOOD, BAD], 3.0, False)


def test_progress_without_a_terminal_is_a_line_for_each_phase(capsys):
    with Progress(["week1/day1"]) as progress:
        for phase, detail in [("wrong", "1 of 2"), ("wrong", "2 of 2"), ("mutant", "1 of 9")]:
            progress.tell("week1/day1", phase, detail)
        progress.done("week1/day1")
    assert capsys.readouterr().out.splitlines() == [
        f"week1/day1       {phase}" for phase in ("wrong", "mutant", "done")
    ]


def test_a_part_is_done_when_all_its_jobs_are(capsys):
    with Progress(["transcripts", "transcripts"]) as progress:
        progress.done("transcripts")
        assert capsys.readouterr().out == ""
        progress.done("transcripts")
    assert capsys.readouterr().out == "transcripts      done\n"


@pytest.mark.parametrize("name, line", [
    ("week1/dya1", "There is no day or kata 'week1/dya1'. Did you mean week1/day1?"),
    ("day1", "There is no day or kata 'day1'."),
])  # fmt: skip
def test_a_unit_that_does_not_exist_is_said_in_one_line(capsys, name, line):
    assert check.main([name]) == 2
    assert capsys.readouterr().err.splitlines()[0].startswith(line)


def test_the_learners_edition_checks_the_tools_and_says_what_is_left_out(monkeypatch, capsys, tmp_path):
    asked = []
    (tmp_path / "tools" / "tests").mkdir(parents=True)
    (tmp_path / "tools" / "tests" / "test_it.py").write_text("")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.setattr(
        check, "_run", lambda jobs, fresh: asked.extend(part for part, _ in jobs) or [Findings("tools", [GOOD])]
    )
    assert check.main([]) == 0
    assert asked == ["tools"]
    assert "left out" in capsys.readouterr().out


def test_a_transcript_that_does_not_end_is_one_fault(monkeypatch, tmp_path):
    def run(self, root):
        raise subprocess.TimeoutExpired("pytest", 300.0)

    monkeypatch.setattr(golden.Transcript, "run", run)
    verdict = golden.check(golden.Transcript("stub", None, ()), tmp_path, tmp_path)
    assert (verdict.passed, verdict.detail) == (False, "pytest had not ended after 300 s")


def test_a_part_that_crashes_is_told_in_full_beside_what_the_others_found(monkeypatch, tmp_path):
    def sound(tell):
        return Findings("week1/day1", [GOOD])

    def broken(tell):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(check, "ROOT", tmp_path)
    day, static = check._run([("week1/day1", partial(sound)), ("static", partial(broken))], fresh=True)
    assert day.verdicts == [GOOD]
    [fault] = static.verdicts
    assert not fault.passed and fault.detail.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_what_differs_between_runs_is_left_out_of_a_transcript():
    text = "your files | Tesla T4 | seed 4182\n\n  3 failed in 1.25s \nSeed 4182: --seed=4182\nx.py, line 7\n"
    assert (
        golden.normalised(text)
        == "your files | MACHINE | seed N\n\n  3 failed in N s\nSeed N: --seed=N\nx.py, line N\n"
    )


@pytest.mark.parametrize("line, fault", [
    ("x" * 81, "wider than 80 columns: " + "x" * 81),
    ("in /home/ada/week1/day1/lesson.py", "a path of this machine: in /home/ada/week1/day1/lesson.py"),
    ("in C:\\course", "a path of this machine: in C:\\course"),
])  # fmt: skip
def test_a_transcript_must_be_fit_to_be_read(line, fault):
    assert golden.faults_of(f"$ pytest week1/day1\n{line}\n\nexit code 1\n") == [fault]


def test_a_transcript_has_at_most_25_lines():
    assert golden.faults_of("$ pytest\n" + "week1/day1/x.py and 3 / 4\n" * 26 + "\nexit code 1\n") == [
        "26 lines; at most 25"
    ]


def test_a_transcript_that_changed_shows_where(monkeypatch, tmp_path):
    transcript = golden.Transcript("stub", None, ())
    monkeypatch.setattr(golden.Transcript, "run", lambda self, root: "$ pytest\nred\nexit code 1\n")
    verdict = golden.check(transcript, tmp_path, tmp_path)
    assert verdict.detail == "there is no stub.txt yet; run: python -m tools.selfcheck.golden --write"
    (tmp_path / "stub.txt").write_text("$ pytest\ngreen\nexit code 1\n")
    verdict = golden.check(transcript, tmp_path, tmp_path)
    assert "-green" in verdict.detail and "+red" in verdict.detail
    (tmp_path / "stub.txt").write_text("$ pytest\nred\nexit code 1\n")
    assert golden.check(transcript, tmp_path, tmp_path).passed
