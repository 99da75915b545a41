"""Machine instructions in the disassembler's text, all of them or by source line, as it notes it between them."""

import re
from collections import Counter
from pathlib import PurePath

_NOTE = re.compile(r'"([^"]+)", line (\d+)')
_OPCODE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", re.M)


def opcodes(sass: str) -> dict[str, int]:
    """Opcode -> how many, the most frequent first, without the padding behind the last instruction."""
    return most_frequent_first(Counter(op for op in _OPCODE.findall(sass) if op != "NOP"))


def most_frequent_first(counts: Counter) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def by_line(sass: str, file: str) -> dict[int, Counter]:
    """Opcode -> how many, for each line of a file that instructions come from; padding is left out.

    file: its last name decides, for a kernel from the cache may stand elsewhere now. Of what is inlined from another
    file, the line that calls it counts.
    """
    found: dict[int, Counter] = {}
    name, line, noting = PurePath(file).name, None, False
    for text in sass.splitlines():
        if text.lstrip().startswith("//##"):
            line = line if noting else None
            places = [int(number) for path, number in _NOTE.findall(text) if PurePath(path).name == name]
            line = places[0] if places and line is None else line
            noting = True
            continue
        noting = False
        opcode = _OPCODE.match(text)
        if opcode and line is not None and opcode[1] != "NOP":
            found.setdefault(line, Counter())[opcode[1]] += 1
    return dict(sorted(found.items()))
