"""Short pieces of CuPy, good and bad, and what each gives: read from snippets.txt.

There a line is code => what comes of it (outcomes.py). What stands there was read from the sources of CuPy 14.2.0;
what a GPU said, on_a_gpu.py writes to recorded.json.
"""

import json
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = HERE / "recorded.json"


def snippets() -> dict[str, str]:
    """Code and its outcome."""
    lines = (HERE / "snippets.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("  =>  ") for line in lines if line and not line.startswith("# "))


def recorded() -> dict[str, str]:
    """The same as CuPy on a GPU said it; empty before the first recording."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))["outcomes"] if RECORDED.exists() else {}
