"""The commands as typer sees them. Their context object is the course's root; each returns an exit code.

A command's module is imported when it runs: nobody who asks for a hint waits for the plots.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from tools.cli import where_typed

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

Day = Annotated[str, Argument(metavar="DAY", help="A day or kata: week1/day4.")]
CurrentDay = Annotated[str | None, Argument(metavar="DAY", help="A day or kata; else your current one.")]


def _number(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter("a task is named by its number.")
    return int(text)


Task = Annotated[int | None, Argument(parser=_number, metavar="TASK", help="Its number; else the first not done.")]
Source = Annotated[str | None, Argument(metavar="SOURCE", help="A branch of git, such as upstream/main.")]
Chip = Annotated[str | None, Option(help="Of tools/models/chips.toml, such as t4, a100, h100, b200.")]


def _named(name: str | Path) -> Path:
    """A file as the command line names it, from where the learner stands."""
    if name == "":
        raise typer.BadParameter("the name of the file is empty.")
    return where_typed(Path(name))


def _file(says: str) -> Any:
    """An option that names a file."""
    return Option(parser=_named, metavar="FILE", help=says)


@app.callback()
def course() -> None:
    """GPU programming in 28 days. To work a day: ./course week1/day1"""


# Where am I ---------------------------------------------------------------------------------------


@app.command("next")
def _next(context: typer.Context) -> int:
    """Where you are, and the one thing to do now."""
    from tools.cli import next_step

    return next_step.show(context.obj)


@app.command("status")
def _status(context: typer.Context) -> int:
    """The month so far, and what comes next."""
    from tools.cli import status

    return status.show(context.obj)


@app.command("demo")
def _demo(context: typer.Context) -> int:
    """Five minutes: one slow kernel, one fix, counted."""
    from tools.cli import demo

    return demo.run(context.obj)


@app.command("kata")
def _kata(context: typer.Context) -> int:
    """A kata that is due."""
    from tools.cli import kata

    return kata.show(context.obj)


# Work a day ---------------------------------------------------------------------------------------


@app.command("start")
def _start(context: typer.Context, name: Annotated[str, Argument(metavar="NAME")]) -> int:
    """A git branch of your own: learner/NAME."""
    from tools.cli import start

    return start.run(name, context.obj)


@app.command("watch")
def _watch(context: typer.Context, day: CurrentDay = None) -> int:
    """Run a day's tests on every save, one failing test in focus."""
    from tools.cli import watch

    return watch.run(day, context.obj)


@app.command("hint")
def _hint(context: typer.Context, day: CurrentDay = None, task: Task = None) -> int:
    """The next of a task's three hints."""
    from tools.cli import hint

    return hint.show(day, task, context.obj)


@app.command("quiz")
def _quiz(
    context: typer.Context,
    day: CurrentDay = None,
    review: Annotated[bool, Option("--review", help="Missed questions and those of earlier days too.")] = False,
    interview: Annotated[bool, Option("--interview", help="Ten of all; reasons at the end.")] = False,
) -> int:
    """A day's questions, with a reason for each answer."""
    from tools.cli import quiz

    return quiz.run(day, context.obj, review=review, interview=interview)


@app.command("reset")
def _reset(context: typer.Context, day: Day) -> int:
    """A day's stub back as it was; your work is kept beside it."""
    from tools.cli import reset

    return reset.run(day, context.obj)


@app.command("update")
def _update(context: typer.Context, source: Source = None) -> int:
    """Take in new material; what you wrote in a gap stays yours.

    Without SOURCE it fetches upstream and looks at upstream/main; where there is none, at origin/main, then at main.
    """
    from tools.cli import update

    return update.run(source, context.obj)


# Look closer --------------------------------------------------------------------------------------


@app.command("count")
def _count(context: typer.Context, day: CurrentDay = None) -> int:
    """What each line of your kernels costs, in bytes and sectors."""
    from tools.cli import count

    return count.run(day, context.obj)


@app.command("compiled")
def _compiled(
    context: typer.Context,
    day: CurrentDay = None,
    chip: Chip = None,
    mlir: Annotated[bool, Option("--mlir", help="Triton's TTIR and TTGIR too.")] = False,
) -> int:
    """What the real compiler makes of your kernels, GPU or not."""
    from tools.cli import compiled

    return compiled.run(day, context.obj, chip=chip, mlir=mlir)


@app.command("show")
def _show(
    context: typer.Context,
    day: CurrentDay = None,
    svg: Annotated[Path | None, _file("Write the picture into this file too.")] = None,
) -> int:
    """A picture of your kernels: which program or thread touches what."""
    from tools.cli import show

    return show.run(day, context.obj, svg=svg)


@app.command("bench")
def _bench(
    context: typer.Context,
    day: CurrentDay = None,
    csv: Annotated[Path | None, _file("Write every figure into this file.")] = None,
    plot: Annotated[Path | None, _file("Write the plot over sizes, an SVG, into this file.")] = None,
) -> int:
    """Your functions against NumPy, PyTorch and the vendor's library."""
    from tools.cli import bench

    return bench.run(day, context.obj, csv=csv, plot=plot)


@app.command("profile")
def _profile(context: typer.Context, day: CurrentDay = None) -> int:
    """The profilers' figures that matter, in plain words."""
    from tools.cli import profile

    return profile.run(day, context.obj)


# Keep a record ------------------------------------------------------------------------------------


@app.command("note")
def _note(context: typer.Context, day: CurrentDay = None) -> int:
    """Your learning log of a day: what, why, when not to use it."""
    from tools.cli import note

    return note.run(day, context.obj)


@app.command("review")
def _review(context: typer.Context, week: Annotated[str, Argument(metavar="WEEK", help="week1")]) -> int:
    """Five questions about yourself when a week is green."""
    from tools.cli import review

    return review.run(week, context.obj)


@app.command("report")
def _report(
    context: typer.Context,
    output: Annotated[Path, _file("The page, one file without outside parts.")] = Path("report.html"),
    publish: Annotated[bool, Option("--publish", help="Say how to put it on the web.")] = False,
) -> int:
    """Your month as one HTML page to show around."""
    from tools.cli import report

    return report.run(context.obj, output=output, publish=publish)


@app.command("notebook")
def _notebook(
    context: typer.Context,
    day: CurrentDay = None,
    solution: Annotated[bool, Option("--solution", help="With the reference, for instructors.")] = False,
    output: Annotated[Path | None, _file("A file or folder; else NAME.ipynb here.")] = None,
) -> int:
    """A day as a notebook, for Colab too."""
    from tools.cli import notebook

    return notebook.run(day, context.obj, solution=solution, output=output or where_typed(Path()))


# The machine and the course -----------------------------------------------------------------------


@app.command("doctor")
def _doctor(context: typer.Context) -> int:
    """What this machine has, what is missing, and what to do about it."""
    from tools.cli import doctor

    return doctor.run(context.obj)


@app.command("pages")
def _pages(context: typer.Context) -> int:
    """For authors: write the pages that are made of the course's files."""
    from tools.cli import pages

    return pages.run(context.obj)


@app.command(
    "check", add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def _check(context: typer.Context) -> int:
    """The course's tests of itself; ./course check --help tells more."""
    from tools import selfcheck

    return selfcheck.main(context.args)
