"""Each snippet gives on the stand-in what it gives on CuPy, errors included."""

import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy.outcomes import agree, outcome
from tools.tests.sim.cupy.snippets import recorded, snippets

WRITTEN, RECORDED = snippets(), recorded()


@pytest.mark.parametrize("code", WRITTEN)
def test_a_snippet_gives_what_cupy_gives(code):
    wanted = RECORDED.get(code, WRITTEN[code])
    found = outcome(code, cp)
    assert agree(found, wanted), f"{code}\ngives  {found}\nCuPy:  {wanted}"


def test_every_recorded_outcome_belongs_to_a_snippet():
    assert set(RECORDED) <= set(WRITTEN)


@pytest.mark.parametrize(
    "one, other, alike",
    [
        ("int64[] 3", "int64[] 3", True),
        ("int64[] 3", "int32[] 3", False),
        ("int64[] 3", "TypeError: no", False),
        ("TypeError: the axis 3", "TypeError: the axis 4", False),
        ("TypeError: " + "x" * 40 + "1", "TypeError: " + "x" * 40 + "2", True),
        ("TypeError: no", "ValueError: no", False),
        ("CompileException: one compiler's words", "CompileException: another's", True),
    ],
)
def test_outcomes_are_alike_when_values_are_equal_or_messages_begin_alike(one, other, alike):
    assert agree(one, other) is alike
