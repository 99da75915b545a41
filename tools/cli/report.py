"""course report: the learner's month as one HTML file. It publishes nothing; --publish says how to."""

import shlex
from datetime import date
from pathlib import Path

from tools.cli import complain, console, files, say
from tools.course.learner import portfolio
from tools.course.versions.remote import web_address
from tools.words import quantity

BRANCH = "gh-pages"


def run(root: Path, output: Path = Path("report.html"), publish: bool = False) -> int:
    """Write the page. Returns the exit code. Raises NotWritten, BrokenCourseFile."""
    from tools.report import page

    month = portfolio.gather(root)
    files.write(output, page(month, date.today()), root)
    out = console()
    units = quantity(len(month.sections), "unit")
    out.print(f"{output}: {units} with something to show, one file without outside parts.", soft_wrap=True)
    if not month.name:
        say("It names nobody: ./course start NAME makes a branch learner/NAME, and the page bears that name.")
    if publish:
        print(recipe(output, web_address(root)))
    else:
        out.print("To put it on the web: ./course report --publish")
    if month.warning:
        complain(month.warning)
    return 0


def recipe(output: Path, address: str | None) -> str:
    """The commands that publish the page, for a person to run; the first two for GitHub Pages, then a gist."""
    owner, _, name = (address or "").removeprefix("https://github.com/").partition("/")
    on_github = bool(address) and address.startswith("https://github.com/")
    page = f"https://{owner.lower()}.github.io/{name}/" if on_github else "https://OWNER.github.io/REPOSITORY/"
    settings = f"{address}/settings/pages" if on_github else "https://github.com/OWNER/REPOSITORY/settings/pages"
    missing = "" if on_github else "\n   (git has no remote at GitHub called origin here: make one first.)"
    file = shlex.quote(str(output))
    return f"""
Nothing was published. Read the page first: whoever has its address sees your
name, notes and code.

1. GitHub Pages, from a branch that holds nothing but the page. Your files and
   your branch stay as they are. In the folder of the course:{missing}

   blob=$(git hash-object -w {file})
   tree=$(printf '100644 blob %s\\tindex.html\\n' "$blob" | git mktree)
   commit=$(git commit-tree "$tree" -m "My month")
   git push --force origin "$commit:refs/heads/{BRANCH}"

   Once: {settings}
   Source "Deploy from a branch", branch {BRANCH}, folder / (root).
   After a minute or two it is at {page}
   The same four commands bring it up to date.

2. A gist, with GitHub's command-line tool. GitHub shows its source; a reader
   downloads it and opens it:

   gh gist create --public {file}
"""
