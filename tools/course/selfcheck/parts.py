"""The parts of the self-check, each a function that returns its Findings and tells how far it is."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tools.course.answers import BadAnswer, broken_machines, wrong_answers
from tools.course.catalogue import Unit
from tools.course.selfcheck import golden, judge, static
from tools.course.selfcheck.findings import Findings
from tools.course.selfcheck.judge import Verdict
from tools.course.selfcheck.results import Result, TestResult, Variant
from tools.course.selfcheck.static.commands import commands_exist
from tools.course.selfcheck.supervise import run_variants
from tools.course.selfcheck.variants import MOST_MUTANTS, variants

Tell = Callable[..., None]  # phase, detail


def check_tools(root: Path, tell: Tell) -> Findings:
    """The tests of the tools, in one process."""
    tell("running")
    variant = Variant("tools", "", ("-q", "-p", "no:cacheprovider", str(root / "tools")))
    result = run_variants([variant], root, tell=lambda variant: None)[0]
    found = Findings("tools", skips=skips(result.tests))
    if result.died or not result.tests:
        found.verdicts.append(
            Verdict("tests of the tools", "pytest tools", False, result.died or "no test was found")
        )
    for test in result.tests:
        passed = test.outcome in ("passed", "skipped", "xfailed")
        found.verdicts.append(Verdict("tests of the tools", test.nodeid, passed, judge.quote(test.text)))
    return found


def check_texts(units: list[Unit], root: Path, tell: Tell) -> Findings:
    """The rules that need no run, for each unit, and the commands that any text tells someone to type."""
    tell("reading")
    found = Findings("static")
    for unit in units:
        for rule, problems in static.check_unit(unit, root).items():
            found.verdicts.append(_rule(f"{unit.name}: {rule}", problems))
    found.verdicts.append(_rule("commands exist", list(commands_exist(root))))
    return found


def _rule(subject: str, problems: list) -> Verdict:
    return Verdict("static rules", subject, not problems, "\n".join(map(str, problems)))


def check_unit(unit: Unit, root: Path, tell: Tell) -> Findings:
    """All variants of a unit's lesson, in one process as long as it lives."""
    with tempfile.TemporaryDirectory(prefix="course-check-") as folder:
        try:
            plan = variants(unit, root, Path(folder))
            excused = judge.excuses(root / "reference" / unit.name / "excused.toml")
            if MOST_MUTANTS in os.environ:  # then those that do not run need no excuse
                excused = {variant.name: excused[variant.name] for variant in plan if variant.name in excused}
        except (BadAnswer, SyntaxError) as problem:
            return Findings(unit.name, [Verdict("units", unit.name, False, str(problem))])
        done = Counter()

        def begun(variant: Variant) -> None:
            done[variant.kind] += 1
            count = sum(other.kind == variant.kind for other in plan)
            tell(variant.kind, f"{done[variant.kind]} of {count}  {variant.name}")

        results = run_variants(plan, root, begun)
    return judged(unit, root, results, excused)


def judged(unit: Unit, root: Path, results: list[Result], excused: dict[str, str]) -> Findings:
    """The verdicts on a unit, from the results of all its variants."""
    of_kind = {
        kind: [r for r in results if r.variant.kind == kind] for kind in (r.variant.kind for r in results)
    }
    (reference,), (stub,), (remote,) = (of_kind[kind] for kind in ("reference", "stub", "remote"))
    entries = [*wrong_answers(unit.name, root), *broken_machines(unit.name, root)]
    rejections = list(zip(entries, [*of_kind.get("wrong", []), *of_kind.get("broken", [])], strict=True))
    judgements = {
        entry.name: judge.judge_wrong(unit.name, entry, result, stub) for entry, result in rejections
    }
    found = Findings(unit.name, skips=skips(reference.tests))
    found.verdicts = [
        Verdict("units", unit.name, bool(reference.tests), "no test ran"),
        *judge.judge_reference(unit.name, reference, "lesson tests"),
        *judge.judge_reference(unit.name, remote, "lesson tests, remote"),
        *judge.judge_killed(unit.name, stub, rejections),
        *(verdict for verdict in judgements.values() if verdict),
        *judge.judge_mutants(unit.name, of_kind.get("mutant", []), reference, excused),
    ]
    waiting = [
        *judge.waiting(stub),
        *(name for name, verdict in judgements.items() if verdict is None),
    ]
    found.notes = [f"to be shown red where nothing is skipped: {name}" for name in waiting]
    return found


def check_transcript(transcript: golden.Transcript, root: Path, tell: Tell) -> Findings:
    """One run of pytest as a learner sees it."""
    tell("running", transcript.name)
    return Findings("transcripts", [golden.check(transcript, root, golden.GOLDEN)])


def skips(tests: list[TestResult]) -> Counter:
    """How many tests were skipped, by reason."""
    return Counter(test.text for test in tests if test.outcome == "skipped")
