"""Tables of weeks and units, for README.md and the README of each week, made of week.toml and day.toml."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tools import ROOT
from tools.course.content.generated import filled
from tools.course.content.week_file import Entry, Week, weeks
from tools.words import quantity

README = "README.md"
KATAS = "\nKatas, one idea each, whenever it suits (`./course kata` names one that is due):\n\n"


def course_page(page: str, root: Path = ROOT) -> str:
    """README.md with a row for each week. Raises BrokenCourseFile."""
    return filled(page, "weeks", "".join(f"{line}\n" for line in _weeks(weeks(root))), README)


def week_page(week: Week, page: str) -> str:
    """The README of a week with its title, and a row for each unit. Raises BrokenCourseFile."""
    page = f"# {week.heading}\n{page.partition(chr(10))[2]}"
    return filled(page, "units", _units(week), f"{week.name}/{README}")


def _weeks(all_weeks: Sequence[Week]) -> Iterator[str]:
    yield "| week | | days | katas | hours |"
    yield "|---|---|---:|---:|---:|"
    for week in all_weeks:
        katas = sum(entry.unit.is_kata for entry in week.entries)
        hours = round(sum(entry.unit.minutes for entry in week.entries) / 60)
        title = f"[{week.heading}]({week.name}/{README})"
        yield f"| {title} | {week.aim} | {len(week.entries) - katas} | {katas} | {hours} |"


def _units(week: Week) -> str:
    days = [_day(entry) for entry in week.entries if not entry.unit.is_kata]
    katas = [_kata(entry) for entry in week.entries if entry.unit.is_kata]
    text = _table("| day | | minutes | you write |", "|---|---|---:|---|", days)
    return text + (KATAS + _table("| kata | minutes | you write |", "|---|---:|---|", katas) if katas else "")


def _table(*lines: str | Sequence[str]) -> str:
    *head, rows = lines
    return "".join(f"{line}\n" for line in (*head, *rows))


def _day(entry: Entry) -> str:
    unit = entry.unit
    title = f"{unit.title} ({entry.written_in})" if entry.written_in else unit.title
    return f"| {_link(entry, unit.folder.name.removeprefix('day'))} | {title} | {_minutes(entry)} | {entry.writes} |"


def _kata(entry: Entry) -> str:
    return f"| {_link(entry, entry.unit.folder.name)} | {_minutes(entry)} | {entry.writes} |"


def _link(entry: Entry, words: str) -> str:
    unit = entry.unit
    return f"[{words}]({unit.name.removeprefix(unit.week + '/')}/{unit.lesson.name})"


def _minutes(entry: Entry) -> str:
    unit = entry.unit
    return f"{unit.minutes}, {quantity(unit.sittings, 'sitting')}" if unit.sittings > 1 else str(unit.minutes)
