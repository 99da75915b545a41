"""The page: who, what was reached, the month at a glance, the largest changes, then a section for each unit."""

from datetime import date, timedelta
from html import escape
from itertools import groupby
from pathlib import Path

from tools.course.content.catalogue import Unit
from tools.course.learner.history import Change
from tools.course.learner.portfolio import Portfolio
from tools.course.learner.progress import CONFIRMED, HERE, OPEN, PASSED, SIMULATED, STARTED
from tools.report import words
from tools.report.section import changed, section

LARGEST = 3  # changes shown at the top
STYLE = Path(__file__).with_name("style.css")
# Nothing may be fetched and nothing run, whatever a note says.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
COURSE = "GPU programming in 28 days"


def page(portfolio: Portfolio, today: date) -> str:
    """The whole file."""
    title = f"{escape(portfolio.name)}: {COURSE}" if portfolio.name else COURSE
    body = "\n".join(
        filter(
            None,
            [
                _head(portfolio),
                _figures(portfolio),
                _month(portfolio),
                _largest(portfolio),
                *(section(each) for each in portfolio.sections),
                _foot(portfolio, today),
            ],
        )
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{STYLE.read_text(encoding="utf-8")}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _head(portfolio: Portfolio) -> str:
    name = f"<h1>{escape(portfolio.name)}</h1>\n<p class='of'>{COURSE}</p>" if portfolio.name else f"<h1>{COURSE}</h1>"
    about = (
        "A course that is a test suite: each kernel, in CuPy, CUDA or Triton, is written to make its tests pass. "
        "Every figure below was recorded while the code ran; what was not recorded is not here."
    )
    return f"<header>\n{name}\n<p>{about}</p>\n</header>"


# At a glance --------------------------------------------------------------------------------------


def _figures(portfolio: Portfolio) -> str:
    """What was reached, in four figures at most; only those for which something was recorded."""
    if not portfolio.sections:
        return '<p class="nothing">Nothing is recorded yet: no day was worked, and nothing was counted or timed.</p>'
    found = [(f"{portfolio.done} of {len(portfolio.days)}", "days done", _how(portfolio))]
    if portfolio.minutes >= 1:
        found.append((_hours(portfolio.minutes), "at work", "pauses of 15 minutes and more left out"))
    if portfolio.first_kernel is not None:
        found.append((words.span(portfolio.first_kernel), "to the first green kernel", "counted from the first run"))
    if portfolio.began:
        noun = "hint taken" if portfolio.hints == 1 else "hints taken"
        found.append((str(portfolio.hints), noun, "there are three for each task"))
    cells = "".join(
        f'<div><dt>{what}</dt><dd>{figure}</dd><dd class="more">{more}</dd></div>' for figure, what, more in found
    )
    return f'<dl class="figures">{cells}</dl>'


def _hours(minutes: float) -> str:
    return words.span(timedelta(minutes=minutes)) if minutes < 90 else f"{minutes / 60:.1f} hours"


def _how(portfolio: Portfolio) -> str:
    """Which of the days were simulated, and which were confirmed on what."""
    parts = [
        f"{portfolio.days.count(word)} {word}"
        for word in (HERE, PASSED, SIMULATED, CONFIRMED)
        if word in portfolio.days
    ]
    cards = ", ".join(f"{escape(card)} ({words.day(when)})" for card, when in portfolio.cards.items())
    return ", ".join(parts) + (f" on {cards}" if cards else "")


def _month(portfolio: Portfolio) -> str:
    """A row for each week: its days, then its katas."""
    shown = {each.unit.name for each in portfolio.sections}
    rows = []
    for week, members in groupby(portfolio.units, key=lambda pair: pair[0].week):
        cells = "".join(_cell(unit, reached, unit.name in shown) for unit, reached in members)
        rows.append(f'<div class="week"><h3>{week.replace("week", "Week ")}</h3><p>{cells}</p></div>')
    states = {reached for _, reached in portfolio.units}
    legend = "".join(
        f'<span><i class="cell {word}"></i>{meaning}</span>'
        for word, meaning in (
            (CONFIRMED, "confirmed on a GPU"),
            (SIMULATED, "passed on simulators"),
            (PASSED, "passed; needs no GPU"),
            (HERE, "passed as far as it ran"),
            (STARTED, "started"),
            (OPEN, "open"),
        )
        if word in states
    )
    return f'<section class="month"><h2>The month</h2>{"".join(rows)}<p class="legend">{legend}</p></section>'


def _cell(unit: Unit, word: str, linked: bool) -> str:
    text = unit.folder.name.removeprefix("day").replace("_", " ")
    what = f'class="cell {word}{" kata" * unit.is_kata}" title="{escape(unit.title)}: {word}"'
    return f'<a {what} href="#{words.anchor(unit)}">{text}</a>' if linked else f"<span {what}>{text}</span>"


def _largest(portfolio: Portfolio) -> str:
    """The largest changes for the better, one a function; nothing where a single section would show the same."""
    best: dict[tuple[str, str], Change] = {}
    for each in sorted((c for s in portfolio.sections for c in s.changes), key=lambda c: c.factor):
        if each.factor > 1:
            best[each.unit, each.function] = each
    if len({unit for unit, _ in best}) < 2:
        return ""
    shown = sorted(best.values(), key=lambda change: -change.factor)[:LARGEST]
    units = {unit.name: unit for unit, _ in portfolio.units}
    cards = "".join(changed(each, units[each.unit]) for each in shown)
    return f'<section><h2>Before and after</h2><div class="changes">{cards}</div></section>'


# The end ------------------------------------------------------------------------------------------


def _foot(portfolio: Portfolio, today: date) -> str:
    warning = f"<p>{escape(portfolio.warning)}</p>" if portfolio.warning else ""
    return f"""<footer>
<h2>How to read this</h2>
<p><b>Confirmed</b>: all tests of the day passed on the GPU that is named, those of speed included.
<b>Simulated</b>: all that can run without a GPU passed, on simulators that execute the kernels and check every access.
Results, bytes, sectors and bounds are exact there. <b>Time is not simulated</b>, so no time of a GPU follows from it.
<b>Passed</b>: nothing in that day needs a GPU.</p>
<p><b>Before and after</b> are the first and the last record of one function under the same conditions: the same size,
and for times the same machine. Times are medians of repeated runs; rivals were timed in turn in the same run.
The ceiling is what the machine's own rates of copying and multiplying, measured by the course, leave at most; arrays
that fit into a cache can exceed it.</p>
<p>The page is made from the learner's own journal, which the learner keeps. Written on {words.day(today)}.</p>
{warning}</footer>"""
