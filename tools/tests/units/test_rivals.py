"""Every rival of a workload computes what the reference solution does: a contest about something else says nothing."""

import numpy as np
import pytest

from tools.bench.contest import allowed, difference
from tools.bench.record import reference
from tools.check.arrays import to_numpy
from tools.course.content import catalogue
from tools.course.content.workload import Compiled
from tools.course.learner.lesson import lesson_of
from tools.tests.conftest import needs_solutions

ON_A_GPU_ALONE = ["week2/katas/gluon_gemm", "week3/katas/gluon_attention"]  # Gluon is not simulated; see their tests
SEED = 28  # a verdict can be repeated: a long sum that comes out near 0 has fewer right digits than the bound asks for


@needs_solutions
def test_every_rival_computes_what_the_reference_computes(name, workload, monkeypatch):
    assert workload.rivals
    if name in ON_A_GPU_ALONE:
        pytest.skip("needs a GPU: Gluon is not simulated; nothing to do")
    monkeypatch.setattr(Compiled, "__call__", lambda self, *given: self.function(*given))  # to compile takes seconds
    function = getattr(lesson_of(reference(catalogue.unit(name)), workload.function), workload.function)
    arguments = workload.arguments(workload.small, np.random.default_rng(SEED))
    got = in_numpy(function(*arguments))
    for rival in workload.rivals.values():
        want = in_numpy(rival(*arguments))
        for one, other in zip(got, want, strict=True):
            assert difference(one, other, allowed(workload, workload.small)) == ""


def in_numpy(result) -> list[np.ndarray]:
    return [to_numpy(each) for each in (result if isinstance(result, tuple) else (result,))]
