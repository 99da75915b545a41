"""Files that a command writes where the learner says. What the course did not write is never overwritten, nor is what
was changed since: .course/written.json knows each file by its hash."""

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from tools.course.learner.progress import file_hash
from tools.words import LONGEST, cut

KNOWN = ".course/written.json"


class NotWritten(Exception):
    """A file that stays as it is, or cannot be; str() is one line or two: why, and what to do."""


def check(file: Path, root: Path) -> None:
    """Raise NotWritten where `file` cannot be written or must not be: before anybody waits for what it will hold."""
    try:
        file.is_dir()
    except OSError as error:  # a name that is too long
        name = cut(file.name, LONGEST)
        raise NotWritten(f"{name} cannot be written ({error.strerror}).\nName another file.") from None
    if file.is_dir():
        raise NotWritten(f"{file} is a folder.\nName a file in it.")
    if not file.parent.is_dir():
        raise NotWritten(f"{file} cannot be written: there is no folder {file.parent}.\nMake it, or name another file.")
    if file.is_file() and _known(root).get(_name(file)) != file_hash(file):
        raise NotWritten(
            f"{file} is there, and not as this course wrote it: it stays as it is.\nMove it away, or name another file."
        )


def check_folder(folder: Path, root: Path) -> None:
    """Make a folder of the course's own. Raises NotWritten where nothing can be put into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        name = folder.relative_to(root).as_posix()
        raise NotWritten(
            f"This command keeps its files in {name}, which cannot be written ({error.strerror})."
        ) from None


def write(file: Path, text: str, root: Path) -> None:
    """Write the file, all of it or nothing. Raises NotWritten."""
    check(file, root)
    try:
        if file.exists() and not file.is_file():  # /dev/stdout, or a pipe
            file.write_text(text, encoding="utf-8")
            return
        _replace(file.resolve(), text)  # what a link leads to, not the link
    except OSError as error:
        raise NotWritten(f"{file} cannot be written ({error.strerror}).\nName another file.") from None
    _remember(file, root)


def _replace(file: Path, text: str) -> None:
    new = file.with_name(f".{file.name[:100]}.{os.getpid()}.tmp")
    try:
        new.write_text(text, encoding="utf-8")
        os.replace(new, file)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def _known(root: Path) -> dict[str, str]:
    """The hash of each file as the course wrote it, by its path."""
    try:
        known = json.loads((root / KNOWN).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def _remember(file: Path, root: Path) -> None:
    """Keep the file's hash; where that cannot be, the file counts as the learner's from now on."""
    known = {name: hash for name, hash in _known(root).items() if os.path.exists(name)}
    with suppress(OSError):
        (root / KNOWN).parent.mkdir(exist_ok=True)
        _replace(root / KNOWN, json.dumps(known | {_name(file): file_hash(file)}, indent=1) + "\n")


def _name(file: Path) -> str:
    return str(file.resolve())
