"""The words of a failure: the call, what is wrong, where; at most LINES lines of at most WIDTH columns."""

import ast
import re
import textwrap
from dataclasses import replace

from tools import ROOT
from tools.check import arrays, show
from tools.check.compare import Discrepancy
from tools.check.sentences import in_words, share, verb
from tools.check.show import WIDTH
from tools.check.tolerances import errors
from tools.worker import Frame, NoGradient, Raised
from tools.worker.raised import REFUSALS

LINES = 12
ALL = 10**6  # columns for a list in a call: no limit
MOST = 40  # for another value, where lists are cut
GLUE = "\0"  # in place of spaces where a line must not break
PLACE = re.compile(r"(\S+), line (\d+):  (.*)")
TASK = re.compile(r"^# (?:Task (\d+)\b|Given\b)", re.MULTILINE)
GIVEN = re.compile(r'(?:->[^\n]*|\)):\n\s*"""[^"]*\bGiven\b')  # in a docstring, right behind the signature
GIVEN_CLASS = re.compile(r'[^\n]*:\n\s*"""[^"]*\bGiven\b[^"]*"""(?:\n+ [^\n]*)*\s*')  # from its name to a line of it
IN_THE_COURSE = re.compile(r"\w[\w/]*\.py")  # no other path is opened: a lesson's process may name any
SUBTLE = 0.01  # up to this error a result looks right, and only the tolerance says that it is not


def call_lines(name: str, arguments: dict[str, object]) -> list[str]:
    """`matmul(a: float64[2,3], b: float64[3,2])`, `linear_index(row=2, col=4)`: in as few lines as show all of it, at
    most five; where those do not, in three with values that are cut."""
    short = sum(len(show.literal(value)) for value in arguments.values()) < 5 * WIDTH
    uncut = [(most, ALL) for most in (2, 3, 4, 5)] if short else []
    for most, limit in (*uncut, *((3, limit) for limit in (200, 160, 120, 80, 60, 40, 24, 12))):
        listed = ", ".join(argument(*item, limit, whole=most == 2) for item in arguments.items())
        lines = textwrap.wrap(
            f"{name}({listed})", WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
        if len(lines) <= most and max(map(len, lines)) <= WIDTH:
            return [line.replace(GLUE, " ") for line in lines]
    *others, last = [show.cut(line.replace(GLUE, " "), WIDTH) for line in lines[:3]]
    return [*others, f"{last[: WIDTH - 5].rpartition(', ')[0]}, ...)" if len(lines) > 3 else last]


def argument(name: str, value: object, limit: int, whole: bool) -> str:
    """An argument as it stands in a call, GLUE where no line may break: inside of it, or inside an entry of a list."""
    left, shown, right = show.parted(value, limit, MOST if limit < ALL else WIDTH)
    text = (f",{GLUE}" if whole else ", ").join(part.replace(" ", GLUE) for part in shown)
    if name.isidentifier():
        return f"{name}:{GLUE}{text}" if arrays.is_array(value) else f"{name}={left}{text}{right}"
    return left + text + right


def compose(head: list[str], discrepancy: Discrepancy, cause: str | None) -> str:
    """The whole text: head (the call, and under which layout), what is wrong, the likely cause."""
    last = ["", *wrapped(cause)] if cause else []
    told = describe(discrepancy, LINES - len(head) - 1 - len(last))
    if cause and is_refusal(discrepancy) and "" in told:
        told = told[: told.index("")]  # the question that it ends with: there is a better one
    return printable("\n".join([*head, "", *told, *last]))


def printable(text: str) -> str:
    """Without control characters: what a lesson says must not steer the terminal."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)


def describe(discrepancy: Discrepancy, room: int) -> list[str]:
    """The discrepancy in at most `room` lines."""
    if discrepancy.kind == "raised":
        return raised(discrepancy.got, room)
    if discrepancy.kind == "values":
        return values(discrepancy, room)
    return wrapped(in_words(discrepancy))[:room]


def wrapped(text: str) -> list[str]:
    return [line for part in text.splitlines() for line in textwrap.wrap(part, WIDTH) or [""]]


# An error of the learner's code ----------------------------------------------------------------------------


def raised(error: Raised, room: int) -> list[str]:
    """The error, then the learner's own line in which it happened."""
    if error.type_name in REFUSALS:
        return refused(error, room)[:room]
    if error.type_name == NoGradient.__name__:
        return wrapped(error.message)[:room]
    lines = wrapped(f"It raised {error.type_name}: {error.message}".rstrip(": \n"))
    where = []
    if error.frames:
        frame = error.frames[-1]
        where = [
            f"{frame.file} line {frame.line}, in {frame.function}:",
            show.cut(f"    {frame.source.strip()}", WIDTH),
        ]
    most = max(1, room - len(where))
    return (lines if len(lines) <= most else [*lines[: most - 1], "..."]) + where


def is_refusal(discrepancy: Discrepancy) -> bool:
    return discrepancy.kind == "raised" and discrepancy.got.type_name in REFUSALS


def refused(error: Raised, room: int = LINES) -> list[str]:
    """A simulator's refusal in its own words: it names the line, and asks. Only the task is added.

    A long source line stands in a line of its own, if there is room for that.
    """
    head, *rest = error.message.splitlines()
    lines = wrapped("\n".join(rest))
    if error.frames:
        frame = error.frames[-1]
        if place := PLACE.match(head):  # the kernel's own line: the frame may be that of the launch
            source = frame.source if int(place[2]) == frame.line else place[3]  # in the message it may be cut
            frame = replace(frame, function=place[1], line=int(place[2]), source=source)
        source = frame.source.partition("  #")[0]  # without its comment
        where = f"{task_of(frame)}{frame.function}, line {frame.line}:"
        head = f"{where}  {source}"
        if len(head) > WIDTH and len(lines) + 2 <= room:  # its first part says most: of an access it is the pointer
            return [where, f"    {show.window(source, 0, WIDTH - 4)}", *lines]
    return [show.cut(head, WIDTH), *lines]


def task_of(frame: Frame) -> str:
    """ "task 2, " for a line of a lesson below `# Task 2`, "given, " for what is given; "" where there is no telling.

    The function is looked for, and only then the line: the launch may be a test's, where lines have other numbers. Of
    a kernel in C++ it is the function whose text holds the line.
    """
    folder, _, name = frame.file.rpartition("/")
    try:
        lesson = ROOT / folder / name.removeprefix("test_") if IN_THE_COURSE.fullmatch(frame.file) else None
        text = lesson.read_text(encoding="utf-8") if lesson else ""
    except (OSError, ValueError):  # an answer that lies in another folder
        return ""
    function = _holder(text, frame) or frame.function
    above, found, below = text.partition(f"\ndef {function}(")
    if not found:
        above = "" if name.startswith("test_") else "\n".join(text.splitlines()[: frame.line])
        if GIVEN_CLASS.fullmatch(above.rpartition("\nclass ")[2]):
            return "given, "
    numbers = TASK.findall(above)
    if found and GIVEN.search(below.partition("\ndef ")[0]):
        return "given, "
    return (f"task {numbers[-1]}, " if numbers[-1] else "given, ") if numbers else ""


def _holder(text: str, frame: Frame) -> str:
    """The function of the lesson that holds the line in a string, as one that returns a kernel's source in C++ does.

    "" where the line is not that function's: the kernel may have the name of another one, which launches it.
    """
    line = "".join(text.splitlines()[frame.line - 1 : frame.line])
    if not frame.source or frame.source not in line:
        return ""
    try:
        functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        return ""
    return next((node.name for node in functions if node.lineno < frame.line <= (node.end_lineno or 0)), "")


# Values that differ ----------------------------------------------------------------------------------------


def values(discrepancy: Discrepancy, room: int) -> list[str]:
    lead = f"In {discrepancy.part}: " if discrepancy.part else ""
    if discrepancy.wrong is None:
        return plain_values(discrepancy.got, discrepancy.want, lead) + error_lines(discrepancy, "its size")
    got, want = arrays.to_numpy(discrepancy.got), arrays.to_numpy(discrepancy.want)
    if got.size == 1:
        return plain_values(got.item(), want.item(), lead) + error_lines(discrepancy, "its size")
    error = error_lines(discrepancy, "the typical size")
    whole = show.grid(got, want, discrepancy.wrong, room - 2 - len(error))
    count = f"{lead}{share(discrepancy.wrong)} {verb(discrepancy.wrong, 'differs', 'differ')}"
    several = discrepancy.wrong.sum() > 1 and not whole
    listed = show.table(got, want, discrepancy.wrong, room - 1 - len(error)) if several else []
    if listed:
        return [f"{count}{'.' if error else ':'}", *error, *listed]
    index = show.first_of(discrepancy.wrong)
    mine, right = show.pair(got[index].item(), want[index].item(), 24)
    where = f"{verb(discrepancy.wrong, ', at', '. First:')} {show.place(index)}"
    return wrapped(f"{count}{where}: got {mine}, wanted {right}.") + error + whole


def plain_values(got: object, want: object, lead: str) -> list[str]:
    mine, right = show.pair(got, want, WIDTH - 12)
    line = f"{lead}got {mine}, wanted {right}."
    if type(got) is not type(want) and got == want:
        line = f"{lead}got {mine}, {show.kind(got)}; wanted {right}, {show.kind(want)}."
    if len(line) <= WIDTH:
        return [line[0].upper() + line[1:]]
    return [lead.rstrip() or "Another value:", f"  got     {mine}", f"  wanted  {right}"]


def error_lines(discrepancy: Discrepancy, size: str) -> list[str]:
    """The error beside the tolerance, when the result is nearly right. size: what the error is a part of."""
    if discrepancy.tolerance is None or (discrepancy.wrong is None and not isinstance(discrepancy.want, float)):
        return []
    got, want = arrays.change_arrays(arrays.to_numpy, (discrepancy.got, discrepancy.want))
    error = float(errors(got, want)[... if discrepancy.wrong is None else discrepancy.wrong].max())
    if not 0 < error <= SUBTLE:
        return []
    allowed = f"{discrepancy.tolerance.relative:.1e} ({discrepancy.tolerance.why})"
    return wrapped(f"Error {error:.1e} of {size}, allowed {allowed}.")
