"""Every operation that the course uses, in a kernel, beside what PyTorch or its definition makes of it.

`python -m tools.tests.sim.triton.conformance` prints the table. The cases run on a GPU too.
"""

import tools.gpu  # noqa: F401  (first: it chooses the simulator where there is no GPU)
from tools.tests.sim.triton.conformance import control, conversions, elementwise, folds, memory, products, shapes
from tools.tests.sim.triton.conformance.case import Case


def all_cases() -> list[Case]:
    rooms = (elementwise, conversions, folds, shapes, products, memory, control)
    return [case for room in rooms for case in room.cases()]
