"""Loops, branches and random numbers."""

from collections.abc import Iterator

import torch
import triton
import triton.language as tl

from tools.tests.sim.triton.conformance.case import Case, N, on_device


@triton.jit
def loops(n, out_ptr, OP: tl.constexpr, STEPS: tl.constexpr):
    total = 0
    if OP == "range":
        for i in range(n):
            total += i * i
    elif OP == "range, three bounds":
        for i in range(2, n, 3):
            total += i
    elif OP == "range, downwards":
        for i in range(n, 0, -2):
            total += i * i
    elif OP == "tl.range":
        for i in tl.range(0, n, 2, num_stages=3):
            total += i.to(tl.int32)
    elif OP == "static_range":
        for i in tl.static_range(STEPS):
            total += i * n
    elif OP == "while":
        i = n
        while i > 1:
            i = tl.where(i % 2 == 0, i // 2, 3 * i + 1)
            total += 1
    elif OP == "if":
        for i in range(n):
            if i % 3 == 0 and not (i == 6):
                total += i
            elif i % 3 == 1 or i == 2:
                total += 100
            else:
                total -= 1
    elif OP == "if expression":
        for i in range(n):
            total += i if i % 2 == 0 else 7
    elif OP == "cdiv":
        total = tl.cdiv(n, 4) * 100 + tl.num_programs(0)
    tl.store(out_ptr, total)


@triton.jit
def random(seed, uniform_ptr, normal_ptr, bits_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(uniform_ptr + i, tl.rand(seed, i))
    tl.store(normal_ptr + i, tl.randn(seed, i))
    tl.store(bits_ptr + i, tl.randint(seed, i).to(tl.int32, bitcast=True))


def collatz(n: int) -> int:
    return 0 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)


LOOPS = {
    "range": lambda n: sum(i * i for i in range(n)),
    "range, three bounds": lambda n: sum(range(2, n, 3)),
    "range, downwards": lambda n: sum(i * i for i in range(n, 0, -2)),
    "tl.range": lambda n: sum(range(0, n, 2)),
    "static_range": lambda n: sum(i * n for i in range(5)),
    "while": collatz,
    "if": lambda n: sum(i if i % 3 == 0 and i != 6 else 100 if i % 3 == 1 or i == 2 else -1 for i in range(n)),
    "if expression": lambda n: sum(i if i % 2 == 0 else 7 for i in range(n)),
    "cdiv": lambda n: -(-n // 4) * 100 + 1,
}


def repeated() -> Iterator[Case]:
    for op, wanted in LOOPS.items():

        def compute(op=op, wanted=wanted):
            out = on_device(torch.empty(1, dtype=torch.int32))
            loops[(1,)](11, out, OP=op, STEPS=5)
            return out, torch.tensor([wanted(11)], dtype=torch.int32)

        yield Case(op, "int32", compute)


def philox(seed: int, counters: range) -> torch.Tensor:
    """The first 32 bits of Philox 4x32-10, from its paper."""
    out = []
    for counter in counters:
        c, key = [counter, 0, 0, 0], [seed, 0]
        for _ in range(10):
            low, high = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [high >> 32 ^ c[1] ^ key[0], high & 0xFFFFFFFF, low >> 32 ^ c[3] ^ key[1], low & 0xFFFFFFFF]
            key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
        out.append(c[0])
    return torch.tensor(out).to(torch.int32)


def random_numbers() -> Iterator[Case]:
    def draw():
        out = [on_device(torch.empty(4 * N)) for _ in range(2)] + [on_device(torch.empty(4 * N, dtype=torch.int32))]
        random[(1,)](7, *out, N=4 * N)
        return [each.cpu().double() for each in out]

    def moments(x):
        return torch.stack([x.mean(), x.std()]).float()

    def bits():
        return draw()[2][:200].int(), philox(7, range(200))

    tolerance = 0.05 / torch.finfo(torch.float32).eps
    yield Case("randint", "int32", bits)
    yield Case(
        "rand, mean and deviation",
        "float32",
        lambda: (moments(draw()[0]), torch.tensor([0.5, 12**-0.5]), 1.0),
        tolerance,
    )
    yield Case(
        "randn, mean and deviation", "float32", lambda: (moments(draw()[1]), torch.tensor([0.0, 1.0]), 1.0), tolerance
    )


def cases() -> Iterator[Case]:
    yield from repeated()
    yield from random_numbers()
