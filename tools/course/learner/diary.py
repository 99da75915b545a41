"""The learner's own pages: one for each day, one for each week, added to and never rewritten."""

import os
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from tools.course.learner import journal
from tools.course.learner.journal import FOLDER, Journal, NotKept

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
ROOM = 1 << 16  # bytes that must be free, far more than answers take


def note_file(unit: str) -> str:
    """The page of a unit, relative to the root."""
    return f"{FOLDER}/{unit}.md"


def review_file(week: str) -> str:
    return f"{FOLDER}/{week}/review.md"


def check(name: str, root: Path) -> None:
    """Raise NotKept where a page cannot be added to: before anybody writes answers for it. Nothing is left behind."""
    file = root / name
    try:
        folder = next(place for place in file.parents if place.exists())
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b" " * ROOM)
            probe.flush()
            os.fsync(probe.fileno())
        if file.exists():
            open(file, "r+b").close()
    except OSError as error:
        raise NotKept(f"{name} cannot be written ({error.strerror}).") from None


def note_text(answers: Mapping[str, str]) -> str:
    """Answers, by the keys of NOTE, as they stand on a unit's page."""
    return "\n\n".join(f"**{key}.** {answers[key]}" for key in NOTE if answers.get(key))


def write_note(unit: str, title: str, answers: Mapping[str, str], root: Path, now: datetime) -> str | None:
    """Add answers to the unit's page. Raises NotKept; returns why the journal could not be told, if so."""
    _append(root, note_file(unit), f"{unit}: {title}", note_text(answers), now)
    return _tell(journal.NOTE, unit, {"answers": sum(map(bool, answers.values()))}, root, now)


def review_text(answers: Mapping[str, tuple[int, str]]) -> str:
    """Scores and sentences, by the keys of REVIEW, as they stand on a week's page."""
    return "\n".join(
        f"- {REVIEW[key]} **{score}**{f' {sentence}' if sentence else ''}" for key, (score, sentence) in answers.items()
    )


def write_review(week: str, answers: Mapping[str, tuple[int, str]], root: Path, now: datetime) -> str | None:
    """Add scores and sentences to the week's page; as write_note."""
    _append(root, review_file(week), f"{week}: review", review_text(answers), now)
    facts = {key: {"score": score, "sentence": sentence} for key, (score, sentence) in answers.items()}
    return _tell(journal.REVIEW, week, {"answers": facts}, root, now)


def _tell(kind: str, unit: str, facts: dict, root: Path, now: datetime) -> str | None:
    try:
        journal.add(kind, unit, facts, root, now)
    except NotKept as problem:
        return str(problem)
    return None


def last_review(past: Journal) -> tuple[str, datetime, dict[str, int]] | None:
    """Week, time and scores of the newest review that the journal knows."""
    for entry in reversed(past.of(journal.REVIEW)):
        answers = entry.facts.get("answers")
        scores = {key: known["score"] for key in REVIEW if isinstance(answers, dict)
                  and isinstance(known := answers.get(key), dict) and type(known.get("score")) is int}  # fmt: skip
        if scores:
            return entry.unit, entry.when, scores
    return None


def _append(root: Path, name: str, title: str, text: str, now: datetime) -> None:
    """Add a section under today's date, all of it or nothing; what is there stays, to the last byte."""
    file = root / name
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_bytes() if file.exists() else b""
        lead = "" if before.endswith(b"\n") else "\n" if before else f"# {title}\n"
        section = f"{lead}\n## {now:%Y-%m-%d}\n\n{text}\n"
        try:
            with open(file, "ab") as page:
                page.write(section.encode("utf-8", "replace"))
        except OSError:
            if file.exists():
                os.truncate(file, len(before))
            raise
    except OSError as error:
        raise NotKept(f"{name} cannot be written ({error.strerror}).") from None
