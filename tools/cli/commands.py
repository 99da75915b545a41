"""The commands as typer sees them. Their context object is the course's root; each returns an exit code."""

import typer

from tools.cli import quiz, status

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback()
def course() -> None:
    """GPU programming in 28 days. To work a day: ./course week1/day1"""


@app.command("status")
def _status(context: typer.Context) -> int:
    """The month so far, and what comes next."""
    return status.show(context.obj)


@app.command("quiz")
def _quiz(context: typer.Context, day: str = typer.Argument(metavar="DAY")) -> int:
    """A day's questions, with a reason for each answer."""
    return quiz.run(day, context.obj)


@app.command(
    "check",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def _check(context: typer.Context) -> int:
    """The course's tests of itself; ./course check --help tells more."""
    from tools.course import selfcheck  # late: learners who ask for their status need not wait for it

    return selfcheck.main(context.args)
