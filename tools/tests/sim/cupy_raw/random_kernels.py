"""Random control flow as CUDA C++, and how often each of its accesses runs when the lanes of a warp go in lockstep.

The oracle runs the same statements over a mask of 32 lanes, as a warp with a stack of masks would.
"""

import random
from dataclasses import dataclass, field

import numpy as np

LANES = np.arange(32)


@dataclass
class Mask:
    """running: lanes that are here. broken, continued: lanes that wait for the end of the loop, or of its turn."""

    running: np.ndarray
    broken: np.ndarray = field(default_factory=lambda: np.zeros(32, bool))
    continued: np.ndarray = field(default_factory=lambda: np.zeros(32, bool))


class Kernel:
    """lines: the source. counts: of a line's number, requests and accesses. parted: decisions that split a warp."""

    def __init__(self, name: str, seed: int):
        self.dice = random.Random(seed)
        self.lines = [f'extern "C" __global__ void {name}(int* x) {{', "    int lane = threadIdx.x;"]
        self.sites: list[int] = []
        body = self.block(0, 0)
        self.lines.append("}")
        self.counts = {site: [0, 0] for site in self.sites}
        self.returned = np.zeros(32, bool)
        self.parted = 0
        body(Mask(np.ones(32, bool)), [])

    # Each method writes a statement, and gives a function that runs it for a mask and the loops' variables.

    def block(self, depth: int, loops: int):
        statements = [self.statement(depth, loops) for _ in range(self.dice.randint(1, 3))]

        def run(mask, variables):
            for statement in statements:
                statement(mask, variables)

        return run

    def statement(self, depth: int, loops: int):
        kinds = [self.access, self.access]
        if depth < 4:
            kinds += [self.branch, self.branch, self.loop, self.loop]
        if loops:
            kinds += [self.leave]
        return self.dice.choice(kinds)(depth, loops)

    def write(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 1) + text)

    def decide(self, mask: np.ndarray, condition: np.ndarray) -> np.ndarray:
        """The lanes for which it is so."""
        self.parted += bool((mask & condition).any() and (mask & ~condition).any())
        return mask & condition

    def condition(self, loops: int):
        """C++ and a function of the variables."""
        a, b, c, m, t = (self.dice.randint(1, 7) for _ in range(5))
        names = "".join(f" + {b + number} * i{number}" for number in range(loops))

        def value(variables):
            total = a * LANES + c
            for number, each in enumerate(variables):
                total = total + (b + number) * each
            return total % m < t % m

        return f"({a} * lane + {c}{names}) % {m} < {t % m}", value

    def access(self, depth: int, loops: int):
        self.write(depth, f"x[{len(self.sites)} * 32 + lane] += 1;")
        self.sites.append(len(self.lines))
        site = self.sites[-1]

        def run(mask, variables):
            if mask.running.any():
                self.counts[site][0] += 1
                self.counts[site][1] += int(mask.running.sum())

        return run

    def branch(self, depth: int, loops: int):
        text, value = self.condition(loops)
        self.write(depth, f"if ({text}) {{")
        yes = self.block(depth + 1, loops)
        no = None
        if self.dice.random() < 0.5:
            self.write(depth, "} else {")
            no = self.block(depth + 1, loops)
        self.write(depth, "}")

        def run(mask, variables):
            here, condition = mask.running, value(variables)
            mask.running = self.decide(here, condition)
            if mask.running.any():
                yes(mask, variables)
            after_yes, mask.running = mask.running, here & ~condition
            if no is not None and mask.running.any():
                no(mask, variables)
            mask.running = mask.running | after_yes

        return run

    def loop(self, depth: int, loops: int):
        variable, step = f"i{loops}", self.dice.randint(1, 5)
        bound = f"{step} + lane % {step}" if self.dice.random() < 0.6 else str(step)
        bounds = step + LANES % step if "lane" in bound else np.full(32, step)
        if self.dice.random() < 0.5:
            self.write(depth, f"{{ for (int {variable} = 0; {variable} < {bound}; {variable}++) {{")
        else:  # counts before its body, so that continue makes no endless loop of it
            self.write(depth, f"{{ int {variable} = -1; while (++{variable} < {bound}) {{")
        body = self.block(depth + 1, loops + 1)
        self.write(depth, "}}")

        def run(mask, variables):
            inner = Mask(mask.running)
            turn = np.zeros(32, int)
            while True:
                inner.running = self.decide(inner.running, turn < bounds)
                if not inner.running.any():
                    break
                body(inner, [*variables, turn])
                inner.running = (inner.running | inner.continued) & ~self.returned
                inner.continued = np.zeros(32, bool)
                turn = turn + 1
            mask.running = mask.running & ~self.returned

        return run

    def leave(self, depth: int, loops: int):
        """break, continue or return, for some lanes."""
        text, value = self.condition(loops)
        how = self.dice.choice(["break", "continue", "return"])
        self.write(depth, f"if ({text}) {how};")

        def run(mask, variables):
            gone = self.decide(mask.running, value(variables))
            mask.running = mask.running & ~gone
            if how == "continue":
                mask.continued = mask.continued | gone
            if how == "return":
                self.returned = self.returned | gone

        return run
