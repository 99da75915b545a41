"""Every rival of a workload computes what the reference solution does: a contest about something else says nothing."""

import numpy as np
import pytest

from tools import ROOT
from tools.bench.contest import difference
from tools.bench.record import reference
from tools.check.arrays import to_numpy
from tools.course.content import catalogue
from tools.course.content.workload import Compiled, OnTensors, workloads
from tools.course.learner.lesson import lesson_of

ALL = [(name, workload) for name in catalogue.names() for workload in workloads(catalogue.unit(name))]


@pytest.mark.skipif(not (ROOT / "reference").exists(), reason="the learner edition has no reference solutions")
@pytest.mark.parametrize(("name", "workload"), ALL, ids=[f"{name}:{each.function}" for name, each in ALL])
def test_every_rival_computes_what_the_reference_computes(name, workload):
    function = getattr(lesson_of(reference(catalogue.unit(name)), workload.function), workload.function)
    arguments = workload.arguments(workload.small, np.random.default_rng())
    got = to_numpy(function(*arguments))
    assert workload.rivals
    for rival in workload.rivals.values():
        inner = rival.function if isinstance(rival, OnTensors) else rival
        plain = inner.function if isinstance(inner, Compiled) else inner  # compiling takes ten seconds
        want = to_numpy((OnTensors(plain) if isinstance(rival, OnTensors) else plain)(*arguments))
        assert difference(got, want, workload.dtype, workload.terms(workload.small)) == ""
