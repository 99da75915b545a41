"""docs/SIMULATORS.md, made of the tables in tools/sim/reach. `./course pages` writes it.

A table holds one area; each of its rows names a feature, its status, what happens with it here and on a GPU, and the
test that shows so.
"""

import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from tools import ROOT

FILE = "docs/SIMULATORS.md"
TABLES = "tools/sim/reach"
WIDTH = 120
AREAS = {"triton": "Triton", "numba_cuda": "Numba CUDA", "cupy": "CuPy", "cuda_cpp": "CUDA C++"}  # by table
STATUS = {
    "simulated": "Simulated",
    "differs": "Other than on a GPU",
    "strict": "Refused, though hardware may let it pass",
    "refused": "Refused",
}
HEAD = f"""# What the simulators run

Without a GPU a kernel runs in a simulator of the course. This page lists how far each of the four goes: what is
simulated, what comes out other than on a GPU, what is refused though hardware may let it pass, and what is refused.
A fault names your line and the reason. What no line here speaks of, and no message refuses, is meant to behave as on a
GPU; report what does not.

Each line is held by a test, which its row in `{TABLES}` names. Made from those rows by `./course pages`.
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A feature: what becomes of it here. status: a key of STATUS. test: path::name, from the root."""

    area: str
    feature: str
    status: str
    says: str
    test: str


def rows() -> dict[str, list[Row]]:
    """The rows of each area, by table. Raises TypeError for a field that a row lacks, or should not have."""
    read = {table: tomllib.loads((ROOT / TABLES / f"{table}.toml").read_text(encoding="utf-8")) for table in AREAS}
    return {table: [Row(**row) for row in found["row"]] for table, found in read.items()}


def text() -> str:
    """The page. Raises TypeError, as `rows` does."""
    return HEAD + "".join(_sections(rows()))


def _sections(found: dict[str, list[Row]]) -> Iterator[str]:
    for table, title in AREAS.items():
        yield f"\n## {title}\n"
        for status, heading in STATUS.items():
            members = [row for row in found[table] if row.status == status]
            if members:
                yield f"\n### {title}: {heading[0].lower()}{heading[1:]}\n\n"
                yield from map(_entry, members)


def _entry(row: Row) -> str:
    line = f"- **{row.feature}**: {row.says}"
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
