"""The web address of the learner's copy of the course, where others find it: that of its git remote."""

import re
from pathlib import Path

from tools.course.versions.git import GitProblem, Repository

SSH = re.compile(r"(?:ssh://)?[\w.-]+@([\w.-]+)(?::\d+/|[:/])(.+)")  # git@host:owner/name, ssh://git@host:22/owner/name
WEB = re.compile(r"https?://(?:[^/@]*@)?([\w.:-]+)/(.+)")  # what stands before an @ may be a password: it is left out


def web_address(root: Path, remote: str = "origin") -> str | None:
    """https://host/owner/name, or None where the remote is missing or a folder of this machine."""
    return from_url(ask(root, "remote", "get-url", remote) or "")


def from_url(url: str) -> str | None:
    match = SSH.fullmatch(url.strip()) or WEB.fullmatch(url.strip())
    if not match:
        return None
    return f"https://{match[1]}/{match[2].rstrip('/').removesuffix('.git')}"


def pushed_branch(root: Path) -> str | None:
    """The branch of the remote that this one follows, None where it follows none."""
    upstream = ask(root, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}")
    return upstream.partition("/")[2] if upstream else None


def ask(root: Path, *arguments: str) -> str | None:
    """The output of git, without blanks around it; None where it fails, or is missing."""
    try:
        return Repository(root).text(*arguments).strip()
    except GitProblem:
        return None
