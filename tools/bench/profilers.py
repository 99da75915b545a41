"""The profilers that may be on this machine: what each says about one call, or in one line why it says nothing."""

import csv
import importlib.util
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools import gpu, worker
from tools.bench import words
from tools.bench.simulated import why_simulated
from tools.bench.words import Kernel
from tools.check import NoProfiler, profiler
from tools.course.content.catalogue import Unit
from tools.course.content.workload import Workload, workloads
from tools.course.learner.lesson import LessonBroken, require_written
from tools.sim.counters import Counters

FOLDER = ".course/profiles"
PATIENCE = 240.0  # seconds for one tool
KERNEL_EVENTS = ("kernel", "gpu_memcpy", "gpu_memset")  # categories in torch.profiler's trace
TIME_KEYS = ("time (ns)", "Time (ns)")  # in proton's file


@dataclass(frozen=True)
class Said:
    """What one tool says about one call. missing: it says nothing, and its one line is why."""

    tool: str
    lines: tuple[str, ...]
    file: Path | None = None
    missing: bool = False


@dataclass(frozen=True)
class Call:
    """A workload of a unit at one size; its files lie in `folder`."""

    unit: Unit
    number: int
    workload: Workload
    size: int
    root: Path

    @property
    def shape(self) -> str:
        return self.workload.shape(self.size)

    @property
    def folder(self) -> Path:
        return self.root / FOLDER / self.unit.name.replace("/", "-")

    def file(self, suffix: str) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{self.workload.function}{suffix}"

    def command(self, way: str, file: Path) -> list[str]:
        return [
            sys.executable,
            "-P",
            "-m",
            "tools.bench",
            "launch",
            way,
            self.unit.name,
            str(self.number),
            str(self.size),
            str(self.root),
            str(file),
        ]


def calls(unit: Unit, root: Path) -> list[Call]:
    """What is worth a profile: on a GPU at the largest size, simulated at the small one."""
    found = []
    for number, workload in enumerate(workloads(unit)):
        small = workload.small if workload.on == "gpu" else workload.laptop_sizes[-1]
        found.append(Call(unit, number, workload, workload.sizes[-1] if gpu.card() else small, root))
    return found


def look(call: Call) -> Iterator[Said]:
    """What each tool says, one after the other. Raises LessonBroken where the function is not written yet."""
    require_written(call.unit, call.workload.function)
    if call.workload.on == "cpu":
        yield _asked("cProfile", _cpu, call)
        return
    if gpu.card() is None:
        yield _asked("simulated", _simulated, call)
    for tool, ask in TOOLS.items():
        absent = Said(tool, (f"needs a GPU, but {why_simulated()}.",), missing=True)
        yield _asked(tool, ask, call) if gpu.card() else absent


def _asked(tool: str, ask: Callable[[Call], Said], call: Call) -> Said:
    try:
        with worker.deadline(PATIENCE):
            return ask(call)
    except (NoProfiler, LessonBroken) as error:
        return Said(tool, tuple(str(error).splitlines()), missing=True)
    except worker.TooSlow:
        return Said(tool, (f"was ended after {PATIENCE:g} s.",), missing=True)
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:  # a version that writes something else
        return Said(
            tool,
            (f"wrote something that cannot be read ({type(error).__name__}: {error}).", f"Its files: {call.folder}"),
            missing=True,
        )


def _ran(command: list[str], tool: str) -> str:
    """What a command printed. Raises NoProfiler where it failed, with its last line."""
    code, printed = profiler.run(command)
    profiler.check(code, printed)
    if code:
        last = (printed.strip().splitlines() or ["it said nothing"])[-1]
        raise NoProfiler(f"{tool} failed (exit status {code}): {last[:160]}")
    return printed


def _on_path(name: str, comes: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise NoProfiler(f"is not on PATH; {comes}")
    return path


# Each tool ----------------------------------------------------------------------------------------


def _ncu(call: Call) -> Said:
    ncu = _on_path("ncu", "it comes with the CUDA toolkit, often as /usr/local/cuda/bin/ncu.")
    report = call.file(".ncu-rep")
    known = profiler.known_metrics(ncu, tuple(words.METRICS))
    _ran(
        [
            ncu,
            "--force-overwrite",
            "--export",
            str(report),
            "--target-processes",
            "application-only",
            "--profile-from-start",
            "off",
            "--clock-control",
            "none",
            "--set",
            "detailed",
            "--metrics",
            ",".join(known),
            *call.command("launch", report),
        ],
        "ncu",
    )
    text = _ran(
        [
            ncu,
            "--import",
            str(report),
            "--csv",
            "--page",
            "raw",
            "--print-units",
            "base",
            "--print-kernel-base",
            "function",
        ],
        "ncu",
    )
    call.file(".ncu.csv").write_text(text, encoding="utf-8")
    lines = [line for name, figures in ncu_kernels(text) for line in words.of_kernel(name, figures)]
    return Said("ncu", tuple(lines or ["It saw no kernel."]), report)


def _torch(call: Call) -> Said:
    if importlib.util.find_spec("torch") is None:
        raise NoProfiler("needs PyTorch, which is not installed here.")
    file = call.file(".trace.json")
    _ran(call.command("trace", file), "torch.profiler")
    return Said("torch.profiler", tuple(words.time_shares(torch_kernels(file.read_text(encoding="utf-8")))), file)


def _proton(call: Call) -> Said:
    if importlib.util.find_spec("triton") is None:
        raise NoProfiler("needs Triton, which is not installed here.")
    file = call.file(".hatchet")
    _ran(call.command("proton", file), "proton")
    return Said("proton", tuple(words.time_shares(proton_kernels(file.read_text(encoding="utf-8")))), file)


def _nsys(call: Call) -> Said:
    nsys = _on_path("nsys", "it comes with Nsight Systems.")
    report = call.file(".nsys-rep")
    _ran(
        [
            nsys,
            "profile",
            "--force-overwrite",
            "true",
            "--output",
            str(report),
            "--trace",
            "cuda",
            "--capture-range",
            "cudaProfilerApi",
            *call.command("launch", report),
        ],
        "nsys",
    )
    text = _ran(
        [nsys, "stats", "--force-export", "true", "--report", "cuda_gpu_kern_sum", "--format", "csv", str(report)],
        "nsys",
    )
    call.file(".nsys.csv").write_text(text, encoding="utf-8")
    return Said("nsys", tuple(words.time_shares(nsys_kernels(text))), report)


def _cpu(call: Call) -> Said:
    file = call.file(".cpu.json")
    _ran(call.command("cpu", file), "cProfile")
    return Said("cProfile", tuple(words.cpu_shares(json.loads(file.read_text(encoding="utf-8")))))


def _simulated(call: Call) -> Said:
    file = call.file(".counts.json")
    _ran(call.command("count", file), "The simulator")
    plain = _as_counted(json.loads(file.read_text(encoding="utf-8")))
    return Said("simulated", tuple(words.counted(Counters.from_plain(plain))))


TOOLS = {"ncu": _ncu, "torch.profiler": _torch, "proton": _proton, "nsys": _nsys}


# What they write ----------------------------------------------------------------------------------


def ncu_kernels(text: str) -> Iterator[tuple[str, dict[str, float | None]]]:
    """Kernel and metrics of each launch in `ncu --csv --page raw`: a line of names, one of units, then the launches."""
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    for row in rows[2:]:
        found = dict(zip(rows[0], row))
        figures = {name: _number(found[name]) for name in words.METRICS if name in found}
        yield profiler.kernel_name(found["Kernel Name"]), figures


def torch_kernels(text: str) -> list[Kernel]:
    """Kernels and copies of the trace that torch.profiler exports; its times are in microseconds."""
    events = json.loads(text)["traceEvents"]
    seen = [event for event in events if event.get("ph") == "X" and event.get("cat") in KERNEL_EVENTS]
    return _summed((_of_event(event), 1, 1e3 * event["dur"]) for event in seen)


def _of_event(event: dict) -> str:
    """A kernel's own name; "Memcpy HtoD (Pageable -> Device)" as it is."""
    return profiler.kernel_name(event["name"]) if event["cat"] == "kernel" else event["name"]


def proton_kernels(text: str) -> list[Kernel]:
    """Kernels of proton's file: a tree, in whose nodes time and count are those of kernels."""
    return _summed(found for tree in json.loads(text) for found in _nodes(tree))


def _nodes(node: dict) -> Iterator[tuple[str, int, float]]:
    metrics = node.get("metrics", {})
    ns = next((metrics[key] for key in TIME_KEYS if metrics.get(key)), None)
    if ns and not node.get("children"):
        yield profiler.kernel_name(node["frame"]["name"]), int(metrics.get("count", 1)), float(ns)
    for child in node.get("children", ()):
        yield from _nodes(child)


def nsys_kernels(text: str) -> list[Kernel]:
    """Kernels of `nsys stats --report cuda_gpu_kern_sum --format csv`, which comes after lines of other kinds."""
    start = text.find("Time (%)")
    rows = csv.DictReader(io.StringIO(text[start:])) if start >= 0 else ()
    return _summed(
        (profiler.kernel_name(row["Name"]), int(row["Instances"]), float(row["Total Time (ns)"]))
        for row in rows
        if row.get("Name")
    )


def _summed(found: Iterator[tuple[str, int, float]]) -> list[Kernel]:
    kernels: dict[str, Kernel] = {}
    for name, launches, ns in found:
        before = kernels.get(name, Kernel(name, 0, 0.0))
        kernels[name] = Kernel(name, before.launches + launches, before.ns + ns)
    return list(kernels.values())


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _as_counted(value: object) -> object:
    """JSON has no tuples; counters have."""
    if isinstance(value, dict):
        return {key: part if key.startswith("library_") else _as_counted(part) for key, part in value.items()}
    return tuple(map(_as_counted, value)) if isinstance(value, list) else value
