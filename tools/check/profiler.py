"""count's figures as Nsight Compute measures them: one call, in a fresh process under ncu."""

import csv
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from tools import gpu, processes, worker
from tools.check import metrics
from tools.check.metrics import MeasuredCounters
from tools.check.show import cut
from tools.worker.deadlines import around
from tools.worker.process import environment
from tools.worker.profiled import check_replies, write_requests

FORBIDDEN = "ERR_NVGPUCTRPERM"
SAID, WIDTH = 3, 80  # lines of ncu's own words, and their columns


class NoProfiler(Exception):
    """count(..., profiler=True) cannot measure here: what is missing, and the remedy."""


def measured(function: Callable, args: tuple, kwargs: dict) -> MeasuredCounters:
    """The figures of function(*args, **kwargs) on the GPU. Its arguments lie in a fresh process before.

    Raises NoProfiler; what the function raises; worker.NoAnswer when its process crashes or takes too long.
    """
    ncu = _profiler()
    lesson = worker.lesson_of(function, "gpu")
    with tempfile.TemporaryDirectory() as folder:
        requests, replies, log = (Path(folder, name) for name in ("requests", "replies", "log"))
        asked = write_requests(requests, lesson, worker.name_of(function), args, kwargs)
        replies.touch()
        code, printed = run(
            [*_command(ncu, log), sys.executable, "-P", "-m", "tools.worker.profiled", str(requests), str(replies)]
        )
        said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else printed
        check(code, said)
        if not check_replies(replies, lesson, asked):
            raise worker.Died(f"the lesson ended its own process under the profiler (exit status {code})", printed)
    return metrics.counters(launches(said))


def _profiler() -> str:
    """The path of ncu."""
    if gpu.card() is None:
        found = "this run simulates (--sim)" if gpu.installed_card() else "none was found"
        raise NoProfiler(f"profiler=True measures on a GPU; {found}.\nWithout profiler=True, count needs none.")
    path = shutil.which("ncu")
    if path is None:
        raise NoProfiler(
            "profiler=True needs ncu, of Nsight Compute; it is not on PATH.\n"
            "It comes with the CUDA toolkit, often as /usr/local/cuda/bin/ncu.\n"
            "Add its folder to PATH; without profiler=True, count needs none."
        )
    return path


def _command(ncu: str, log: Path) -> list[str]:
    return [
        ncu,
        "--csv",
        "--log-file",
        str(log),
        "--print-units",
        "base",
        "--print-kernel-base",
        "function",
        "--target-processes",
        "application-only",
        "--profile-from-start",
        "off",
        "--clock-control",
        "none",
        "--metrics",
        ",".join(known_metrics(ncu, tuple(metrics.ALL))),
    ]


@cache
def known_metrics(ncu: str, names: tuple[str, ...]) -> list[str]:
    """Those of these metrics that this ncu has for this GPU; all of them when it does not say."""
    listed = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True, env=_environment()).stdout
    known = {line.split()[0].partition(".")[0] for line in listed.splitlines() if line.strip()}
    return [name for name in names if name.partition(".")[0] in known] or list(names)


def _environment() -> dict[str, str]:
    return environment("gpu") | {"LC_ALL": "C"}  # numbers as in "1,234.5", whatever this machine's language


def run(command: list[str]) -> tuple[int, str]:
    """Exit status and output of a command, which ends within the deadline or raises worker.TooSlow."""
    limit = min(around(), key=lambda limit: limit.left)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        env=_environment(),
    )
    try:
        printed, _ = process.communicate(timeout=max(0.0, limit.left))
    except subprocess.TimeoutExpired:
        raise worker.TooSlow(limit.seconds) from None
    finally:
        if process.poll() is None:
            processes.end_group(process)
    return process.returncode, printed


def check(code: int, said: str) -> None:
    """Raise NoProfiler if ncu says that it cannot work."""
    if FORBIDDEN in said:
        raise NoProfiler(
            f"ncu may not read the GPU's counters ({FORBIDDEN}).\n"
            "Run as root (a container: with --cap-add=SYS_ADMIN), or let everyone read\n"
            "them: with `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in a\n"
            "file in /etc/modprobe.d, and the driver loaded anew."
        )
    errors = [cut(line, WIDTH) for line in said.splitlines() if line.startswith("==ERROR==")]
    if errors:
        raise NoProfiler("\n".join([f"ncu gave no figures (exit status {code}). It says:", *errors[:SAID]]))


# What ncu writes ---------------------------------------------------------------------------------


def launches(text: str) -> Iterator[tuple[str, tuple[int, ...], dict[str, float | None]]]:
    """Kernel, grid and metrics of each launch in what `ncu --csv` wrote, in order."""
    table = text[text.find('"ID"') :] if '"ID"' in text else ""
    found: dict[str, tuple] = {}
    for row in csv.DictReader(io.StringIO(table)):
        grid = tuple(map(int, re.findall(r"\d+", row["Grid Size"])))
        _, _, figures = found.setdefault(row["ID"], (kernel_name(row["Kernel Name"]), grid, {}))
        figures[row["Metric Name"]] = _number(row["Metric Value"])
    yield from found.values()


def kernel_name(name: str) -> str:
    """The function's own name: of "add_kernel", of "vadd[abi:v1](Array<...>)", of "void at::native::fill<4>(int)".

    Of "_ZN4day34vaddB2v1E...", too, as compilers mangle it (Itanium C++ ABI, 5.1): lengths and names in turn.
    """
    if name.startswith("_Z"):
        name, rest = "", re.sub(r"^_ZN?", "", name)
        while length := re.match(r"\d+", rest):
            start, end = length.end(), length.end() + int(length[0])
            name, rest = rest[start:end], rest[end:]
    bare = re.split(r"[<(\[]", name)[0].split("::")[-1].split()
    return bare[-1] if bare else name


def _number(text: str) -> float | None:
    """None for "n/a", which stands for a metric that the GPU does not have."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
