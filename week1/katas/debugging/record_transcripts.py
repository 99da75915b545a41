"""Write down what the tools of a GPU machine say of the kernels of this kata, into transcripts/ beside this file.

    ./course python -m week1.katas.debugging.record_transcripts

Needs a GPU, compute-sanitizer and cuda-gdb, and the kernels as they were given: broken. Another folder may be named.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import date
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import tools.gpu

import torch
import triton
import triton.language as tl

ME = "week1.katas.debugging.record_transcripts"
FOLDER = Path(__file__).with_name("transcripts")
LINES = 24  # of a transcript; what they all say again is left out
NOISE = re.compile(r"warning: Cuda Driver|\[New Thread|\[Thread |\[Detaching|Using host libthread_db|\s*$")
LAUNCHES = {"smooth": [sys.executable, "-m", ME, "--launch", "smooth"],
            "total": [sys.executable, "-m", ME, "--launch", "total"]}
GDB = ["cuda-gdb", "-batch", "-ex", "set print thread-events off", "-ex", "set cuda break_on_launch application",
       "-ex", "run", "-ex", "info cuda kernels", "-ex", "cuda block 1 thread 36", "-ex", "info args",
       "-ex", "backtrace", "--args"]
NOTES = {  # file -> what a reader of it may wonder at; the first line stands in all
    "": "Lines are those of the files on that day.",
    "cuda_gdb.txt": "<optimized out>: the compiler keeps no variable any longer than it needs it.",
    "print_and_assert.txt": "total_kernel is in record_transcripts.py: the sum of task 2, in float16.",
}
TRANSCRIPTS = {  # file -> (command, environment that it needs)
    "memcheck.txt": (["compute-sanitizer", "--tool", "memcheck", "--report-api-errors", "no", *LAUNCHES["smooth"]], {}),
    "racecheck.txt": (["compute-sanitizer", "--tool", "racecheck", *LAUNCHES["smooth"]], {}),
    "cuda_gdb.txt": ([*GDB, *LAUNCHES["smooth"]], {}),
    "print_and_assert.txt": (LAUNCHES["total"], {"TRITON_DEBUG": "1"}),
}


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--launch", "smooth"]:
            launch_smooth()
        case ["--launch", "total"]:
            launch_total()
        case [] | [_]:
            record(Path(arguments[0]) if arguments else FOLDER)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


# What is looked at --------------------------------------------------------------------------------

def launch_smooth() -> None:
    """The sample of task 3, with an allocation for each array: past the end of one is then past all."""
    from tools.gpu import cupy
    from week1.katas.debugging import debugging as lesson

    cupy.cuda.set_allocator(None)
    lesson.smooth(cupy.arange(100, dtype="float32"))
    cupy.cuda.Device().synchronize()


@triton.jit
def total_kernel(x_ptr, n_cols, BLOCK: tl.constexpr):
    """The sum of task 2, with what a learner would write below it."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + col, mask=col < n_cols, other=0.0)
    total = tl.sum(x)
    if row == 3:
        tl.device_print("total", total)
    tl.device_assert(total < float("inf"), "a row without a total")


def launch_total() -> None:
    weights = torch.tensor([[100.0], [200.0], [50.0], [300.0], [150.0], [210.0]])
    days = (torch.arange(1.0, 25.0) * weights).half().to(tools.gpu.device)
    total_kernel[(6,)](days, 24, BLOCK=32)
    torch.cuda.synchronize()


# What is written down -----------------------------------------------------------------------------

def record(folder: Path) -> None:
    card = tools.gpu.card()
    if card is None:
        raise SystemExit("No GPU here: nothing was recorded.")
    folder.mkdir(parents=True, exist_ok=True)
    for name, (command, needs) in TRANSCRIPTS.items():
        shown = " ".join([f"{key}={value}" for key, value in needs.items()] + [_quoted(part) for part in command])
        said = subprocess.run(command, env=os.environ | {"NUMBA_CUDA_DEBUGINFO": "1"} | needs, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        notes = [NOTES[key] for key in ("", name) if key in NOTES]
        head = "".join(f"# {line}\n" for line in [f"{card.name}, {date.today().isoformat()}, {_versions()}",
                                                  _plain(shown), *notes]) + "\n"
        lines = list(_once(line.rstrip() for line in _plain(said).splitlines() if not NOISE.match(line)))
        rest = [f"... {len(lines) - LINES} more lines"] if len(lines) > LINES else []
        (folder / name).write_text(head + "\n".join(lines[:LINES] + rest) + "\n", encoding="utf-8")
        print(f"{name}: {len(lines)} lines")


def _once(lines: Iterable[str]) -> Iterator[str]:
    """Lines that repeat the one before are counted instead."""
    for line, same in groupby(lines):
        again = len(list(same)) - 1
        yield line
        if again:
            yield f"    (the same {again} times more)"


def _versions() -> str:
    names = ("triton", "numba-cuda")
    return ", ".join(f"{name} {version(name)}" for name in names)


def _quoted(part: str) -> str:
    return f'"{part}"' if " " in part else part


def _plain(text: str) -> str:
    """Without colours, process numbers, and the paths of one machine."""
    text = re.sub(r"\x1b\[[\d;]*m|\[abi:[^]]*\]", "", text)  # and without what Numba adds to the names of kernels
    text = re.sub(r"\b(process|PID|Thread 0x\w+ \(LWP) \d+", r"\1 N", text)
    for path, name in [(str(tools.ROOT), "."), (sys.executable, "python"), (sys.prefix, "PYTHON"),
                       (str(Path.home()), "~")]:
        text = text.replace(path, name)
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
