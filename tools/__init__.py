"""Everything that is not a lesson. Rooms stand on floors, and a room imports only from the floors below its own.

0 marker, processes, requirements, stem, words  1 models  2 sim, compiler  3 gpu  4 wire  5 worker  6 check, doctor
7 course, draw  8 pytest_course, bench, selfcheck, notebook, report  9 cli
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def pip_install(what: str) -> str:
    """The command that installs something for the Python that runs this, typed in the folder of the course."""
    python = Path(sys.executable)
    return f"{python.relative_to(ROOT).as_posix() if python.is_relative_to(ROOT) else 'python3'} -m pip install {what}"
