"""Triton kernels without a GPU: Triton's own interpreter, with a GPU's numbers and a GPU's refusals."""

from tools.sim.triton.install import install

__all__ = ["SimulatedTimes", "install"]


class SimulatedTimes(UserWarning):
    """Times were asked of a machine without a GPU. Here, where it can be imported before Triton is: under
    pytest-xdist a warning is told by a process that imports its class and nothing else."""
