"""The variants of a lesson that its tests must tell apart, written out as files."""

import ast
import zlib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from tools.course.content.answers import apply, broken_machines, reference_file, wrong_answers
from tools.course.content.catalogue import Unit, repaired
from tools.course.content.gaps import find_gaps
from tools.selfcheck.mutants import Mutant, mutants
from tools.selfcheck.reach import unreached
from tools.selfcheck.results import Variant

SEED = 28  # a verdict can be repeated, and no unlucky draw turns it: learners' runs see the other draws
MUTANT_LIMIT = 10.0  # seconds for one test of a mutant; it may loop for ever
OF_A_UNIT = "tools/tests/units"  # tests that are made for each unit; no copy of the course has them
FEW = ("-o", "course_compiler=when asked")  # of few tests, that is; most of them ask no compiler


def quick_variants(unit: Unit, root: Path) -> list[Variant]:
    """The reference and the stub."""
    common = ("-q", "-p", "no:cacheprovider", str(unit.tests), f"--seed={SEED}")
    return [
        Variant("reference", "", (*common, "--answers=reference"), audit=True),
        Variant("stub", "", (*common, f"--answers={root}")),  # as answers: no stages, no progress
    ]


def variants(
    unit: Unit, root: Path, folder: Path, most: int | None = None, excused: Collection[str] = ()
) -> list[Variant]:
    """Everything to run for `unit`, with all mutants or a sample of `most`. Answers go below `folder`.

    excused: names of mutants that no sample takes: none of them is killed early, so each goes through all tests.
    Raises BadAnswer.
    """
    tests = str(unit.tests)
    common = ("-q", "-p", "no:cacheprovider", tests, f"--seed={SEED}")
    reference = reference_file(unit.name, root).read_text(encoding="utf-8")
    judges = unit.tests.read_text(encoding="utf-8")

    def without_reach(source: str, before: str = reference) -> tuple[str, ...]:
        return unreached(judges, unit.module, before, source)

    found = quick_variants(unit, root)
    for wrong in wrong_answers(unit.name, root):
        source = apply(wrong, reference)
        answers = _written(source, unit, folder / wrong.name)
        found.append(
            Variant(
                "wrong",
                wrong.name,
                (*common, *FEW, f"--answers={answers}"),
                rejected_by=wrong.rejected_by,
                says=wrong.says,
                unreached=without_reach(source),
            )
        )
    for machine in broken_machines(unit.name, root):
        arguments: tuple[str, ...] = (*common, "--answers=reference")
        found.append(
            Variant(
                "broken",
                machine.name,
                arguments,
                facts=machine.facts,
                rejected_by=machine.rejected_by,
                says=machine.says,
            )
        )
    found.append(Variant("remote", "", (*common, "--answers=reference", "--remote")))
    every = unit_mutants(unit, root)
    judged = every if most is None else [mutant for mutant in every if mutant.id not in excused]
    for number, mutant in enumerate(sample(judged, most)):
        answers = _written(mutant.source, unit, folder / f"mutant{number}")
        arguments = (*common, *FEW, "-x", f"--answers={answers}")
        unmoved = without_reach(mutant.source, mutant.before)
        found.append(Variant("mutant", mutant.id, arguments, limit=MUTANT_LIMIT, unreached=unmoved))
    if (root / OF_A_UNIT).is_dir():  # last: their conftest sets how Hypothesis runs
        found.append(Variant("unit", "", ("-q", "-p", "no:cacheprovider", OF_A_UNIT, f"--unit={unit.name}")))
    return found


def _written(source: str, unit: Unit, answers: Path) -> Path:
    """The folder `answers`, made for this text of the unit's lesson: ready for --answers."""
    file = answers / unit.name / unit.lesson.name
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf-8")
    return answers


def sample(every: list[Mutant], most: int | None) -> list[Mutant]:
    """At most so many of them, always the same ones: chosen by their names, and in their order. None: all."""
    chosen = set(sorted((mutant.id for mutant in every), key=lambda name: zlib.crc32(name.encode()))[:most])
    return [mutant for mutant in every if mutant.id in chosen]


def unit_mutants(unit: Unit, root: Path) -> list[Mutant]:
    """The mutants of the reference of `unit`, in its gaps and in the functions it hands over for repair."""
    stub = unit.lesson.read_text(encoding="utf-8")
    ast.parse(stub, str(unit.lesson))  # a stub that Python cannot read seems to have no gaps
    given = dict.fromkeys(repaired(unit, stub), 0) | {gap.function: gap.given for gap in find_gaps(stub)}
    return list(_made(reference_file(unit.name, root).read_text(encoding="utf-8"), tuple(given.items())))


@lru_cache
def _made(reference: str, given: tuple[tuple[str, int], ...]) -> tuple[Mutant, ...]:
    """Made once in a process: they are counted too, and each costs a walk through the reference."""
    return tuple(mutants(reference, dict(given)))
