"""Quiz questions: what to choose from, what an answer is worth, where the score leads, what to ask again."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import zip_longest
from random import Random
from string import ascii_lowercase

from tools.course.content import arithmetic
from tools.course.content.catalogue import Unit
from tools.course.content.day_file import Choice, Question, Recommendation

DAY, REVIEW, INTERVIEW = "day", "review", "interview"  # modes, as the journal calls them
MIXED_IN = 5  # questions of other days in a review
ROUNDED = re.compile(r"\d*\.(\d+)")
TEN = 10  # questions of an interview


class NotAnAnswer(ValueError):
    """Neither right nor wrong: str() says in a few words what an answer looks like."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on an answer: right or wrong, and the reason of the choice taken, or of the number.

    instead: of a wrong choice, the right one with its reason. taken: what was answered.
    """

    right: bool
    why: str
    instead: str = ""
    taken: str = field(default="", compare=False)

    def __str__(self) -> str:
        """The words on the answer; the right one always, with its reason."""
        if self.right:
            return f"Right. {self.why}"
        return "\n".join(filter(None, [f"No. {self.why}", self.instead]))


def letters(question: Question) -> dict[str, Choice]:
    """The choices in the order written, by the letter that takes each; empty where a number is asked."""
    return dict(zip(ascii_lowercase, question.choices, strict=False))


def judge(question: Question, answer: str) -> Verdict:
    """A letter takes a choice; a number must be equal, however written (896, 8.96e2, 7 * 2**7). Raises NotAnAnswer."""
    answer = answer.strip().lower()
    if not question.choices:
        return _judge_number(question, answer)
    choices = letters(question)
    if answer not in choices:
        raise NotAnAnswer(f"Answer with one letter, a to {max(choices)}")
    taken = choices[answer]
    if taken.right:
        return Verdict(True, taken.why, taken=taken.text)
    letter, right = next((letter, choice) for letter, choice in choices.items() if choice.right)
    return Verdict(False, taken.why, f"Right is {letter}: {right.text}\n{right.why}", taken.text)


def _judge_number(question: Question, answer: str) -> Verdict:
    try:
        number = arithmetic.value(answer.removesuffix("%"))
    except ValueError:
        raise NotAnAnswer("Answer with a number, such as 12, 98_432, 2**20, 1/3 or 0.5") from None
    readings = [number, number / 100] if answer.endswith("%") else [number]  # 50 of a hundred, or 0.5
    wanted = Fraction(str(question.number))
    right = wanted in readings or _is_rounded(answer, wanted)
    return Verdict(right, question.why if right else f"The answer is {question.number:,}. {question.why}", taken=answer)


def _is_rounded(answer: str, wanted: Fraction) -> bool:
    """Is it the wanted number, rounded to two significant digits or more? 0.78 for 0.78125."""
    digits = ROUNDED.fullmatch(answer)
    if digits is None or len(digits[0].replace(".", "").lstrip("0")) < 2:
        return False
    return abs(Fraction(answer) - wanted) <= Fraction(1, 2 * 10 ** len(digits[1]))


def missed_topics(unit: Unit, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Topics of the questions answered wrongly, each with the name of the unit that teaches it."""
    answered = zip(unit.quiz, verdicts, strict=False)  # a learner may stop early
    missed = (question.topic for question, verdict in answered if not verdict.right and question.topic)
    return {topic: unit.topics[topic] for topic in missed}


def recommendation(unit: Unit, verdicts: Sequence[Verdict], known: Collection[str]) -> Recommendation | None:
    """The entry with the highest bar that the score clears, of those whose start is among the known units; None where
    there is none."""
    score = sum(verdict.right for verdict in verdicts)
    return next((entry for entry in unit.recommend if entry.at_least <= score and entry.start in known), None)


# Questions of several units ---------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A question, and the unit whose quiz it belongs to."""

    unit: Unit
    question: Question

    @property
    def topic(self) -> str:
        """The subject that a score is kept by: the question's topic, or else its unit's title."""
        return self.question.topic or self.unit.title


def all_of(unit: Unit) -> list[Asked]:
    """A unit's own quiz, in the order written."""
    return [Asked(unit, question) for question in unit.quiz]


def review(unit: Unit, earlier: Sequence[Unit], missed_texts: Sequence[str], rng: Random) -> list[Asked]:
    """The quiz of `unit` mixed with up to MIXED_IN questions of `earlier` units: missed ones before all others.

    A missed question that the course no longer asks is left out.
    """
    own = all_of(unit)
    own_texts = {asked.question.question for asked in own}
    bank = {
        asked.question.question: asked
        for other in earlier
        for asked in all_of(other)
        if asked.question.question not in own_texts
    }
    known = [bank.pop(text) for text in missed_texts if text in bank]
    others = rng.sample(list(bank.values()), len(bank))
    mixed = [*own, *(_shuffled(asked, rng) for asked in [*known, *others][:MIXED_IN])]
    rng.shuffle(mixed)
    return mixed


def interview(units: Sequence[Unit], rng: Random) -> list[Asked]:
    """Ten questions, spread over the units as evenly as they can be."""
    ladders = [rng.sample(all_of(unit), len(unit.quiz)) for unit in units]
    rng.shuffle(ladders)
    spread = [asked for row in zip_longest(*ladders) for asked in row if asked is not None]
    return [_shuffled(asked, rng) for asked in spread[:TEN]]


def by_topic(asked: Sequence[Asked], verdicts: Sequence[Verdict]) -> dict[str, tuple[int, int]]:
    """Right answers and all answers by topic; the weakest topic first."""
    scores: dict[str, tuple[int, int]] = {}
    for one, verdict in zip(asked, verdicts, strict=False):
        right, of = scores.get(one.topic, (0, 0))
        scores[one.topic] = (right + verdict.right, of + 1)
    return dict(sorted(scores.items(), key=lambda item: item[1][0] / item[1][1]))


def _shuffled(asked: Asked, rng: Random) -> Asked:
    """The same question, its choices in another order: nobody should know the answer by its place."""
    choices = asked.question.choices
    return replace(asked, question=replace(asked.question, choices=tuple(rng.sample(choices, len(choices)))))
