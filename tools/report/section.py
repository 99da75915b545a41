"""One day or kata of the page: state, before and after, times beside rivals, counts, notes, code."""

from html import escape
from itertools import groupby

from tools.course.content.catalogue import Unit
from tools.course.learner.history import SECONDS, YOURS, Bench, Change, Count, Row, Traffic
from tools.course.learner.portfolio import Section
from tools.course.learner.progress import SIMULATED
from tools.report import charts, texts, words
from tools.report.bars import Bar, svg
from tools.words import quantity

SIMULATOR = '<p class="about">Counted by a simulator: exact, the same on every machine.</p>'
MOST = 2  # changes shown of one function; the table of counts has the rest
FAR = 20  # a rival so many times as slow is not drawn, or no other bar could be seen
ASKED = ("bytes asked for", "bytes of all sectors touched", "least possible")  # headings of the table of traffic
COLUMNS = (  # of the table of times: field, heading, how it is written
    ("seconds", "time", words.seconds),
    ("gb_s", "GB/s", words.figure),
    ("gflop_s", "GFLOP/s", words.figure),
    ("share_of_ceiling", "of the ceiling", words.percent),
    ("peak_bytes", "memory", words.size),
    ("lines", "lines of code", words.figure),
)


def section(each: Section) -> str:
    """The section, as HTML."""
    unit = each.unit
    parts = [
        _about(each),
        _changes(each),
        *_times(each),
        _traffic(each.traffic),
        _counts(each.counts),
        _note(each.note),
        _code(each),
    ]
    return f"""<section class="unit" id="{words.anchor(unit)}">
<div class="head"><div><p class="of">{words.place(unit)}</p><h2>{escape(unit.title)}</h2></div>
<p class="badge {each.reached}">{words.reached(each)}</p></div>
{"".join(filter(None, parts))}
</section>"""


def _about(each: Section) -> str:
    """When, how long, with what help; and what is simulated."""
    parts = [words.period(each.dates[0], each.dates[-1])] if each.dates else []
    if each.minutes >= 1:
        parts.append(quantity(round(each.minutes), "minute"))
    if each.hints:
        parts.append(quantity(each.hints, "hint"))
    facts = f'<p class="about">{" · ".join(parts)}</p>' if parts else ""
    if each.reached == SIMULATED:
        facts += '<p class="plain">Passed on simulators. Its tests on a GPU have not run yet.</p>'
    return facts


# Before and after ---------------------------------------------------------------------------------


def _changes(each: Section) -> str:
    if not each.changes:
        return ""
    of_function: dict[str, list[Change]] = {}
    for change in sorted(each.changes, key=lambda c: -c.factor):
        of_function.setdefault(change.function, []).append(change)
    shown = "".join(changed(change) for found in of_function.values() for change in found[:MOST])
    return f'<h3>Before and after</h3><div class="changes">{shown}</div>'


def changed(change: Change, unit: Unit | None = None) -> str:
    """First and last value as two bars, under what that means; with a link to the unit where it is given."""
    link = f' in <a href="#{words.anchor(unit)}">{words.place(unit)}</a>' if unit else ""
    where = f" ({escape(change.where)})" if change.where else ""
    title = f"{change.function}: {'time' if change.quantity == SECONDS else change.quantity.replace('_', ' ')}"
    bars = [
        Bar(f"first, {words.short_day(change.began)}", change.first, words.value(change, change.first)),
        Bar(f"last, {words.short_day(change.ended)}", change.last, words.value(change, change.last), ours=True),
    ]
    return (
        f'<figure class="change"><figcaption><b>{words.change(change)}</b>'
        f"<span><code>{escape(change.function)}</code>{where}{link}; shorter is better</span></figcaption>"
        f"{svg(bars, title)}</figure>"
    )


# Times --------------------------------------------------------------------------------------------


def _times(each: Section) -> list[str]:
    return [
        _contest(function, list(benches), each.hash)
        for function, benches in groupby(each.benches, key=lambda bench: bench.function)
    ]


def _contest(function: str, benches: list[Bench], now: str) -> str:
    """A function beside its rivals: bars and a table at the largest shape, and the plot over all."""
    largest = benches[-1]
    parts = [f"<h3><code>{escape(function)}</code> beside its rivals</h3>"]
    made = [f"{escape(largest.shape)} on {escape(largest.machine)}", words.day(largest.when), escape(largest.versions)]
    if largest.group:
        made.insert(1, f"class of result: {escape(largest.group)}")
    parts.append(f'<p class="about">{" · ".join(filter(None, made))}</p>')
    if largest.simulated:
        parts.append(
            '<p class="plain">No GPU was used: these are the times of a simulator, which say nothing of a GPU.</p>'
        )
    if largest.lesson and largest.lesson != now:
        parts.append('<p class="plain">The code below was changed after this was timed.</p>')
    if not largest.simulated:
        parts.append(_drawn(largest) + charts.over_sizes(function, benches))
    parts.append(_table(largest))
    return "".join(parts)


def _drawn(bench: Bench) -> str:
    """The times as bars, the fastest first."""
    rows = sorted(bench.rows, key=lambda row: row.seconds)
    near = [row for row in rows if row.seconds <= FAR * bench.own.seconds]
    bars = [
        Bar(words.competitor(row.name), row.seconds, words.seconds(row.seconds), ours=row is bench.own) for row in near
    ]
    far = ", ".join(
        f"{escape(row.name)} took {words.times(row.seconds / bench.own.seconds)} as long"
        for row in rows
        if row not in near
    )
    said = f"Time of one call: shorter is better.{f' Not drawn: {far}.' if far else ''}"
    title = f"Times of {bench.function} and its rivals"
    return f'<figure class="times">{svg(bars, title)}<figcaption><span>{said}</span></figcaption></figure>'


def _table(bench: Bench) -> str:
    columns = [column for column in COLUMNS if any(getattr(row, column[0]) is not None for row in bench.rows)]
    head = "".join(f"<th>{heading}</th>" for _, heading, _ in columns)
    body = "".join(
        f"<tr{' class=ours' * (row.name == YOURS)}><th>{escape(words.competitor(row.name))}</th>"
        + "".join(_data(heading, _cell(row, field, write)) for field, heading, write in columns)
        + "</tr>"
        for row in bench.rows
    )
    return _wide(f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>")


def _wide(table: str) -> str:
    """A table that scrolls inside its own frame where the page is too narrow for it; a shadow shows where."""
    return f'<div class="wide" tabindex="0">{table}</div>'


def _data(heading: str, value: str) -> str:
    """A cell that knows its heading: on a phone each stands in a line, and the heading beside it."""
    return f'<td data-of="{escape(heading)}">{value and f"<span>{value}</span>"}</td>'


def _cell(row: Row, field: str, write) -> str:
    value = getattr(row, field)
    if value is None:
        return ""
    if field == "seconds" and row.low and row.high:
        return f"{write(value)} <small>{write(row.low)} to {write(row.high)}</small>"
    return write(value)


def _traffic(traffic: tuple[Traffic, ...]) -> str:
    """What was asked of memory beside the least that any program needs."""
    if not traffic:
        return ""
    body = "".join(
        f"<tr><th><code>{escape(t.function)}</code><small>{escape(t.shape)}</small></th>"
        + "".join(map(_data, ASKED, (f"{t.asked:,}", f"{t.in_sectors:,}", f"{t.least:,}")))
        + "</tr>"
        for t in traffic
    )
    head = "<th></th>" + "".join(f"<th>{heading}</th>" for heading in ASKED)
    return f"<h3>Traffic</h3>{SIMULATOR}" + _wide(
        f'<table class="counts"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )


# Counts, notes, code ------------------------------------------------------------------------------


def _counts(counts: tuple[Count, ...]) -> str:
    """What the last counts found: a row for each metric that is not zero everywhere, a column for each function."""
    found = {name for count in counts for name, value in count.totals.items() if value}
    names = [*(n for n in words.METRICS if n in found), *sorted(found - words.METRICS.keys())]
    if not names:
        return ""
    head = "".join(f"<th><code>{escape(c.function)}</code>{_size(c)}</th>" for c in counts)
    body = "".join(
        f"<tr><th>{words.metric(name)}<small>{words.METRICS.get(name, '')}</small></th>"
        + "".join(_data(c.function, words.figure(c.totals[name]) if name in c.totals else "") for c in counts)
        + "</tr>"
        for name in names
    )
    said = SIMULATOR if all(count.simulated for count in counts) else ""
    return f"<h3>What the kernels did to memory</h3>{said}" + _wide(
        f'<table class="counts"><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>'
    )


def _size(count: Count) -> str:
    shape = escape(count.shape) or ("" if count.size is None else f"size {count.size:,}")
    by = "" if count.simulated else ", by a profiler"
    return f"<small>{shape}{by}</small>"


def _note(note: str) -> str:
    return f'<h3>Notes</h3><div class="note">{texts.notes(note)}</div>' if note else ""


def _code(each: Section) -> str:
    """The functions, task by task, folded; a printed page shows them."""
    if not each.pieces:
        return ""
    blocks = []
    for task, pieces in groupby(each.pieces, key=lambda piece: piece.task):
        pieces = list(pieces)
        lines = sum(piece.source.count("\n") + 1 for piece in pieces)
        names = ", ".join(f"<code>{escape(piece.name)}</code>" for piece in pieces)
        of = f"Task {task}: " if task is not None else ""
        blocks.append(
            f"<details><summary>{of}{names} <small>{quantity(lines, 'line')}</small></summary>"
            + texts.code("\n\n\n".join(piece.source for piece in pieces))
            + "</details>"
        )
    known = all(piece.known for piece in each.pieces)
    heading = "The code written" if known else "The code, given parts included"
    return f'<h3>{heading}</h3><div class="pieces">{"".join(blocks)}</div>'
