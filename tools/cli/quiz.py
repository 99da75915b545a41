"""course quiz DAY: one question at a time, and the reason at once. Reads a terminal or a pipe; q stops."""

import sys
import textwrap
from pathlib import Path

from rich.console import Console

from tools.cli import complain, console
from tools.course import catalogue
from tools.course.catalogue import BrokenCourseFile, NoSuchUnit, Question, Unit
from tools.course.quiz import NotAnAnswer, Verdict, judge, letters, missed_topics, recommendation

MARGIN = "    "  # numbers of questions stand in it, all else to the right of it


def run(day: str, root: Path) -> int:
    """Put every question of `day`. Returns the exit code: 2 when it has no quiz."""
    try:
        unit = catalogue.unit(day, root)
    except (NoSuchUnit, BrokenCourseFile) as error:
        return complain(error)
    if not unit.quiz:
        return complain(f"{unit.name} has no quiz. To work it: ./course {unit.name}")
    page = console()
    _say(page, f"{unit.title}: {_count(len(unit.quiz), 'question')}, q to stop")
    verdicts = _put_all(page, unit)
    _print_score(page, unit, verdicts)
    if len(verdicts) == len(unit.quiz):
        _print_advice(page, unit, verdicts)
    return 0


def _put_all(page: Console, unit: Unit) -> list[Verdict]:
    """The verdicts on the questions that the learner answered before stopping."""
    verdicts = []
    for number, question in enumerate(unit.quiz, start=1):
        page.print()
        _say(page, question.question, lead=f"{number:<{len(MARGIN)}}", style="bold")
        for letter, choice in letters(question).items():
            _say(page, choice.text, lead=f"{MARGIN}{letter}  ")
        verdict = _answer(page, question)
        if verdict is None:
            break
        word, style = ("Right.", "green") if verdict.right else ("No.", "red")
        _say(page, f"{word} {verdict.why}", lead=MARGIN, style=style)
        verdicts.append(verdict)
    return verdicts


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
            _say(page, str(error), lead=MARGIN)


def _print_score(page: Console, unit: Unit, verdicts: list[Verdict]) -> None:
    left = len(unit.quiz) - len(verdicts)
    score = f"{sum(verdict.right for verdict in verdicts)} of {len(verdicts)} right"
    page.print()
    _say(page, f"{score}, {_count(left, 'question')} left." if left else f"{score}.", style="bold")
    for number, verdict in enumerate(verdicts, start=1):
        if not verdict.right:
            _say(page, verdict.why, lead=f"{number:<{len(MARGIN)}}")


def _print_advice(page: Console, unit: Unit, verdicts: list[Verdict]) -> None:
    advice = recommendation(unit, verdicts)
    if advice is None:
        return
    page.print()
    for topic, name in missed_topics(unit, verdicts).items():
        _say(page, f"To look at: {topic}, which {name} teaches.")
    _say(page, f"Start with {advice.start}. Your track: {advice.track}.", style="bold")
    _say(page, advice.words)


def _say(page: Console, text: str, lead: str = "", style: str = "") -> None:
    """Print text after `lead`, each line of it wrapped to begin where the text began."""
    indent = " " * len(lead)
    for line in text.strip("\n").split("\n"):
        indents = {"initial_indent": lead, "subsequent_indent": indent}
        page.print(textwrap.fill(line, page.width, **indents, break_on_hyphens=False), style=style)
        lead = indent


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
