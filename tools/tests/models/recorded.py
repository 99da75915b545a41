"""Measurements kept beside the tests: JSON with the facts of the machine, then one row a line."""

import json
from datetime import date
from pathlib import Path


def write(path: str, script: str, facts: dict, rows: list) -> None:
    """Keep what `python3 -m script path` measured today."""
    facts |= {"date": date.today().isoformat(), "command": f"python3 -m {script} {Path(path).name}"}
    head = ",\n".join(f" {json.dumps(name)}: {json.dumps(fact)}" for name, fact in facts.items())
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    Path(path).write_text(f'{{\n{head},\n "rows": [\n{lines}\n]\n}}\n', encoding="utf-8")


def rows(name: str) -> list:
    """The rows of a file beside this one."""
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))["rows"]
