"""Questions that are answered with a line, typed or piped."""

import sys

from tools.cli import complain, say

PROMPT = "  > "


def not_kept(problem: object, text: str) -> int:
    """Say why answers could not be kept, and give them back; returns the exit code for that."""
    print(f"{text}\n")
    return complain(f"{problem}\nWhat you wrote stands above: copy it to where it is safe.")


def ask(question: str) -> str | None:
    """The line that answers the question; None at the end of the input, or when Ctrl-C stops it."""
    print()
    say(question)
    return answer()


def answer() -> str | None:
    """One more line; as ask, without a question."""
    try:
        line = input(PROMPT).strip()
    except (EOFError, KeyboardInterrupt):
        print()
        return None
    if not sys.stdin.isatty():
        print(line)  # a terminal shows what is typed, a pipe does not
    return line
