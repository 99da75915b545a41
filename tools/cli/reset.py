"""course reset DAY: the day's stub back as it was; the learner's work stays beside it."""

from datetime import datetime
from pathlib import Path

from tools.cli import complain, say
from tools.course.content import catalogue
from tools.course.versions.git import GitProblem
from tools.course.versions.reset import NotReset, reset, stub


def run(day: str, root: Path) -> int:
    """Put the stub of `day` back. Returns the exit code: 2 when that cannot be done."""
    unit = catalogue.unit(day, root)
    try:
        original = stub(unit)
        kept = reset(unit, original, datetime.now())
    except (GitProblem, NotReset) as problem:
        return complain(problem)
    lesson = unit.lesson.relative_to(root).as_posix()
    if kept is None:
        say(f"{lesson} is the stub: there is nothing to put back.")
    else:
        copy = kept.relative_to(root).as_posix()
        say(f"{lesson} is the stub of commit {original.commit[:10]}, {original.date}.")
        print(f"Your work is kept; this brings it back:\n  cp {copy} {lesson}")
    print(f"Next: ./course {unit.name}")
    return 0
