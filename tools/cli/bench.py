"""course bench DAY: your functions against their rivals on this machine; without a GPU what can be said there."""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from rich.console import Console

from tools.bench import cells, classes, records, runner
from tools.bench.classes import Speed
from tools.bench.contest import YOURS
from tools.bench.simulated import CHIPS, why_simulated
from tools.check.timing import duration
from tools.cli import busy, chosen, console, files, keep, nothing_for, say, stopped, table
from tools.cli.table import Row
from tools.course.content.catalogue import Unit
from tools.course.content.workload import workloads
from tools.course.learner import journal

TEXTS = ("of", "strongest rival", "limit")  # columns that are no figures
NOT_SIMULATED = "Time is not simulated, and {}: nothing here was timed."
SCATTERED = 0.25  # of a time, by which its median is uncertain


def run(day: str | None, root: Path, csv: Path | None = None, plot: Path | None = None) -> int:
    """Measure, print, and keep. Returns the exit code: 1 where a function was refused, 2 where there is nothing to do.

    csv, plot: files for all figures and for the picture. Raises NotWritten, NoSuchUnit, BrokenCourseFile.
    """
    _check(csv, plot, root)
    page, unit = console(), chosen(day, root)
    with busy(page, f"loading {unit.name}"):
        known = workloads(unit)
    if not known:
        return nothing_for("bench", "function", unit)
    found = Found()
    try:
        for event in _with_progress(page, unit, root):
            found.take(event)
    except KeyboardInterrupt:
        return stopped("Stopped: nothing was kept.")
    _print(page, unit, found)
    facts = (records.journal_facts(record, unit, found.ceilings[record["function"]]) for record in found.records)
    keep(journal.BENCH, unit, *facts)
    _write(csv, plot, unit, found, root)
    return 1 if found.refused else 0


class Found:
    """The events' news so far."""

    def __init__(self) -> None:
        self.records: list[dict] = []
        self.refused: dict[str, str] = {}
        self.ceilings: dict[str, dict] = {}  # by function
        self._ceiling: dict = {}

    def take(self, event: dict) -> None:
        match event["event"]:
            case "ceiling":
                self._ceiling = event["ceiling"]
            case "timed" | "counted":
                self.records.append(event["record"])
                self.ceilings[event["record"]["function"]] = self._ceiling
            case "refused":
                self.refused[event["function"]] = event["why"]

    @property
    def timed(self) -> list[dict]:
        return [record for record in self.records if not record["simulated"]]

    @property
    def counted(self) -> list[dict]:
        return [record for record in self.records if record["simulated"]]


def _with_progress(page: Console, unit: Unit, root: Path) -> Iterable[dict]:
    """The events, and meanwhile a bar where somebody is looking."""
    if not page.is_terminal:
        yield from runner.events(unit, root)
        return
    from rich.progress import Progress

    with Progress(console=page, transient=True) as bar:
        task = bar.add_task("starting", total=runner.steps(unit))
        for event in runner.events(unit, root):
            if event["event"] == "measuring":
                bar.update(task, description="what this machine can do, measured once")
            if event["event"] == "begins":
                bar.update(task, description=f"{event['function']}, {event['shape']}")
            if event["event"] in ("timed", "counted"):
                bar.advance(task)
            yield event


# On the page --------------------------------------------------------------------------------------


def _print(page: Console, unit: Unit, found: Found) -> None:
    say(f"{unit.title} ({unit.name})", style="bold", page=page)
    for name in dict.fromkeys(record["function"] for record in found.timed):
        _print_function(page, [record for record in found.timed if record["function"] == name])
    if found.counted:
        _print_counted(page, found.counted)
    for why in dict.fromkeys(found.refused.values()):
        page.print()
        say(", ".join(name for name, reason in found.refused.items() if reason == why), style="bold", page=page)
        say(why, page=page)
    if found.timed:
        page.print()
        for line in _footer(found):
            say(line, page=page)


def _print_function(page: Console, of_function: list[dict]) -> None:
    """The largest size in full, then a line for each smaller one."""
    last = of_function[-1]
    page.print()
    say(f"{last['function']}, {last['shape']}: {last['class']}", style="bold", page=page)
    if last["strongest"]:
        say(f"{Speed(**last['strongest'])}", page=page)
    _show(
        page,
        "",
        ("time", "+-", "GB/s", "GFLOP/s", "ceiling", "memory", "lines"),
        [
            Row(row["name"], tuple(cells.competitor(row)), "bold" if row["name"] == YOURS else "")
            for row in last["rows"]
        ],
    )
    for name, why in last["left_out"].items():
        say(f"{name} is left out: {why}", page=page)
    if smaller := of_function[:-1]:
        _show(
            page,
            "smaller",
            (YOURS, "strongest rival", "its time", "of its speed"),
            [Row(record["shape"], tuple(cells.against_strongest(record))) for record in smaller],
        )


def _print_counted(page: Console, counted: list[dict]) -> None:
    page.print()
    say(NOT_SIMULATED.format(why_simulated()), page=page)
    page.print()
    say("Simulated: the bytes that your kernels asked for, and the least that will do", style="bold", page=page)
    _show(page, "function", ("of", "asked for", "least", "times", "in sectors"), list(map(_counted, counted)))
    if any(map(_by_library, counted)):
        say("-: no kernel of yours ran, and what those of a library ask for is not counted.", page=page)
    page.print()
    say("A bound from the chips' data sheets, not measured: no program is faster", style="bold", page=page)
    _show(page, "function", (*CHIPS, "limit"), list(map(_bound, counted)))
    page.print()
    say("On a machine with a GPU the same command times them against their rivals.", page=page)


def _by_library(record: dict) -> bool:
    return bool(record["library"]) and not record["asked"] and not record["least_crossed"]


def _counted(record: dict) -> Row:
    crosses = bool(record["least_crossed"])
    asked, least = (record[name] for name in (("crossed", "least_crossed") if crosses else ("asked", "least")))
    return Row(
        f"{record['function']}, {record['shape']}",
        (
            "host link" if crosses else "GPU memory",
            "-" if _by_library(record) else f"{asked:,}",
            f"{least:,}",
            "-" if _by_library(record) else f"{asked / least:.2f}",
            "-" if crosses or _by_library(record) else f"{record['in_sectors']:,}",
        ),
    )


def _bound(record: dict) -> Row:
    bounds = record["bounds"]
    limits = dict.fromkeys(bound["limit"] for bound in bounds.values())
    times = (duration(bounds[chip]["seconds"]) if chip in bounds else "-" for chip in CHIPS)
    return Row(f"{record['function']}, {record['largest']}", (*times, ", ".join(limits)))


def _footer(found: Found) -> list[str]:
    """The lines below: what the figures are, and where they were measured."""
    machine = found.timed[-1]["machine"]
    ceiling = found.ceilings[found.timed[-1]["function"]]
    driver = f", driver for CUDA {machine['driver']}" if "driver" in machine else ""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    copy = cells.rate(ceiling["bandwidth"] / 1e9)
    peaks = ", ".join(f"{dtype} matmul {cells.rate(peak / 1e9)} GFLOP/s" for dtype, peak in ceiling["peaks"].items())
    scattered = any(
        (row["high"] - row["low"]) / 2 > SCATTERED * row["seconds"] for record in found.timed for row in record["rows"]
    )
    warning = ["Some times scatter widely: is other work running on this machine?"] if scattered else []
    return [
        f"{machine.get('card') or machine['cpu']}{driver}; {versions}; {date.today().isoformat()}.",
        f"Ceiling, measured here on {ceiling['date']}: copy {copy} GB/s, {peaks}. "
        "Far above 100%: the arrays fit into a cache.",
        "time: median of one call, all competitors in turn; GB/s: of the least traffic; memory: what one call "
        "takes beside its arguments; lines: of yours with all it uses.",
        classes.LEGEND,
        *warning,
    ]


def _show(page: Console, title: str, headings: tuple[str, ...], rows: Sequence[Row]) -> None:
    for line, style in table.lines(title, headings, rows, page.width, TEXTS):
        page.print(line, style=style, soft_wrap=True)


# Files --------------------------------------------------------------------------------------------


def _check(csv: Path | None, plot: Path | None, root: Path) -> None:
    """Raise NotWritten before anything is measured."""
    for file in filter(None, (csv, plot)):
        files.check(file, root)
    if csv and csv == plot:
        raise files.NotWritten(f"--csv and --plot both name {csv}.\nName a file for each.")


def _write(csv: Path | None, plot: Path | None, unit: Unit, found: Found, root: Path) -> None:
    if csv and found.records:
        files.write(csv, records.as_csv(unit, found.records, date.today().isoformat()), root)
        print(f"Written: {csv}")
    if plot and found.timed:
        files.write(plot, records.as_plot(unit, found.timed, found.ceilings, _footer(found)[:2]), root)
        print(f"Written: {plot}")
    elif plot:
        print("No plot: nothing was timed.")
