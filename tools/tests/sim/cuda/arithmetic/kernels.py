"""All kernels, in the order of their files."""

from tools.tests.sim.cuda.arithmetic import operands, uses  # noqa: F401, which make them
from tools.tests.sim.cuda.arithmetic.case import KERNELS, THREADS

__all__ = ["KERNELS", "THREADS"]
