"""The budget of one diagnosis: a learner waits while lesson and oracle are called again."""

import math
from collections.abc import Callable
from typing import Any

from tools.check.patience import ALL_CALLS, allowed
from tools.worker import NoAnswer, OwnTimeOfAll

ORACLE_ELEMENTS = 4_500_000  # arguments that the oracle may be handed for one diagnosis, all calls together
EACH = 100  # elements that a call of the oracle counts for beside those of its arguments


class Budget:
    """Seconds that the further calls have taken so far, and elements that the oracle was handed."""

    def __init__(self) -> None:
        self.seconds, self.elements = 0.0, 0

    def call(self, function: Callable, *args: Any, **keywords: Any) -> Any:
        """The answer of a further call; None where it refuses, or where too much time has gone already."""
        if self.seconds > allowed(ALL_CALLS):
            return None
        clock = OwnTimeOfAll()
        try:
            return function(*args, **keywords)
        except NoAnswer:  # it crashed, or time is up for all: no further call then
            self.seconds = math.inf
            return None
        except Exception:
            return None
        finally:
            self.seconds += clock.lap()

    def may_ask(self, elements: int) -> bool:
        """Whether the oracle may be handed arguments of so many elements, which then count."""
        self.elements += EACH + elements
        return self.elements <= ORACLE_ELEMENTS
