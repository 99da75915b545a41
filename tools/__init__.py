"""Everything that is not a lesson. Rooms stand on floors, and a room imports only from the floors below its own.

0 words  1 models  2 sim, compiler  3 gpu  4 wire, worker  5 check  6 course, draw  7 pytest_course, bench  8 cli, grade
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
