"""Quizzes as the journal keeps them: what was asked, what was missed, and what was mended since."""

from collections.abc import Iterable, Sequence

from tools.course.content.quiz import Asked, Verdict
from tools.course.learner.journal import QUIZ, Entry


def facts(mode: str, asked: Sequence[Asked], verdicts: Sequence[Verdict], missed_texts: Sequence[str]) -> dict:
    """What the journal keeps of a quiz. missed_texts: what was missed before and not mended until now."""
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
