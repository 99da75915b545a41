"""The memory of a call in words, where a test asserts something else about it: which tensors, made by which lines."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from tools.check.diagnosis.asserted import sides_of
from tools.check.show import cut
from tools.worker import Memory
from tools.worker.alive import Held

MOST = 3  # tensors that are told
LONGEST = 34  # columns of a source line
ASKS = {
    "peak": "Which of them does the result need whole, and until when?",
    "largest": "Does the result need all of it at one time?",
    "saved": "What can the backward compute anew, or from something smaller?",
    "kept": "Who still holds them when the call has ended?",
    "made": "Which of them could be made once?",
}


def told_by_memory(memory: Memory, asked: str, names: Mapping[str, object] | None = None) -> list[str]:
    """Facts and a question for an assertion whose text is `asked`. names: those that it may speak of."""
    names = names or {"memory": memory}
    own = next((name for name, value in names.items() if value is memory), "memory")
    figure = next((figure for figure in ASKS if f"{own}.{figure}" in asked), None)
    if figure is None:
        return []
    sides = sides_of(asked, own, names)
    tensors = _tensors(memory, figure)
    seen = [str(sides)] if sides and sides.both_numbers else []
    return [*seen, *_rows(tensors), ASKS[figure] if tensors else "Nothing was left."]


def _tensors(memory: Memory, figure: str) -> Counter[Held]:
    """Each with the times that it was made."""
    return Counter(dict(memory.each_made) if figure == "made" else _alive(memory, figure))


def _alive(memory: Memory, figure: str) -> tuple[Held, ...]:
    if figure == "largest":
        return (memory.largest,) if memory.largest.bytes else ()
    if figure == "saved":
        return memory.after_forward.tensors if memory.after_forward else ()
    return memory.at_peak if figure == "peak" else memory.left


def _rows(tensors: Counter[Held]) -> Iterator[str]:
    """line 41: scores = q @ k.T  made float32[512,512], 1,048,576 bytes; of a line that made several alike, all."""
    groups: dict[tuple, Counter[Held]] = {}
    for held, times in tensors.items():
        groups.setdefault((held.line, held.dtype, held.shape), Counter())[held] += times
    costly = sorted(groups.values(), key=lambda group: -sum(held.bytes * times for held, times in group.items()))
    for group in costly[:MOST]:
        held, alike = next(iter(group)), group.total()
        what = f"{held.dtype}[{','.join(map(str, held.shape))}]"
        before, after = (f"{alike} times ", " each") if alike > 1 else ("", "")
        yield f"{_who(held)}  made {before}{what}, {held.bytes:,} bytes{after}"


def _who(held: Held) -> str:
    if not held.line:
        return f"PyTorch's {held.operation}"
    return f"line {held.line}: {_shown(held.source.partition('  #')[0], held.operation)}"


def _shown(source: str, operation: str) -> str:
    """The line, cut where the name of the operation that made the tensor is not lost, if it stands there."""
    call = re.compile(rf"\b{re.escape(operation)}\(")
    short, found = cut(source, LONGEST), call.search(source)
    if not found or call.search(short):
        return short
    rest = f"...{source[found.start() :]}"
    return rest if len(rest) <= LONGEST else f"{rest[: LONGEST - 3]}..."
