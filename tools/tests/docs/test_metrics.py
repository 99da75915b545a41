"""docs/METRICS.md is what the code says, and the code has advice and a profiler's name for every counter."""

import re

import pytest

from tools import ROOT
from tools.check import counter_page
from tools.check.counter_page import ADVICE, MEASURED, meanings
from tools.check.metrics import ALL, DERIVED, OF_LAUNCH
from tools.sim.counters import FIGURES, OF_WARPS, Counters, Counts, Transfers, Warps
from tools.tests.conftest import needs_solutions

PAGE = (ROOT / counter_page.FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "kind, names",
    [
        (Counts, FIGURES),
        (Warps, tuple(vars(Warps()))),
        (Transfers, None),
        (Counters, ("library_operations", "library_float64", "library_fills")),
    ],
)
def test_every_counter_has_a_meaning_and_advice(kind, names):
    told = [name for together in meanings(kind) for name in together]
    names = names or [name for name in vars(Transfers()) if not name.startswith("bytes_")]  # "each with its bytes"
    assert sorted(told) == sorted(names)
    assert set(told) <= set(ADVICE)


@pytest.mark.parametrize("name", sorted({*FIGURES, *OF_WARPS, *DERIVED}))
def test_every_counter_stands_on_the_page(name):
    assert re.search(rf"\*\*[^*]*\b{name}\b[^*]*\*\*: ", PAGE)


@pytest.mark.parametrize("metric", ALL)
def test_every_name_of_the_profiler_that_the_tools_use_is_on_the_page(metric):
    assert f"`{metric}`" in PAGE


def test_advice_is_for_counters_that_exist():
    assert set(ADVICE) <= {
        *FIGURES,
        *OF_WARPS,
        *DERIVED,
        *OF_LAUNCH,
        *vars(Transfers()),
        "library_operations",
        "library_float64",
        "library_fills",
    }


@needs_solutions
def test_what_only_the_profiler_knows_has_the_names_that_day_5_measured_with():
    from week1.day5 import record_report

    known = {
        record_report.TIME,
        *record_report.COUNTED.values(),
        *record_report.UNITS.values(),
        *record_report.STALLS.values(),
    }
    assert set(MEASURED) - known == {"sm__warps_active.avg.pct_of_peak_sustained_active"}  # week 2 will measure it


def test_no_line_of_the_page_begins_a_list_by_accident():
    assert not re.search(r"^\s*\+ ", PAGE, re.MULTILINE)
    assert max(map(len, PAGE.splitlines())) <= 120
