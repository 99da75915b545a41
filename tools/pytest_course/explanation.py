"""A failed test in words: the learner's own line or the two values, never a page of traceback."""

import ast
import re
import sys
import textwrap
import traceback
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

import pytest

from tools import ROOT, worker
from tools.check import CompileError, Mismatch, NoCompiler, NoProfiler, Undecided, Unmet
from tools.check.show import WIDTH
from tools.check.text import refused, wrapped
from tools.compiler import Evidence, Kernel, NoSuchKernel
from tools.marker import Marker
from tools.pytest_course import absent
from tools.pytest_course.endless import place
from tools.pytest_course.run import Run, run_of, unit_of
from tools.pytest_course.shares import gap_met, of_tests, to_begin_with
from tools.sim.counters import Counters, NotCounted
from tools.worker.deadlines import AGAIN
from tools.worker.raised import REFUSALS

MODULE = re.compile(r"week\d+\.(?:day\d+|katas\.\w+)\.(?!test_)\w+")
IN_OWN_WORDS = (
    Mismatch,
    Unmet,
    Undecided,
    CompileError,
    NoCompiler,
    NoSuchKernel,
    NoProfiler,
    NotCounted,
    worker.NoGradient,
    worker.NotMeasured,
)
DUMP = re.compile(  # of an object of the tools: what was asked of it, or where it came from
    r"(?P<lead>\+\s+where (?:.+? = )?)(?P<kind>Access|Evidence|Kernel|Occupancy|Transfers)\((?P<fields>.*?)\)"
    r"(?:(?P<asked>(?:\.\w+)+)| = .*)"
)
NAME_ALONE = re.compile(r"assert (not )?[a-z_]\w*")
ADDRESS = re.compile(r"<built-in method|\bat 0x[0-9a-f]+")
QUESTION = "Does every loop come closer to its end?"


def explain(error: BaseException, item: pytest.Item) -> str | None:
    """A failed test in words, or None when the fault is the course's own."""
    if gap := gap_met(error, item):
        return _gap(gap, run_of(item.config))
    if isinstance(error, Mismatch) and (note := of_tests(error.function, item)):
        return error.with_note(note)
    if isinstance(error, IN_OWN_WORDS):
        return str(error)
    if isinstance(error, worker.Died):
        return f"{_call(error)}It took its process down: {error}."
    if isinstance(error, worker.TooSlow):
        return _too_slow(error)
    raised = lesson_error(error)
    if raised is not None:
        return "\n".join([_raised(raised), *_notes(error)])
    if isinstance(error, (AssertionError, pytest.fail.Exception)):  # the latter: pytest.raises saw nothing raised
        return _assertion(error, item)
    if isinstance(error, (TypeError, AttributeError)) and "NoneType" in str(error):
        return _none(error, item)
    return absent.told(error, unit_of(item))


def lesson_error(error: BaseException) -> worker.Raised | None:
    """What the lesson raised, if it was the lesson: by a frame of its file, or as its worker reported it."""
    if hasattr(error, "raised"):
        return error.raised
    files = [
        file
        for name, module in list(sys.modules.items())
        if MODULE.fullmatch(name) and (file := getattr(module, "__file__", None))
    ]
    raised = worker.raised_from(error, files)
    return raised if raised.frames else None


# The words ---------------------------------------------------------------------------------------


def _gap(gap: Marker, run: Run) -> str:
    first = to_begin_with(run, gap)
    where = run.unit(gap.unit).lesson.relative_to(ROOT).as_posix() + (f", at line {first.line}" if first else "")
    return f"Task {gap.task} is yours to write: {first.function if first else gap.function},\nin {where}."


def _none(error: BaseException, item: pytest.Item) -> str | None:
    """A test that went on with None; None where that was not in the test itself."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if Path(last.filename) != item.path:
        return None
    return (
        f"The test could not go on:  {last.line}\n{error}.\n"
        "A function of the lesson returned None. Is a return missing?"
    )


def _raised(raised: worker.Raised) -> str:
    if raised.type_name in REFUSALS:
        return "\n".join(refused(raised))
    if raised.type_name == worker.NoGradient.__name__:
        return raised.message
    lines = wrapped(f"It raised {raised.type_name}: {raised.message}".rstrip(": "))
    for frame in raised.frames[-2:]:
        lines += [f"  {frame.file}, line {frame.line}, in {frame.function}", f"    {frame.source}"]
    return "\n".join(lines)


def _notes(error: BaseException) -> list[str]:
    """What a test added to an error of the lesson that it let pass: a question, mostly."""
    return [line for note in getattr(error, "__notes__", ()) for line in textwrap.wrap(note, WIDTH)]


def _call(error: BaseException) -> str:
    """The call that never came back, where assert_matches noted it."""
    return "".join(f"{note}\n\n" for note in getattr(error, "__notes__", ()))


def _too_slow(error: worker.TooSlow) -> str:
    raised = lesson_error(error)
    where = place(error.frames or (raised.frames if raised else ()), error.__traceback__)
    within = f"{AGAIN:g} s, and not before either" if error.again else f"{error.seconds:g} s"
    return f"{_call(error)}It did not end within {within}.{where}\n{QUESTION}"


def _assertion(error: BaseException, item: pytest.Item) -> str:
    """The message of an assert of the test, the assert as it stands there, and with its values."""
    entry = next(
        (e for e in reversed(pytest.ExceptionInfo.from_exception(error).traceback) if e.path == item.path), None
    )
    asked, message, values = _parted(
        _statement(item.path, entry.lineno + 1) if entry else "assert ...", str(error).strip()
    )
    if asked.startswith("raise "):  # a helper of the test has put its finding in words
        return "\n".join(textwrap.fill(line, WIDTH) for line in str(error).strip().splitlines())
    found, *more = values or [""]
    more = list(takewhile(lambda line: not ADDRESS.search(line), more))  # what is at an address explains nothing
    details = [line for each in more if (line := without_dump(each.strip())) and "-v to get" not in line][:6]
    told = _told(entry.frame.f_globals | entry.frame.f_locals, asked, item) if entry else []
    message, told = _one_question(message, told)
    statement = [_wrapped("The test says  ", asked), _wrapped("         here  ", found)]
    if message.endswith("?") and found in ("assert False", "assert not True") and NAME_ALONE.fullmatch(asked):
        statement = []  # the name of a finding that the message has put in words
    elif message and found in ("", "assert False"):
        statement.pop()
    return "\n".join(
        [
            *(textwrap.fill(line, WIDTH) for line in message.splitlines()),
            *([""] if message and statement else []),
            *statement,
            *(_wrapped("", f"               {line}") for line in details),
            *(["", *told] if told else []),
        ]
    )


def _one_question(message: str, told: list[str]) -> tuple[str, list[str]]:
    """A question of the test's own stands in place of one that is asked of every call's memory, or of what it moves."""
    from tools.check.diagnosis.alive import ASKS
    from tools.check.diagnosis.global_memory import UNKNOWN

    if not told or told[-1] not in (*ASKS.values(), UNKNOWN) or not message.endswith("?"):
        return message, told
    return "", [*told[:-1], *(textwrap.fill(line, WIDTH) for line in message.splitlines())]


def _statement(file: Path, line: int) -> str:
    """The innermost statement that a line stands in, as it is written; of one with a body, what is above it."""
    lines, found = _statements(file, file.stat().st_mtime_ns)
    inside = [node for node in found if node.lineno <= line <= (node.end_lineno or line)]
    innermost = max(inside, key=lambda node: node.lineno)
    others = getattr(innermost, "body", None)
    end = others[0].lineno - 1 if others else innermost.end_lineno
    return textwrap.dedent("\n".join(lines[innermost.lineno - 1 : end])).strip()


@lru_cache(maxsize=4)
def _statements(file: Path, changed: int) -> tuple[list[str], list[ast.stmt]]:
    """The lines of a test file and its statements. pytest would parse it for each failure."""
    text = file.read_text(encoding="utf-8")
    return text.splitlines(), [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]


def _parted(asked: str, text: str) -> tuple[str, str, list[str]]:
    """The condition of an assert, the message that it gives, and pytest's lines about the values."""
    lines = text.splitlines()
    try:
        statement = ast.parse(asked).body[0]
    except (SyntaxError, IndexError):
        return asked, "", lines
    if not isinstance(statement, ast.Assert) or statement.msg is None:
        return asked, "", lines
    place = max((i for i, line in enumerate(lines) if line.startswith("assert ")), default=len(lines))
    message = "\n".join(line.removeprefix("  " * (i > 0)) for i, line in enumerate(lines[:place]))  # pytest indents
    if message == "None":  # as in `assert right, why`, where nothing is known of the reason
        message = ""
    return f"assert {ast.get_source_segment(asked, statement.test)}", message, lines[place:]


def without_dump(line: str) -> str:
    """A line of pytest's, such as `+  where 288 = Kernel(name='total', ...).spills`: total.spills; "" of an object."""
    if not (dump := DUMP.match(line)):
        return line
    name = re.match(r"name='(\w+)'", dump["fields"])
    return f"{dump['lead']}{name[1] if name else dump['kind'].lower()}{dump['asked']}" if dump["asked"] else ""


def _told(names: dict[str, object], asked: str, item: pytest.Item) -> list[str]:
    """What the counters, or the compiled kernel, that the assertion asks about have to say to it."""
    from tools.check.diagnosis.alive import told_by_memory
    from tools.check.diagnosis.asserted import told_by_numbers  # here, because a run that passes never needs them
    from tools.check.diagnosis.counted import told_by_counters
    from tools.check.diagnosis.machine_code import told_by_kernel

    witnesses = {
        name: witness
        for name, value in names.items()
        for witness in (value.kernels if isinstance(value, Evidence) else [value])
        if isinstance(witness, (Counters, Kernel, worker.Memory))
    }
    spoken_of = [value for name, value in witnesses.items() if re.search(rf"\b{name}\b", asked)]
    kernels = [value for value in witnesses.values() if isinstance(value, Kernel)]  # what was read off one may be asked
    lines = [
        line
        for value in spoken_of or kernels[:1]
        for line in (
            told_by_memory(value, asked, names)
            if isinstance(value, worker.Memory)
            else told_by_counters(value, asked, names)
            if isinstance(value, Counters)
            else told_by_kernel(value, asked)
        )
    ]
    lines = lines or told_by_numbers(asked, names)
    made = [value.call for value in spoken_of if hasattr(value, "call")]
    calls = [line for call in made for line in (*call.lines, of_tests(call.function, item)) if line]
    return calls + [part for line in lines for part in textwrap.wrap(line, WIDTH, subsequent_indent="    ")]


def _wrapped(lead: str, text: str) -> str:
    return textwrap.fill(lead + text, WIDTH, subsequent_indent=" " * 15, break_long_words=False, break_on_hyphens=False)
