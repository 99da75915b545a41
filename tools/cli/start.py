"""course start NAME: a git branch of the learner's own, learner/NAME, made or taken up again."""

from pathlib import Path

from tools.cli import complain, say, whats_next
from tools.course.versions import branch
from tools.course.versions.git import GitProblem, Repository

ADVICE = (
    'To keep your work: git add -A && git commit -m "what I did"',
    "journal/ is kept with it; .course/ stays on this machine.",
)


def run(name: str, root: Path) -> int:
    """Switch to learner/NAME. Returns the exit code: 2 when git cannot."""
    try:
        switched = branch.switch(Repository(root), branch.named(name))
    except GitProblem as problem:
        return complain(problem)
    for line in (switched, *ADVICE, whats_next(root)):
        say(line)
    return 0
