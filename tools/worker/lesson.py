"""One lesson module in a process of its own, and a module of remote functions that stands for it."""

import atexit
import contextlib
import functools
import inspect
import itertools
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import wire
from tools.worker.deadlines import Died
from tools.worker.origin import module_of
from tools.worker.process import Process
from tools.worker.raised import LONGEST_MESSAGE, Frame, LessonError, Raised, as_exception

_lessons: weakref.WeakSet["Lesson"] = weakref.WeakSet()
_process_numbers = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    """What one request came to."""

    value: Any
    error: Raised | None
    printed: str

    def result(self) -> Any:
        """The value, or the error raised again."""
        if self.error:
            raise as_exception(self.error)
        return self.value


class Lesson:
    """One lesson module in a worker process that starts when needed, is reused, and ends with this process.

    module: the name to import it under. file: its source.
    mode: "interpret" (Triton runs in its interpreter), "compile" or "gpu".
    Once started it has `functions` and `constants` by public name, and the lesson's `doc`.
    """

    def __init__(self, module: str, file: Path | str, mode: str = "interpret") -> None:
        self.module, self.file, self.mode = module, Path(file), mode
        self.functions: dict[str, RemoteFunction] = {}
        self.constants: dict[str, object] = {}
        self.doc: str | None = None
        self.starts = 0  # whatever an earlier process held is gone
        self._process: Process | None = None
        self._loading: wire.Packet | None = None  # the request to import the lesson, while nobody waited for it
        self._end = _TestEnd(self)
        _lessons.add(self)

    @property
    def running(self) -> bool:
        return self._process is not None

    def begin(self, copied: bool = False) -> None:
        """Let a new process import the lesson, unless it has one, and do not wait for it: `start` will.

        copied: the process may begin as a copy of this one; see forked.py.
        """
        if self.running:
            return
        self._process = Process(self.file, self.mode, copied)
        self.starts += 1
        first_object = next(_process_numbers) << 32  # no two processes number their objects alike
        self._loading = self._send("load", self.module, str(self.file), first_object)

    def start(self) -> None:
        """Have the lesson imported in a process of its own. Raises LessonError, Died or TooSlow."""
        self.begin()
        if self._loading is None:
            return
        request, self._loading = self._loading, None
        answer = self._receive(request)
        if answer.error:
            self.close()
            raise LessonError(answer.error)
        try:
            self._describe(*answer.value)
        except Exception:  # the lesson shares that process, so this too may be anything
            raise self._not_an_answer() from None

    def ask(self, operation: str, *fields: Any) -> Answer:
        """Have the worker do one of its operations. Raises Died, TooSlow; TypeError for what cannot cross."""
        self.start()
        return self._receive(self._send(operation, *fields))

    def close(self) -> None:
        """End the process. The next request starts a new one."""
        if self._process is not None:
            self._process.end()
            self._process = self._loading = None

    def request(self, operation: str, *fields: Any) -> wire.Packet:
        """What a worker is asked. Raises TypeError for what cannot cross."""
        return wire.encode((operation, *fields), self._end)

    def answer(self, header: bytes, buffers: list, request: wire.Packet, printed: str = "") -> Answer:
        """A worker's reply to a request. wire.Malformed when it is none."""
        return Answer(*_checked_reply(wire.decode(header, buffers, self._end, reply_to=request).value), printed)

    def _send(self, operation: str, *fields: Any) -> wire.Packet:
        request = self.request(operation, *fields)
        assert self._process is not None
        with self._ended_by_accidents():
            self._process.send(request)
        return request

    def _receive(self, request: wire.Packet) -> Answer:
        assert self._process is not None
        with self._ended_by_accidents():
            reply = self._process.receive()
        printed = self._process.printed()
        sys.stdout.write(printed)  # so that whoever captures our output sees it
        try:
            return self.answer(*reply, request, printed)
        except wire.Malformed:
            raise self._not_an_answer() from None

    @contextlib.contextmanager
    def _ended_by_accidents(self) -> Iterator:
        try:
            yield
        except BaseException as lost:  # a KeyboardInterrupt too leaves the process in the middle of something
            self.close()
            sys.stdout.write(getattr(lost, "printed", ""))
            raise

    def _not_an_answer(self) -> Died:
        """Ends the process, which said something that cannot be believed."""
        self.close()
        return Died("something else than an answer came out of the lesson's process")

    def _describe(self, doc: Any, functions: Any, constants: Any) -> None:
        self.doc, self.constants = doc, constants
        for name, parameters, returns, function_doc in functions:
            function = RemoteFunction(self, name, _signature(parameters, returns), function_doc)
            self.functions.setdefault(name, function)  # after a restart the old ones are as good


class RemoteFunction:
    """A public function of a lesson that runs in another process.

    Calling it changes the caller's arrays as a call in this process would; lists and dicts cross as copies.
    What it raises is the same builtin exception, or a LessonError; either has the facts in `.raised`.
    """

    def __init__(self, lesson: Lesson, name: str, signature: inspect.Signature | None, doc: str | None) -> None:
        self.lesson = lesson
        self.__name__ = self.__qualname__ = name
        self.__module__ = lesson.module
        self.__doc__ = doc
        if signature is not None:
            self.__signature__ = signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.ask(args, kwargs).result()

    def ask(self, args: tuple, kwargs: dict) -> Answer:
        """Call it, and leave it to the caller what an error means."""
        return self.lesson.ask("call", self.__name__, args, kwargs)

    def __deepcopy__(self, memo: dict) -> "RemoteFunction":
        return self  # like any function

    def __repr__(self) -> str:
        return f"<{self.__module__}.{self.__name__}, in another process>"


@functools.cache
def lesson_at(module: str, file: Path, mode: str) -> Lesson:
    """The one Lesson of that module, file and mode."""
    return Lesson(module, file, mode)


def lesson_of(function: Callable, mode: str) -> Lesson:
    """The Lesson in this mode of a function that a lesson defines, in this process or in another."""
    if isinstance(function, RemoteFunction):
        return (
            function.lesson
            if function.lesson.mode == mode
            else lesson_at(function.__module__, function.lesson.file, mode)
        )
    name = module_of(function)
    module: Any = sys.modules[name]
    return lesson_at(name, Path(module.__file__).resolve(), mode)


def proxy(module: str, file: Path | str, mode: str = "interpret") -> types.ModuleType:
    """A module whose public functions are RemoteFunctions and whose public constants are copies.

    Raises LessonError for whatever the lesson's import raises; Died; TooSlow.
    """
    lesson = lesson_at(module, Path(file).resolve(), mode)
    lesson.start()
    stand_in = types.ModuleType(module, lesson.doc)
    stand_in.__file__ = str(lesson.file)
    vars(stand_in).update(lesson.constants | lesson.functions)
    return stand_in


@atexit.register
def close_all() -> None:
    """End the processes of all lessons."""
    for lesson in list(_lessons):
        lesson.close()


class _TestEnd(wire.End):
    """The tests' end of the wire: it knows the lesson's functions by name, and its objects as handles."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson

    def refer(self, value: Any) -> list | None:
        if type(value) is RemoteFunction and value.__module__ == self.lesson.module:
            return ["function", value.__name__]
        if callable(value):
            raise TypeError("a test's function cannot cross to the lesson's process; tools.check.given can")
        return super().refer(value)

    def find(self, tag: str, *fields: Any) -> object:
        return self.lesson.functions[fields[0]] if tag == "function" else super().find(tag, *fields)


def _checked_reply(reply: Any) -> tuple[object, Raised | None]:
    """Value and error of a reply. Malformed when it is none, RuntimeError when it refuses the request."""
    match reply:
        case ("answer", value, None, list()):
            return value, None
        case ("answer", None, (str(type_name), str(message), tuple(frames)), list()):
            return None, Raised(type_name, message[:LONGEST_MESSAGE], tuple(map(_checked_frame, frames)))
        case ("refused", str(reason)):
            raise RuntimeError(f"the lesson's process could not read the call: {reason}")
    raise wire.Malformed("a reply of another shape")


def _checked_frame(fields: Any) -> Frame:
    match fields:
        case (str(), int(), str(), str()):
            return Frame(*fields)
    raise wire.Malformed("a frame of another shape")


def _signature(parameters: tuple | None, returns: str | None) -> inspect.Signature | None:
    """The signature whose facts crossed; annotations as texts. None when the function has none to show."""
    if parameters is None:
        return None
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                kind,
                default=default[0] if default else inspect.Parameter.empty,
                annotation=inspect.Parameter.empty if annotation is None else annotation,
            )
            for name, kind, annotation, default in parameters
        ],
        return_annotation=inspect.Signature.empty if returns is None else returns,
    )
