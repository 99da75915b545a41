"""The program behind ./course COMMAND: python -m tools.cli COMMAND. Exit code 2 comes with one line that says why."""

import importlib
import io
import os
import sys
from contextlib import suppress
from pathlib import Path

from tools import ROOT
from tools.cli import complain
from tools.cli.files import NotWritten
from tools.course.content.catalogue import BrokenCourseFile, NoSuchUnit
from tools.course.learner.journal import NotKept


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Run a command and return its exit code."""
    if sys.stderr is None:  # closed: 2>&-
        sys.stderr = open(os.devnull, "w")
    if sys.stdout is None:
        return complain("Standard output is closed, so there is nowhere to print to.")
    for stream in (sys.stdout, sys.stderr):  # a title must not fail where one of its letters is missing
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = _run(arguments, root)
        sys.stdout.flush()
        return code
    except OSError as error:
        return _unprinted(error)


def _run(arguments: list[str], root: Path) -> int:
    try:
        for package in ("rich", "typer"):
            importlib.import_module(package)
        from tools.cli.commands import app
    except ModuleNotFoundError as missing:
        package = str(missing.name).split(".")[0]
        if package == "tools":
            raise
        return complain(f"This command needs {package}; lessons run without it: python3 -m pytest week1/day1")
    typer = sys.modules["typer"]
    usage_error = typer.BadParameter.__base__  # click's; where click lives depends on typer's version
    arguments = arguments or ["next"]
    try:
        return app(arguments, prog_name="course", standalone_mode=False, obj=root)
    except usage_error as error:
        known = error.ctx.command_path if error.ctx else f"course {arguments[0]}"  # an option's error has no context
        return complain(f"{error.format_message()}\n./{known} --help tells more.")
    except (NoSuchUnit, BrokenCourseFile, NotKept, NotWritten) as error:
        return complain(error)
    except (typer.Abort, KeyboardInterrupt):  # Ctrl-C; newer versions of typer return this by themselves
        return 130


def _unprinted(error: OSError) -> int:
    """The exit code where standard output takes no more. Raises the error where that is not the reason."""
    try:
        print(flush=True)
    except OSError as lost:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes once more as it ends
        if isinstance(lost, BrokenPipeError):
            return 1  # ./course status | head -1: nobody is left to be told; typer does the same
        return complain(f"The output cannot be written ({lost.strerror}).")
    raise error


if __name__ == "__main__":
    from tools.cli import guarded

    sys.exit(guarded.run(sys.argv[1:], main))
