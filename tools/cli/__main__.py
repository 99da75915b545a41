"""What ./course COMMAND runs: python -m tools.cli COMMAND. Exit code 2 comes with one line that says why."""

import importlib
import sys
from pathlib import Path

from tools import ROOT
from tools.cli import complain


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):  # a title must not fail where one of its letters is missing
        stream.reconfigure(errors="replace")
    try:
        for package in ("rich", "typer"):
            importlib.import_module(package)
        from tools.cli.commands import app
    except ModuleNotFoundError as missing:
        package = missing.name.split(".")[0]
        if package == "tools":
            raise
        return complain(f"This command needs {package}; lessons run without it: python3 -m pytest week1/day1")
    typer = sys.modules["typer"]
    usage_error = typer.BadParameter.__base__  # click's; where click lives depends on typer's version
    try:
        return app(arguments or ["next"], prog_name="course", standalone_mode=False, obj=root)
    except usage_error as error:
        return complain(f"{error.format_message()}\n./{error.ctx.command_path} --help tells more.")
    except (typer.Abort, KeyboardInterrupt):  # Ctrl-C; newer versions of typer return this by themselves
        return 130


if __name__ == "__main__":
    from tools.cli import guarded

    sys.exit(guarded.run(sys.argv[1:], main))
