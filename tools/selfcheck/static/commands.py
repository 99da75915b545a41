"""Every command that the course tells someone to type must exist: sub-command, option, path and module.

Asked of the programs themselves, by --help, so that what is checked is what a reader would meet.
"""

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.selfcheck.static.material import Problem, Problems

_PYTEST = r"(?:python3? -m )?(?<![\w.-])pytest(?![\w.-])"
_WORDS = r"(?: [^\s`\"'|;)(]+)*"
COMMAND = re.compile(rf"(?P<head>\./course|python3? -m tools[.\w]*|{_PYTEST})(?P<rest>{_WORDS})")
BARE = re.compile(
    r"(?<!\./course )(?<![\w./-])python3? (?:-[mc]|[\w/]+\.py)(?![\w-])"
)  # where a newcomer has none active
PLACEHOLDER = re.compile(r"[A-Z][A-Z_/\d]*|.*(\.\.\.|[<{]).*")  # DAY, UNIT/NAME, week1/...
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
ON_BENCH = {"bench", "compiled", "count", "profile", "show"}  # they call what bench_NAME.py beside a lesson names
OWN_OPTIONS = frozenset({"-m", "-c"})  # of Python, that lessons use
PATH = re.compile(r"\.?[\w.-]+/[\w./-]*|[\w-]+\.(?:py|toml|md)|week\d")


class NoHelp(Exception):
    """A program that cannot say what it knows."""


def commands_exist(root: Path) -> Problems:
    """Problems with the commands in the README, the documents, the lessons and the tools' own messages."""
    for where, text in _texts(root):
        if where.startswith("week") and "python" in text and (bare := BARE.search(text)):
            yield Problem(where, f"`{bare[0]}`: ./course python finds the packages in any terminal")
        for match in COMMAND.finditer(text):
            words = [word.rstrip(".,:") for word in match["rest"].split()]
            try:
                what = _fault(match["head"], words, root)
            except NoHelp as silent:
                what = str(silent)
            if what:
                yield Problem(where, f"`{match[0].strip()}`: {what}")


def _fault(head: str, words: list[str], root: Path) -> str | None:
    if head.startswith("./course"):
        return _course_fault(words, root)
    if head.endswith("tools.cli"):
        return _course_fault(words, root)
    if "tools" in head:
        return _module_fault(head.split()[-1], root)
    return _arguments_fault(words, _options("pytest", root), root)


def _course_fault(words: list[str], root: Path) -> str | None:
    """Paths and options go to pytest; all else is a sub-command."""
    first = words[0] if words else ""
    if not first or PLACEHOLDER.fullmatch(first):
        return None
    if first == "python":
        return _python_fault(words[1:], root)
    if first.startswith("-") or PATH.fullmatch(first):
        return _arguments_fault(words, _options("pytest", root) | _options("course", root), root)
    if first not in _subcommands(root):
        return f"there is no sub-command {first}"
    return _arguments_fault(words[1:], _options(first, root), root) or _bench_fault(words, root)


def _bench_fault(words: list[str], root: Path) -> str | None:
    """A unit that such a command is asked about, with nothing beside its lesson that it could call."""
    for word in words[1:] if words[0] in ON_BENCH else []:
        if (root / word / "day.toml").is_file() and not any((root / word).glob("bench_*.py")):
            return f"{words[0]} has nothing to call: there is no bench_*.py in {word}"
    return None


def _arguments_fault(words: list[str], options: frozenset[str], root: Path) -> str | None:
    """The first option or path that does not exist. Prose may follow a command: another word ends it."""
    for word in words:
        path, option = word.split("::")[0], word.split("=")[0]
        if PLACEHOLDER.fullmatch(path):
            continue
        if OPTION.fullmatch(option):
            if option not in options:
                return f"there is no option {option}"
        elif not PATH.fullmatch(path):
            return None
        elif not (root / path).exists():
            return f"there is no {path}"
    return None


def _python_fault(words: list[str], root: Path) -> str | None:
    """A module of the course, or a file, that is not there; code and Python's own modules are not looked at."""
    if words[:1] == ["-m"] and words[1:] and words[1].startswith(("tools", "week")):
        return _module_fault(words[1], root)
    return _arguments_fault(words[:1], OWN_OPTIONS, root)


def _module_fault(name: str, root: Path) -> str | None:
    file = root / name.replace(".", "/")
    if file.with_suffix(".py").is_file() or (file / "__main__.py").is_file():
        return None
    return f"there is no {name} to run"


# What the programs know --------------------------------------------------------------------------


def _subcommands(root: Path) -> frozenset[str]:
    commands = _help(("-m", "tools.cli"), root).partition("Commands:")[2]
    return frozenset(re.findall(r"^  ([a-z][\w-]*)", commands, re.MULTILINE))


def _options(program: str, root: Path) -> frozenset[str]:
    arguments = {"pytest": ("-m", "pytest"), "course": ("course",)}.get(program, ("-m", "tools.cli", program))
    page = _pages(root).get(program) if "tools.cli" in arguments else None
    return frozenset(OPTION.findall(page or _help(arguments, root)))


@functools.cache
def _pages(root: Path) -> dict[str, str]:
    """The --help of each sub-command that prints one, asked in one process; none where that process fails."""
    command = [sys.executable, "-c", _PRINT_PAGES, *sorted(_subcommands(root))]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout) if done.returncode == 0 else {}


_PRINT_PAGES = """
import contextlib, io, json, sys
from tools.cli.__main__ import main

pages = {}
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as page:
        try:
            code = main([name, "--help"])
        except SystemExit as end:
            code = end.code
    if code == 0:
        pages[name] = page.getvalue()
print(json.dumps(pages))
"""


@functools.cache
def _help(arguments: tuple[str, ...], root: Path) -> str:
    done = subprocess.run([sys.executable, *arguments, "--help"], cwd=root, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise NoHelp(f"python {' '.join(arguments)} --help fails: {last}")
    return done.stdout


# Where commands are written ----------------------------------------------------------------------


def _texts(root: Path) -> Iterator[tuple[str, str]]:
    """(place, text) for everything a reader may take a command from."""
    documents = [
        *root.glob("*.md"),
        *root.glob("docs/**/*.md"),
        *root.glob("week*/**/*.md"),
        *root.glob("week*/**/day.toml"),
    ]
    for file in sorted(documents):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            yield f"{file.relative_to(root).as_posix()}, line {number}", line
    sources = [*root.glob("week*/**/*.py"), *root.glob("tools/**/*.py"), root / "course"]
    for file in sorted(f for f in sources if f.is_file() and "tests" not in f.relative_to(root).parts):
        for number, text in _strings(ast.parse(file.read_text(encoding="utf-8"), str(file))):
            yield f"{file.relative_to(root).as_posix()}, line {number}", text


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """String literals with their lines; what an f-string fills in becomes a placeholder."""
    inside: set[int] = set()
    for node in ast.walk(tree):  # an f-string before its parts
        if isinstance(node, ast.JoinedStr):
            inside |= set(map(id, node.values))
            yield node.lineno, "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + offset, line
