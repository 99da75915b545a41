"""Triton kernels without a GPU: Triton's own interpreter, with a GPU's numbers and a GPU's refusals."""

from tools.sim.triton.install import install

__all__ = ["install"]
