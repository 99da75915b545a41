"""Time the product of day 7 against the library on this machine's GPU: ratios, each the worst of three.

    ./course python -m week2.day7.time_gemm [MODULE] [--record FILE]

MODULE has `multiply` and `matmul`; week2.day7.gemm if none is named. Every case is a process of its own with a time
limit, on random numbers unless it says otherwise. Both sides are recorded as CUDA graphs, so that no launch counts, and
take turns in random order. A ratio above 1 says that MODULE is the faster one. The table comes last, and
below it what a call costs the host. FILE gets each pair of times, in the form of benchmarks/*.json.
"""

import importlib
import json
import random
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

SECONDS = 100  # limit of a case
PAIRS, REPEATS = 15, 3
LEAST = 8e-3  # seconds that the calls in a graph take together, about

CASES = {
    "bf16 512": ("multiply", "bfloat16", 512, 512, 512),
    "bf16 1024": ("multiply", "bfloat16", 1024, 1024, 1024),
    "bf16 2048": ("multiply", "bfloat16", 2048, 2048, 2048),
    "bf16 4096": ("multiply", "bfloat16", 4096, 4096, 4096),
    "bf16 8192": ("multiply", "bfloat16", 8192, 8192, 8192),
    "bf16 8192, zeros": ("multiply", "bfloat16", 8192, 8192, 8192),
    "bf16 8192, groups of 1": ("multiply", "bfloat16", 8192, 8192, 8192),
    "bf16 4096, b by columns": ("multiply", "bfloat16", 4096, 4096, 4096),
    "bf16 4096, bias and silu": ("multiply", "bfloat16", 4096, 4096, 4096),
    "bf16 3001 x 5000 x 2008": ("matmul", "bfloat16", 3001, 5000, 2008),
    "bf16 3001 x 4999 x 2003, copied": ("matmul", "bfloat16", 3001, 4999, 2003),
    "fp8 1024": ("multiply", "float8_e4m3fn", 1024, 1024, 1024),
    "fp8 4096": ("multiply", "float8_e4m3fn", 4096, 4096, 4096),
    "fp8 8192": ("multiply", "float8_e4m3fn", 8192, 8192, 8192),
}


def sides(name, module):
    """Two functions without arguments, ours and the library's, and how far their results lie apart."""
    import torch

    lesson = importlib.import_module(module)
    call, dtype, m, n, k = CASES[name]
    dtype = getattr(torch, dtype)
    if "groups of 1" in name:
        lesson.GROUP = type(lesson.GROUP)(1)
    make = torch.zeros if "zeros" in name else torch.randn
    a, b = make(m, k, device="cuda").to(dtype), make(k, n, device="cuda").to(dtype)
    if dtype == torch.float8_e4m3fn or "by columns" in name:
        b = b.T.contiguous().T
    result = torch.bfloat16 if dtype == torch.float8_e4m3fn else dtype
    out, other = lesson.empty_rows(m, n, result, a.device), torch.empty(m, n, dtype=result, device="cuda")
    named = {"out": out} if call == "multiply" else {}
    if "silu" in name:
        named |= {"bias": torch.randn(n, device="cuda").to(result), "activation": "silu"}
        def library():
            return torch.nn.functional.silu(torch.addmm(named["bias"], a, b))
    elif dtype == torch.float8_e4m3fn:
        one = torch.ones((), device="cuda")
        def library():
            return torch._scaled_mm(a, b, one, one, out_dtype=result, use_fast_accum=True)
    else:
        def library():
            return torch.matmul(a, b, out=other)

    def ours():
        return getattr(lesson, call)(a, b, **named)

    apart = (ours().double() - library().double()).norm() / library().double().norm().clamp(min=1e-30)
    return ours, library, apart.item()


def recorded(function):
    """A function that plays a graph of calls, and the number of calls in it."""
    import torch

    def clocked(play):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        play()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / 1e3

    def graph_of(calls):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                function()
        graph.replay()
        return graph

    for _ in range(3):
        function()
    torch.cuda.synchronize()
    few = graph_of(10)
    calls = max(3, min(500, round(LEAST / (min(clocked(few.replay) for _ in range(3)) / 10))))
    many = graph_of(calls)
    return lambda: clocked(many.replay) / calls


def measure(name, module):
    """One case: a dict of plain values."""
    ours, library, apart = sides(name, module)
    both = [recorded(ours), recorded(library)]
    order, rows, runs = random.Random(0), [], []
    for _ in range(REPEATS):
        pairs = []
        for _ in range(PAIRS):
            seconds = [0.0, 0.0]
            for side in order.sample((0, 1), 2):
                seconds[side] = both[side]()
            pairs.append(seconds)
        low, middle, high = quantiles([other / own for own, other in pairs], n=4)
        runs.append(pairs)
        rows.append((middle, low, high, *(median(side) for side in zip(*pairs))))
    _, _, m, n, k = CASES[name]
    worst = min(rows)
    tuner = importlib.import_module(module).matmul_kernel
    return {"ratio": worst[0], "low": worst[1], "high": worst[2], "medians": [row[0] for row in rows],
            "tflops": 2e-12 * m * n * k / worst[3], "library_tflops": 2e-12 * m * n * k / worst[4], "apart": apart,
            "config": str(getattr(tuner, "best_config", "")), "runs": runs}


def contest(name, runs):
    """A row of benchmarks/*.json: the pairs of seconds of each run, and what they were measured on."""
    call, dtype, m, n, k = CASES[name]
    size = 1 if "float8" in dtype else 2
    what = name.partition(", ")[2]
    return {"unit": "week2/day7", "function": call, "rival": "cuBLAS, then silu" if "silu" in name else "cuBLAS",
            "shape": f"{m} x {k} by {k} x {n} {dtype}" + (f", {what}" if what else ""), "on": "gpu",
            "moved": size * (m * k + k * n) + 2 * m * n, "flops": 2 * m * n * k, "left_out": {}, "runs": runs}


def host_times(module):
    """Seconds that one call keeps the host, without waiting for the GPU: what a graph leaves out."""
    import torch

    lesson = importlib.import_module(module)
    a, b, out = (torch.zeros(512, 512, device="cuda", dtype=torch.bfloat16) for _ in range(3))

    def seconds(function):
        function()
        torch.cuda.synchronize()
        times = []
        for _ in range(50):
            start = perf_counter()
            function()
            times.append(perf_counter() - start)
        torch.cuda.synchronize()
        return median(times)

    return {"multiprocessors, asked anew": seconds(lesson.multiprocessors.__wrapped__),
            "multiply, 512, launched without a graph": seconds(lambda: lesson.multiply(a, b, out=out))}


def main():
    arguments = sys.argv[1:]
    file = arguments.pop(arguments.index("--record") + 1) if "--record" in arguments else None
    module = next((each for each in arguments if not each.startswith("--")), "week2.day7.gemm")
    if "--case" in arguments:
        print(json.dumps(measure(arguments[-1][len("case="):], module)))
        return
    import torch
    import triton

    table, contests = [], []
    for name in CASES:
        if "fp8" in name and torch.cuda.get_device_capability() < (8, 9):
            continue  # no tensor core of this machine takes float8
        result = own_process(module, name)
        if not isinstance(result, str):
            contests.append(contest(name, result["runs"]))
        table.append(line(name, result))
        print(table[-1], flush=True)
    print(f"\n{torch.cuda.get_device_name()}, torch {torch.__version__}, Triton {triton.__version__}, {module}")
    print(f"{'case':34} ratio (quartiles)    TFLOPS  library  apart    config")
    print("\n".join(table))
    for what, seconds in host_times(module).items():
        print(f"{1e6 * seconds:8.1f} us on the host: {what}")
    if file:
        write(file, module, contests)


def own_process(module, name):
    """What measure() says of a case, in a process of its own with a time limit; or, as text, why it says nothing."""
    try:
        done = subprocess.run([sys.executable, "-m", "week2.day7.time_gemm", module, "--case", f"case={name}"],
                              capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"not done within {SECONDS} s"
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr[-300:]


def write(file, module, contests):
    from tools.bench import record

    found = record.about(f"./course python -m week2.day7.time_gemm {module} --record FILE") | {"contests": contests}
    Path(file).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def line(name, result):
    if isinstance(result, str):
        return f"{name:34} FAILED: {' '.join(result.split())}"
    return (f"{name:34} {result['ratio']:.3f} ({result['low']:.3f} {result['high']:.3f}) {result['tflops']:7.1f} "
            f"{result['library_tflops']:8.1f}  {result['apart']:.0e}  {result['config'].split(', num_ctas')[0]}")


if __name__ == "__main__":
    main()
