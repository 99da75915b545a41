"""The `course` commands. Each is thin: it asks tools.course and prints."""

import sys

WIDTH = 80


def console():
    """A rich console for plain text: at most WIDTH columns, no colour where there is no terminal."""
    from rich.console import Console  # late: this package must import where rich is missing

    page = Console(highlight=False, markup=False, emoji=False)
    page.width = min(page.width, WIDTH)
    return page


def complain(message: object) -> int:
    """Say why a command cannot be done; returns the exit code for that."""
    print(message, file=sys.stderr)
    return 2
