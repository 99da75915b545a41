"""What a module that looks like numba.cuda answers to each snippet.

On a GPU:  python -m tools.tests.sim.cuda.host.record numba.json
"""

import ast
import json
import re
import subprocess
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

import tools.gpu
from tools import ROOT
from tools.tests.sim.cuda.host import kernels
from tools.tests.sim.cuda.host.snippets import SNIPPETS


def run(cuda, source: str) -> object:
    """The value of the last expression, or the exception."""
    kernels.cuda = cuda
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else ast.Expr(ast.Constant(None))
    scope = {"cuda": cuda, "np": np, "KERNELS": kernels}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, "snippet", "exec"), scope)
            return eval(compile(ast.fix_missing_locations(ast.Expression(last.value)), "snippet", "eval"), scope)
        except Exception as error:
            return error


def answer(cuda, source: str) -> str:
    """The same as one line of text."""
    outcome = run(cuda, source)
    if isinstance(outcome, Exception):
        return f"{type(outcome).__name__}: {plain(str(outcome))[:100]}"
    return plain(repr(outcome))


def plain(text: str) -> str:
    """Without what differs from run to run, from place to place, and from screen to screen."""
    for pattern, instead in ((r"(\x1b|\\x1b)\[\d*m", ""), (r"0x[0-9a-f]+", "0x"), (f"{ROOT}/", ""), (r"\s+", " ")):
        text = re.sub(pattern, instead, text)
    return text.strip()


def continue_in(file: Path) -> None:
    """Append the answers that it lacks. A snippet that fails inside CUDA can spoil the process: then it ends."""
    from tools.gpu import cuda

    for name in list(SNIPPETS)[_done(file) :]:
        _append(file, name, answer(cuda, SNIPPETS[name]))
        cuda.synchronize()


def main(file: str) -> None:
    """Answer all snippets, in as many processes as it takes."""
    lines = Path(file + ".lines")
    lines.write_text("")
    while (done := _done(lines)) < len(SNIPPETS):
        status = subprocess.run([sys.executable, "-m", __spec__.name, "continue", lines]).returncode
        if _done(lines) == done:
            _append(lines, list(SNIPPETS)[done], f"the process ended with {status}")
    answers = dict(map(json.loads, lines.read_text().splitlines()))
    source = f"{tools.gpu.card().name}, numba-cuda {version('numba-cuda')}, NumPy {np.__version__}"
    Path(file).write_text(json.dumps({"recorded on": source, "answers": answers}, indent=1) + "\n")
    lines.unlink()


def _done(file: Path) -> int:
    return len(file.read_text().splitlines())


def _append(file: Path, name: str, text: str) -> None:
    with file.open("a") as lines:
        lines.write(json.dumps([name, text]) + "\n")


if __name__ == "__main__":
    continue_in(Path(sys.argv[2])) if sys.argv[1] == "continue" else main(sys.argv[1])
