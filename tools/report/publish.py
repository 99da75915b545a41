"""Publishing the page: the commands for it, which nobody runs but the learner."""

import shlex
from pathlib import Path

BRANCH = "gh-pages"
GITHUB = "https://github.com/"


def recipe(output: Path, address: str | None) -> str:
    """The commands that publish the page, for a person to run; the first two for GitHub Pages, then a gist."""
    address = address or ""
    on_github = address.startswith(GITHUB)
    owner, _, name = address.removeprefix(GITHUB).partition("/")
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
