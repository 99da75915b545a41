"""course quiz [DAY]: one question at a time, and the reason at once. Reads a terminal or a pipe; q stops.

--review mixes in what was missed and earlier days' questions; --interview gives its reasons at the end only.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tools.cli import chosen, complain, console, keep, say
from tools.course.content import catalogue, quiz
from tools.course.content.catalogue import Question, Unit
from tools.course.content.quiz import DAY, INTERVIEW, REVIEW, Asked, NotAnAnswer, Verdict, judge, letters
from tools.course.learner import journal, quizzes
from tools.course.learner.journal import Journal
from tools.course.learner.progress import Plan, Progress
from tools.course.learner.quizzes import NoQuestions
from tools.words import quantity

MARGIN = "    "  # numbers of questions stand in it, all else to the right of it


def run(day: str | None, root: Path, review: bool = False, interview: bool = False) -> int:
    """Put the questions. Returns the exit code: 2 when there are none, or the options exclude each other."""
    if interview and (review or day):
        other = "--review" if review else day
        return complain(f"--interview asks about all that you have done: leave {other} out.")
    mode = INTERVIEW if interview else REVIEW if review else DAY
    past = journal.read(root)
    try:
        unit, asked = _questions(mode, day, root, past)
    except NoQuestions as error:
        return complain(error)
    page = console()
    say(f"{_title(mode, unit, asked)}: {quantity(len(asked), 'question')}, q to stop", page=page)
    verdicts = _put_all(page, mode, unit, asked)
    _print_score(page, mode, asked, verdicts)
    if mode == DAY and len(verdicts) == len(asked):
        _print_advice(page, unit, verdicts, root)
    if verdicts:
        keep(journal.QUIZ, unit, quizzes.facts(mode, asked, verdicts, quizzes.missed(past)))
    return 0


def _title(mode: str, unit: Unit, asked: Sequence[Asked]) -> str:
    if mode == INTERVIEW:
        return "Interview"
    mixed = any(one.unit.name != unit.name for one in asked)
    return f"{unit.title}, and what came before" if mixed else unit.title


def _questions(mode: str, day: str | None, root: Path, past: Journal) -> tuple[Unit, list[Asked]]:
    """The unit that the journal will name, and the questions to put. Raises NoQuestions."""
    if mode == INTERVIEW:
        return quizzes.interview(catalogue.units(root), Progress.load(root))
    unit = chosen(day, root)
    if mode == DAY:
        return unit, quizzes.of_day(unit)
    return unit, quizzes.review(unit, catalogue.units(root), Progress.load(root), past)


# Asking -------------------------------------------------------------------------------------------


def _put_all(page: Console, mode: str, unit: Unit, asked: Sequence[Asked]) -> list[Verdict]:
    """The verdicts on the questions that the learner answered before stopping."""
    verdicts = []
    for number, one in enumerate(asked, start=1):
        question = one.question
        page.print()
        say(question.question, lead=f"{number:<{len(MARGIN)}}", style="bold", page=page)
        if mode == REVIEW and one.unit.name != unit.name:
            say(f"({one.unit.name})", lead=MARGIN, page=page)
        for letter, choice in letters(question).items():
            say(choice.text, lead=f"{MARGIN}{letter}  ", page=page)
        verdict = _answer(page, question)
        if verdict is None:
            break
        if mode != INTERVIEW:
            _print_verdict(page, verdict)
        verdicts.append(verdict)
    return verdicts


def _print_verdict(page: Console, verdict: Verdict) -> None:
    first, *right_one = str(verdict).split("\n")
    say(first, lead=MARGIN, style="green" if verdict.right else "red", page=page)
    for line in right_one:
        say(line, lead=MARGIN, page=page)


def _answer(page: Console, question: Question) -> Verdict | None:
    """The verdict on the first line that is an answer; None when the learner stops or the input ends."""
    while True:
        try:
            line = input(f"{MARGIN}> ").strip()
        except (EOFError, KeyboardInterrupt):
            page.print()
            return None
        if not sys.stdin.isatty():
            page.print(line)  # a terminal shows what is typed, a pipe does not
        if line.lower() == "q":
            return None
        try:
            return judge(question, line)
        except NotAnAnswer as error:
            say(f"{error}, or q to stop.", lead=MARGIN, page=page)


# Afterwards ---------------------------------------------------------------------------------------


def _print_score(page: Console, mode: str, asked: Sequence[Asked], verdicts: list[Verdict]) -> None:
    left = len(asked) - len(verdicts)
    score = f"{sum(verdict.right for verdict in verdicts)} of {len(verdicts)} right"
    page.print()
    say(f"{score}, {quantity(left, 'question')} left." if left else f"{score}.", style="bold", page=page)
    if mode == INTERVIEW:
        return _print_interview(page, asked, verdicts)
    for number, verdict in enumerate(verdicts, start=1):
        if not verdict.right:
            say(verdict.instead or verdict.why, lead=f"{number:<{len(MARGIN)}}", page=page)


def _print_interview(page: Console, asked: Sequence[Asked], verdicts: list[Verdict]) -> None:
    """Every reason, then the score by topic."""
    for number, (one, verdict) in enumerate(zip(asked, verdicts, strict=False), start=1):
        page.print()
        say(one.question.question, lead=f"{number:<{len(MARGIN)}}", page=page)
        say(verdict.taken, lead=f"{MARGIN}> ", page=page)
        _print_verdict(page, verdict)
    page.print()
    for topic, (right, of) in quiz.by_topic(asked, verdicts).items():
        say(f"{right} of {of}  {topic}", page=page)


def _print_advice(page: Console, unit: Unit, verdicts: list[Verdict], root: Path) -> None:
    known = catalogue.names(root)
    advice = quiz.recommendation(unit, verdicts, known)
    if advice is None:
        return
    page.print()
    for topic, name in quiz.missed_topics(unit, verdicts).items():
        taught = f"which {name} teaches" if name in known else "which no day here teaches yet"
        say(f"To look at: {topic}, {taught}.", page=page)
    say(f"Start with {advice.start}. Your track: {advice.track}.", style="bold", page=page)
    say(advice.words, page=page)
    progress = Progress.load(root)
    progress.follow(Plan(advice.start, advice.track))
    if progress.warning:
        complain(progress.warning)
