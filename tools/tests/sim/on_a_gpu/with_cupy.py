"""A plugin of pytest: what a module of tests calls cp is CuPy itself, on a GPU.

    COURSE_SIM=1 pytest tools/tests/sim/cupy/test_graphs.py --noconftest -p tools.tests.sim.on_a_gpu.with_cupy

For tests of values and errors; whoever asks the simulator's counters is answered by the simulator, of nothing.
"""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    import cupy

    for item in items:
        module = getattr(item, "module", None)
        if hasattr(module, "cp"):
            module.cp = cupy  # type: ignore[union-attr]
