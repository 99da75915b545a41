"""Statements in CUDA C++, and what NVIDIA's compiler makes of them in float64 and in conversions.

    python -m tools.tests.sim.cupy.arithmetic

compiles them with NVRTC for an H100, which takes no GPU, and writes the record. It was made by NVRTC 13.
"""

import json
from pathlib import Path

FILE = Path(__file__).with_name("arithmetic_h100.json")
OPERATIONS = {  # float x, z; int k; float y, which they set
    "a constant that float holds": "y = x * 2.0",
    "a constant that float rounds": "y = x * 0.1",
    "a constant in float": "y = x * 0.1f",
    "a whole constant": "y = x * 2 + 1",
    "two operations": "y = x * 2.0 + 1",
    "an update by a constant that float rounds": "y = x; y += 0.1",
    "a double squared": "double d = x; y = d * d",
    "a difference squared": "double d = x - z; y = d * d",
    "three factors": "double d = x; y = d * d * d",
    "rounded between": "float f = x * 2.0; y = f + 1",
    "there and back": "y = (float)(double)x",
    "a double negated": "double d = x; y = -d",
    "a constant chosen": "y = x > 0 ? x : 0.0",
    "a constant that float rounds chosen": "y = x > 0 ? x : 0.1",
    "compared": "y = z; if (x > 0.5) y = 0",
    "compared with what float rounds": "y = z; if (x > 0.1) y = 0",
    "a double as a condition": "double d = x * 0.1; y = d ? x : z",
    "an exponential": "y = exp(-x)",
    "a sigmoid": "y = 1.0 / (1.0 + exp(-x))",
    "a sigmoid in float": "y = 1.0f / (1.0f + exp(-x))",
    "a root of a double": "y = sqrt(x * 2.0)",
    "an absolute value": "y = fabs(x * 2.0)",
    "a whole number": "y = x * k",
    "a whole number divided": "y = k / 3.0",
    "a whole number as the result": "y = (int)x",
    "a branch sets a double": "double d = x; if (x > 1) d = 0; y = d",
}


def kernel(operation: str) -> str:
    """The statements in a kernel of CUDA C++."""
    return (
        'extern "C" __global__ void f(const float* X, const float* Z, const int* K, float* Y) {\n'
        "    int i = blockDim.x * blockIdx.x + threadIdx.x, k = K[i];\n"
        f"    float x = X[i], z = Z[i], y;\n    {operation};\n    Y[i] = y;\n}}"
    )


def recorded() -> dict[str, dict[str, int]]:
    """Name -> instructions in the machine code: "float64" and "conversions"."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def figures(operation: str) -> dict[str, int]:
    from tools.compiler.nvrtc import Source, compiled
    from tools.tests.sim.cuda.arithmetic.machine_code import counted

    return counted(compiled(Source(kernel(operation), "f")).sass)


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: figures(each) for name, each in OPERATIONS.items()}, indent=1) + "\n")
