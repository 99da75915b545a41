"""`./course check` runs everything; `./course check week1/day1 --only units` a part of it."""

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tools import ROOT
from tools.course import catalogue
from tools.course.catalogue import BrokenCourseFile, NoSuchUnit, Unit
from tools.course.selfcheck import golden, parts, supervise
from tools.course.selfcheck.findings import Findings, below_floors, merged, report
from tools.course.selfcheck.progress import Progress

PARTS = ("tools", "units", "static", "golden")
AT_ONCE = 2  # processes side by side
FLOORS = ROOT / ".ci" / "floors.toml"
LEARNERS_EDITION = """\
This is the learners' edition: it has no reference/ folder. The tests of the tools run;
lessons, wrong answers, mutants and transcripts need the solutions and are left out.
"""

Job = tuple[str, Callable[..., Findings]]  # the part it belongs to, and what to call with `tell`


def main(argv: list[str]) -> int:
    """Run what `argv` asks for and print the report. Returns 0 if all is well, 1 if not, 2 if misused."""
    options = _parser().parse_args(argv)
    try:
        units = [catalogue.unit(name) for name in options.units or catalogue.names()]
    except (NoSuchUnit, BrokenCourseFile) as problem:
        print(problem, file=sys.stderr)
        return 2
    wanted = options.only or (["static", "units"] if options.units else list(PARTS))
    whole = set(wanted) == set(PARTS) and not options.units
    if not (ROOT / "reference").is_dir():
        print(LEARNERS_EDITION)
        wanted, whole = ["tools"], False
    try:
        found = _run(wanted, units)
    except KeyboardInterrupt:
        print("Stopped before the end; nothing was decided.", file=sys.stderr)
        return 130
    if whole:
        found.append(below_floors(found, FLOORS))
    print(report(found))
    return 0 if all(part.passed for part in found) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="course check", description="Check the course itself.")
    parser.add_argument(
        "units", nargs="*", metavar="UNIT", help="a day or kata, such as week1/day1; all if none is named"
    )
    parser.add_argument(
        "--only", action="append", choices=PARTS, help="run this part only; may be given again"
    )
    return parser


def _run(wanted: list[str], units: list[Unit]) -> list[Findings]:
    """Run the parts, two jobs at a time; the long ones come first."""
    jobs = _jobs(wanted, units)
    pool = ThreadPoolExecutor(AT_ONCE)
    with Progress(part for part, _ in jobs) as progress:
        try:
            return merged(pool.map(lambda job: _timed(job, progress), jobs))
        except BaseException:  # Ctrl-C too: leave no process behind
            supervise.stop_all()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _jobs(wanted: list[str], units: list[Unit]) -> list[Job]:
    jobs: list[Job] = []
    if "tools" in wanted:
        jobs.append(("tools", partial(parts.check_tools, ROOT)))
    if "units" in wanted:
        jobs += [(unit.name, partial(parts.check_unit, unit, ROOT)) for unit in units]
    if "static" in wanted:
        jobs.append(("static", partial(parts.check_texts, units, ROOT)))
    if "golden" in wanted:
        jobs += [("transcripts", partial(parts.check_transcript, each, ROOT)) for each in golden.TRANSCRIPTS]
    return jobs


def _timed(job: Job, progress: Progress) -> Findings:
    name, run = job
    start = time.monotonic()
    found = run(tell=partial(progress.tell, name))
    found.seconds = time.monotonic() - start
    progress.done(name)
    return found
