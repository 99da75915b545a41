"""The two kernels of the demo do the same work; what they ask of memory follows from where their warps look."""

import pytest

from tools.course.content import demonstration
from tools.course.content.demonstration import SIDE, run

REQUESTS = 2 * SIDE * SIDE // 32  # each warp loads once and stores once


@pytest.mark.parametrize(("kernel", "sectors"), [("slow", 32), ("fast", 4)])
def test_both_are_right_and_differ_in_the_sectors_of_a_request(kernel, sectors):
    measured = run(getattr(demonstration, kernel))
    assert (measured.name, measured.right) == (kernel, True)
    assert (measured.counters.requests, measured.counters.sectors) == (REQUESTS, sectors * REQUESTS)
    assert measured.counters.bytes == 2 * 4 * SIDE * SIDE
    assert measured.asked == 32 * sectors * REQUESTS


def test_the_source_is_the_kernel_that_ran_and_they_differ_in_two_words():
    slow, fast = (run(kernel).source for kernel in (demonstration.slow, demonstration.fast))
    assert slow.startswith("def slow(image, out):\n")
    assert slow.replace("slow", "fast").replace("row, col = cuda", "col, row = cuda") == fast
