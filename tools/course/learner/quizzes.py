"""The learner's quizzes: which questions are put, and what the journal keeps of the answers."""

from collections.abc import Iterable, Sequence
from random import Random

from tools.course.content import quiz
from tools.course.content.catalogue import Unit
from tools.course.content.quiz import Asked, Verdict
from tools.course.learner.journal import QUIZ, Entry, Journal
from tools.course.learner.progress import OPEN, Progress


class NoQuestions(LookupError):
    """There is no question to put; str() says what to do."""


def of_day(unit: Unit) -> list[Asked]:
    """The quiz of a unit. Raises NoQuestions."""
    if not unit.quiz:
        raise NoQuestions(f"{unit.name} has no quiz. To work it: ./course {unit.name}")
    return quiz.all_of(unit)


def interview(units: Sequence[Unit], progress: Progress) -> tuple[Unit, list[Asked]]:
    """Questions about all units that are done, and the last of these. Raises NoQuestions."""
    done = [unit for unit in units if progress.state(unit).finished]
    asked = quiz.interview(done, Random())
    if not asked:
        raise NoQuestions("No day is done yet, so there is nothing to ask about.\nWhat is next: ./course next")
    return done[-1], asked


def review(unit: Unit, units: Sequence[Unit], progress: Progress, past: Journal) -> list[Asked]:
    """The quiz of a unit with questions of others that were begun, those missed before first. Raises NoQuestions."""
    quizzed = {entry.unit for entry in past.of(QUIZ)}
    begun = [
        other
        for other in units
        if other.name != unit.name and (other.name in quizzed or progress.state(other).overall != OPEN)
    ]
    asked = quiz.review(unit, begun, missed(past), Random())
    if not asked:
        raise NoQuestions(f"{unit.name} has no quiz, and no other day is begun.\nWhat is next: ./course next")
    return asked


# In the journal -----------------------------------------------------------------------------------


def facts(mode: str, asked: Sequence[Asked], verdicts: Sequence[Verdict], missed_texts: Sequence[str]) -> dict:
    """The facts that the journal keeps of a quiz. missed_texts: what was missed before and not mended until now."""
    answered = [(one.question.question, verdict.right) for one, verdict in zip(asked, verdicts, strict=False)]
    return {
        "mode": mode,
        "right": sum(right for _, right in answered),
        "asked": len(answered),
        "missed": [text for text, right in answered if not right],
        "mended": [text for text, right in answered if right and text in missed_texts],
    }


def missed(entries: Iterable[Entry]) -> list[str]:
    """The texts of questions answered wrongly and not rightly since, the newest miss first."""
    open_ones: dict[str, None] = {}
    for entry in entries:
        if entry.kind != QUIZ:
            continue
        for text in (*_texts(entry, "missed"), *_texts(entry, "mended")):
            open_ones.pop(text, None)
        open_ones.update(dict.fromkeys(_texts(entry, "missed")))
    return list(open_ones)[::-1]


def _texts(entry: Entry, fact: str) -> list[str]:
    """A journal can be edited by hand: what is no list of texts is none."""
    value = entry.facts.get(fact)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
