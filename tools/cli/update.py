"""course update: the course's new material, merged; what the learner wrote stays."""

from pathlib import Path

from tools.cli import complain, say, stopped, whats_next
from tools.course.content.catalogue import BrokenCourseFile
from tools.course.versions.git import MAIN_LINES, GitProblem
from tools.course.versions.update import Report, update
from tools.words import quantity

SHOWN = 8  # files of each sort; the others are counted


def run(source: str | None, root: Path) -> int:
    """Take in what is new. Returns the exit code: 2 when that could not be done, and then nothing has changed."""
    try:
        report = update(root, source)
    except GitProblem as problem:
        return complain(f"{problem}\nNothing has changed.")
    except OSError as error:
        return complain(f"{error.strerror}: {error.filename}\nNothing has changed.")
    except KeyboardInterrupt:
        return stopped("\nStopped. Nothing has changed.")
    _print(report)
    _print_next(root)
    return 0


def _print(report: Report) -> None:
    where = f"{report.source}, {report.commit[:10]} of {report.date}"
    for note in report.warnings:
        say(note)
    if not report.changed:
        say(f"Nothing new: you have all of {where}.")
        if report.source == MAIN_LINES[-1]:
            say(
                "git knows no remote upstream or origin here, so this looked at your own branch. To name the course, "
                "once: git remote add upstream URL"
            )
        return
    print(f"From {where}.")
    if report.kept:
        say(f"What you had not committed is now in commit {report.before[:10]}.")
    _files("New or changed", report.arrived)
    _files("Joined with your changes", report.joined)
    _files("Gone from the course", report.left)
    if report.notes:
        print("\nTo look at")
        for note in report.notes:
            say(note, "  ", "    ")
    print(f"\nTo undo all of it: git reset --hard {report.before[:10]}")


def _files(title: str, paths: list[str]) -> None:
    if paths:
        print(f"\n{title}: {quantity(len(paths), 'file')}")
        print(*(f"  {path}" for path in paths[:SHOWN]), sep="\n")
        if len(paths) > SHOWN:
            print(f"  and {len(paths) - SHOWN} more")


def _print_next(root: Path) -> None:
    """An update may bring a day that breaks a rule; the update itself is done."""
    try:
        print(whats_next(root))
    except BrokenCourseFile as problem:
        complain(problem)
