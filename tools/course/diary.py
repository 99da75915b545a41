"""What the learner writes about the learning: a page for each day, one for each week, added to and never rewritten."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from tools.course import journal
from tools.course.journal import FOLDER, Journal, NotKept

NOTE = {
    "What": "What is it? Say it in one sentence, as to a colleague.",
    "Why": "Why does it work, or why is it fast?",
    "When not": "When would you not use it?",
}
REVIEW = {
    "explain": "I can explain this week to a colleague, with a pencil and no screen.",
    "redo": "I can write its functions again from an empty page, without looking.",
    "predict": "I can predict the counters of a kernel before I run it.",
    "debug": "I can find out why a kernel of this kind is wrong, or slow.",
    "limits": "I know when not to use what I learned.",
}
LOWEST, HIGHEST = 1, 5


def note_file(unit: str) -> str:
    """The page of a unit, relative to the root."""
    return f"{FOLDER}/{unit}.md"


def review_file(week: str) -> str:
    return f"{FOLDER}/{week}/review.md"


def write_note(unit: str, title: str, answers: Mapping[str, str], root: Path, now: datetime) -> None:
    """Add answers, by the keys of NOTE, to the unit's page and tell the journal. Raises NotKept."""
    paragraphs = [f"**{key}.** {answers[key]}" for key in NOTE if answers.get(key)]
    _append(root, note_file(unit), f"{unit}: {title}", paragraphs, now)
    journal.add(journal.NOTE, unit, {"answers": len(paragraphs)}, root, now)


def write_review(week: str, answers: Mapping[str, tuple[int, str]], root: Path, now: datetime) -> None:
    """Add scores and sentences, by the keys of REVIEW, to the week's page and the journal. Raises NotKept."""
    lines = [f"- {REVIEW[key]} **{score}**{f' {sentence}' if sentence else ''}"
             for key, (score, sentence) in answers.items()]  # fmt: skip
    _append(root, review_file(week), f"{week}: review", ["\n".join(lines)], now)
    facts = {key: {"score": score, "sentence": sentence} for key, (score, sentence) in answers.items()}
    journal.add(journal.REVIEW, week, {"answers": facts}, root, now)


def last_review(past: Journal) -> tuple[str, datetime, dict[str, int]] | None:
    """Week, time and scores of the newest review that the journal knows."""
    for entry in reversed(past.of(journal.REVIEW)):
        answers = entry.facts.get("answers")
        scores = {key: known["score"] for key in REVIEW if isinstance(answers, dict)
                  and isinstance(known := answers.get(key), dict) and type(known.get("score")) is int}  # fmt: skip
        if scores:
            return entry.unit, entry.when, scores
    return None


def _append(root: Path, name: str, title: str, paragraphs: list[str], now: datetime) -> None:
    """Add a section under today's date; what is there stays, to the last byte."""
    file = root / name
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_bytes() if file.exists() else b""
        lead = "" if before.endswith(b"\n") else "\n" if before else f"# {title}\n"
        section = f"{lead}\n## {now:%Y-%m-%d}\n\n" + "\n\n".join(paragraphs) + "\n"
        with open(file, "ab") as page:
            page.write(section.encode("utf-8", "replace"))
    except OSError as error:
        raise NotKept(f"{name} cannot be written ({error.strerror}).") from None
