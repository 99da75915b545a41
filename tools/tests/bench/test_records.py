"""Records as CSV, as a plot, and as what the journal keeps; and their figures as a table shows them."""

import csv
import io
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from tools.bench import cells, records, simulated
from tools.bench.contest import YOURS
from tools.course.learner.progress import file_hash
from tools.models import chips
from tools.tests.course.content.test_workload import small, workloads

MACHINE = {"cpu": "a CPU, 2 cores", "versions": {"numpy": "2.4.6"}}
CEILING = {"bandwidth": 1e10, "host": None, "peaks": {"float32": 1e11}, "date": "2026-11-20"}


def row(name, seconds, size):
    return {
        "name": name,
        "seconds": seconds,
        "low": seconds * 0.99,
        "high": seconds * 1.01,
        "gb_s": 8 * size / seconds / 1e9,
        "gflop_s": size / seconds / 1e9,
        "share_of_ceiling": None,
        "peak_bytes": None,
        "lines": 5 if name == YOURS else None,
    }


def record(size, own=2e-6, rival=1e-6, function="double"):
    return {
        "function": function,
        "shape": f"{size} float32",
        "size": size,
        "class": "within 2x",
        "simulated": False,
        "rows": [row(YOURS, own, size), row("NumPy", rival, size)],
        "moved": 8 * size,
        "flops": size,
        "dtype": "float32",
        "least_seconds": 8 * size / 1e10,
        "left_out": {},
        "machine": MACHINE,
        "strongest": {"rival": "NumPy", "value": rival / own, "low": rival / own, "high": rival / own},
    }


def counted():
    return {
        "function": "double",
        "shape": "8 float32",
        "size": 8,
        "simulated": True,
        "rows": [],
        "asked": 100,
        "in_sectors": 128,
        "least": 64,
        "crossed": 0,
        "least_crossed": 0,
        "library": [],
        "machine": MACHINE,
    }


def test_csv_has_a_line_for_each_competitor_at_each_size(tmp_path):
    text = records.as_csv(small(tmp_path), [record(8), record(16)], "2026-11-20")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(each["size"], each["name"]) for each in rows] == [
        ("8", YOURS),
        ("8", "NumPy"),
        ("16", YOURS),
        ("16", "NumPy"),
    ]
    assert float(rows[0]["seconds"]) == 2e-6 and rows[0]["peak_bytes"] == "" and rows[0]["lines"] == "5"
    assert (rows[0]["class"], rows[1]["class"], rows[0]["date"]) == ("within 2x", "", "2026-11-20")
    assert (rows[0]["machine"], rows[0]["versions"]) == ("a CPU, 2 cores", "numpy=2.4.6")


def test_csv_of_simulated_calls_says_so_and_has_no_times(tmp_path):
    rows = list(csv.DictReader(io.StringIO(records.as_csv(small(tmp_path), [counted()], "2026-11-20"))))
    assert [(each["asked"], each["least"], each["simulated"]) for each in rows] == [("100", "64", "simulated")]
    assert "seconds" not in rows[0]


def test_the_journal_keeps_figures_machine_and_the_lessons_hash(tmp_path):
    unit = small(tmp_path)
    kept = records.journal_facts(record(8), unit)
    assert set(kept) == {"function", "shape", "size", "rows", "class", "machine", "simulated", "lesson"}
    assert kept["lesson"] == file_hash(unit.lesson)
    assert records.journal_facts(counted(), unit)["asked"] == 100


def test_the_journal_keeps_the_rates_that_a_roofline_is_drawn_from(tmp_path):
    unit = small(tmp_path)
    assert records.journal_facts(record(8), unit, CEILING)["ceiling"] == {"bandwidth": 1e10, "peak": 1e11}
    assert records.journal_facts(record(8) | {"dtype": "int64"}, unit, CEILING)["ceiling"] == {"bandwidth": 1e10}
    assert "ceiling" not in records.journal_facts(counted(), unit, CEILING)  # nothing was timed under it


def test_of_a_function_that_crosses_the_journal_keeps_what_crossed(tmp_path):
    kept = records.journal_facts(counted() | {"crossed": 20, "least_crossed": 10}, small(tmp_path))
    assert (kept["crossed"], kept["least_crossed"], "asked" in kept) == (20, 10, False)


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_plot_has_speed_and_roofline_of_each_function(tmp_path):
    both = [record(8), record(16), record(8, function="halve"), record(16, function="halve")]
    svg = records.as_plot(small(tmp_path), both, {"double": CEILING, "halve": CEILING}, ["a CPU"])
    said = texts(svg)
    assert {"double: speed", "double: roofline", "halve: speed", "halve: roofline", "a CPU"} <= set(said)
    assert said.count("measured ceiling") == said.count("measured roof") == 2
    assert "GB/s" in said  # one flop for 8 bytes: memory is what there is most of


def test_without_a_peak_for_its_dtype_there_is_no_roofline(tmp_path):
    integers = record(8) | {"dtype": "int64"}
    assert "double: roofline" not in texts(records.as_plot(small(tmp_path), [integers], {"double": CEILING}, []))


# In cells -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "text"), [(None, "-"), (0.004, "0.004"), (0.5, "50%"), (1.234, "123%")])
def test_a_share_of_the_ceiling_that_rounds_to_nothing_is_not_shown_as_zero(share, text):
    assert cells.competitor(row(YOURS, 2e-6, 8) | {"share_of_ceiling": share})[4] == text


def test_the_uncertainty_is_half_the_interval():
    assert cells.competitor(row(YOURS, 2e-6, 8))[:2] == ["2 us", "1.0%"]


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 B"), (1023, "1023 B"), (33104, "32.3 KiB"), (2**28, "256 MiB"), (3 * 2**30, "3 GiB")]
)
def test_sizes_of_memory(number, text):
    assert cells.size_of(number) == text


def test_a_smaller_size_is_shown_against_its_strongest_rival():
    assert cells.against_strongest(record(8)) == ["2 us", "NumPy", "1 us", "0.5"]
    assert cells.against_strongest(record(8) | {"strongest": None}) == ["2 us", "-", "-", "-"]


# Bounds -------------------------------------------------------------------------------------------


def test_a_bound_follows_from_the_chips_table(tmp_path):
    (workload,) = workloads(small(tmp_path))
    bounds = simulated.bounds(workload, 10**9)
    assert set(bounds) == set(simulated.CHIPS) <= set(chips.chips())
    assert bounds["h100"] == {"seconds": pytest.approx(8e9 / 3352e9), "limit": "memory"}


def test_products_of_float16_are_bound_by_the_tensor_cores(tmp_path):
    (workload,) = workloads(small(tmp_path))
    bound = simulated.bounds(replace(workload, dtype="float16", flops=lambda n: n**2), 10**9)["h100"]
    assert bound == {"seconds": pytest.approx(1e18 / 989.4e12), "limit": "arithmetic"}


def test_a_chip_that_cannot_multiply_such_numbers_has_no_bound(tmp_path):
    (workload,) = workloads(small(tmp_path))
    assert set(simulated.bounds(replace(workload, dtype="bfloat16"), 10**9)) == set(simulated.CHIPS) - {"t4"}
