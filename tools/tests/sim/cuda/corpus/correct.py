"""All correct kernels."""

from tools.tests.sim.cuda.corpus import collectives, elementwise, matrices, reductions, rows, stencils, tallies

ROOMS = elementwise, stencils, matrices, reductions, rows, collectives, tallies
CASES = [case for room in ROOMS for case in room.CASES]
