"""Figures and states in words, as plain text."""

from datetime import date, timedelta

from tools.course.content.catalogue import Unit
from tools.course.learner import waiting
from tools.course.learner.changes import SECONDS, Change
from tools.course.learner.history import YOURS
from tools.course.learner.portfolio import Section
from tools.course.learner.progress import CONFIRMED, STARTED
from tools.words import quantity

METRICS = {  # in this order; what an outsider needs to know of each
    "bytes_loaded": "bytes that the kernel asked memory for",
    "bytes_stored": "bytes that it wrote",
    "bytes_atomic": "bytes that it updated by atomic operations",
    "accesses": "elements loaded, stored or updated, each time",
    "sectors": "pieces of 32 bytes, the least that memory sends",
    "lines": "pieces of 128 bytes, a line of the cache",
    "requests": "instructions of a warp (32 threads) that access memory",
    "sectors_per_request": "4 where 32 threads read float32 side by side, up to 32 where they do not",
    "wavefronts": "passes that shared memory needed",
    "conflicts": "passes that bank conflicts cost",
    "divergent_branches": "decisions in which the threads of a warp parted",
    "active_lanes": "of a warp's 32 threads, how many did something on average",
    "flops": "floating-point operations of matrix products",
    "programs": "programs (Triton) or blocks (CUDA) that ran",
}
UNITS_OF_TIME = ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
UNITS_OF_SIZE = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "bytes"))


def metric(name: str) -> str:
    """bytes_loaded, as words."""
    return name.replace("_", " ")


def figure(value: float) -> str:
    """A count in full, with commas; a share with as many digits as tell something."""
    return f"{value:,}" if float(value).is_integer() else f"{value:,.1f}" if value >= 10 else f"{value:.3g}"


def seconds(value: float) -> str:
    size, unit = next((pair for pair in UNITS_OF_TIME if value >= pair[0]), UNITS_OF_TIME[-1])
    return f"{value / size:.3g} {unit}" if value < 1000 else f"{value:,.0f} s"


def size(value: float) -> str:
    unit, name = next((pair for pair in UNITS_OF_SIZE if value >= pair[0]), UNITS_OF_SIZE[-1])
    return f"{value / unit:,.0f} {name}"


def percent(share: float) -> str:
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def span(time: timedelta) -> str:
    """48 minutes, 3.5 hours, 2 days: one unit."""
    minutes = time / timedelta(minutes=1)
    if minutes < 90:
        return quantity(round(minutes), "minute")
    return f"{minutes / 60:.1f} hours" if minutes < 48 * 60 else f"{minutes / 1440:.0f} days"


def day(when: date) -> str:
    return f"{when.day} {when:%B %Y}"


def short_day(when: date) -> str:
    return f"{when.day} {when:%b %Y}"


def period(first: date, last: date) -> str:
    if first == last:
        return day(first)
    if first.year != last.year:
        return f"{day(first)} to {day(last)}"
    return f"{first.day}{f' {first:%B}' * (first.month != last.month)} to {day(last)}"


def place(unit: Unit) -> str:
    """Week 1, day 4; or Week 1, kata: locality."""
    week, _, rest = unit.name.partition("/")
    name = rest.replace("katas/", "kata: ").replace("day", "day ").replace("_", " ")
    return f"{week.replace('week', 'Week ')}, {name}"


def anchor(unit: Unit) -> str:
    return unit.name.replace("/", "-")


def reached(section: Section) -> str:
    """The state in a line."""
    proof = section.state.confirmation
    if section.reached == CONFIRMED and proof:
        return f"confirmed on {proof.card}, {day(date.fromisoformat(proof.date))}"
    if section.reached == STARTED:
        return f"started: {len(section.state.done)} of {quantity(len(section.unit.tasks), 'task')}"
    waits = [f": {'; '.join(waiting.words(section.state.waits))}"] if section.state.waits else []
    return "".join([section.reached, *waits])


def change(changed: Change) -> str:
    """8 times fewer sectors; 7.8 times as fast"""
    factor = changed.factor
    if changed.quantity == SECONDS:
        return f"{times(factor)} as fast" if factor >= 1 else f"{times(1 / factor)} as slow"
    name = metric(changed.quantity)
    if changed.last == 0 or changed.first == 0:
        return f"no {name} any more" if changed.last == 0 else f"{name}, where there were none"
    return f"{times(factor)} fewer {name}" if factor >= 1 else f"{times(1 / factor)} more {name}"


def about(changed: Change) -> str:
    """The function, and which quantity of it changed."""
    return f"{changed.function}: {'time' if changed.quantity == SECONDS else changed.quantity.replace('_', ' ')}"


def times(factor: float) -> str:
    text = f"{factor:,.0f}" if factor >= 20 else f"{factor:.1f}".removesuffix(".0")
    return f"{text} times"


def competitor(name: str) -> str:
    """The name of a row for a stranger, who reads nothing called "yours"."""
    return "this code" if name == YOURS else name


def value(changed: Change, amount: float) -> str:
    return seconds(amount) if changed.quantity == SECONDS else figure(amount)
