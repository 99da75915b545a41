"""The figures of a record as a table shows them."""

from tools.bench.classes import Speed
from tools.bench.contest import YOURS
from tools.check.timing import duration


def competitor(row: dict) -> list[str]:
    """Time, its uncertainty, GB/s, GFLOP/s, share of the ceiling, memory, lines."""
    spread = (row["high"] - row["low"]) / 2 / row["seconds"]
    share = row["share_of_ceiling"]
    return [
        duration(row["seconds"]),
        f"{spread:.1%}" if spread < 0.1 else f"{spread:.0%}",
        rate(row["gb_s"]),
        rate(row["gflop_s"]),
        "-" if share is None else f"{share:.2g}" if share < 0.005 else f"{share:.0%}",
        "-" if row["peak_bytes"] is None else size_of(row["peak_bytes"]),
        str(row["lines"] or "-"),
    ]


def against_strongest(record: dict) -> list[str]:
    """Own time, the strongest rival, its time, own share of its speed."""
    own = next(row for row in record["rows"] if row["name"] == YOURS)
    if not record["strongest"]:
        return [duration(own["seconds"]), "-", "-", "-"]
    speed = Speed(**record["strongest"])
    rival = next(row for row in record["rows"] if row["name"] == speed.rival)
    return [duration(own["seconds"]), speed.rival, duration(rival["seconds"]), f"{speed.value:.2g}"]


def rate(value: float) -> str:
    """1,234 and 0.0123: three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def size_of(number: int) -> str:
    """33,104 bytes are 32 KiB."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number} B"
