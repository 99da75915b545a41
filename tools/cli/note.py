"""course note [DAY]: the learning log. Three questions, and a page of the learner's own in journal/."""

from datetime import datetime
from pathlib import Path

from tools.cli import chosen, complain, say
from tools.cli.asking import ask, not_kept
from tools.course.learner import diary
from tools.course.learner.journal import NotKept


def run(day: str | None, root: Path) -> int:
    """Ask, and add the answers to the day's page. Returns the exit code: 2 when they cannot be kept.

    Raises NotKept before anything is asked, NoSuchUnit, BrokenCourseFile.
    """
    unit = chosen(day, root)
    page = diary.note_file(unit.name)
    diary.check(page, root)
    below = ", below what was there" if (root / page).exists() else ""
    print(f"{unit.name}  {unit.title}")
    say("One line for each answer; an empty one leaves it out.")
    answers = {}
    for key, question in diary.NOTE.items():
        line = ask(question)
        if line is None:
            break
        answers[key] = line
    print()
    if not any(answers.values()):
        print("Nothing was written.")
        return 0
    try:
        untold = diary.write_note(unit.name, unit.title, answers, root, datetime.now().astimezone())
    except NotKept as problem:
        return not_kept(problem, diary.note_text(answers))
    say(f"Kept in {page}{below}. It is yours to edit.")
    if untold:
        complain(untold)
    return 0
