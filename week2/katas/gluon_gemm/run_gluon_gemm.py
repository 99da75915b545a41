"""Products of the kata on a GPU, in a process of their own: a kernel that waits for ever is ended with it.

    ./course python -m week2.katas.gluon_gemm.run_gluon_gemm FILE DTYPE M,N,K ...

checks the `linear` of FILE; "timed" times it.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

SECONDS = 50
MODULE = "week2.katas.gluon_gemm.gluon_gemm"


def alone(file, dtype, *shapes, timed=False):
    """What `check`, or if timed `time`, gives for each shape, (m, n, k), by "m,n,k". A text if it failed."""
    names = [",".join(map(str, shape)) for shape in shapes]
    command = [sys.executable, "-m", "week2.katas.gluon_gemm.run_gluon_gemm", str(file), dtype, *names]
    try:
        done = subprocess.run(command + ["timed"] * timed, capture_output=True, text=True, timeout=SECONDS,
                              cwd=Path(__file__).parents[3])
    except subprocess.TimeoutExpired:
        return (f"The kernel has not ended within {SECONDS} s, and was ended. Who waits, at which barrier?\n"
                "The model shows it, unless the bytes or a type are other ones there.")
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr[-600:]


def lesson_in(file):
    spec = importlib.util.spec_from_file_location(MODULE, file)
    sys.modules[MODULE] = lesson = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lesson)
    return lesson


def check(linear, dtype, m, n, k):
    """Of whole numbers, whose sums are exact: how many elements are wrong, and how many of nine calls more differ."""
    import torch

    x, weight = (torch.randint(-2, 3, shape, device="cuda").float().to(dtype) for shape in ((m, k), (n, k)))
    results = [linear(x, weight) for _ in range(10)]
    wanted = (x.double() @ weight.double().T).to(results[0].dtype)
    differ = sum(not torch.equal(results[0], other) for other in results[1:])
    return {"apart": int((results[0] != wanted).sum()), "differ": differ}


def library(x, weight):
    import torch

    if x.element_size() > 1:
        return torch.nn.functional.linear(x, weight)
    one = torch.ones((), device=x.device)
    return torch._scaled_mm(x, weight.T, one, one, out_dtype=torch.bfloat16, use_fast_accum=True)


def time(linear, dtype, m, n, k):
    """Of random numbers: the library's time by that of linear, and the least that it may be."""
    import torch
    from tools.check import speed_ratio

    x, weight = (torch.randn(shape, device="cuda", dtype=torch.bfloat16).to(dtype) for shape in ((m, k), (n, k)))
    ratio = speed_ratio(linear, library, x, weight)
    return {"ratio": ratio.value, "low": ratio.low}


def main():
    import tools.gpu  # noqa: F401
    import torch

    file, dtype, *shapes = (word for word in sys.argv[1:] if word != "timed")
    work, linear = (time if "timed" in sys.argv else check), lesson_in(file).linear
    print(json.dumps({name: work(linear, getattr(torch, dtype), *map(int, name.split(","))) for name in shapes}))


if __name__ == "__main__":
    main()
