"""A transformer trained on this machine's GPU with three attentions: memory, tokens a second, the loss of each step.

    ./course python -m benchmarks.transformer FILE                    reference.week3.day7.flash_attention
    ./course python -m benchmarks.transformer FILE week3.day7.flash_attention

The block and the text are those of week3/day7/toy_block.py, at the sizes below. Each case runs in a process of its own.
Its peak is that of PyTorch's allocator in one step, weights and optimizer included; its time the median of all steps
after the first five. Losses belong to the same weights and the same text, so that they can be compared step by step: in
bfloat16, single steps recorded in benchmarks/transformer/h200.json differ from the eager attention's by up to 0.21, at
length 2048, and those of PyTorch's own attention by up to 0.27. That is rounding: none of the three is exact.
"""

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median

REFERENCE = "reference.week3.day7.flash_attention"
KINDS = ("yours", "PyTorch", "eager")
LENGTHS, D = (1024, 2048, 4096, 8192), 128
TOKENS, HEADS, KV_HEADS, WIDTH = 16384, 16, 4, 1024
STEPS, WARM_UP = 50, 5
SECONDS = 300  # limit of a case


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--case", kind, length, module]:
            print(json.dumps(case(kind, int(length), module)))
        case [file, *rest] if len(rest) < 2 and not file.startswith("-"):
            record(Path(file), *rest)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def record(file: Path, module: str = REFERENCE) -> None:
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("No GPU here: nothing was trained.")
    cases = [found for length in LENGTHS for kind in KINDS if (found := in_its_own_process(kind, length, module))]
    if not cases:
        raise SystemExit("No case came to its end.")
    about = {
        "card": torch.cuda.get_device_name(),
        "date": date.today().isoformat(),
        "command": f"./course python -m benchmarks.transformer FILE {module}",
        "versions": {name: version(name) for name in ("torch", "triton")},
        "model": {"tokens": TOKENS, "width": WIDTH, "heads": HEADS, "kv_heads": KV_HEADS, "d": D, "steps": STEPS},
    }
    file.write_text(json.dumps(about | {"cases": cases}, separators=(",", ":")) + "\n", encoding="utf-8")
    print(table(cases))


def in_its_own_process(kind: str, length: int, module: str) -> dict | None:
    command = [sys.executable, "-m", "benchmarks.transformer", "--case", kind, str(length), module]
    try:
        made = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        print(kind, length, f"took longer than {SECONDS} s and was ended", flush=True)
        return None
    if made.returncode != 0:
        print(kind, length, f"failed: {made.stderr[-500:]}", flush=True)
        return None
    return json.loads(made.stdout.splitlines()[-1])


def attention(kind: str, module: str) -> Callable:
    import torch

    from week3.day7 import toy_block

    if kind == "yours":
        return importlib.import_module(module).flash_attention
    if kind == "eager":
        return toy_block.eager_attention
    return lambda q, k, v, causal: torch.nn.functional.scaled_dot_product_attention(
        q, k, v, is_causal=causal, enable_gqa=True
    )


def case(kind: str, length: int, module: str, *, steps=STEPS, tokens=TOKENS, device="cuda") -> dict:
    """Train with one attention at one length; the number of tokens in a step is the same at all lengths."""
    import torch

    from week3.day7 import toy_block

    on_gpu = device == "cuda"
    size = toy_block.Size(lines=tokens // length, length=length, width=WIDTH, heads=HEADS, kv_heads=KV_HEADS, d=D)
    step = toy_block.training(attention(kind, module), size, device)
    losses, seconds, peak = [], [], 0
    for number in range(steps):
        if on_gpu:
            torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        losses.append(step().item())  # waits for the GPU
        seconds.append(time.perf_counter() - start)
        peak = max(peak, torch.cuda.max_memory_allocated()) if on_gpu else 0
    return {
        "attention": kind,
        "length": length,
        "peak_bytes": peak,
        "tokens_per_second": round(size.lines * length / median(seconds[min(WARM_UP, steps - 1) :])),
        "seconds": [round(each, 5) for each in seconds],
        "losses": [round(loss, 5) for loss in losses],
    }


def table(cases: list[dict]) -> str:
    """A line for each case; `apart`: the largest difference of its losses from those of the eager attention."""
    eager = {each["length"]: each["losses"] for each in cases if each["attention"] == "eager"}
    lines = [f"{'length':>6}  {'attention':9}  {'peak MiB':>8}  {'tokens/s':>9}  {'last loss':>9}  {'apart':>7}"]
    for each in cases:
        other = eager.get(each["length"])
        apart = f"{max(abs(a - b) for a, b in zip(each['losses'], other)):7.4f}" if other else f"{'-':>7}"
        lines.append(
            f"{each['length']:6}  {each['attention']:9}  {each['peak_bytes'] / 2**20:8.0f}  "
            f"{each['tokens_per_second']:9,}  {each['losses'][-1]:9.4f}  {apart}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
