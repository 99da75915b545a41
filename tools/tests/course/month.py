"""A learner's month for tests of what is made of it. Every figure in it is test data: nothing here was measured."""

from datetime import date, datetime, timedelta, timezone
from pathlib import Path

from tools.course.content import catalogue
from tools.course.learner import journal
from tools.course.learner.progress import Check, Progress, Result, file_hash
from tools.tests.course.miniature import LESSON
from tools.tests.course.versions import under_git

BEGAN = datetime(2026, 11, 2, 18, 0, tzinfo=timezone.utc)
SOLVED = LESSON.replace('raise NotImplementedError("week1/day1 task 1: double")', "return x + x").replace(
    "pass  # store what double returns", "x_ptr[0] = double(n)"
)
CARD = "Test Card 1"


def begin(root: Path, *names: str) -> Path:
    """A course with these units in git, and a learner's branch."""
    under_git.begin(root, *names)
    under_git.git(root, "switch", "--quiet", "--create", "learner/Ada")
    return root


def solve(root: Path, unit: str = "week1/day1", lesson: str = SOLVED) -> None:
    (root / unit / "small.py").write_text(lesson, encoding="utf-8")


def passed(root: Path, name: str = "week1/day1", card: str | None = None, needs_gpu: bool = True) -> None:
    """Everything in the unit passed, on the card if there is one."""
    unit, progress = catalogue.unit(name, root), Progress.load(root)
    checks = [Check(1, "correctness"), Check(2, "counters"), *([Check(2, "speed", True)] if needs_gpu else [])]
    results = [Result(1, "correctness", "simulated"), Result(2, "counters", "simulated")]
    results += [Result(2, "speed", "confirmed", card)] if card else []
    progress.record(unit, results, file_hash(unit.lesson), date(2026, 11, 9), checks)


def add(root: Path, kind: str, minute: int, unit: str = "week1/day1", **facts) -> None:
    journal.add(kind, unit, facts, root, BEGAN + timedelta(minutes=minute))


def count(root: Path, minute: int, function: str = "double", size: int = 64, **totals) -> None:
    add(root, "count", minute, function=function, size=size, totals=totals)


def bench(
    root: Path,
    minute: int,
    seconds: float,
    *,
    size: int = 1024,
    lesson: str = "first",
    card: str = CARD,
    rivals: dict | None = None,
    **facts,
) -> None:
    """A record of double at one size; its speeds follow from its seconds."""
    times = {"yours": seconds, **({"PyTorch": 2e-3} if rivals is None else rivals)}
    rows = [
        {
            "name": name,
            "seconds": time,
            "low": 0.9 * time,
            "high": 1.1 * time,
            "gb_s": 8e-9 * size / time,
            "gflop_s": 1e-9 * size / time,
            "share_of_ceiling": 0.5,
            "peak_bytes": 4 * size,
            "lines": 3 if name == "yours" else None,
        }
        for name, time in times.items()
    ]
    record = {
        "function": "double",
        "shape": f"{size} float32",
        "size": size,
        "rows": rows,
        "class": "test class",
        "machine": {"card": card, "driver": "13.0", "versions": {"triton": "3.7.1"}},
        "simulated": False,
        "lesson": lesson,
    }
    add(root, "bench", minute, **record | facts)


def whole(root: Path) -> Path:
    """Something of everything that a page can show."""
    begin(root, "week1/day1", "week1/day2", "week1/katas/simd")
    solve(root)
    passed(root, card=CARD)
    passed(root, "week1/day2")
    for minute in range(0, 60, 10):
        add(root, "worked", minute)
    add(root, "passed", 58, task=2, state="simulated", card=None, kernel=True)
    add(root, "hint", 59, task=2, rung=1)
    count(root, 61, sectors=131072, bytes_loaded=4096, programs=4)
    count(root, 1500, sectors=16384, bytes_loaded=4096, programs=4)
    for exponent in (10, 14, 18):
        bench(root, 62 + exponent, 3.12e-3 * 2**exponent / 2**18, size=2**exponent)
        bench(
            root,
            1600 + exponent,
            0.4e-3 * 2**exponent / 2**18,
            size=2**exponent,
            lesson="second",
            rivals={"PyTorch": 0.5e-3, "NumPy": 40e-3},
        )
    add(
        root,
        "bench",
        1700,
        unit="week1/day2",
        function="halve",
        shape="64 float32",
        size=64,
        rows=[],
        simulated=True,
        asked=4096,
        in_sectors=65536,
        least=512,
    )
    note = root / "journal/week1/day1.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(NOTE, encoding="utf-8")
    return root


NOTE = """# What I learned

A *mask* is **not** optional. <script>document.title = "taken"</script>

![a picture](https://example.org/tracker.png) and [a link](https://example.org/page) and [bad](javascript:alert(1))

| size | sectors |
|------|---------|
| 64   | 16,384  |

```python
mine = 1 < 2
```
"""
