"""course report: the learner's month as one HTML file. It publishes nothing; --publish says how to."""

from datetime import date
from pathlib import Path

from tools.cli import complain, console, files, say
from tools.course.learner import portfolio
from tools.course.versions.remote import web_address
from tools.words import quantity


def run(root: Path, output: Path = Path("report.html"), publish: bool = False) -> int:
    """Write the page. Returns the exit code. Raises NotWritten, BrokenCourseFile."""
    from tools.report import page
    from tools.report import publish as publishing

    month = portfolio.gather(root)
    files.write(output, page(month, date.today()), root)
    out = console()
    units = quantity(len(month.sections), "unit")
    out.print(f"{output}: {units} with something to show, one file without outside parts.", soft_wrap=True)
    if not month.name:
        say("It names nobody: ./course start NAME makes a branch learner/NAME, and the page bears that name.")
    if publish:
        print(publishing.recipe(output, web_address(root)))
    else:
        out.print("To put it on the web: ./course report --publish")
    if month.warning:
        complain(month.warning)
    return 0
