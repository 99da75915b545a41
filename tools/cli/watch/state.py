"""The facts of a watch: the unit, the run under way, and how the last one ended."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tools.cli.watch.runs import Outcome, Run
from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.course.learner.current import following
from tools.course.learner.progress import Progress


@dataclass
class State:
    """The session changes it, and the screens read it.

    outcome, when: of the last run that ended. last: the input has ended, the run under way is the last one.
    """

    unit: Unit
    root: Path
    run: Run | None = None
    outcome: Outcome | None = None
    when: datetime | None = None
    last: bool = False

    @property
    def result(self) -> Outcome:
        """The outcome, where a run has ended."""
        assert self.outcome is not None
        return self.outcome

    @property
    def others_run(self) -> bool:
        """Has the test in focus failed again, alone, and do all of them run now?"""
        return self.run is not None and self.run.follows

    def fresh(self) -> Unit:
        """The unit as its files are now. Raises NoSuchUnit, BrokenCourseFile."""
        return catalogue.unit(self.unit.name, self.root)

    @property
    def green(self) -> bool:
        """Did all pass that can run here, and is the unit done with that?"""
        finished = Progress.load(self.root).state(self.unit).finished
        return finished and self.outcome is not None and self.outcome.code == 0

    def following(self) -> Unit | None:
        """The unit that comes after this one. Raises BrokenCourseFile."""
        return following(self.unit, catalogue.units(self.root), Progress.load(self.root))
