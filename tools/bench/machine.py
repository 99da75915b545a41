"""The machine that a benchmark ran on, and how fast it can be: copy and matmul rates, measured once and kept."""

import json
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from tools import gpu
from tools.words import quantity

FILE = ".course/ceiling.json"
PACKAGES = ("numpy", "torch", "triton", "cupy-cuda12x", "cupy-cuda13x", "numba-cuda", "numba")
REPEATS = 10  # of which the best counts: a ceiling is what the machine can do
BATCH = 10  # calls of the GPU between two looks at the clock
COPIED = 2**28  # bytes: far more than any cache holds
SIDES = {"cpu": 2048, "gpu": 8192}  # of the matrices


def facts(on: str) -> dict:
    """What a figure of this machine must name: card or cpu, driver, versions."""
    card = gpu.card()
    named = {"card": str(card), "driver": ".".join(map(str, card.driver))} if card and on == "gpu" else {"cpu": cpu()}
    return named | {"versions": {name: number for name in PACKAGES if (number := _version(name))}}


def cpu() -> str:
    """The CPU's name, as far as the system tells it, and how many cores this process may use."""
    name = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"{name}, {quantity(cores, 'core')}"


def ceiling(on: str, root: Path) -> dict:
    """{"bandwidth": bytes/s, "host": bytes/s or None, "peaks": {dtype: flop/s}, "date"}; measured once, then kept."""
    key, kept = _key(on), _kept(root)
    if key not in kept:
        kept[key] = (_gpu_ceiling if on == "gpu" else _cpu_ceiling)() | {"date": date.today().isoformat()}
        with suppress(OSError):  # not kept: measured again next time
            (root / FILE).parent.mkdir(exist_ok=True)
            (root / FILE).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return kept[key]


def is_known(on: str, root: Path) -> bool:
    """Was the ceiling of this machine measured before?"""
    return _key(on) in _kept(root)


def _key(on: str) -> str:
    return json.dumps(facts(on), sort_keys=True)


def _kept(root: Path) -> dict:
    with suppress(OSError, ValueError, AttributeError):  # missing, damaged, or something else
        kept = json.loads((root / FILE).read_text(encoding="utf-8"))
        return {key: each for key, each in kept.items() if {"bandwidth", "host", "peaks", "date"} <= each.keys()}
    return {}


def _cpu_ceiling() -> dict:
    source, target = (np.ones(COPIED // 8) for _ in range(2))
    seconds = min(_best(lambda: np.copyto(target, source)), _best_of_all_cores(source, target))
    peaks = {}
    for dtype in ("float32", "float64"):
        a = np.ones((SIDES["cpu"], SIDES["cpu"]), dtype)
        peaks[dtype] = 2 * SIDES["cpu"] ** 3 / _best(lambda a=a: a @ a)
    return {"bandwidth": 2 * COPIED / seconds, "host": None, "peaks": peaks}


def _best_of_all_cores(source: np.ndarray, target: np.ndarray) -> float:
    """One core alone cannot always keep the memory busy."""
    threads = os.cpu_count() or 1
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads)))
    with ThreadPoolExecutor(threads) as pool:
        return _best(lambda: list(pool.map(lambda part: np.copyto(*part), parts)))  # NumPy copies without the lock


def _gpu_ceiling() -> dict:
    import torch

    torch.set_float32_matmul_precision("highest")
    source, target = (torch.ones(COPIED // 4, device="cuda") for _ in range(2))
    here = torch.ones(COPIED // 4, pin_memory=True)
    copied, uploaded = ((lambda x=x: target.copy_(x)) for x in (source, here))
    a = torch.randn(SIDES["gpu"], SIDES["gpu"], device="cuda")
    peaks = {"float32": 2 * SIDES["gpu"] ** 3 / _best(lambda: a @ a, torch.cuda.synchronize)}
    return {
        "bandwidth": 2 * COPIED / _best(copied, torch.cuda.synchronize),
        "host": COPIED / _best(uploaded, torch.cuda.synchronize),
        "peaks": peaks,
    }


def _best(call: Callable, wait: Callable | None = None) -> float:
    """Seconds of one call. wait: until the GPU is done, which takes time itself and is therefore asked but rarely."""
    calls, seconds = (BATCH if wait else 1), []
    for _ in range(REPEATS + 1):  # the first one warms up
        start = time.perf_counter()
        for _ in range(calls):
            call()
        if wait:
            wait()
        seconds.append((time.perf_counter() - start) / calls)
    return min(seconds[1:])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
