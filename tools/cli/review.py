"""course review WEEK: five questions about oneself when a week is green, and what changed since the last time."""

from datetime import datetime
from pathlib import Path

from tools.cli import complain, say
from tools.cli.asking import PROMPT, answer, ask, not_kept
from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.course.learner import diary, journal
from tools.course.learner.diary import HIGHEST, LOWEST, REVIEW
from tools.course.learner.journal import NotKept
from tools.course.learner.progress import Progress
from tools.words import quoted

ADVICE = {
    "explain": "./course note DAY asks for a day in three sentences.",
    "redo": "./course reset DAY gives you the empty page, and keeps what you wrote.",
    "predict": "./course count DAY shows what your kernels did; guess before you look.",
    "debug": "./course kata has small ones to practise on.",
    "limits": "./course quiz --review mixes questions of all that you have done.",
}


def run(week: str, root: Path) -> int:
    """Ask, keep the answers, compare. Returns the exit code: 2 when the week is not green or is none.

    Raises NotKept before anything is asked, BrokenCourseFile.
    """
    week = f"week{week}" if week.isdecimal() else week.strip("/")
    units = catalogue.units(root)
    progress = Progress.load(root)
    days = [unit for unit in units if unit.week == week and not unit.is_kata]
    if trouble := _not_green(week, days, progress) if days else _no_week(week, units):
        return complain(trouble)
    diary.check(diary.review_file(week), root)
    past = journal.read(root)
    say(f"{week}: {LOWEST} is not yet, {HIGHEST} is at any time. Then one sentence: what makes you say so?")
    answers = _ask_all()
    print()
    if not answers:
        print("Nothing was written.")
        return 0
    try:
        untold = diary.write_review(week, answers, root, datetime.now().astimezone())
    except NotKept as problem:
        return not_kept(problem, diary.review_text(answers))
    _print_scores(answers, diary.last_review(past))
    print()
    say(f"Kept in {diary.review_file(week)}. It is yours to edit.")
    if untold:
        complain(untold)
    return 0


def _no_week(week: str, units: list[Unit]) -> str:
    known = ", ".join(dict.fromkeys(unit.week for unit in units if not unit.is_kata)) or "none"
    return f"There is no week {quoted(week)} here. Weeks with days: {known}."


def _not_green(week: str, days: list[Unit], progress: Progress) -> str | None:
    """The sentence on what is missing from the week, or None."""
    waiting = [day for day in days if not progress.state(day).finished]
    if not waiting:
        return None
    names = ", ".join(day.folder.name for day in waiting)
    missing = f"{week} is not green yet: {len(waiting)} of {len(days)} days wait, {names}."
    return f"{missing}\nNext: ./course {waiting[0].name}"


def _ask_all() -> dict[str, tuple[int, str]]:
    """Score and sentence by question, as far as the learner went."""
    answers = {}
    for number, (key, question) in enumerate(REVIEW.items(), start=1):
        score = _score(f"{number}. {question}")
        if score is None:
            break
        sentence = answer()
        answers[key] = score, sentence or ""
        if sentence is None:
            break
    return answers


def _score(question: str) -> int | None:
    line = ask(question)
    while line is not None:
        if line.isdecimal() and LOWEST <= int(line) <= HIGHEST:
            return int(line)
        print(f"{' ' * len(PROMPT)}A number, please: {LOWEST} to {HIGHEST}.")
        line = answer()
    return None


def _print_scores(answers: dict[str, tuple[int, str]], last: tuple[str, datetime, dict[str, int]] | None) -> None:
    """A line for each question, with the last review's score beside it, and what to do about the lowest."""
    before = last[2] if last else {}
    if last:
        print(f"{'':<10}{last[0]:>8}{'now':>6}   ({last[0]}: {last[1].astimezone():%Y-%m-%d})")
    for key, (score, _) in answers.items():
        known = before.get(key)
        old = f"{'-' if known is None else known:>8}" if last else ""
        change = f"{score - known:>+6}" if known is not None and score != known else ""
        print(f"  {key:<8}{old}{score:>6}{change}")
    lowest = min(answers, key=lambda key: answers[key][0])
    if answers[lowest][0] < HIGHEST:
        print()
        say(f"Lowest: {lowest}. {ADVICE[lowest]}")
