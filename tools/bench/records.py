"""Records of a benchmark, as tools.bench.contest makes them: as a CSV table, as a plot, as facts for the journal."""

import csv
import io
from collections.abc import Sequence
from itertools import groupby

from tools.bench.contest import YOURS
from tools.course.content.catalogue import Unit
from tools.course.learner.progress import file_hash
from tools.draw.plot import LIMIT, RIVAL, Curve, Panel, number, roof, svg
from tools.draw.plot import YOURS as OWN

FIGURES = ("seconds", "low", "high", "gb_s", "gflop_s", "share_of_ceiling", "peak_bytes", "lines")
ASKED, CROSSED = ("asked", "in_sectors", "least"), ("crossed", "least_crossed")
COUNTED = (*ASKED, *CROSSED)
FACTS = ("function", "shape", "size", "rows", "class", "machine", "simulated")


def journal_facts(record: dict, unit: Unit, ceiling: dict | None = None) -> dict:
    """What the journal keeps of a record, with the lesson's hash and, of `ceiling`, the rates that its roofline is
    drawn from: "ceiling": {"bandwidth": bytes/s, "peak": flop/s of its dtype, where that was measured}."""
    counted = CROSSED if record.get("least_crossed") else ASKED  # where data crosses, libraries do the rest uncounted
    kept = {name: record[name] for name in (*FACTS, *counted) if name in record}
    if ceiling and not record["simulated"]:
        peak = ceiling["peaks"].get(record["dtype"])
        kept["ceiling"] = {"bandwidth": ceiling["bandwidth"], **({"peak": peak} if peak else {})}
    return kept | {"lesson": file_hash(unit.lesson)}


def as_csv(unit: Unit, records: Sequence[dict], day: str) -> str:
    """Every figure: one line for each competitor at each size; of simulated calls what was counted."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(
        ["unit", "function", "shape", "size", "name", *FIGURES, "class", "machine", "versions", "date"]
        if not _simulated(records)
        else ["unit", "function", "shape", "size", *COUNTED, "simulated", "date"]
    )
    for record in records:
        head = [unit.name, record["function"], record["shape"], record["size"]]
        if record["simulated"]:
            writer.writerow([*head, *(record[name] for name in COUNTED), "simulated", day])
            continue
        machine = record["machine"]
        versions = " ".join(f"{name}={version}" for name, version in machine["versions"].items())
        for row in record["rows"]:
            figures = ["" if row[name] is None else row[name] for name in FIGURES]
            own = [record["class"] if row["name"] == YOURS else "", machine.get("card") or machine["cpu"], versions]
            writer.writerow([*head, row["name"], *figures, *own, day])
    return table.getvalue()


def _simulated(records: Sequence[dict]) -> bool:
    return any(record["simulated"] for record in records)


def as_plot(unit: Unit, records: Sequence[dict], ceilings: dict[str, dict], foot: Sequence[str]) -> str:
    """For each function two panels: its speed over sizes, and where that lies under the roofline.

    ceilings: function -> the measured rates of its machine.
    """
    rows = [
        [_over_sizes(name, group), *_roofline(name, group, ceilings[name])]
        for name, group in ((name, list(group)) for name, group in groupby(records, lambda r: r["function"]))
    ]
    return svg(f"{unit.title}: {unit.name}", rows, foot)


def _over_sizes(name: str, records: list[dict]) -> Panel:
    """GFLOP/s where arithmetic is what there is most of, GB/s where memory is."""
    memory = records[-1]["flops"] < 4 * records[-1]["moved"]
    unit, work, figure = ("GB/s", "moved", "gb_s") if memory else ("GFLOP/s", "flops", "gflop_s")
    curves = [
        Curve(
            rival,
            tuple(
                (record["size"], row[figure]) for record in records for row in record["rows"] if row["name"] == rival
            ),
            OWN if rival == YOURS else RIVAL,
        )
        for rival in _names(records)
    ]
    limit = tuple((r["size"], r[work] / r["least_seconds"] / 1e9) for r in records if r["least_seconds"])
    sizes = tuple((record["size"], number_of(record["size"])) for record in records)
    return Panel(
        f"{name}: speed", "size, as in the table", unit, (*curves, Curve("measured ceiling", limit, LIMIT)), sizes
    )


def number_of(size: int) -> str:
    """4096, 65536, and 2**24 in full would not fit: 16.8M."""
    return str(size) if size < 10**5 else number(round(size, 2 - len(str(size)) + 1))


def _roofline(name: str, records: list[dict], ceiling: dict) -> list[Panel]:
    """The roof that was measured, and each competitor at each size under it."""
    peak = ceiling["peaks"].get(records[0].get("dtype", "float32"))
    intensities = [record["flops"] / record["moved"] for record in records]
    if not peak or not all(intensities):
        return []
    curves = [
        Curve(
            rival,
            tuple(
                (record["flops"] / record["moved"], row["gflop_s"])
                for record in records
                for row in record["rows"]
                if row["name"] == rival
            ),
            OWN if rival == YOURS else RIVAL,
            joined=False,
        )
        for rival in _names(records)
    ]
    return [
        Panel(
            f"{name}: roofline",
            "flop per byte of the least traffic",
            "GFLOP/s",
            (*curves, roof(intensities, peak, ceiling["bandwidth"])),
        )
    ]


def _names(records: list[dict]) -> list[str]:
    return list(dict.fromkeys(row["name"] for record in records for row in record["rows"]))
