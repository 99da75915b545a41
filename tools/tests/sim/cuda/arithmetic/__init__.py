"""Small kernels, and what the machine code that the compiler makes of them does in float64 and converts.

    python -m tools.tests.sim.cuda.arithmetic

compiles them with numba-cuda for an H100, which takes no GPU, and writes the record. It was made by numba-cuda 0.30.4
and the NVVM of CUDA 13.
"""

import json
from pathlib import Path

FILE = Path(__file__).with_name("h100.json")


def recorded() -> dict[str, dict[str, int]]:
    """Name of a kernel -> instructions in its machine code: "float64" and "conversions"."""
    return json.loads(FILE.read_text(encoding="utf-8"))
