"""The same expressions and programs in real C++: what g++ makes of them is the oracle for the translation."""

import random
import shutil
import subprocess
from pathlib import Path

COMPILER = shutil.which("g++")
OPTIONS = ("-O0", "-std=c++17", "-fwrapv", "-ffp-contract=off", "-w")
TYPES = {
    "short": "int16",
    "unsigned char": "uint8",
    "int": "int32",
    "unsigned int": "uint32",
    "long long": "int64",
    "unsigned long long": "uint64",
    "float": "float32",
    "double": "float64",
    "bool": "bool",
}
VARIABLES = {
    "s": "short",
    "h": "unsigned char",
    "n": "int",
    "u": "unsigned int",
    "w": "long long",
    "v": "unsigned long long",
    "f": "float",
    "d": "double",
    "t": "bool",
}
LANES = [  # one value for each variable
    (0, 0, 0, 0, 0, 0, 0.0, 0.0, False),
    (-7, 200, -13, 4_000_000_000, -5_000_000_000, 2**63 + 5, -1.5, 2.25, True),
    (300, 7, 2**31 - 1, 13, 2**62, 9, 3.1, -0.1, True),
    (-32768, 255, -(2**31), 2**32 - 1, -1, 2**64 - 1, 1e10, 1e-3, False),
]
WHOLE, FLOATING = ("s", "h", "n", "u", "w", "v", "t"), ("f", "d")
PRELUDE = r"""
#include <cmath>
#include <cstdio>
#include <cstdlib>
using namespace std;
static void show(bool x) { printf("bool %d\n", x); }
static void show(short x) { printf("int16 %d\n", x); }
static void show(unsigned char x) { printf("uint8 %d\n", x); }
static void show(int x) { printf("int32 %d\n", x); }
static void show(unsigned int x) { printf("uint32 %u\n", x); }
static void show(long long x) { printf("int64 %lld\n", x); }
static void show(long x) { printf("int64 %ld\n", x); }
static void show(unsigned long long x) { printf("uint64 %llu\n", x); }
static void show(unsigned long x) { printf("uint64 %lu\n", x); }
static void show(float x) { printf("float32 %a\n", x); }
static void show(double x) { printf("float64 %a\n", x); }
"""


def results(bodies: list[str], folder: Path) -> list[list[str]]:
    """For each body, which calls show() once, the type and the value in each lane."""
    parameters = ", ".join(f"{type} {name}" for name, type in VARIABLES.items())
    functions = "".join(f"static void f{number}({parameters}) {{ {body} }}\n" for number, body in enumerate(bodies))
    calls = "".join(f"f{number}({_literals(lane)});\n" for number in range(len(bodies)) for lane in LANES)
    source, program = folder / "program.cpp", folder / "program"
    source.write_text(f"{PRELUDE}{functions}int main() {{\n{calls}}}\n", encoding="utf-8")
    subprocess.run([COMPILER, *OPTIONS, source, "-o", program], check=True)
    lines = subprocess.run([program], cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()
    return [lines[start : start + len(LANES)] for start in range(0, len(lines), len(LANES))]


def _literals(lane: tuple) -> str:
    values = (
        f"{value}ULL"
        if type == "unsigned long long"
        else f"({value + 1}LL - 1)"
        if type == "long long"
        else str(value).lower()
        for value, type in zip(lane, VARIABLES.values())
    )
    return ", ".join(f"({type})({value})" for value, type in zip(values, VARIABLES.values()))


def shown(value) -> str:
    """A NumPy number as the program prints it."""
    if value.dtype.kind == "f":
        return f"{value.dtype} {float(value).hex()}"
    return f"{value.dtype} {int(value)}"


def same(line: str, value) -> bool:
    dtype, number = line.split()
    if value.dtype != dtype:
        return False
    if value.dtype.kind != "f":
        return int(number) == int(value)
    number = float.fromhex(number.replace("-nan", "nan"))
    return number == float(value) or number != number and value != value


class Expressions:
    """Random ones without what C++ leaves undefined: no division by 0, shifts by less than 8, no casts of floats."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def any(self, depth: int) -> str:
        return self.whole(depth) if self.random.random() < 0.6 else self.floating(depth)

    def whole(self, depth: int) -> str:
        pick = self.random.choice
        if depth == 0:
            return pick((*WHOLE, "3", "250u", "(-1)", "0x7fffffff", "70000", "1ll", "5ull", "true"))
        a, b = self.whole(depth - 1), self.whole(depth - 1)
        return pick(
            (
                f"({a} {pick('+-*&|^')} {b})",
                f"({a} {pick('/%')} (({b} & 7) + 1))",
                f"({a} {pick(('<<', '>>'))} ({b} & 7))",
                f"(~{a})",
                f"(-{a})",
                f"(!{a})",
                f"({self.any(depth - 1)} {pick(('<', '<=', '>', '>=', '==', '!='))} {b})",
                f"({a} {pick(('&&', '||'))} {b})",
                f"({self.any(depth - 1)} ? {a} : {b})",
                f"(({pick(WHOLE_TYPES)}){a})",
                f"abs((int)(short){a})",
            )
        )

    def floating(self, depth: int) -> str:
        pick = self.random.choice
        if depth == 0:
            return pick((*FLOATING, "0.1", "2.5f", "1e-3", ".5f", "3."))
        a, b = self.floating(depth - 1), self.any(depth - 1)
        return pick(
            (
                f"({a} {pick('+-*/')} {b})",
                f"({b} {pick('+-*')} {a})",
                f"(-{a})",
                f"((float){b})",
                f"((double){b})",
                f"({b} ? {a} : {self.any(depth - 1)})",
                f"floor({a})",
                f"fabs({a})",
                f"sqrt({a})",
                f"fmax((double){a}, (double){b})",
                f"trunc({a})",
                f"static_cast<float>({b})",
            )
        )


WHOLE_TYPES = ("short", "unsigned char", "int", "unsigned int", "long long", "unsigned long long", "bool")
