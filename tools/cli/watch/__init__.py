"""course watch [DAY]: the day's tests on every save, on one screen, one failing test in focus; keys for the rest.

After a save the test in focus runs first, alone: what becomes of it is known in a second or two. Where none is in focus
all run up to the first that fails. Of the others it is known when they have run. Without a terminal: each run's result
as it comes, until standard input ends.

session.py takes what happens, one event after the other: file_watcher.py tells of saves, runs.py of a run that ended,
terminal.py of keys. state.py is what is known, screens.py shows that. prestart.py keeps the process warm that runs the
tests, warm.py is that process.
"""

from tools.cli.watch.session import run

__all__ = ["run"]
