"""A record of what a process of the self-check reads: the files of the course that it opens, and unseen programs.

Python imports a module of this name as it starts, where this folder is on PYTHONPATH. COURSE_INPUTS names the file to
add lines to, COURSE_INPUTS_ROOT the course. A path is relative to that; UNSEEN says that another program was started
that may have read anything. Lines are written at once: a process may die at any moment.
"""

import os
import re
import sys
from typing import Any

LOG, ROOT = "COURSE_INPUTS", "COURSE_INPUTS_ROOT"
FOLDER = os.path.dirname(os.path.abspath(__file__))
UNSEEN = "*"
# Programs that read what they are named, and of the course no more than the sources that every verdict depends on
KNOWN = set(
    """g++ gcc cc c++ clang clang++ nvcc ptxas cuobjdump nvdisasm nvidia-smi ncu addr2line objdump valgrind
    uname ldconfig ld lscpu""".split()
)
STARTS = {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.spawn", "os.system"}
BYTECODE = re.compile(r"(?:__pycache__/)([^/]+?)\.(?:cpython|pypy)[^/]*\.pyc(?:\.\d+)?$")


def start(log: str, root: str) -> None:
    """From now on and for ever, write down what this process reads below `root`."""
    root = os.path.realpath(root)
    elsewhere = tuple(
        os.path.join(path, "") for path in {sys.prefix, sys.base_prefix, "/proc", "/sys", "/dev", "/usr"}
        if not (root + os.sep).startswith(os.path.join(path, ""))
    )  # fmt: skip
    known: set = set()
    lines: set[str] = set()

    def write(line: str) -> None:
        if line in lines:
            return
        lines.add(line)
        file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{line}\n".encode("utf-8", "surrogateescape"))
        finally:
            os.close(file)

    def opened(path: Any) -> None:
        if isinstance(path, int) or path is None or path in known:
            return
        text = os.fsdecode(path)
        if os.path.isabs(text):  # what another path means depends on the folder that the process is in
            known.add(path)
        if text == log or text.startswith(elsewhere):
            return
        real = os.path.realpath(text)
        if real.startswith(root + os.sep):
            write(source_of(os.path.relpath(real, root).replace(os.sep, "/")))

    def hook(event: str, arguments: tuple) -> None:
        if event != "open" and event not in STARTS:
            return
        try:
            if event == "open":
                opened(arguments[0])
            elif not is_seen(event, arguments):
                write(UNSEEN)
        except Exception:  # in doubt it may have read anything; and whoever reads must not notice us
            try:
                write(UNSEEN)
            except Exception:
                pass

    sys.addaudithook(hook)
    if sys.pycache_prefix:  # bytecode then lies where nothing says what it was made of
        write(UNSEEN)


def source_of(path: str) -> str:
    """The file of Python that bytecode was made of, and any other path as it is."""
    return BYTECODE.sub(r"\1.py", path)


def is_seen(event: str, arguments: tuple) -> bool:
    """Is a program that is being started recorded too, or one that reads nothing that we would miss?"""
    if event == "os.system":
        return False
    first = 1 if event == "os.spawn" else 0
    program, command = arguments[first], arguments[first + 1]
    environment = arguments[-1]
    name = os.path.basename(os.fsdecode(program))
    if name in KNOWN or re.fullmatch(r"(\w+-)*(g\+\+|gcc|clang|clang\+\+)(-\d+)?|ptxas-\w+", name):
        return True
    if name == "git" or _is_compiled(os.fsdecode(program)):
        folder = arguments[2] if event == "subprocess.Popen" else None
        return _is_elsewhere(command, os.environ if environment is None else environment, folder)
    if not name.startswith("python"):
        return False
    return not _is_isolated(command) and _carries_on(os.environ if environment is None else environment)


def _is_compiled(program: str) -> bool:
    """Is it machine code that a process of the job made, in a folder for what is temporary?"""
    if not os.path.realpath(program).startswith(os.path.join(os.environ.get("TMPDIR", "/tmp"), "")):
        return False
    try:
        with open(program, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _is_elsewhere(command: Any, environment: Any, folder: Any) -> bool:
    """Does a program start outside of the course, with nothing of the course among its words and git's variables?"""
    root = os.path.realpath(str(_ours[ROOT]))
    place = os.path.realpath(os.fsdecode(folder) if folder else os.getcwd())
    words = list(map(os.fsdecode, [command] if isinstance(command, (str, bytes)) else list(command)))
    variables = {os.fsdecode(name): os.fsdecode(value) for name, value in dict(environment).items()}
    words += [value for name, value in variables.items() if name.startswith("GIT_")]
    return not f"{place}/".startswith(f"{root}/") and not any(root in word for word in words)


def _is_isolated(command: Any) -> bool:
    """Does this command line of Python forbid what would import this module?"""
    if isinstance(command, (str, bytes)):
        return True
    for word in map(os.fsdecode, list(command)[1:]):
        if not word.startswith("-") or word in ("-m", "-c", "-"):
            return False
        if not word.startswith(("-X", "-W", "--")) and set(word[1:]) & set("IES"):
            return True
    return False


def _carries_on(environment: Any) -> bool:
    """Does the environment of a new process say what ours says about recording?"""
    table = {os.fsdecode(key): os.fsdecode(value) for key, value in dict(environment).items()}
    return (
        table.get(LOG) == _ours[LOG]
        and table.get(ROOT) == _ours[ROOT]
        and FOLDER in table.get("PYTHONPATH", "").split(os.pathsep)
    )


_ours = {name: os.environ.get(name) for name in (LOG, ROOT)}
if __name__ == "sitecustomize" and all(_ours.values()):
    start(os.environ[LOG], os.environ[ROOT])
