"""Week 1, kata: SIMD

Challenge
    A core of your CPU has registers, places for numbers that it computes with, which hold 8 or 16 float32 each, and
    instructions that work on all of them at once: SIMD. Whether a loop of yours uses them, the compiler decides.
    Write a reader of machine code that says what it decided, and which change to the loop would help.

        for (i = 0; i < n; i++) out[i] = a * x[i];            gcc -O3 -march=haswell
        30:  vmulps  ymm1,ymm2,YMMWORD PTR [rsi+rax*1]        256 bits are 8 float32: 8 lanes
        35:  vmovups YMMWORD PTR [rcx+rax*1],ymm1             moves 8, computes none
        3a:  add     rax,0x20
        3e:  cmp     rdi,rax
        41:  jne     30 <scale+0x30>                          back to 30: 5 instructions, 8 elements, 1.6 each

Explore
    gcc -O3 -march=native -S -masm=intel -o - week1/katas/simd/loops.c | less      (or clang; on x86-64)
    Find scale. How wide are its registers? Behind its loop much the same comes once more: for which elements?

Concept
    Names: an instruction of AVX begins with v, then says what it does, then ends in two letters. ps and pd are
    *packed* float32 and float64, computed in every lane, which is one number's place in a register; ss and sd
    are *scalar*, computed in one lane. Registers named xmm have 128 bits, ymm 256, zmm 512.
    Loop: a loop is a jump back. The elements that its arithmetic computes in one turn, over the instructions of
    that turn, are what an instruction is worth. Loads, counters and jumps compute nothing and are paid as well.
    Patterns: re.compile(...).fullmatch(text) is None, or a match, whose .groups() are the parts in parentheses.
    Obstacles: the compiler must keep to what the loop says, which may be more than was meant.
        order      float sums depend on their order; -ffast-math allows another one, and changes the result.
        aliasing   *total might be one of x, so it is stored in every turn. restrict promises that it is not.
        exit       a loop that may stop at any element must not touch the next one.
        stride     neighbours fill a register with one load. Every 17th float is fetched alone.
        dependence each result needs the one before. No option of the compiler helps; another algorithm may.

Code it
    Task 1  width, lanes: read one instruction                                           (six lines)
    Task 2  hot_loop, elements_per_instruction: find the loop, and say what it is worth  (nine lines)
    Task 3  cure: of some changes, the one that lets the compiler use SIMD               (five lines)

Verify
    pytest week1/katas/simd            then: ./course quiz week1/katas/simd
    Reflect: the threads of a GPU work 32 at a time, too. Which of the five would hold them back as well?

No GPU is used. The listings that are read were recorded (listings_gcc.txt and listings_clang.txt say how); where
there is a compiler for x86-64, yours is read too.
"""

import re

REGISTERS = {"zmm": 512, "ymm": 256, "xmm": 128}  # bits
ARITHMETIC = re.compile(r"v?(?:add|sub|mul|div|min|max|fn?m(?:add|sub)\d+)([ps])([sd])")  # packed, scalar; 32, 64 bits


def parse(listing: str) -> list[tuple[int, str, str]]:
    """The instructions of a listing, as objdump prints them: "  41:\\tjne    30 <scale+0x30>". Given.

    Each is its address in the function, its name, and its operands: (0x41, "jne", "30 <scale+0x30>").
    """
    found = []
    for line in listing.splitlines():
        address, text = line.split(":", 1)
        name, _, operands = text.strip().partition(" ")
        found.append((int(address, 16), name, operands.strip()))
    return found


# Task 1
def width(instruction: tuple[int, str, str]) -> int:
    """Bits of the widest SIMD register among the operands; 0 without one."""
    raise NotImplementedError("week1/katas/simd task 1: width")


def lanes(instruction: tuple[int, str, str]) -> int:
    """Floating-point elements that the instruction computes, as ARITHMETIC knows them; 0 if it computes none."""
    raise NotImplementedError("week1/katas/simd task 1: lanes")


# Task 2
def worth(instructions: list[tuple[int, str, str]]) -> float:
    """Elements computed, over the number of instructions; 0 without any. Given."""
    return sum(map(lanes, instructions)) / max(1, len(instructions))


def hot_loop(instructions: list[tuple[int, str, str]]) -> list[tuple[int, str, str]]:
    """Of all loops the one that is worth most, from the target of its jump back to that jump; [] without any loop.

    A jump is an instruction whose name begins with j. Its operands begin with the target, in hexadecimal.
    """
    raise NotImplementedError("week1/katas/simd task 2: hot_loop")


def elements_per_instruction(listing: str) -> float:
    """Elements that an instruction of the listing's hot loop is worth; 0.0 without a loop."""
    raise NotImplementedError("week1/katas/simd task 2: elements_per_instruction")


# Task 3
def cure(listings: dict[str, str]) -> str | None:
    """The change that makes the loop worth most; of equals the first. None if it is not worth twice what it was.

    listings: those of one loop, by what was changed in it; "as it is" is among them, and may be worth 0.
    """
    raise NotImplementedError("week1/katas/simd task 3: cure")
