"""The tests' own launches on a real GPU: recorded while the simulators run them, replayed there, and compared.

    COURSE_SIM=1 pytest tools/tests/sim/cupy_raw -p tools.tests.sim.on_a_gpu.record --launches build/launches
    python -m tools.tests.sim.on_a_gpu.replay build/launches outcomes.json

The first needs no GPU. A launch that ends in a fault is not recorded: on a GPU it may do anything. claims.py tries what
tools/sim/reach says of GPUs, handles.py what Triton says of a launch; with_cupy.py lets tests of CuPy's graphs and the
like ask CuPy itself.

outcomes.json has what came of it, by file of tests. order: results that depend on who comes first. last places: sums
and functions that are rounded otherwise there. not replayed: kernels inside functions, addresses, debuggers.
"""
