"""Runs every snippet on CuPy and on its stand-in, prints where they differ, and writes what CuPy said.

    python tools/tests/sim/cupy/on_a_gpu.py [recorded.json]

On a machine with a GPU and CuPy 14; at most two minutes. Processes share the work, because each kernel is compiled when
it first runs; one that crashes takes only its snippet with it.
"""

import json
import subprocess
import sys
import threading
import time
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from tools.tests.sim.cupy.outcomes import agree, outcome  # noqa: E402
from tools.tests.sim.cupy.snippets import RECORDED, snippets  # noqa: E402

PROCESSES = 12
COMPILER = "CompileException: in the compiler's words"  # which name files that are gone
SECONDS = 100  # after which what has not run is left out


def serve() -> None:
    """A worker: each line that comes in is a snippet, each that goes out is what CuPy made of it."""
    import cupy

    for line in sys.stdin:
        print(json.dumps(outcome(json.loads(line), cupy)), flush=True)
        cupy.cuda.Device().synchronize()  # ends the process where a snippet has broken the device's context


class Worker(threading.Thread):
    """Takes snippets from a list that all workers share, until it is empty or the time is over."""

    def __init__(self, waiting: list[str], found: dict[str, str], end: float):
        super().__init__()
        self.waiting, self.found, self.end, self.process = waiting, found, end, None

    def run(self) -> None:
        while time.monotonic() < self.end:
            try:
                code = self.waiting.pop()
            except IndexError:
                break
            answer = self.ask(code)
            if time.monotonic() < self.end:  # else it was stopped in the middle
                self.found[code] = answer
        if self.process is not None:
            self.process.kill()

    def ask(self, code: str) -> str:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        try:
            self.process.stdin.write(json.dumps(code) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            self.process.kill()
            self.process = None
            return "Crash: the process ended"


def ask_cupy(codes: list[str]) -> dict[str, str]:
    """What CuPy makes of each."""
    waiting, found, end = codes[::-1], {}, time.monotonic() + SECONDS
    workers = [Worker(waiting, found, end) for _ in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(max(0.0, end + 5 - time.monotonic()))
        if worker.is_alive():
            worker.process.kill()
    return {code: found[code] for code in codes if code in found}


def report(real: dict[str, str], expected: dict[str, str]) -> None:
    import tools.sim.cupy as simulated

    mine = {code: outcome(code, simulated) for code in real}
    print(f"{len(real)} of {len(expected)} snippets ran on CuPy")
    for title, others in (("as the stand-in", mine), ("as snippets.txt says", expected)):
        print(f"{sum(agree(real[code], others[code]) for code in real):5} {title}")
    for code in real:
        if not agree(real[code], mine[code]) or not agree(real[code], expected[code]):
            print(f"\n{code}\n  CuPy      {real[code]}\n  stand-in  {mine[code]}")
            if expected[code] != mine[code]:
                print(f"  written   {expected[code]}")


def machine() -> dict[str, str]:
    """Where it ran, asked in a process of its own."""
    script = (
        "import cupy, numpy, json; name = cupy.cuda.runtime.getDeviceProperties(0)['name'].decode();"
        "print(json.dumps({'card': name, 'cupy': cupy.__version__, 'numpy': numpy.__version__,"
        "'driver': cupy.cuda.runtime.driverGetVersion()}))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(
            f"CuPy does not run here: {ran.stderr.strip().splitlines()[-1]}\n"
            "Run this on a machine with a GPU, with the Python that has CuPy."
        )
    return json.loads(ran.stdout)


def main() -> None:
    if sys.argv[1:] == ["--serve"]:
        serve()
        return
    expected = snippets()
    about = machine() | {"date": date.today().isoformat(), "command": "python tools/tests/sim/cupy/on_a_gpu.py"}
    real = ask_cupy(list(expected))
    report(real, expected)
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else RECORDED
    plain = {code: COMPILER if text.startswith("CompileException") else text for code, text in real.items()}
    file.write_text(json.dumps(about | {"outcomes": plain}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
