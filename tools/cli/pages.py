"""course pages: every page, or part of one, that is made of the course's files, written where it is out of date.

One list says which there are; a test holds each page against what this would write.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from tools.bench import journey, page
from tools.check import counter_page
from tools.cli import complain
from tools.course.content import glossary, reach_page, reading, week_pages
from tools.course.content.week_file import weeks

Maker = Callable[[str, Path], str]  # the page as it is, and the root -> the page as it should be

MAKERS: dict[str, Maker] = {
    week_pages.README: week_pages.course_page,
    glossary.FILE: glossary.page,
    reading.FILE: lambda text, root: reading.text(root),
    counter_page.FILE: lambda text, root: counter_page.text(),
    page.FILE: lambda text, root: page.text(root),
    reach_page.FILE: lambda text, root: reach_page.text(),
}


def run(root: Path) -> int:
    """Write what is out of date, and name it. Returns an exit code: 2 where there are no solutions to count with."""
    if not (root / "reference").is_dir():
        return complain("This is the learners' edition: it has no reference/, whose figures some pages hold.")
    changed = list(stale(root))
    for path, text in changed:
        (root / path).write_text(text, encoding="utf-8")
    print(*([f"{path}: written" for path, _ in changed] or ["Every page is as it should be."]), sep="\n")
    return 0


def stale(root: Path) -> Iterator[tuple[str, str]]:
    """Path and text as it should be of each page that says something else. Raises BrokenCourseFile."""
    for path in paths(root):
        file = root / path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if (wanted := made(path, text, root)) != text:
            yield path, wanted


def paths(root: Path) -> list[str]:
    """The pages that are made, relative to the root. Raises BrokenCourseFile."""
    return [*MAKERS, *(f"{week.name}/{week_pages.README}" for week in weeks(root))]


def made(path: str, text: str, root: Path) -> str:
    """One of `paths` as it should be. Raises BrokenCourseFile."""
    if path in MAKERS:
        return MAKERS[path](text, root)
    [week] = (week for week in weeks(root) if path == f"{week.name}/{week_pages.README}")
    return journey.page(week, week_pages.week_page(week, text), root)
