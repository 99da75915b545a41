"""Let compute-sanitizer watch the kernels of planted.py on this machine's GPU, and print which tool reports which.

    ./course python -m week2.katas.race_hunt.sanitize
    ./course python -m week2.katas.race_hunt.sanitize sanitizer_h200.json

The second writes down what was said, too. Each kernel runs four times, each time in a process of its own with a time
limit, since one whose barrier is wrong may hang.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from importlib.metadata import version
from itertools import product
from pathlib import Path

from tools import gpu
from week2.katas.race_hunt import planted

ME, SECONDS = "week2.katas.race_hunt.sanitize", 120  # the most that one process may take
TOOLS = ("racecheck", "memcheck", "synccheck", "initcheck")
OPTIONS = {"memcheck": ["--report-api-errors", "no"]}
SETTINGS = {
    "NUMBA_CUDA_DEBUGINFO": "1",               # so that a report has lines
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",     # an allocation for each array: past its end is then past all
}
REPORTED = re.compile(r"========= +((?:Error|Warning|Invalid|Barrier error|Uninitialized).*)")
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")
LINE = re.compile(r"planted\.py:(\d+)")


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--launch", name]:
            launch(name)
        case [] | [_]:
            sanitize(Path(arguments[0]) if arguments else None)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def launch(name: str) -> None:
    """One kernel on its sample; what is run under compute-sanitizer."""
    import torch

    planted.SAMPLES[name]()
    torch.cuda.synchronize()


def sanitize(file: Path | None) -> None:
    card = gpu.card()
    if card is None:
        raise SystemExit(
            "No GPU here: the simulator's reports are those of ./course python -m week2.katas.race_hunt.planted."
        )
    pairs = list(product(planted.SAMPLES, TOOLS))
    with ThreadPoolExecutor(max_workers=4) as pool:
        said = dict(zip(pairs, pool.map(lambda pair: watched(*pair), pairs)))
    kernels = {name: {tool: said[name, tool] for tool in TOOLS} for name in planted.SAMPLES}
    print(table(kernels))
    if file:
        about = {"card": card.name, "date": date.today().isoformat(),
                 "versions": {name: version(name) for name in ("torch", "triton", "numba-cuda")}}
        file.write_text(json.dumps({**about, "kernels": kernels}, indent=1) + "\n", encoding="utf-8")


def watched(name: str, tool: str) -> dict:
    """What a tool said of a kernel. lines: of planted.py, all that its reports name; none if it has no report."""
    command = ["compute-sanitizer", "--tool", tool, *OPTIONS.get(tool, []), sys.executable, "-m", ME, "--launch", name]
    try:
        done = subprocess.run(command, env=os.environ | SETTINGS, text=True, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as expired:
        return heard(_text(expired.stdout), "timed out")
    return heard(done.stdout, f"exit code {done.returncode}")


def heard(text: str, ended: str) -> dict:
    """Read the words of a tool. Only its own lines are looked at, down to the host's part of each report."""
    own = [line for line in text.splitlines() if line.startswith("=========") and "Host Frame" not in line]
    reports = [found[1] for line in own if (found := REPORTED.match(line))]
    errors = SUMMARY.search(text)
    return {
        "ended": ended,
        "errors": int(errors[1]) if errors else None,
        "first": re.sub(r"\[abi:[^]]*\]|\(Array<.*?>\)", "", reports[0]) if reports else "",
        "lines": sorted({int(line) for line in LINE.findall("\n".join(own))}) if reports else [],
    }


def table(kernels: dict) -> str:
    """A row for each kernel; what each tool reports: the lines that it names, or nothing."""
    rows = [["", *TOOLS], *([name, *map(_cell, of_tools.values())] for name, of_tools in kernels.items())]
    return "\n".join("".join(cell.ljust(16) for cell in row).rstrip() for row in rows)


def _cell(said: dict) -> str:
    if said["errors"] is None and not said["first"]:
        return said["ended"]
    lines = ", ".join(map(str, said["lines"]))
    return f"line {lines}" if lines else "reported" if said["first"] else "-"


def _text(output: bytes | str | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
