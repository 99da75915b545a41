"""The simulators' counters of CUDA C++ and Triton beside what Nsight Compute measured for the same kernels."""

import pytest

from tools import gpu
from tools.tests.sim.cuda.profiler.__main__ import PAGE
from tools.tests.sim.cupy_raw.running import needs_compiler

if gpu.card():
    pytest.skip(
        f"needs the simulator in place of the GPU; found {gpu.card()}; COURSE_SIM=1 simulates it",
        allow_module_level=True,
    )

from tools.tests.sim.cupy_raw.profiler.page import TITLE, Comparison, explained, text  # noqa: E402

pytestmark = needs_compiler
LEAST = {"atomics": 0.75, "copies": 0.95, "tensor cores": 1.0, "groups": 0.85, "values": 1.0, "Triton": 0.75}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return Comparison()


@pytest.mark.parametrize("group", LEAST)
def test_figures_equal_the_profilers_but_for_those_that_are_explained(comparison, group):
    equal, figures = comparison.share(group)
    assert equal / figures >= LEAST[group]


def test_each_difference_is_explained_and_shown_in_the_machine_code(comparison):
    reasons = explained()
    assert set(comparison.different()) == set(reasons)
    assert all(reason["code"].strip() for reason in reasons.values())


def test_the_page_says_of_both_what_was_measured_and_what_is_simulated(comparison):
    _, title, rest = PAGE.read_text(encoding="utf-8").partition(TITLE)
    assert title + rest == text(comparison)
