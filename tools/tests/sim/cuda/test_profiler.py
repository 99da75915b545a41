"""The simulator's counters beside what Nsight Compute measured for the same kernels."""

import json

import pytest

from tools import gpu
from tools.tests.sim.cuda.profiler.__main__ import PAGE, RECORD
from tools.tests.sim.cuda.profiler.page import Comparison, explained, text

if gpu.card():
    pytest.skip(
        f"needs the simulator in place of the GPU; found {gpu.card()}; COURSE_SIM=1 simulates it",
        allow_module_level=True,
    )

MEASURED = json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return Comparison(MEASURED)


@pytest.mark.parametrize("group", ["textbook", "hard"])
def test_nearly_all_figures_equal_the_profilers(comparison, group):
    equal, figures = comparison.share(group)
    assert equal / figures >= 0.95


def test_each_difference_is_explained_and_shown_in_the_machine_code(comparison):
    reasons = explained()
    different = {kernel for kernel, *_ in comparison.differences()}
    assert different == set(reasons)
    assert all(reason["code"].strip() for reason in reasons.values())


def test_the_page_says_what_was_measured_and_what_is_simulated():
    assert PAGE.read_text(encoding="utf-8").partition("# CUDA C++ and Triton")[0] == text(MEASURED)
