"""A git branch of the learner's own, learner/NAME: made, or taken up again."""

import re

from tools.course.versions.git import BRANCH, GitProblem, Repository
from tools.words import quoted

LONGEST = 40  # letters that the name of a branch may have


def named(name: str) -> str:
    """The branch of that name. Raises GitProblem for a name that git, a shell or a file system may trip over."""
    short = name.removeprefix(BRANCH)
    plain = re.sub(r"[^a-z0-9]+", "-", short.lower())[:LONGEST].strip("-") or "ada"
    if len(short) > LONGEST:
        raise GitProblem(
            f"{quoted(name)} is longer than the {LONGEST} letters that a branch may have here:\n./course start {plain}"
        )
    if re.fullmatch(r"[A-Za-z0-9](?!.*\.\.)([\w.-]*[\w-])?", short, re.ASCII) and not short.endswith(".lock"):
        return BRANCH + short
    raise GitProblem(f"{name!r} cannot be the name of a branch. Letters, digits, - and _ can:\n./course start {plain}")


def switch(repository: Repository, branch: str) -> str:
    """Make or take up the branch, uncommitted changes and all; says which. Raises GitProblem."""
    if not repository.commit_of("HEAD"):
        raise GitProblem("This repository has no commit yet. First: git add -A && git commit -m 'the course'")
    before = repository.branch()
    if before == branch:
        return f"You are on {branch} already."
    repository.refuse_if_busy()
    if repository.commit_of(f"refs/heads/{BRANCH.rstrip('/')}"):
        raise GitProblem(
            f"A branch called learner is in the way of {branch}.\nFirst: git branch -m learner old-learner"
        )
    if repository.commit_of(f"refs/heads/{branch}"):
        _take_up(repository, branch)
        return f"You are on {branch} again."
    repository.run("switch", "--create", branch)
    return f"You are on {branch}, a new branch of your own, made from {before or 'where you stood'}."


def _take_up(repository: Repository, branch: str) -> None:
    try:
        repository.run("switch", branch)
    except GitProblem as problem:
        if "would be overwritten" not in str(problem):
            raise
        raise GitProblem(f"What you changed and did not commit would be overwritten on {branch}.\n"
                         f"First: git add -A && git commit -m 'work so far'") from None  # fmt: skip
