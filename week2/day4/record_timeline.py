"""Measure pipelines on this machine's GPU: when each tile is loaded and computed with, and matmul_staged by stages.

    ./course python -m week2.day4.record_timeline my_timeline.json

A second argument names another module with a `matmul_staged`; reference.week2.day4.pipelining made timeline_h200.json.
The day's tests compare the timelines of that file with your pipeline_makespan, and on a Hopper GPU measure their own.

The timelines: one block takes tile after tile of 8 KiB, by cp.async from global memory into a ring in shared memory,
and computes with each for TURNS steps. Its first thread reads the clock of its SM before it asks for a tile, when the
tile is there, and after computing with it. Before each run the L2 is filled with something else.
"""

import importlib
import json
import subprocess
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

ITEMS, STAGES, RUNS = 24, (1, 2, 3, 4), 41
TURNS = (40, 200, 500)  # multiply-adds that wait for each other: short, about as long as a load, long
SHAPE, ROUNDS = (4096, 4096, 4096), 5
SECONDS = 50  # limit of a case, each of them a process of its own

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(128)
pipeline(const float4* tiles, float* out, long long* stamps, int items)
{
    __shared__ __align__(16) float4 ring[STAGES * TILE];
    const int thread = threadIdx.x;
    float total = 0.0f;

    // asks for the tile of an item; asks for nothing past the last one, so that every item has one group of copies
    auto load = [&](int item) {
        if (LOADS && item < items)
            for (int i = thread; i < TILE; i += 128) {
                unsigned to = (unsigned)__cvta_generic_to_shared(&ring[item % STAGES * TILE + i]);
                const float4* from = &tiles[(item + 1) * TILE + i];
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
            }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    auto stamp = [&](int item, int which) {
        if (thread == 0 && item < items) stamps[item * 3 + which] = clock64();
    };

    total += tiles[thread].x;  // the address translation of this page, before the clock counts
    for (int i = thread; i < STAGES * TILE; i += 128) ring[i] = make_float4(total, total, total, total);
    __syncthreads();

    for (int item = 0; item < STAGES; item++) {
        stamp(item, 0);
        load(item);
    }
    for (int item = 0; item < items; item++) {
        asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 1) : "memory");
        __syncthreads();
        stamp(item, 1);
        float4 value = ring[item % STAGES * TILE + thread];
        for (int turn = 0; turn < TURNS; turn++) total = fmaf(total, value.x, value.y);
        __syncthreads();
        stamp(item, 2);
        stamp(item + STAGES, 0);
        load(item + STAGES);
    }
    out[thread] = total;
}
"""
TILE = 512  # float4: 8 KiB


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--timeline", turns]:
            print(json.dumps(timelines(int(turns))))
        case ["--ladder", module]:
            print(json.dumps(ladder(module)))
        case [file, *rest] if len(rest) < 2 and not file.startswith("-"):
            record(Path(file), *rest)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def record(file: Path, module: str = "week2.day4.pipelining") -> None:
    found = {"date": date.today().isoformat(),
             "command": f"./course python -m week2.day4.record_timeline FILE {module}",
             "versions": {name: known for name in ("torch", "triton", "cupy-cuda13x") if (known := version_of(name))}}
    cases = [case for turns in TURNS if (case := in_its_own_process("--timeline", str(turns)))]
    matmul = in_its_own_process("--ladder", module)
    if not cases and not matmul:
        raise SystemExit("Nothing was measured.")
    found |= {"card": (cases[0] if cases else matmul)["card"], "tile_bytes": 16 * TILE, "unit": "clocks of the SM",
              "timelines": cases, "matmul": matmul}
    file.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")
    print(table(cases, matmul))


def in_its_own_process(*arguments: str) -> dict | None:
    command = [sys.executable, "-m", "week2.day4.record_timeline", *arguments]
    try:
        made = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        print(" ".join(arguments), f"took longer than {SECONDS} s and was ended")
        return None
    if made.returncode != 0:
        print(" ".join(arguments), f"failed:\n{made.stdout[-1500:]}{made.stderr[-1500:]}")
        return None
    return json.loads(made.stdout.splitlines()[-1])


def version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def timelines(turns: int) -> dict:
    """One length of computing: each kind of work alone, then every number of stages."""
    import cupy

    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    load = timeline(stages=1, turns=0)
    compute = timeline(stages=1, turns=turns, loads=0)
    return {
        "card": card, "turns": turns,
        "load": median(there - asked for asked, there, _ in load[1:]),
        "compute": median(done - there for _, there, done in compute[1:]),
        "runs": {stages: timeline(stages=stages, turns=turns) for stages in STAGES},
    }


def timeline(*, stages: int, turns: int, loads: int = 1) -> list[list[int]]:
    """Of each item: when its tile was asked for, was there, was computed with. Of RUNS runs the middle one."""
    import cupy

    options = tuple(f"-D{name}={value}" for name, value in
                    {"STAGES": stages, "TURNS": turns, "LOADS": loads, "TILE": TILE}.items())
    kernel = cupy.RawKernel(SOURCE, "pipeline", options=("-std=c++17", *options))
    tiles, out = cupy.zeros(((ITEMS + 1) * TILE, 4), cupy.float32), cupy.zeros(128, cupy.float32)
    stamps, other = cupy.zeros((ITEMS, 3), cupy.int64), cupy.zeros(1 << 26, cupy.float32)
    runs = []
    for _ in range(RUNS):
        other += 1
        kernel((1,), (128,), (tiles, out, stamps, ITEMS))
        taken = cupy.asnumpy(stamps)
        runs.append((taken - taken[0, 0]).tolist())
    return sorted(runs, key=lambda run: run[-1][2])[RUNS // 2]


def ladder(module: str) -> dict:
    """TFLOPS of a product of float16 matrices by the number of stages; rounds of all of them, one after another."""
    import torch
    from triton.testing import do_bench

    lesson, (m, n, k) = importlib.import_module(module), SHAPE
    a = torch.randn(m, k, device="cuda", dtype=torch.float16)
    b = torch.randn(k, n, device="cuda", dtype=torch.float16)
    out = torch.empty(m, n, device="cuda", dtype=torch.float32)
    wanted = (a[:256].float() @ b.float())
    kinds = {str(stages): lambda stages=stages: lesson.matmul_staged(a, b, stages=stages, out=out) for stages in STAGES}
    kinds["cuBLAS"] = lambda: torch.matmul(a, b)
    for name, call in kinds.items():
        out.zero_()
        call()
        if name != "cuBLAS":
            apart = ((out[:256] - wanted).abs().max() / wanted.abs().max()).item()
            if not apart < 1e-3:
                raise SystemExit(f"{name} stages: the result is wrong by {apart}")
    rounds: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(ROUNDS):
        for name, call in kinds.items():
            rounds[name].append(2 * m * n * k / do_bench(call, warmup=5, rep=60, return_mode="median") / 1e9)
    return {"card": torch.cuda.get_device_name(), "shape": SHAPE,
            "tflops": {name: [round(value, 1) for value in values] for name, values in rounds.items()}}


def table(cases: list[dict], matmul: dict | None) -> str:
    """What was measured, beside what the reference's pipeline_makespan predicts."""
    makespan = importlib.import_module("reference.week2.day4.pipelining").pipeline_makespan  # task 2 is yours to write
    lines = ["turns  load  compute   stages: measured (predicted, ratio)"]
    for case in cases:
        cells = []
        for stages, run in case["runs"].items():
            predicted = makespan(case["load"], case["compute"], ITEMS, int(stages))
            cells.append(f"{stages}: {run[-1][2]} ({predicted:.0f}, {run[-1][2] / predicted:.2f})")
        lines.append(f"{case['turns']:5} {case['load']:5.0f} {case['compute']:8.0f}   {'  '.join(cells)}")
    if matmul:
        lines.append("matmul, TFLOPS, median (least to most)   " + "  ".join(
            f"{name}: {median(values):.0f} ({min(values):.0f} to {max(values):.0f})"
            for name, values in matmul["tflops"].items()))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
