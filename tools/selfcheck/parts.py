"""The parts of the self-check, each a function that returns its Findings and tells how far it is."""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tools.course.content.answers import BadAnswer, Broken, Wrong, broken_machines, reference_file, wrong_answers
from tools.course.content.catalogue import Unit
from tools.doctor.packages import of_extra
from tools.selfcheck import golden, static, verdicts
from tools.selfcheck.findings import Findings
from tools.selfcheck.memory import EVERYTHING
from tools.selfcheck.results import Result, TestResult, Variant
from tools.selfcheck.static.commands import commands_exist
from tools.selfcheck.supervise import run_shared, run_variants
from tools.selfcheck.variants import OF_A_UNIT, quick_variants, variants
from tools.selfcheck.verdicts import Verdict

Tell = Callable[..., None]  # phase, detail


# What a failed verdict of these kinds may be due to is a package that some of the unit's tests wait for
DUE_TO_ABSENCE = ("tests seen red", "wrong answers", "mutants that survived")
TO_BE_SHOWN = "to be shown red where nothing is skipped: "


# By package: how it is run, as pyproject.toml configures it
LINTERS = {
    "ruff": ("-m", "ruff", "check", "."),
    "ruff format": ("-m", "ruff", "format", "--check", "."),
    "mypy": ("-m", "mypy"),
    "import-linter": ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"),
}


ASKS_FOR_TORCH = re.compile(r"^\s*(?:import|from) (?:torch|triton)\b", re.MULTILINE)
LINES = 12  # of what pytest said last, where it stopped
ENDED = (0, 1)  # exit codes of pytest: it ran all tests, and some failed or none did
SLOW = ("pytest_course",)  # its tests run pytest hundreds of times; with the others it is the size that tells
OF_CONTENT = ("docs", "pages", "weeks")  # rooms that read lessons, pages and texts; the others test tools/
TESTS = {"tools": "tests of the tools", "content": "tests of the content"}


def tests_of(part: str, root: Path) -> list[Path]:
    """Folders and files of tests that have a process each, those that take longest first. part: a key of TESTS."""

    def size(path: Path) -> int:
        return sum(file.stat().st_size for file in (path.rglob("test_*.py") if path.is_dir() else [path]))

    tests = root / "tools" / "tests"
    folders = {tests / file.relative_to(tests).parts[0] for file in tests.rglob("test_*.py")}
    rooms = [path for path in folders if _part(path) == part and path != root / OF_A_UNIT]  # each unit runs its own
    return sorted(rooms, key=lambda path: (path.name not in SLOW, -size(path), path))


def _part(path: Path) -> str:
    return "content" if path.name in OF_CONTENT else "tools"


def check_tests(
    path: Path, root: Path, tell: Tell, thorough: bool = False, only: Sequence[str] | None = None
) -> Findings:
    """The tests in one of tests_of, in one process; its `pieces` are those of each test file.

    thorough: all of what is else a sample. only: the files to run, relative to the root; None for all.
    """
    tell("running", path.name)
    paths = [path] if only is None else [root / file for file in only]
    options = ["--thorough"] if thorough else []
    return _tested(_part(path), TESTS[_part(path)], paths, root, *options)


def files_of_tests(path: Path, root: Path) -> list[str]:
    """The test files of one of tests_of, relative to the root."""
    files = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return [file.relative_to(root).as_posix() for file in files]


def dev_tests(root: Path) -> list[list[Path]]:
    """Files of tests some of which are skipped where a package of the extra dev is missing: those of each room."""
    rooms: dict[str, list[Path]] = {}
    for file in asking_for(of_extra("dev"), root):
        rooms.setdefault(file.relative_to(root / "tools" / "tests").parts[0], []).append(file)
    return sorted(rooms.values(), key=len, reverse=True)


def check_dev(files: list[Path], root: Path, tell: Tell) -> Findings:
    """One of dev_tests."""
    tell("running", f"{len(files)} files")
    return _tested("dev", "dev tests", files, root)


def check_style(root: Path, tell: Tell) -> Findings:
    """The linters."""
    tell("linting")
    return Findings("dev", [_linted(words, root) for words in LINTERS.values()])


def _linted(words: Sequence[str], root: Path) -> Verdict:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=root)
    name = " ".join(words[1:]) if words[0] == "-m" else "lint-imports"
    return Verdict("dev tests", name, done.returncode == 0, done.stdout + done.stderr)


def asking_for(packages: Sequence[str], root: Path) -> list[Path]:
    """The files of tests that use one of these packages if it is there."""
    asks = re.compile(rf"importorskip\(\"({'|'.join(packages)})\"")
    return [file for file in sorted(root.glob("tools/tests/**/test_*.py")) if asks.search(file.read_text("utf-8"))]


def _tested(name: str, kind: str, paths: Sequence[Path], root: Path, *options: str) -> Findings:
    """What became of tests that are no lesson's; a skip is no pass, and a file of which nothing is told is a fault.

    Where pytest stopped before its end, a second process runs what it left, and a note says so.
    """
    result = _run_tests(paths, root, options)
    told, left = _told(result, paths, root)
    notes = []
    if left and not result.died:
        last = result.tests[-1].nodeid if result.tests else "its start"
        notes = [f"pytest stopped after {last}, exit code {result.exit}; a second process ran {' '.join(left)}"]
        notes += result.said.splitlines()[-LINES:]
        result = _run_tests([root / file for file in left], root, options)
        again, left = _told(result, [root / file for file in left], root)
        told |= again
    found = _of_tests(name, kind, [test for tests in told.values() for test in tests])
    found.notes = notes
    if result.died or left:
        subject = f"pytest {' '.join(path.name for path in paths)}"
        lost = f"exit code {result.exit}; no test was told of: {' '.join(left)}\n{result.said}"
        found.verdicts.append(Verdict(kind, subject, False, result.died or lost))
    else:
        found.pieces = {file: _of_tests(name, kind, tests) for file, tests in told.items()}
    return found


def _run_tests(paths: Sequence[Path], root: Path, options: Sequence[str]) -> Result:
    variant = Variant("tools", "", ("-q", "-p", "no:cacheprovider", *options, *map(str, paths)))
    return run_variants([variant], root, tell=lambda variant: None)[0]


def _told(result: Result, paths: Sequence[Path], root: Path) -> tuple[dict[str, list[TestResult]], list[str]]:
    """The tests that were run, by file; and the files that were not run to their end."""
    by_file: dict[str, list[TestResult]] = {file: [] for path in paths for file in files_of_tests(path, root)}
    for test in result.tests:
        by_file.setdefault(test.nodeid.partition("::")[0], []).append(test)
    stopped = result.tests[-1].nodeid.partition("::")[0] if result.exit not in ENDED and result.tests else None
    left = [file for file, tests in by_file.items() if not tests or file == stopped]
    return {file: tests for file, tests in by_file.items() if file not in left or result.died}, left


def _of_tests(name: str, kind: str, tests: list[TestResult]) -> Findings:
    found = Findings(name, skips=skips(tests))
    for test in tests:
        if test.outcome != "skipped":
            passed = test.outcome in ("passed", "xfailed")
            found.verdicts.append(Verdict(kind, test.nodeid, passed, verdicts.quote(test.text)))
    return found


def check_files(units: list[Unit], root: Path, tell: Tell, only: Sequence[str] | None = None) -> Findings:
    """The rules that need no run, and look at a unit's own files; its `pieces` are those of each unit.

    only: names of the units whose files are looked at; None for all.
    """
    found = Findings("static")
    for unit in units:
        if only is None or unit.name in only:
            tell("reading", unit.name)
            found.pieces[unit.name] = Findings("static", _rules(unit, static.check_unit(unit, root)))
    found.verdicts = [verdict for piece in found.pieces.values() for verdict in piece.verdicts]
    return found


def check_texts(units: list[Unit], root: Path, tell: Tell) -> Findings:
    """Those that look at several units, and at the commands that any text tells someone to type."""
    tell("reading", "all texts")
    found = [verdict for unit in units for verdict in _rules(unit, static.check_place(unit, root))]
    return Findings("static", [*found, _rule("commands exist", list(commands_exist(root)))])


def _rules(unit: Unit, found: dict[str, list]) -> list[Verdict]:
    return [_rule(f"{unit.name}: {rule}", problems) for rule, problems in found.items()]


def _rule(subject: str, problems: list) -> Verdict:
    return Verdict("static rules", subject, not problems, "\n".join(map(str, problems)))


def check_unit(
    unit: Unit, root: Path, tell: Tell, most: int | None = None, absent: Sequence[str] = (), processes: int = 1
) -> Findings:
    """All variants of a unit's lesson, in one process as long as it lives, or in several that share them.

    most: mutants; None for all. absent: packages that the course wants and that are not here.
    """
    with tempfile.TemporaryDirectory(prefix="course-check-") as folder:
        try:
            excused = verdicts.excuses(root / "reference" / unit.name / "excused.toml")
            plan = variants(unit, root, Path(folder), most, excused)
            if most is not None:  # then those that are excused do not run
                excused = {}
        except (BadAnswer, SyntaxError) as problem:
            return Findings(unit.name, [Verdict("units", unit.name, False, str(problem))])
        done: Counter[str] = Counter()

        def begun(variant: Variant) -> None:
            done[variant.kind] += 1
            count = sum(other.kind == variant.kind for other in plan)
            tell(variant.kind, f"{done[variant.kind]} of {count}  {variant.name}")

        results = run_shared(plan, processes, root, begun, preloaded(unit, root))
    found = judged(unit, root, results, excused)
    entries: list[Wrong | Broken] = [*wrong_answers(unit.name, root), *broken_machines(unit.name, root)]
    return without_what_waits(found, results[0], entries) if absent else found


def preloaded(unit: Unit, root: Path) -> tuple[str, ...]:
    """The modules to import once for all units, if this one asks for PyTorch. None of them is the course's."""
    text = unit.tests.read_text(encoding="utf-8") + reference_file(unit.name, root).read_text(encoding="utf-8")
    return ("numpy", "pytest", "torch") if ASKS_FOR_TORCH.search(text) else ()


def check_quickly(unit: Unit, root: Path, tell: Tell) -> Findings:
    """The reference and the stub."""
    try:
        entries: list[Wrong | Broken] = [*wrong_answers(unit.name, root), *broken_machines(unit.name, root)]
    except BadAnswer as problem:
        return Findings(unit.name, [Verdict("units", unit.name, False, str(problem))])
    reference, stub = run_variants(
        quick_variants(unit, root), root, lambda variant: tell(variant.kind), preloaded(unit, root)
    )
    return Findings(
        unit.name,
        skips=skips(reference.tests),
        verdicts=[
            Verdict("units", unit.name, bool(reference.tests), "no test ran"),
            *verdicts.judge_reference(unit.name, reference, "lesson tests"),
            *verdicts.judge_stub(unit.name, stub, entries),
        ],
    )


def without_what_waits(found: Findings, reference: Result, entries: Sequence[Wrong | Broken]) -> Findings:
    """Where tests wait for packages that are not here, what failed for that reason is counted as not judged."""
    waiting = [test for test in reference.tests if test.waits and not test.needs_gpu]
    functions = {test.function for test in waiting}
    unseen = {entry.name for entry in entries if functions & set(entry.rejected_by)}
    notes = {note: note.removeprefix(TO_BE_SHOWN) for note in found.notes}
    lost = [each for each in found.verdicts if waiting and each.kind in DUE_TO_ABSENCE and not each.passed]
    found.unjudged.update(["tests of lessons"] * len(waiting))
    found.unjudged.update(each.kind for each in lost)
    found.unjudged.update("wrong answers" for name in notes.values() if name in unseen)
    found.verdicts = [each for each in found.verdicts if each not in lost]
    found.notes = [note for note, name in notes.items() if name not in unseen | functions]
    return found


def judged(unit: Unit, root: Path, results: list[Result], excused: dict[str, str]) -> Findings:
    """The verdicts on a unit, from the results of all its variants."""
    of_kind = {kind: [r for r in results if r.variant.kind == kind] for kind in (r.variant.kind for r in results)}
    (reference,), (stub,), (remote,) = (of_kind[kind] for kind in ("reference", "stub", "remote"))
    entries: list[Wrong | Broken] = [*wrong_answers(unit.name, root), *broken_machines(unit.name, root)]
    rejections = list(zip(entries, [*of_kind.get("wrong", []), *of_kind.get("broken", [])], strict=True))
    judgements = {entry.name: verdicts.judge_wrong(unit.name, entry, result, stub) for entry, result in rejections}
    of_unit = of_kind.get("unit", [])
    found = Findings(unit.name, skips=skips([test for result in (reference, *of_unit) for test in result.tests]))
    found.verdicts = [
        Verdict("units", unit.name, bool(reference.tests), "no test ran"),
        *verdicts.judge_reference(unit.name, reference, "lesson tests"),
        *verdicts.judge_reference(unit.name, remote, "lesson tests, remote"),
        *(verdict for result in of_unit for verdict in verdicts.judge_tests(unit.name, result)),
        *verdicts.judge_killed(unit.name, stub, rejections),
        *(verdict for verdict in judgements.values() if verdict),
        *verdicts.judge_mutants(unit.name, of_kind.get("mutant", []), reference, excused),
    ]
    waiting = [*verdicts.waiting(stub), *(name for name, verdict in judgements.items() if verdict is None)]
    found.notes = [TO_BE_SHOWN + name for name in waiting]
    return found


def check_transcript(transcript: golden.Transcript, root: Path, tell: Tell) -> Findings:
    """One run of pytest as a learner sees it."""
    tell("running", transcript.name)
    return Findings("transcripts", [golden.check(transcript, root, golden.GOLDEN)])


def reads(job: partial[Findings], piece: str = "") -> set[str]:
    """What the job, or a piece, reads in this process, where nobody records it: paths below the course, folders with
    a "/"."""
    subject = job.args[0] if job.args else None
    name = piece if job.func is check_files else subject.name if isinstance(subject, Unit) else ""
    if name:
        return {f"{name}/", f"reference/{name}/"}
    if isinstance(subject, golden.Transcript):
        return {f"{golden.UNIT}/", f"reference/{golden.UNIT}/", f"tools/tests/golden/{subject.name}.txt"}
    return set() if job.func is check_tests else {EVERYTHING}


def skips(tests: list[TestResult]) -> Counter:
    """How many tests were skipped, by reason."""
    return Counter(test.text for test in tests if test.outcome == "skipped")
