"""The audit of tolerances: what assert_matches objects to while it is on."""

import numpy as np
import pytest

from tools.check import assert_matches, auditing
from tools.check.inputs import matrices
from tools.check.tolerances import Tolerance, WeakTolerance, accumulated

X = np.array([3.0, -1.0, 2.5])


def double(x):
    return 2 * x


@pytest.fixture
def audited():
    with auditing.enabled():
        yield


def matmul(a, b):
    return a @ b


def test_the_audit_is_content_with_a_fitting_tolerance(audited):
    rng = np.random.default_rng(5)
    a, b = matrices(rng, (12, 40), (40, 9), dtype=np.float32)
    assert_matches(matmul, a, b, oracle=matmul, tolerance=accumulated(np.float32, 40))


def test_the_audit_objects_to_a_tolerance_that_lower_precision_would_meet(audited):
    a, b = matrices(np.random.default_rng(5), (12, 40), (40, 9), dtype=np.float32)
    with pytest.raises(WeakTolerance, match="tf32 round trip"):
        assert_matches(matmul, a, b, oracle=matmul, tolerance=Tolerance(1e-3, "a guess"))


def test_the_audit_objects_to_a_tolerance_that_the_reference_hardly_meets(audited):
    def rough(x):
        return 2 * x * (1 + 2e-7)

    x = np.arange(1.0, 9.0)
    with pytest.raises(WeakTolerance, match="quarter"):
        assert_matches(rough, x, oracle=double, tolerance=Tolerance(4e-7, "a guess"))


def test_the_audit_looks_at_every_part_of_a_result_and_at_python_floats(audited):
    def parts(x):
        return 2 * x, {"sum": float(x.sum()), "count": 3}

    assert_matches(parts, X, oracle=parts)
    with pytest.raises(WeakTolerance, match="zeros"):
        assert_matches(parts, X, oracle=parts, tolerance=Tolerance(0.6, "a guess"))


def test_without_the_audit_nobody_asks():
    assert_matches(double, X, oracle=double, tolerance=Tolerance(100.0, "a guess"))
