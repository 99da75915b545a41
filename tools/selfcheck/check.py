"""`./course check` judges the course, with `--tools` its tools; `./course check week1/day1 --only units` a part."""

import argparse
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from tools import ROOT
from tools.course.content import catalogue
from tools.course.content.catalogue import BrokenCourseFile, NoSuchUnit, Unit
from tools.doctor.packages import lacking, of_extra
from tools.selfcheck import floors, golden, parts, supervise
from tools.selfcheck.findings import Findings, merged, report, unjudged
from tools.selfcheck.memory import Memory
from tools.selfcheck.pieces import Job, Plan, plan
from tools.selfcheck.progress import Progress
from tools.selfcheck.recording import recording
from tools.selfcheck.verdicts import Verdict

AT_ONCE = 2  # processes side by side
SAMPLE = 4  # mutants of each unit, where none is named
LEARNERS_EDITION = """\
This is the learners' edition: it has no reference/ folder. The tests of the tools run;
lessons, wrong answers, mutants and transcripts need the solutions and are left out.
"""
LEFT_OUT = {
    "tools": "left out: whoever changes tools/ runs ./course check --tools",
    "dev": "left out: tests of pages, notebooks and terminals, and the linter; ./course check --dev runs them",
}
OFFER = """\
./course check --dev tests pages, notebooks and terminals too. Install what
that needs, 73 MB, and run it at the end? [y/N] """
TIMES = """\
For those who change the course. On two cores all units take 10 to 20 minutes,
--tools 8 to 13, --quick 3 to 5, --dev 2, a day half a minute to three. What
passed is remembered, and runs again when something that it depends on changes.
"""


@dataclass(frozen=True)
class Form:
    """parts: what runs. floors: are the counts held against the floors of what runs?"""

    parts: Sequence[str]
    floors: bool = True


PARTS = ("tools", "units", "content", "static", "golden")
COURSE = Form(PARTS[1:])
TOOLS = Form(PARTS[:1])
QUICK = Form(("quick", "static", "golden"))
DEV = Form(("dev",))


def main(argv: list[str]) -> int:
    """Run what `argv` asks for and print the report. Returns 0 if all is well, 1 if not, 2 if misused."""
    options = _parser().parse_args(argv)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each of a thousand runs compiles all of the tools anew
    try:
        units = catalogue.selected(options.units)
    except (NoSuchUnit, BrokenCourseFile) as problem:
        print(problem, file=sys.stderr)
        return 2
    form = _form(options)
    if form is DEV and (missing := lacking("dev")):
        print(f"Not installed: {', '.join(missing)}. ./course check --dev installs them in .venv.", file=sys.stderr)
        return 2
    if form is not DEV and not (ROOT / "reference").is_dir():
        print(LEARNERS_EDITION)
        form = Form(["tools", "content"], floors=False)
    try:
        goes_on = form is COURSE and _wants_dev()
        found = _judged(form, units, options)
    except KeyboardInterrupt:
        print("Stopped before the end; nothing was decided.", file=sys.stderr)
        return 130
    print(report(found))
    if not all(part.passed for part in found):
        return 1
    return subprocess.call([sys.executable, ROOT / "course", "check", "--dev"]) if goes_on else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="course check",
        description="Check the course itself.",
        epilog=TIMES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "units",
        nargs="*",
        metavar="UNIT",
        help="a day, a kata or a week, such as week1/day1 or week1; all if none is named",
    )
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--quick", action="store_true", help="each reference and stub, the rules that need no run, and the transcripts"
    )
    forms.add_argument(
        "--tools", action="store_true", help="the tests of what is no lesson: simulators, plugin, commands"
    )
    forms.add_argument(
        "--dev",
        action="store_true",
        help="what the standard install leaves out: pages, notebooks, terminals, the linter",
    )
    forms.add_argument("--only", action="append", choices=PARTS, help="run this part only; may be given again")
    mutants = parser.add_mutually_exclusive_group()
    mutants.add_argument(
        "--mutants",
        type=_number,
        metavar="N",
        help=f"of each unit, always the same ones; else {SAMPLE}, and all of a unit that is named",
    )
    mutants.add_argument("--thorough", action="store_true", help="all mutants of every unit, all random kernels")
    parser.add_argument(
        "--fresh", action="store_true", help="run what passed before too, though nothing that it depends on has changed"
    )
    parser.add_argument(
        "--raise-floors", action="store_true", help="where all is well, write how many checks passed into floors.toml"
    )
    return parser


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of mutants")
    return int(text)


def _form(options: argparse.Namespace) -> Form:
    form = DEV if options.dev else TOOLS if options.tools else QUICK if options.quick else COURSE
    if options.only:
        return Form(options.only)
    return Form([part for part in form.parts if part not in ("content", "golden")]) if options.units else form


def _most(options: argparse.Namespace) -> int | None:
    """How many mutants of each unit; None for all, as where a day or a kata is named."""
    if options.thorough:
        return None
    whole_weeks = all(catalogue.WEEK_NAME.fullmatch(catalogue.clean(name)) for name in options.units)
    return SAMPLE if options.mutants is None and whole_weeks else options.mutants


def _wants_dev() -> bool:
    """Shall .venv have what --dev needs, to run that too? Whoever sits before it is asked."""
    if not (at_terminal_of_venv() and lacking("dev")):
        return False
    try:
        return input(OFFER).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def at_terminal_of_venv() -> bool:
    """Elsewhere there is nobody to ask, or no environment of ours to add to."""
    return sys.prefix == str(ROOT / ".venv") and sys.stdin.isatty() and sys.stdout.isatty()


# Running ------------------------------------------------------------------------------------------


def _judged(form: Form, units: list[Unit], options: argparse.Namespace) -> list[Findings]:
    """Run the parts of the form, and hold what they found against the floors, or raise these."""
    absent = lacking("compilers")
    found = _run(_jobs(form.parts, units, options, absent), options.fresh)
    if absent:
        found.append(unjudged(found, absent))
    elif form.floors:
        raising = options.raise_floors and all(part.passed for part in found)
        found.append(_on_floors(form, units, found, raising))
    if form is COURSE:
        found += [Findings(part, notes=[LEFT_OUT[part]]) for part in ("tools", *["dev"] * bool(lacking("dev")))]
    return found


def _on_floors(form: Form, units: list[Unit], found: list[Findings], raising: bool) -> Findings:
    kinds = [kind for part in form.parts for kind in floors.OF_PART[part]]
    passed = floors.counts(found, units if floors.MUTANTS in kinds else [], ROOT, of_extra("dev"))
    return floors.raised(passed, kinds, ROOT) if raising else floors.kept(passed, kinds, units, ROOT)


def _run(jobs: list[Job], fresh: bool) -> list[Findings]:
    """Run the jobs, two at a time, but for those whose verdicts are remembered; fresh: none is."""
    memory = Memory(ROOT, fresh)
    plans = [plan(job, memory, ROOT) for job in jobs]
    known = [found for each in plans for found in each.known]
    left = [each for each in plans if each.left]
    if sum(each.of_unit for each in left) == 1:  # as after an edit of one lesson, which nobody should wait for
        left = [replace(each, processes=AT_ONCE) for each in left]
    pool = ThreadPoolExecutor(AT_ONCE)
    with Progress(each.job[0] for each in left) as progress:
        try:
            found = pool.map(partial(_timed, progress=progress, memory=memory), left)
            return merged([*known, *found, *_remembered(plans)])
        except BaseException:  # Ctrl-C too: leave no process behind
            supervise.stop_all()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _remembered(plans: list[Plan]) -> list[Findings]:
    whole, some = (sum(bool(each.known) and bool(each.left) == left for each in plans) for left in (False, True))
    of_others = f", and parts of {some}" if some else ""
    note = f"{whole} of {len(plans)} jobs{of_others}, as nothing that they depend on has changed; --fresh runs them"
    return [Findings("remembered", notes=[note])] if whole or some else []


def _jobs(wanted: Sequence[str], units: list[Unit], options: argparse.Namespace, absent: list[str]) -> list[Job]:
    """The long ones come first."""
    most, thorough = _most(options), options.thorough
    of_part: dict[str, list[Job]] = {
        "tools": _tests("tools", thorough),
        "units": [(unit.name, partial(parts.check_unit, unit, ROOT, most=most, absent=absent)) for unit in units],
        "content": _tests("content", thorough),
        "quick": [(unit.name, partial(parts.check_quickly, unit, ROOT)) for unit in units],
        "static": [
            ("static", partial(parts.check_texts, units, ROOT)),
            ("static", partial(parts.check_files, units, ROOT)),
        ],
        "golden": [("transcripts", partial(parts.check_transcript, each, ROOT)) for each in golden.TRANSCRIPTS],
        "dev": [
            ("dev", partial(parts.check_style, ROOT)),
            *(("dev", partial(parts.check_dev, files, ROOT)) for files in parts.dev_tests(ROOT)),
        ],
    }
    return [job for part, jobs in of_part.items() if part in wanted for job in jobs]


def _tests(part: str, thorough: bool) -> list[Job]:
    paths = parts.tests_of(part, ROOT)
    return [(part, partial(parts.check_tests, path, ROOT, thorough=thorough)) for path in paths]


def _timed(plan: Plan, progress: Progress, memory: Memory) -> Findings:
    name, _ = plan.job
    start = time.monotonic()
    try:
        with recording() as log:
            found = plan.run(tell=partial(progress.tell, name))
            plan.keep(memory, found, log)
    except Exception:  # a fault of ours: told in full, and what the other parts found is told too
        found = Findings(name, [Verdict("parts that came to an end", name, False, traceback.format_exc())])
    found.seconds = time.monotonic() - start
    progress.done(name)
    return found
