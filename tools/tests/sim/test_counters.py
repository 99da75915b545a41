"""The figures of one call: they add up, cross to another process as plain data, and print as a table."""

import pytest
import torch

from tools import wire
from tools.sim.counters import Counters, Counts, Launch, Line, NotCounted, Transfers
from tools.sim.recording import record


def example() -> Counters:
    load = Counts(bytes_loaded=20_000, accesses=5000, sectors=625, lines=157)
    dot = Counts(flops=2_000_000)
    lines = (
        Line("week1/day4/vector_add.py", 66, "x = tl.load(x_ptr + mine, mask=exists)", "load", load),
        Line("week1/day4/vector_add.py", 71, "acc = tl.dot(a, b, acc)", "dot", dot),
    )
    counters = Counters(library_operations=["torch.add"])
    counters.add(Launch("add_kernel", (5, 1), load + dot + Counts(programs=5), lines, (16, 8)))
    return counters


def test_totals_are_the_sums_of_the_launches():
    counters = example()
    counters.add(counters.launches[0])
    assert (counters.bytes_loaded, counters.lines, counters.flops) == (40_000, 314, 4_000_000)
    assert counters.programs == 10
    assert len(counters.launches) == 2


def test_counts_can_be_added():
    assert Counts(bytes_stored=1, sectors=2) + Counts(sectors=3) == Counts(bytes_stored=1, sectors=5)


@pytest.mark.parametrize(
    "name", ["requests", "sectors_per_request", "wavefronts", "conflicts", "active_lanes", "divergent_branches"]
)
def test_a_figure_of_warps_says_why_it_is_missing_and_where_to_look(name):
    with pytest.raises(NotCounted, match=f"{name}.* no warps until it is compiled.*tools.check.compiled"):
        getattr(example(), name)
    assert not hasattr(Counts(), name)


def test_an_unknown_figure_is_an_attribute_error_and_no_more():
    with pytest.raises(AttributeError, match="no attribute 'seconds'") as caught:
        Counts().seconds
    assert caught.type is AttributeError


def test_counters_come_back_from_another_process_as_they_were():
    packet = wire.encode(example().to_plain())
    plain = wire.decode(packet.header, packet.buffers).value
    assert Counters.from_plain(plain) == example()


@pytest.mark.parametrize(
    "plain",
    [
        None,
        {},
        {"launches": (), "library_operations": [], "more": 1},
        {"launches": (), "library_operations": [1]},
        {"launches": [], "library_operations": []},
        {"launches": (("k", (1,), {}, (), ()),), "library_operations": []},
        {"launches": (("k", (-1,), vars(Counts()), (), ()),), "library_operations": []},
        {"launches": (("k", (1,), vars(Counts(sectors=True)), (), ()),), "library_operations": []},
        {"launches": (("k", (1,), vars(Counts(sectors=-1)), (), ()),), "library_operations": []},
        {"launches": (("k", (1,), vars(Counts()), ("load",), ()),), "library_operations": []},
        {"launches": (("k", (1,), vars(Counts()), (), (-1,)),), "library_operations": []},
    ],
)
def test_what_a_lesson_made_up_is_no_counters(plain):
    if plain:  # all else as it should be
        plain = {"library_float64": [], "transfers": vars(Transfers())} | plain
    with pytest.raises(ValueError):
        Counters.from_plain(plain)


def test_the_table_has_the_source_line_beside_its_figures():
    assert str(example()).splitlines() == [
        "add_kernel, grid 5 x 1: 5 programs",
        "                                      bytes  accesses  sectors  lines      flops",
        "   66  x = tl.load(x_ptr ...  load   20,000     5,000      625    157          -",
        "   71  acc = tl.dot(a, b,...  dot         -         -        -      -  2,000,000",
        "                              total  20,000     5,000      625    157  2,000,000",
        "library operations: torch.add",
    ]


def test_the_table_says_that_no_kernel_ran():
    assert str(Counters()) == "no kernel was launched\nlibrary operations: none"


def test_a_failing_assertion_shows_counters_in_one_short_line():
    assert repr(example()) == "<counters: 1 launch, 5 programs>"


def test_functions_that_only_write_elements_are_fills_and_no_operations():
    def fill(x):
        out = torch.zeros_like(x)
        torch.empty(3).fill_(2.0)
        out[:] = 0
        return torch.empty_like(x), out + 1

    x = torch.ones(3)
    with record() as counters:
        fill(x)
    assert counters.library_operations == ["torch.add"]
    assert counters.library_fills == ["torch.zeros_like", "torch.fill_", "torch.Tensor.__setitem__"]
    assert Counters.from_plain(counters.to_plain()).library_fills == counters.library_fills
