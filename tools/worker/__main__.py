"""The process that a lesson runs in: it answers requests until their pipe is closed.

python -m tools.worker REQUESTS REPLIES        the numbers of two open pipes
"""

import ctypes
import faulthandler
import importlib
import importlib.util
import inspect
import itertools
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

from tools import gpu, wire
from tools.compiler import CompileError, NoCompiler
from tools.compiler.evidence import disassembled
from tools.sim.recording import record
from tools.wire.given import rebuild
from tools.worker.calls import repeat
from tools.worker.made import named
from tools.worker.memory import measure
from tools.worker.origin import module_of
from tools.worker.raised import raised_from

_CONSTANTS = (bool, int, float, str, tuple)
_C_LIBRARY = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


class Worker(wire.End):
    """The lesson, what it left here, and the operations that may be asked for.

    It is also the lesson's end of the wire: an object of the lesson that is no value gets a number and stays.
    """

    def __init__(self) -> None:
        self.file = ""
        self.module: Any = None
        self.functions: dict[int, str] = {}  # names of the public ones, by identity
        self.objects: dict[int, object] = {}  # by number
        self.numbers: dict[int, int] = {}  # of those objects, by identity
        self.given: dict[int, object] = {}
        self.prepared: dict[int, tuple[Callable, tuple, dict]] = {}
        self.next_numbers = itertools.count()
        self.operations: dict[str, Callable] = {
            "load": self.load,
            "call": self.call,
            "count": self.count,
            "memory": self.memory,
            "compile": self.compile,
            "disassemble": self.disassemble,
            "prepare": self.prepare,
            "run": self.run,
            "forget": self.forget,
        }

    def answer(self, header: bytes, buffers: list) -> wire.Packet:
        """Do what one request asks for, whatever comes of it."""
        try:
            request = wire.decode(header, buffers, self)
        except wire.Malformed as fault:
            return wire.encode(("refused", str(fault)))
        operation, *fields = request.value
        if operation == "call":
            request.memory.remember()
        process, value, error = os.getpid(), None, None
        try:
            value = self.operations[operation](*fields)
        except BaseException as raised:  # also SystemExit and KeyboardInterrupt: only the lesson raises here
            error = raised
        if os.getpid() != process:  # the lesson forked, and this is the copy: only the original may answer
            os._exit(0)
        return self._reply(request, value, error)

    def _reply(self, request: wire.Packet, value: Any, error: BaseException | None) -> wire.Packet:
        try:
            facts = error and astuple(raised_from(error, [self.file]))
            return wire.encode(("answer", value, facts, list(request.given.values())), self, reply_to=request)
        except Exception as fault:  # too large, too deep
            return wire.encode(("answer", None, astuple(raised_from(fault, [])), []), self)

    # Operations

    def load(self, module: str, file: str, first_object: int) -> tuple:
        """Import the lesson. Its docstring, the facts of its public functions, its public constants."""
        self.file, self.next_numbers = file, itertools.count(first_object)
        spec = importlib.util.spec_from_file_location(module, file)
        assert spec is not None
        self.module = sys.modules[module] = importlib.util.module_from_spec(spec)
        # Compiled here and now: a .pyc may be stale when a file changes twice within a second.
        exec(compile(Path(file).read_bytes(), file, "exec", dont_inherit=True), vars(self.module))
        public = {name: thing for name, thing in vars(self.module).items() if not name.startswith("_")}
        functions = {name: thing for name, thing in public.items() if _is_function_of(thing, module)}
        self.functions = {id(function): name for name, function in functions.items()}
        constants = {name: thing for name, thing in public.items() if type(thing) in _CONSTANTS}
        facts = [_facts(name, function) for name, function in functions.items()]
        if os.environ.get(gpu.COMPILE) == "1" and "tools.sim.cuda" in sys.modules:
            _load_numba()
        return self.module.__doc__, facts, constants

    def call(self, name: str, args: tuple, kwargs: dict) -> Any:
        return self.function(name)(*args, **kwargs)

    def function(self, name: str) -> Callable:
        return named(name, vars(self.module))  # or one made of it: "gradients of layernorm"

    def count(self, name: str, args: tuple, kwargs: dict) -> dict:
        """What a call did to simulated memory, as plain data."""
        with record() as counters:
            self.call(name, args, kwargs)
        return counters.to_plain()

    def memory(self, name: str, args: tuple, kwargs: dict) -> tuple:
        """What a call needs in memory, as plain data."""
        return measure(self.function(name), args, kwargs).to_plain()

    def compile(self, name: str, args: tuple, kwargs: dict, chips: tuple) -> list | tuple:
        """Evidence for the kernels of a call, one for each chip, as plain data; or why there is none."""
        from tools.compiler.build import compile_call  # here, because it needs Triton

        gpu.mend_numpy()
        captured = [
            importlib.import_module(f"{simulator}.capture").captured if used in sys.modules else None
            for used, simulator in (("tools.sim.cuda", "tools.sim.cuda.host"), ("tools.sim.cupy", "tools.sim.cupy.raw"))
        ]
        try:
            return compile_call(self.function(name), args, kwargs, chips, *captured)
        except CompileError as error:
            return "rejected", str(error)
        except NoCompiler as error:
            return "no compiler", str(error), error.what

    def disassemble(self, key: str, name: str) -> str:
        """The machine code of a kernel that was compiled, as text."""
        return disassembled(key, name)

    def prepare(self, name: str, args: tuple, kwargs: dict) -> int:
        number = next(self.next_numbers)
        self.prepared[number] = self.function(name), args, kwargs
        return number

    def run(self, number: int, times: int) -> None:
        repeat(*self.prepared[number], times)

    def forget(self, number: int) -> None:
        del self.prepared[number]

    # The end of the wire

    def refer(self, value: Any) -> list:
        name = self.functions.get(id(value))
        if name and vars(self.module).get(name) is value:
            return ["function", name]
        if id(value) not in self.numbers:
            number = self.numbers[id(value)] = next(self.next_numbers)
            self.objects[number] = value
        return ["handle", self.numbers[id(value)], type(value).__name__]

    def find(self, tag: str, *fields: Any) -> object:
        if tag == "function":
            return self.function(fields[0])
        number, type_name = fields
        if number not in self.objects:
            raise LookupError(f"this {type_name} lived in a process of the lesson that has ended")
        return self.objects[number]

    def build(self, recipe: wire.Recipe) -> object:
        if recipe.number not in self.given:
            self.given[recipe.number] = rebuild(recipe)
        return self.given[recipe.number]


def _is_function_of(thing: Any, module: str) -> bool:
    """Also of what a decorator made of a function, a kernel for example, and of an operator of PyTorch."""
    return callable(thing) and not isinstance(thing, type) and module_of(thing) == module


def _load_numba() -> None:
    """Import Numba's compiler while the tests of correctness run elsewhere: it takes a second."""
    gpu.mend_numpy()
    with suppress(Exception):  # what is missing is said when a kernel is to be compiled
        importlib.import_module("tools.compiler.numba.code").compiler()


def _facts(name: str, function: Callable) -> tuple:
    """Name, parameters as (name, kind, annotation or None, () or (default,)), annotation, docstring."""
    doc = inspect.getdoc(function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return name, None, None, doc
    parameters = tuple(
        (p.name, int(p.kind), _text(p.annotation), () if p.default is p.empty else (p.default,))
        for p in signature.parameters.values()
    )
    return name, parameters, _text(signature.return_annotation), doc


def _text(annotation: Any) -> str | None:
    if annotation is inspect.Parameter.empty:
        return None
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _flush() -> None:
    """Get out what the lesson printed, before the answer."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the lesson may have closed or replaced it
            stream.flush()
    _C_LIBRARY.fflush(None)


def serve(requests: int, replies: int) -> None:
    def fill(view: memoryview) -> None:
        while view:
            count = os.readv(requests, [view])
            if count == 0:  # the tests are done
                os._exit(0)
            view = view[count:]

    def write(view: memoryview) -> None:
        while view:
            view = view[os.write(replies, view) :]

    worker = Worker()
    while True:
        number, header, buffers = wire.receive(fill)
        reply = worker.answer(header, buffers)
        _flush()
        wire.send(write, number, reply.header, reply.buffers)


def serve_lesson(requests: int, replies: int) -> None:
    """Serve the two pipes in this process, which is for nothing else."""
    for pipe in (requests, replies):
        os.set_inheritable(pipe, False)
    stream: Any
    for stream in (sys.stdout, sys.stderr):  # by lines, so that the last ones are out when the lesson crashes
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    faulthandler.enable(all_threads=False)
    faulthandler.register(signal.SIGUSR1, all_threads=False)
    sys.dont_write_bytecode = True
    if sys.platform == "linux":  # not even an endless loop outlives the thread that started this process
        _C_LIBRARY.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    serve(requests, replies)


if __name__ == "__main__":
    serve_lesson(*map(int, sys.argv[1:]))
