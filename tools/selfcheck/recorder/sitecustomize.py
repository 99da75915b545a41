"""A record of what a process of the self-check reads: the files of the course that it opens, and unseen programs.

Python imports a module of this name as it starts, where this folder is on PYTHONPATH. COURSE_INPUTS names the file to
add lines to, COURSE_INPUTS_ROOT the course; where a check runs inside a check, both name one for each. A line is a path
below the course, or UNSEEN: another program was started that may have read anything. Behind a tab stands the reader:
the test file that is at work, or "@" and the place of the copy of the course that it was read in. Lines are written at
once: a process may die at any moment.
"""

import _thread
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

LOG, ROOT, READER = "COURSE_INPUTS", "COURSE_INPUTS_ROOT", "COURSE_INPUTS_READER"
FOLDER = os.path.dirname(os.path.abspath(__file__))
UNSEEN = "*"
COPY = "copy-of-the-course"  # the name of the folder of every copy: a file in it stands for the one of the course
COMMIT = "(commit)"
BYTECODE = re.compile(r"(?:__pycache__/)([^/]+?)\.(?:cpython|pypy)[^/]*\.pyc(?:\.\d+)?$")
STARTS = {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.spawn", "os.system"}
# Programs that read what they are named, and of the course no more than the sources that every verdict depends on
KNOWN = set(
    """g++ gcc cc c++ clang clang++ nvcc ptxas cuobjdump nvdisasm nvidia-smi ncu addr2line objdump valgrind
    uname ldconfig ld lscpu openssl""".split()  # torch.compile has openssl hash a header that it wrote
)
SHELLS = ("sh", "/bin/sh", "bash", "/bin/bash")
# Commands of git that tell nothing of what stands in a file; others are asked about a file by name, or see everything
WITHOUT_CONTENT = set(
    """init add commit gc status branch switch config remote rev-parse symbolic-ref merge-base ls-tree ls-files
    hash-object write-tree commit-tree read-tree update-index update-ref for-each-ref""".split()
)
ONLY_THE_COMMIT = set("rev-parse symbolic-ref remote branch".split())  # in the course itself
NO_PLACES = ("GIT_TERMINAL_PROMPT", "GIT_SSL_", "GIT_AUTHOR_", "GIT_COMMITTER_")  # do not say where git works
NAMED = re.compile(r"[^:]+:(.+)")  # COMMIT:PATH

paused: set[int] = set()  # threads that are copying the course: a copy is no reading
records: list["Record"] = []


class Record:
    """One log, of one course."""

    def __init__(self, log: str, root: str, reader: str) -> None:
        self.log, self.root = log, os.path.realpath(root)
        self.elsewhere = tuple(
            os.path.join(path, "") for path in {sys.prefix, sys.base_prefix, "/proc", "/sys", "/dev", "/usr"}
            if not (self.root + os.sep).startswith(os.path.join(path, ""))
        )  # fmt: skip
        self.reader = reader
        self.known: set = set()
        self.lines: set[str] = set()

    def write(self, path: str, reader: str) -> None:
        line = f"{path}\t{reader}" if reader else path
        if line in self.lines:
            return
        self.lines.add(line)
        file = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{line}\n".encode("utf-8", "surrogateescape"))
        finally:
            os.close(file)

    def opened(self, path: Any, flags: Any) -> None:
        if isinstance(path, int) or path is None or path in self.known:
            return
        text = os.fsdecode(path)
        if os.path.isabs(text):  # what another path means depends on the folder that the process is in
            self.known.add(path)
        if text == self.log or text.startswith(self.elsewhere):
            return
        real = os.path.realpath(text)
        if real.startswith(self.root + os.sep):
            self.write(source_of(os.path.relpath(real, self.root).replace(os.sep, "/")), self.reader)
        elif place := copy_of(real):
            if not isinstance(flags, int) or flags & os.O_ACCMODE != os.O_WRONLY:
                self.write(source_of(real[len(place) + len(COPY) + 2 :]), f"@{place}")
            else:
                self.known.discard(path)  # written now, and perhaps read later

    def started(self, event: str, arguments: tuple) -> None:
        for path, place in programs_reads(event, arguments, self):
            self.write(path, f"@{place}" if place else self.reader)


def copy_of(path: str) -> str:
    """The folder that the copy of the course lies in which this path is in; "" for none."""
    place, found, _ = (path + os.sep).partition(f"{os.sep}{COPY}{os.sep}")
    return place if found else ""


def hook(event: str, arguments: tuple) -> None:
    """Hear of everything that this process opens or starts, for ever."""
    if event != "open" and event not in STARTS or _thread.get_ident() in paused:
        return
    for record in records:
        try:
            if event == "open":
                record.opened(arguments[0], arguments[2])
            else:
                record.started(event, arguments)
        except Exception:  # in doubt it may have read anything; and whoever reads must not notice us
            try:
                record.write(UNSEEN, record.reader)
            except Exception:
                pass


def source_of(path: str) -> str:
    """The file of Python that bytecode was made of, and any other path as it is."""
    return BYTECODE.sub(r"\1.py", path)


def start(logs: str, roots: str, readers: str) -> None:
    """From now on and for ever, write down what this process reads below the roots."""
    each_log = logs.split(os.pathsep)
    each_reader = [*readers.split(os.pathsep), *("" for _ in each_log)]  # none is named to a process that serves all
    records.extend(map(Record, each_log, roots.split(os.pathsep), each_reader))
    sys.addaudithook(hook)
    if sys.pycache_prefix:  # bytecode then lies where nothing says what it was made of
        for record in records:
            record.write(UNSEEN, record.reader)


def read_by(reader: str) -> None:
    """From now on what is read, here and by processes to come, is read by this test file; "" for all of the job.

    Of a check inside a check it is a test file of the inner one, whose record comes first.
    """
    records[0].reader = reader
    records[0].known.clear()
    os.environ[READER] = os.pathsep.join(record.reader for record in records)


# Programs -----------------------------------------------------------------------------------------


def programs_reads(event: str, arguments: tuple, record: Record) -> Iterator[tuple[str, str]]:
    """What a program that is being started reads of the course beyond what is recorded: paths, or UNSEEN.

    Each with the place of the copy that it is read in, or "".
    """
    if event == "os.system":
        yield UNSEEN, ""
        return
    first = 1 if event == "os.spawn" else 0
    program, command = os.fsdecode(arguments[first]), arguments[first + 1]
    words = list(map(os.fsdecode, [command] if isinstance(command, (str, bytes)) else list(command)))
    given = os.environ if arguments[-1] is None else dict(arguments[-1])
    variables = {os.fsdecode(name): os.fsdecode(value) for name, value in given.items()}
    folder = arguments[2] if event == "subprocess.Popen" and arguments[2] else None
    place = os.path.realpath(os.fsdecode(folder) if folder else os.getcwd())
    name = os.path.basename(program)
    if name in KNOWN or re.fullmatch(r"(\w+-)*(g\+\+|gcc|clang|clang\+\+)(-\d+)?|ptxas-\w+", name):
        return
    if name == "git":
        yield from _of_git(words, variables, place, record.root)
    elif name.startswith("python") or _is_run_by_python(program):
        if isinstance(command, (str, bytes)) or _is_isolated(words) or not _carries_on(variables, record):
            yield UNSEEN, ""
    elif copy := next(filter(None, map(copy_of, (place, *words))), ""):
        yield UNSEEN, copy
    elif not (_is_of_the_job(program, record.root) and _is_elsewhere(words, {}, place, record.root)):
        yield UNSEEN, ""
    elif (program in SHELLS or not _is_machine_code(program)) and not (
        _carries_on(variables, record) and _are_without(variables, (record.root, COPY))
    ):
        yield UNSEEN, ""


def _is_of_the_job(program: str, root: str) -> bool:
    """Is it a shell, or machine code or a script that a process of the job made, in a folder for what is temporary?"""
    if program in SHELLS:
        return True
    made = os.path.realpath(program).startswith(os.path.join(os.environ.get("TMPDIR", "/tmp"), ""))
    script = _beginning(program, -1) if made else b""
    return made and (_is_machine_code(program) or script.startswith(b"#!") and os.fsencode(root) not in script)


def _is_machine_code(program: str) -> bool:
    return _beginning(program, 4) == b"\x7fELF"


def _is_run_by_python(program: str) -> bool:
    """Is it a script whose first line names an interpreter of Python, without options?"""
    return bool(re.match(rb"#!\s*\S*/python[\d.]*\n", _beginning(program, 1000)))


def _beginning(program: str, size: int) -> bytes:
    if not os.path.isfile(program):
        return b""
    with open(program, "rb") as file:
        return file.read(size)


def _is_elsewhere(words: list[str], variables: dict[str, str], place: str, root: str) -> bool:
    """Does a program start outside of the course, with nothing of the course among its words and git's variables?"""
    said = words + [value for name, value in variables.items() if name.startswith("GIT_")]
    return not f"{place}/".startswith(f"{root}/") and not any(root in word for word in said)


def _of_git(words: list[str], variables: dict[str, str], place: str, root: str) -> Iterator[tuple[str, str]]:
    place, rest = _git_command(words, place)
    redirected = [
        value for name, value in variables.items() if name.startswith("GIT_") and not name.startswith(NO_PLACES)
    ]
    copies = sorted(filter(None, map(copy_of, (place, *rest, *redirected))))
    asks = rest[0] if rest else ""
    if asks == "--version" or asks in ONLY_THE_COMMIT and not redirected and not _in_repository(place):
        return
    if not _is_elsewhere(rest, variables, place, root):
        asks_for_commit = asks in ONLY_THE_COMMIT and not redirected
        yield (COMMIT if asks_for_commit else UNSEEN), ""
    elif copies and asks and asks not in WITHOUT_CONTENT and not _lists_commits(rest):
        named = NAMED.fullmatch(rest[-1]) if asks in ("show", "cat-file") else None
        yield (named[1] if named else UNSEEN), copies[0]


def _in_repository(place: str) -> bool:
    folders = [place]
    while (above := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(above)
    return any(os.path.exists(os.path.join(folder, ".git")) for folder in folders)


def _lists_commits(rest: list[str]) -> bool:
    """Is it `git log` that prints names of commits and their dates, and nothing of what changed in them?"""
    options = [word for word in rest[1:] if word.startswith("-") and word != "--"]
    return rest[0] == "log" and len(options) == 1 and options[0].startswith("--format=")


def _git_command(words: list[str], place: str) -> tuple[str, list[str]]:
    """Where git works, and its words from its command on."""
    rest = words[1:]
    while len(rest) > 1 and rest[0] in ("-C", "-c"):
        if rest[0] == "-C":
            place = os.path.realpath(os.path.join(place, rest[1]))
        rest = rest[2:]
    if rest[:1] == ["merge-file"] and all(map(os.path.isabs, rest[-3:])):
        place = os.path.dirname(rest[-1])  # it asks for no repository
    return place, rest


def _is_isolated(words: list[str]) -> bool:
    """Does this command line of Python forbid what would import the recorder?"""
    for word in words[1:]:
        if not word.startswith("-") or word in ("-m", "-c", "-"):
            return False
        if not word.startswith(("-X", "-W", "--")) and set(word[1:]) & set("IES"):
            return True
    return False


def _carries_on(variables: dict[str, str], record: Record) -> bool:
    """Does the environment of a new process say what this record needs?"""
    logs, roots = (variables.get(name, "").split(os.pathsep) for name in (LOG, ROOT))
    return (record.log, record.root) in zip(logs, map(os.path.realpath, roots), strict=False) and (
        FOLDER in variables.get("PYTHONPATH", "").split(os.pathsep)
    )


def _are_without(variables: dict[str, str], places: tuple[str, ...]) -> bool:
    """Does no variable lead a shell into one of these places, but for those that processes have anyway?"""
    own = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "PWD", "OLDPWD", "_", LOG, ROOT, READER)
    return not any(place in value for name, value in variables.items() if name not in own for place in places)


def _next_of_this_name() -> None:
    """Run the sitecustomize that Python would have found without this one."""
    for place in sys.path:
        file = os.path.join(place, "sitecustomize.py")
        if os.path.abspath(place) != FOLDER and os.path.isfile(file):
            with open(file, encoding="utf-8") as source:
                exec(compile(source.read(), file, "exec"), {"__name__": __name__, "__file__": file})
            return


if __name__ == "sitecustomize" and os.environ.get(LOG) and os.environ.get(ROOT):
    start(os.environ[LOG], os.environ[ROOT], os.environ.get(READER, ""))
    _next_of_this_name()
