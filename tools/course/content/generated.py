"""The parts of pages that are made of the course's files: each lies between two marks, the rest is written by hand.

<!-- units -->
...
<!-- end of units -->
"""

from pathlib import Path

from tools.course.content.strict import BrokenCourseFile


def filled(page: str, mark: str, text: str, path: str) -> str:
    """The page with `text` between the marks of that name. Raises BrokenCourseFile where it has not one pair of them.

    path: of the page, relative to the course, for the error.
    """
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed) or begin in rest:
        raise BrokenCourseFile(Path(path), None, f"must hold one line {begin.strip()} and one line {end} after it")
    return f"{before}{begin}{text}{end}{after}"
