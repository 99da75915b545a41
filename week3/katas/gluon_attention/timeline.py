"""The times of a schedule: consumers that share the tensor cores and the exponentials. Given; nothing to write.

Products run one at a time, in the order in which they were begun; so do softmaxes. Whoever begins a product goes on
at once, whoever computes a softmax does so until it ends. All else takes no time.

    ./course python -m week3.katas.gluon_attention.timeline 2             two consumers, one tile after the other
    ./course python -m week3.katas.gluon_attention.timeline 2 consume     two that follow your consume
"""

import sys
from collections.abc import Callable


class Schedule:
    """What one consumer does, in its order; what would be wrong on a GPU is an error.

    begin_scores(i): the product of the queries with tile i of keys. begin_values(i): that of the weights of tile i
    with tile i of values, added to acc. Both begin and return. wait(most): until at most so many are in flight.
    softmax(i): the weights of tile i out of its scores, and acc rescaled once it is not in flight.
    """

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.calls: list[tuple[str, int]] = []
        self.flying: list[tuple[str, int]] = []
        self.held = self.most_held = 0  # tiles of scores that are begun and are no weights yet
        self.begun_behind = 0  # products that were begun while another one was in flight
        self.ended: list[tuple[str, int]] = []  # products that the last wait waited for

    def begin_scores(self, i: int) -> None:
        self._once("begin_scores", i)
        self.held += 1
        self.most_held = max(self.held, self.most_held)
        self._begin("scores", i)

    def softmax(self, i: int) -> None:
        if ("begin_scores", i) not in self.calls:
            raise RuntimeError(f"softmax({i}): the product of scores {i} has not begun.")
        if ("scores", i) in self.flying:
            raise RuntimeError(f"softmax({i}) reads scores {i} while their product is in flight: {self._flying()}.\n"
                               f"{self._of_the_wait(i)}")
        self._once("softmax", i)
        self.held -= 1

    def begin_values(self, i: int) -> None:
        if ("softmax", i) not in self.calls:
            raise RuntimeError(f"begin_values({i}): there are no weights of tile {i} before softmax({i}).")
        if any(what == "values" for what, _ in self.flying):
            raise RuntimeError(f"begin_values({i}): softmax({i}) rescales acc, and a product adds to acc still: "
                               f"{self._flying()}.\nWhat has to be waited for after the softmax?")
        self._once("begin_values", i)
        self._begin("values", i)

    def wait(self, most: int) -> None:
        if most < 0:
            raise RuntimeError(f"wait({most}): no fewer than 0 products can be in flight.")
        self.calls.append(("wait", most))
        most = min(most, len(self.flying))
        self.ended, self.flying = self.flying[:len(self.flying) - most], self.flying[len(self.flying) - most:]

    def end(self) -> None:
        if self.flying:
            raise RuntimeError(f"At the end a product is in flight: {self._flying()}.\n"
                               "acc is stored then: which wait comes before?")
        for name in ("begin_scores", "softmax", "begin_values"):
            if missing := [i for i in range(self.steps) if (name, i) not in self.calls]:
                raise RuntimeError(f"{name}({missing[0]}) is missing, of {self.steps} tiles.\n"
                                   "Which tiles are in acc when all is done?")

    def _begin(self, what: str, i: int) -> None:
        self.begun_behind += bool(self.flying)
        self.flying.append((what, i))

    def _once(self, name: str, i: int) -> None:
        if i not in range(self.steps):
            raise RuntimeError(f"{name}({i}): the tiles are 0 to {self.steps - 1}.")
        if (name, i) in self.calls:
            raise RuntimeError(f"{name}({i}) comes a second time.")
        self.calls.append((name, i))

    def _of_the_wait(self, i: int) -> str:
        """A question to who reads scores that are in flight."""
        values = [j for what, j in self.ended if what == "values"]
        if values and self.flying == [("scores", i)]:
            return (f"The wait before waited for values {values[-1]}, which was begun before scores {i}.\n"
                    "Which of the two has to end first, so has to be begun first?")
        return "Products end in the order in which they were begun: how many may be in flight here?"

    def _flying(self) -> str:
        return ", ".join(f"{what} {i}" for what, i in self.flying)


def recorded(consume: Callable, steps: int) -> Schedule:
    schedule = Schedule(steps)
    consume(schedule, steps)
    schedule.end()
    return schedule


def parts(consume: Callable, steps: int, consumers: int, product: int, softmax: int) -> list[tuple]:
    """(unit, consumer, what, first cycle, last cycle) of each product and softmax, the unit "tensor" or "softmax"."""
    calls = [list(recorded(consume, steps).calls) for _ in range(consumers)]
    clocks, ends = [0] * consumers, [[] for _ in range(consumers)]  # type: list[int], list[list[int]]
    free = {"tensor": 0, "softmax": 0}
    seen = []
    while any(calls):
        me = min((c for c in range(consumers) if calls[c]), key=lambda c: (clocks[c], c))
        name, number = calls[me].pop(0)
        if name == "wait":
            clocks[me] = max([clocks[me], *ends[me][:max(0, len(ends[me]) - number)]])
            continue
        unit, cycles = ("softmax", softmax) if name == "softmax" else ("tensor", product)
        start = max(clocks[me], free[unit])
        free[unit] = start + cycles
        what = {"begin_scores": "S", "begin_values": "V", "softmax": "p"}[name] + str(number)
        seen.append((unit, me, what, start, start + cycles))
        if unit == "softmax":
            clocks[me] = start + cycles
        else:
            ends[me].append(start + cycles)
    return seen


def picture(seen: list[tuple], column: int) -> str:
    """The parts as lines of text, `column` cycles wide each: S scores, V values, p weights; A, B, C the consumers."""
    lines = []
    for unit in ("tensor", "softmax"):
        cells = {start // column: "ABC"[who] + what for which, who, what, start, _ in seen if which == unit}
        last = max(end for *_, end in seen) // column
        lines.append(f"{unit:8}" + " ".join(f"{cells.get(i, '.'):>4}" for i in range(last)))
    return "\n".join(lines)


def one_after_the_other(warps: Schedule, steps: int) -> None:
    """The schedule without overlap."""
    for i in range(steps):
        warps.begin_scores(i)
        warps.wait(0)
        warps.softmax(i)
        warps.begin_values(i)
        warps.wait(0)


def main() -> None:
    schedule = one_after_the_other
    if not sys.argv[1:] or not sys.argv[1].isdecimal() or not 1 <= int(sys.argv[1]) <= 3:
        sys.exit("How many consumers, 1 to 3? ./course python -m week3.katas.gluon_attention.timeline 2")
    if "consume" in sys.argv:
        from week3.katas.gluon_attention import gluon_attention

        schedule = gluon_attention.consume
    print(picture(parts(schedule, 3, int(sys.argv[1]), 512, 512), 512))


if __name__ == "__main__":
    main()
