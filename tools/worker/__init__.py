"""Lesson code in a process of its own, and one way to call a function wherever it lives.

`call` says what a call did, here or there. `proxy` makes a module that stands for a lesson elsewhere. That
process may crash, hang or lie: the caller gets Died or TooSlow, and the next call a new process.
"""

from tools.worker.calls import Outcome, Prepared, call, passing, prepare, repeat
from tools.worker.compiled_form import compiled_by_torch
from tools.worker.deadlines import Died, NoAnswer, TooSlow, deadline
from tools.worker.elsewhere import made_elsewhere
from tools.worker.fresh import FRESH, NUMBERS, fresh_memory, holds, in_fresh_memory
from tools.worker.gradcheck import Found, checked
from tools.worker.gradients import GIVEN, NoGradient, gives_gradients, gradients
from tools.worker.lesson import Lesson, RemoteFunction, close_all, lesson_at, lesson_of, proxy
from tools.worker.memory import Memory, NotMeasured, measure
from tools.worker.origin import name_of
from tools.worker.own_time import OwnTimeOfAll
from tools.worker.raised import Frame, LessonError, Raised, as_exception, raised_from
from tools.worker.saved import saved_tensors

__all__ = [
    "FRESH",
    "GIVEN",
    "Died",
    "Found",
    "Frame",
    "Lesson",
    "LessonError",
    "Memory",
    "NoAnswer",
    "NUMBERS",
    "NoGradient",
    "NotMeasured",
    "Outcome",
    "OwnTimeOfAll",
    "Prepared",
    "Raised",
    "RemoteFunction",
    "TooSlow",
    "as_exception",
    "call",
    "checked",
    "close_all",
    "compiled_by_torch",
    "deadline",
    "fresh_memory",
    "gives_gradients",
    "gradients",
    "holds",
    "in_fresh_memory",
    "lesson_at",
    "lesson_of",
    "made_elsewhere",
    "measure",
    "name_of",
    "passing",
    "prepare",
    "proxy",
    "raised_from",
    "repeat",
    "saved_tensors",
]
