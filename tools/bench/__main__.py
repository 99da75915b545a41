"""`python -m tools.bench record FILE` measures on this machine's GPU; `python -m tools.bench page` writes the page."""

import json
import sys
from pathlib import Path

from tools.bench import page, record

USAGE = "usage: python -m tools.bench record FILE | page"


def main(arguments: list[str]) -> int:
    match arguments:
        case ["record", file]:
            Path(file).write_text(json.dumps(record.everything(), indent=1) + "\n", encoding="utf-8")
        case ["page"]:
            page.FILE.write_text(page.text(), encoding="utf-8")
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
