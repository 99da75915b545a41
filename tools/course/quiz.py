"""Quiz questions: what to choose from, what an answer is worth, where the score leads."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from tools.course.catalogue import Unit
from tools.course.day_file import Choice, Question, Recommendation


class NotAnAnswer(ValueError):
    """Neither right nor wrong: str() says in one line what an answer looks like."""


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and the reason: of the choice taken, or of the number."""

    right: bool
    why: str


def letters(question: Question) -> dict[str, Choice]:
    """The choices in the order written, by the letter that takes each; empty where a number is asked."""
    return dict(zip(ascii_lowercase, question.choices, strict=False))


def judge(question: Question, answer: str) -> Verdict:
    """A letter takes a choice; a number must be equal, however written (896, 8.96e2). Raises NotAnAnswer."""
    answer = answer.strip().lower()
    if not question.choices:
        return Verdict(_number(answer) == question.number, question.why)
    choices = letters(question)
    if answer not in choices:
        raise NotAnAnswer(f"Answer with one letter, a to {max(choices)}, or q to stop.")
    return Verdict(choices[answer].right, choices[answer].why)


def _number(answer: str) -> int | float:
    for kind in (int, float):  # int first: it is exact at any size
        try:
            return kind(answer)
        except ValueError:
            continue
    raise NotAnAnswer("Answer with a number, such as 12, 98_432 or 0.5, or q to stop.")


def missed_topics(unit: Unit, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Topics of the questions answered wrongly, each with the name of the unit that teaches it."""
    answered = zip(unit.quiz, verdicts, strict=False)  # a learner may stop early
    missed = (question.topic for question, verdict in answered if not verdict.right and question.topic)
    return {topic: unit.topics[topic] for topic in missed}


def recommendation(unit: Unit, verdicts: Sequence[Verdict]) -> Recommendation | None:
    """The entry with the highest bar that the score clears; None where the unit recommends nothing."""
    score = sum(verdict.right for verdict in verdicts)
    return next((entry for entry in unit.recommend if entry.at_least <= score), None)
