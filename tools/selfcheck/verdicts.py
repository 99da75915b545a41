"""Verdicts on the results of a unit: the requirements that hold, and what to do where one does not."""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest import ExitCode

from tools.course.content.answers import BadAnswer, Broken, Wrong
from tools.selfcheck.results import Result, TestResult

SHOWN = 6  # lines of a failure text that a report quotes


@dataclass(frozen=True)
class Verdict:
    """One thing that was checked. `kind` is what it counts as; `detail` says what to mend if it failed."""

    kind: str
    subject: str
    passed: bool
    detail: str = ""


Verdicts = Iterator[Verdict]


# The reference -----------------------------------------------------------------------------------


def judge_reference(unit: str, result: Result, kind: str) -> Verdicts:
    """Every test passes, or needs what is not here. Verdicts count as `kind`."""
    if result.died or not result.tests:
        yield Verdict(kind, unit, False, result.died or f"no test ran (exit code {result.exit})")
    for test in result.tests:
        if not test.waits:  # a skip is no pass
            detail = f"{test.outcome}\n{quote(test.text)}"
            yield Verdict(kind, f"{unit}: {_name(test)}", test.outcome == "passed", detail)


def judge_tests(unit: str, result: Result) -> Verdicts:
    """Every test that is made for the unit, and is no lesson's, passes; a unit may have none."""
    if result.died or result.exit not in (ExitCode.OK, ExitCode.TESTS_FAILED, ExitCode.NO_TESTS_COLLECTED):
        yield Verdict("tests of the unit", unit, False, f"{result.died or f'exit code {result.exit}'}\n{result.said}")
    for test in result.tests:
        if test.outcome != "skipped":
            yield Verdict("tests of the unit", f"{unit}: {test.nodeid}", test.outcome == "passed", quote(test.text))


# Killing -----------------------------------------------------------------------------------------


def judge_killed(unit: str, stub: Result, rejections: Iterable[tuple[Wrong | Broken, Result]]) -> Verdicts:
    """Each test has been seen red: on the stub, or by a wrong answer or a broken machine that names it."""
    seen_red = {name for entry, result in rejections for name in entry.rejected_by if _any_failed(result, name)}
    for name in dict.fromkeys(test.function for test in stub.tests):
        cases = stub.of(name)
        if any(case.waits for case in cases):
            continue  # listed by waiting
        red = all(case.outcome == "failed" for case in cases) or name in seen_red
        what = "is not red on the stub, and no wrong answer shows that it can fail"
        yield Verdict("tests seen red", f"{unit}: {name}", red, what)


def judge_stub(unit: str, stub: Result, entries: Iterable[Wrong | Broken]) -> Verdicts:
    """As judge_killed, where nobody runs the wrong answers: a test that one of them names is left for later."""
    named = {name for entry in entries for name in entry.rejected_by}
    for verdict in judge_killed(unit, stub, []):
        if verdict.passed or verdict.subject.removeprefix(f"{unit}: ") not in named:
            yield verdict


def waiting(stub: Result) -> list[str]:
    """The tests that only a machine with a GPU, or with some program, can show to be red."""
    return list(dict.fromkeys(t.function for t in stub.tests if t.waits))


# Wrong answers -----------------------------------------------------------------------------------


def judge_wrong(unit: str, entry: Wrong | Broken, result: Result, stub: Result) -> Verdict | None:
    """One wrong answer or broken machine; None where the tests that reject it need what is not here."""
    kind = "wrong answers" if isinstance(entry, Wrong) else "broken machines"
    if any(test.waits for name in entry.rejected_by for test in result.of(name)):
        return None
    faults = [result.died] if result.died else list(_faults(entry, result, stub))
    return Verdict(kind, f"{unit}: {entry.name}", not faults, "\n".join(faults))


def _faults(entry: Wrong | Broken, result: Result, stub: Result) -> Iterator[str]:
    for name in entry.rejected_by:
        if not _any_failed(result, name):
            yield f"{name} does not reject it"
    texts = [test.text for name in entry.rejected_by for test in result.of(name) if test.outcome == "failed"]
    if texts and not any(contains(text, entry.says) for text in texts):
        yield f"the failure text does not say {entry.says!r}:\n{quote(texts[0])}"
    if any(contains(test.text, entry.says) for test in stub.failed):
        yield f"the stub's failure text says {entry.says!r} too"
    if isinstance(entry, Wrong):
        yield from _earlier_failures(entry, result)


def _earlier_failures(entry: Wrong, result: Result) -> Iterator[str]:
    """A learner works task by task: nothing before the test that rejects a mistake may stumble over it."""
    rejecting = [max(test.tasks, default=0) for name in entry.rejected_by for test in result.of(name)]
    for test in result.failed:
        if max(test.tasks, default=0) < min(rejecting, default=0):
            yield f"{_name(test)}, of an earlier task, fails too"


# Mutants -----------------------------------------------------------------------------------------


def judge_mutants(unit: str, results: list[Result], reference: Result, excused: dict[str, str]) -> Verdicts:
    """Each mutant is noticed by a test, or excused by name; an excuse that nothing needs is a fault."""
    if reference.failed or reference.died:
        yield Verdict("mutants judged", unit, False, "a test that the reference fails too proves nothing; see above")
        return
    yield from (_judge_mutant(unit, result, excused) for result in results)
    noticed = {r.variant.name for r in results if r.died or any(test.stage != "speed" for test in r.failed)}
    survivors = {r.variant.name for r in results} - noticed  # a speed test may notice one by chance
    for name in sorted(excused.keys() - survivors):
        yield Verdict("excuses", f"reference/{unit}/excused.toml", False, f"no mutant that survives is called {name!r}")


def _judge_mutant(unit: str, result: Result, excused: dict[str, str]) -> Verdict:
    name, subject = result.variant.name, f"{unit}: {result.variant.name}"
    if name in excused:
        return Verdict("mutants excused", subject, True, excused[name])
    if result.failed or result.died:
        return Verdict("mutants killed", subject, True)
    if result.exit != 0:
        return Verdict("mutants judged", subject, False, f"pytest could not judge it (exit code {result.exit})")
    return Verdict("mutants that survived", subject, False, "no test notices; add one, or excuse it in excused.toml")


def excuses(file: Path) -> dict[str, str]:
    """Mutant -> why no test can notice it, from an excused.toml, which may be missing. Raises BadAnswer."""
    if not file.exists():
        return {}
    try:
        return {entry["mutant"]: entry["why"] for entry in tomllib.loads(file.read_text(encoding="utf-8"))["excused"]}
    except tomllib.TOMLDecodeError as error:
        raise BadAnswer(f"excused.toml is not valid TOML: {error}.") from None
    except (KeyError, TypeError):
        raise BadAnswer("excused.toml holds [[excused]] entries, each with a mutant and a why.") from None


# Small things ------------------------------------------------------------------------------------


def _any_failed(result: Result, function: str) -> bool:
    return any(test.outcome == "failed" for test in result.of(function))


def contains(text: str, words: str) -> bool:
    """Whether `text` says `words`, wherever its lines are broken."""
    return " ".join(words.split()) in " ".join(text.split())


def _name(test: TestResult) -> str:
    return test.nodeid.rpartition("::")[2] or test.nodeid


def quote(text: str) -> str:
    """The first lines of a failure text; of a traceback, the error."""
    lines = [line for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if line.startswith("E ")] or lines
    return "\n".join("    " + line for line in lines[:SHOWN])
