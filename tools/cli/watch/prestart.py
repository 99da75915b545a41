"""A process kept warm for the runs of `watch`: what takes seconds to import is imported before the learner saves."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tools import processes
from tools.course.content.catalogue import Unit
from tools.stem import ASLEEP

PATIENCE = 1.0  # seconds for it to end by itself; while it imports it hears nothing
PROGRAM = str(Path(__file__).with_name("warm.py"))
# Those of pytest and of the course that each run imports, and of pytest-html's. Not the plugins themselves: pytest
# rewrites their assertions.
ALWAYS = ("numpy.random", "_pytest.config", "_pytest.python", "_pytest.terminal", "_pytest.fixtures", "jinja2",
          "tools.check", "tools.check.compiled", "tools.check.diagnosis", "tools.check.inputs", "tools.worker.limit",
          "tools.course.content.answers", "tools.course.learner.activity", "tools.course.learner.current",
          "tools.course.learner.hints", "tools.sim.triton.programs")  # fmt: skip
# What only some import: how a file says so, and the module.
SOME = {
    r"^import torch": "torch",
    r"^from tools\.gpu import .*\bcuda\b": "tools.sim.cuda",
    r"^from tools\.gpu import .*\bcupy\b": "tools.sim.cupy",
    r"^(from|import) hypothesis": "hypothesis",
}


class Warm:
    """The process, from this side: one run at a time."""

    def __init__(self, unit: Unit):
        self.modules = slow_imports(unit)
        self._process = subprocess.Popen(
            [sys.executable, PROGRAM, *self.modules],
            cwd=unit.root,
            env={**ASLEEP, **os.environ, "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is ours to answer
        )
        assert self._process.stdin and self._process.stdout
        self._orders, self._answers = self._process.stdin, self._process.stdout

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def begin(self, arguments: list[str], columns: int, text: Path) -> int | None:
        """Let pytest run, and print to the file `text`: the number of its process, None where that is lost."""
        order = json.dumps({"arguments": arguments, "columns": columns, "text": str(text)})
        with suppress(OSError, ValueError):  # it has ended, or was closed by `end`
            print(order, file=self._orders, flush=True)
            return self._number()
        return None

    def code(self) -> int:
        """Wait for the end of the run: pytest's exit code, or minus the signal that ended it."""
        with suppress(OSError, ValueError):
            if (code := self._number()) is not None:
                return code
        return self._process.wait()

    def end(self) -> None:
        """End the process; a run under way is somebody else's to end. Harmless when it has ended."""
        with suppress(OSError):
            self._orders.close()  # it ends by itself then, and collects the run that it made
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        processes.end_group(self._process)
        self._answers.close()

    def _number(self) -> int | None:
        line = self._answers.readline()
        return int(line) if line else None


class Ahead:
    """Keeps one process warm, for the unit that is worked at."""

    def __init__(self) -> None:
        self._warm: Warm | None = None

    def prepare(self, unit: Unit) -> Warm:
        """Have a process for runs of this unit. Harmless when there is one."""
        if self._warm is None or not self._warm.lives or self._warm.modules != slow_imports(unit):
            self.stop()
            self._warm = Warm(unit)
        return self._warm

    def stop(self) -> None:
        """End the process."""
        if self._warm:
            self._warm.end()
            self._warm = None


def slow_imports(unit: Unit) -> list[str]:
    """The modules that a run of the unit's tests will import, and that take a while."""
    try:
        texts = [file.read_text(encoding="utf-8") for file in (unit.lesson, unit.tests)]
    except (OSError, UnicodeDecodeError):  # the run says it
        texts = []
    some = (module for line, module in SOME.items() if any(re.search(line, text, re.MULTILINE) for text in texts))
    return [*some, *ALWAYS]
