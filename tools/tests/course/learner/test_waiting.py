"""What waits for a package, in words."""

import pytest

from tools.course.learner.record import Wait
from tools.course.learner.waiting import lines, words

COMPILED, EDGE = Wait(2, "compiled", "numba-cuda", 2), Wait(2, "edge", "numba-cuda", 1)


@pytest.mark.parametrize(("waits", "said"), [
    ([], []),
    ([COMPILED], ["2 compiled tests wait for numba-cuda"]),
    ([EDGE], ["1 test waits for numba-cuda"]),
    ([COMPILED, EDGE], ["3 tests wait for numba-cuda"]),
    ([COMPILED, Wait(1, "compiled", "a C compiler", 1)],
     ["1 compiled test waits for a C compiler", "2 compiled tests wait for numba-cuda"]),
    ([Wait(0, "", "Triton", 0)], ["all tests wait for Triton"]),
])  # fmt: skip
def test_what_waits_is_said_once_for_each_thing_that_is_missing(waits, said):
    assert words(waits) == said


def test_the_command_that_helps_stands_behind_each():
    assert lines([EDGE]) == ["1 test waits for numba-cuda: ./course doctor"]
