"""A process that notes the files of the course that it reads; tools/selfcheck/remembered.py asks for it.

Python imports a module of this name first of all, where PYTHONPATH holds its folder; children inherit that.
COURSE_READS names the file that takes the notes: a path relative to COURSE_READS_ROOT a line, or EVERYTHING, of a
process that starts another one whose reading nobody can note.
"""

import os
import sys

EVERYTHING = "*"
ALONE = {"-I", "-E", "-S", "-IS", "-SI", "-sE", "-Es"}  # options with which a Python does not come by here
# These read what a watched process has written for them, or the headers of tools/, on which every part depends
HARMLESS = {"as", "cc1plus", "clang", "clang++", "cuobjdump", "g++", "c++", "gcc", "cc", "ld", "ldconfig", "ldd",
            "nvcc", "nvdisasm", "nvidia-smi", "objdump", "ptxas", "tty", "uname", "valgrind", "which", "file", "true",
            "lscpu", "sleep", "sysctl", "tput"}  # fmt: skip
HERE = os.path.dirname(os.path.abspath(__file__))


class Reader:
    """Hears of each file that is opened and each process that is started. notes: the file; root: the course."""

    def __init__(self, notes: str, root: str) -> None:
        self.notes, self.root = notes, os.path.realpath(root) + os.sep
        self.seen: set = set()
        self.busy = False

    def hear(self, event: str, args: tuple) -> None:
        """An audit event of Python (PEP 578)."""
        if event == "open":
            if not self.busy and args[0].__class__ is not int:
                self.opened(args[0])
        elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
            program, command, *_, environment = args
            folder = args[2] if event == "subprocess.Popen" else None
            if not self.is_followed(program, command, folder, environment):
                self.note(EVERYTHING)
        elif event in ("os.system", "pty.spawn"):
            self.note(EVERYTHING)

    def opened(self, path: object) -> None:
        name = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        if not os.path.isabs(name):
            name = os.path.join(os.getcwd(), name)
        if name in self.seen:
            return
        self.seen.add(name)
        real = os.path.realpath(name)
        if real.startswith(self.root):
            self.note(source_of(real[len(self.root) :]))

    def note(self, line: str) -> None:
        if line in self.seen:
            return
        self.seen.add(line)
        self.busy = True
        try:
            with open(self.notes, "a", encoding="utf-8") as file:
                file.write(line + "\n")
        finally:
            self.busy = False

    def is_followed(self, program: object, command: object, folder: object, environment: object) -> bool:
        """Does a process that begins note what it reads, or read nothing of the course?"""
        words = [os.fsdecode(word) for word in command] if isinstance(command, (list, tuple)) else []
        name = os.path.basename(os.fsdecode(program) if program else words[0] if words else "")  # type: ignore[arg-type]
        if name in HARMLESS:
            return True
        if name == "git":
            place = os.path.realpath(os.fsdecode(folder) if folder else os.getcwd()) + os.sep  # type: ignore[arg-type]
            return not place.startswith(self.root) and not any(self.root[:-1] in word for word in words)
        if not name.startswith("python") and name != "course":
            return False
        inherits = environment is None or HERE in os.fsdecode(_of(environment, "PYTHONPATH")).split(os.pathsep)
        return inherits and not ALONE & set(words[1:3])


def _of(environment: object, name: str) -> object:
    """A variable of an environment, whose names may be text or bytes."""
    assert isinstance(environment, dict) or hasattr(environment, "get")
    return environment.get(name) or environment.get(name.encode()) or ""  # type: ignore[union-attr]


def source_of(path: str) -> str:
    """Of a module's compiled form in __pycache__, the module."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) != "__pycache__":
        return path.replace(os.sep, "/")
    return os.path.join(os.path.dirname(folder), name.split(".", 1)[0] + ".py").replace(os.sep, "/")


def begin() -> None:
    """Watch this process, if it is asked for; then import the module of this name that would have been found."""
    if "COURSE_READS" in os.environ:
        sys.addaudithook(Reader(os.environ["COURSE_READS"], os.environ["COURSE_READS_ROOT"]).hear)
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != HERE]
    sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        pass


if __name__ == "sitecustomize":
    begin()
