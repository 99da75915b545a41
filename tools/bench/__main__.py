"""`python -m tools.bench record FILE [UNIT ...]` measures on this machine; `./course pages` publishes that."""

import json
import sys
from pathlib import Path

from tools.bench import launched, record, runner

USAGE = "usage: python -m tools.bench record FILE [UNIT ...]"


def main(arguments: list[str]) -> int:
    match arguments:
        case ["record", file, *units]:
            Path(file).write_text(json.dumps(record.everything(units), indent=1) + "\n", encoding="utf-8")
        case ["child", name, number, root]:  # what tools.bench.runner starts
            runner.child(name, int(number), Path(root))
        case ["launch", way, name, number, size, root, file]:  # what tools.bench.profilers starts
            launched.run(way, name, int(number), int(size), Path(root), Path(file))
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
