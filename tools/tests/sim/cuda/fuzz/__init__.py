"""Random kernels, run by the simulator, by a scalar oracle that shares no code with it, and by a GPU.

`python -m tools.tests.sim.cuda.fuzz` makes and runs them; the same number always makes the same kernel.
"""
