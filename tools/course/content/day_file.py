"""The file day.toml, read strictly: what a learner would stumble over is refused here, in one line."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.course.content.strict import BrokenCourseFile, Fault, Kinds, read_toml, table
from tools.words import quantity

STEPS = ("Challenge", "Explore", "Concept", "Code it", "Verify")
STAGES = ("correctness", "edge", "nonfinite", "tolerance", "counters", "compiled", "speed")
TRACKS = ("quick", "standard", "half an hour a day")
RUNGS = 3  # of the ladder of hints that each task has
UNIT_NAME = re.compile(r"week\d+/(day\d+|katas/[a-z][a-z0-9_]*)")


@dataclass(frozen=True)
class Choice:
    """One answer to choose from, and the reason that makes it true or false."""

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """Answered by a number (`number` and `why`), or by one of `choices`, each of which has its own `why`."""

    question: str
    number: int | float | None = None
    why: str = ""
    choices: tuple[Choice, ...] = ()
    topic: str | None = None  # a key of Unit.topics


@dataclass(frozen=True)
class Reading:
    """Further reading for one of the five steps."""

    step: str
    title: str
    author: str
    why: str


@dataclass(frozen=True)
class Recommendation:
    """The start and the pace for a learner who got `at_least` questions of the quiz right."""

    at_least: int
    start: str
    track: str
    words: str


def read(path: Path, root: Path) -> dict:
    """The fields of catalogue.Unit that a day.toml fills, task_kinds and repairs. Raises BrokenCourseFile."""
    try:
        return _day(read_toml(path, root))
    except Fault as fault:
        raise BrokenCourseFile(path.relative_to(root), None, str(fault)) from None


# The rules of each table --------------------------------------------------------------------------


def _day(raw: dict) -> dict:
    required: Kinds = {"title": str, "minutes": int}
    lists: Kinds = dict.fromkeys(("needs", "concepts", "in_passing", "quiz", "reading", "recommend"), list)
    tables: Kinds = dict.fromkeys(("points", "hints", "topics", "task_kinds", "repairs"), dict)
    day = table(raw, "", required, {"sittings": int, **lists, **tables})
    kinds = dict(_kind(task, kind) for task, kind in day.get("task_kinds", {}).items())
    topics = {topic: _unit_name(name, f"topics: {topic}") for topic, name in day.get("topics", {}).items()}
    quiz = _each(_question, "quiz", day, topics)
    return {
        "title": day["title"],
        "minutes": at_least_one("minutes", day["minutes"]),
        "sittings": at_least_one("sittings", day.get("sittings", 1)),
        "needs": tuple(_unit_name(name, "needs") for name in day.get("needs", [])),
        "concepts": texts(day.get("concepts", []), "concepts"),
        "in_passing": texts(day.get("in_passing", []), "in_passing"),
        "points": dict(_points(stage, value) for stage, value in day.get("points", {}).items()),
        "hints": dict(_ladder(task, rungs) for task, rungs in day.get("hints", {}).items()),
        "quiz": quiz,
        "reading": _each(_reading, "reading", day),
        "topics": topics,
        "recommend": _recommendations(_each(_recommendation, "recommend", day), len(quiz)),
        "task_kinds": kinds,
        "repairs": dict(_repairs(task, names, kinds) for task, names in day.get("repairs", {}).items()),
    }


def at_least_one(key: str, value: int) -> int:
    if value < 1:
        raise Fault(f"{key} must be at least 1")
    return value


def _each(rule: Callable[..., Any], key: str, day: dict, *more: Any) -> tuple:
    return tuple(rule(raw, f"{key} {number}", *more) for number, raw in enumerate(day.get(key, []), start=1))


def _question(raw: object, where: str, topics: dict) -> Question:
    optional = {"number": float, "why": str, "choices": list, "topic": str}
    fields = table(raw, f"{where}: ", {"question": str}, optional)
    if ("number" in fields) == ("choices" in fields):
        raise Fault(f"{where} needs either number or choices")
    if "number" in fields and not fields.get("why"):
        raise Fault(f"{where} has no why")
    if "choices" in fields and "why" in fields:
        raise Fault(f"{where}: why belongs to each choice")
    if "topic" in fields and fields["topic"] not in topics:
        raise Fault(f"{where}: the table topics does not say which day teaches {fields['topic']!r}")
    if "choices" in fields:
        fields = fields | {"choices": _choices(fields["choices"], where)}
    return Question(**fields)


def _choices(raw: list, where: str) -> tuple[Choice, ...]:
    choices = tuple(_choice(choice, f"{where}: choice {n}") for n, choice in enumerate(raw, start=1))
    right = sum(choice.right for choice in choices)
    if right != 1:
        raise Fault(f"{where} has {right or 'no'} right choice{'s' if right else ''}")
    return choices


def _choice(raw: object, where: str) -> Choice:
    if isinstance(raw, dict) and not raw.get("why"):
        raise Fault(f"{where} has no why")
    return Choice(**table(raw, f"{where}: ", {"text": str, "why": str}, {"right": bool}))


def _reading(raw: object, where: str) -> Reading:
    required: Kinds = dict.fromkeys(("step", "title", "author", "why"), str)
    reading = Reading(**table(raw, f"{where}: ", required, {}))
    one_of(reading.step, STEPS, f"{where}: step")
    return reading


def _recommendation(raw: object, where: str) -> Recommendation:
    required = {"at_least": int, "start": str, "track": str, "words": str}
    recommendation = Recommendation(**table(raw, f"{where}: ", required, {}))
    _unit_name(recommendation.start, f"{where}: start")
    one_of(recommendation.track, TRACKS, f"{where}: track")
    return recommendation


def _recommendations(entries: tuple[Recommendation, ...], questions: int) -> tuple[Recommendation, ...]:
    """The entries, highest bar first. Whatever the score, one of them must fit."""
    entries = tuple(sorted(entries, key=lambda entry: entry.at_least, reverse=True))
    if entries and entries[0].at_least > questions:
        raise Fault(f"recommend: at_least = {entries[0].at_least}, but the quiz has {questions} questions")
    if entries and entries[-1].at_least != 0:
        raise Fault("recommend: no entry with at_least = 0, for a learner who gets nothing right")
    return entries


def _ladder(task: str, rungs: object) -> tuple[int, tuple[str, ...]]:
    number = _task(task, "hints")
    hints = texts(rungs, f"hints for task {number}")
    if len(hints) != RUNGS:
        raise Fault(f"task {number} has {quantity(len(hints), 'hint')}, not {RUNGS}")
    return number, hints


def _points(stage: str, value: object) -> tuple[str, int]:
    one_of(stage, STAGES, "points: stage")
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Fault(f"points: {stage} must be a whole number from 0")
    return stage, value


def _kind(task: str, kind: object) -> tuple[int, str]:
    return _task(task, "task_kinds"), one_of(kind, ("repair", "setup"), f"task_kinds: task {task}")


def _repairs(task: str, names: object, kinds: dict[int, str]) -> tuple[int, tuple[str, ...]]:
    number = _task(task, "repairs")
    if kinds.get(number) != "repair":
        raise Fault(f"repairs: task {number} is no task of repair; task_kinds says which are")
    return number, texts(names, f"repairs: task {number}")


def _task(text: str, where: str) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]*", text):
        raise Fault(f"{where}: {text!r} is not the number of a task")
    return int(text)


def texts(raw: object, where: str) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(text, str) and text.strip() for text in raw):
        raise Fault(f"{where}: must be a list of texts, none of them empty")
    return tuple(raw)


def _unit_name(raw: object, where: str) -> str:
    if not isinstance(raw, str) or not UNIT_NAME.fullmatch(raw):
        raise Fault(f"{where}: {raw!r} is not the name of a day or kata, such as 'week1/day1'")
    return raw


def one_of(value: object, allowed: tuple[str, ...], where: str) -> str:
    if value not in allowed:
        raise Fault(f"{where} is {value!r}, not one of: {', '.join(allowed)}")
    return value
