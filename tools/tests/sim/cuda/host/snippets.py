"""Snippets of host code, for numba.cuda on a GPU and for what stands in for it: both must answer the same.

In snippets/*.txt, each under a line "## name"; the last expression is the answer. `cuda` is the module under test,
KERNELS is kernels.py, np is NumPy.
"""

from pathlib import Path

SNIPPETS: dict[str, str] = {}
for _file in sorted(Path(__file__).with_suffix("").glob("*.txt")):
    for _snippet in _file.read_text(encoding="utf-8").split("## ")[1:]:
        _name, _, _source = _snippet.partition("\n")
        assert _name not in SNIPPETS, f"two snippets are called {_name!r}"
        SNIPPETS[_name] = _source.rstrip()
