"""First reads of loops around atomicCAS, as in `int old = *p;`: a guess, which the swap checks.

What other threads swap in meanwhile does no harm to it, though plain; so the CUDA C++ Programming Guide writes it.
"""

from collections.abc import Iterator, Sequence

FUNCTION = ("__global__", "__device__", "__host__")  # words that stand before a function
COMPOUND = tuple("=!<>+-*/%&|^")  # of these before it, = makes another operator


def guess(words: Sequence[str], number: int) -> tuple[int, int] | None:
    """The first and the last token of the nearest such read before the atomicCAS of this number; None without one.

    words: the texts of all tokens.
    """
    values = [*_values(_first_argument(words, number + 2))] if words[number + 1 : number + 2] == ["("] else []
    for place in range(number - 1, 0, -1):
        if words[place] in FUNCTION:
            return None
        if words[place] != "=" or words[place - 1] in COMPOUND:
            continue
        for value in values:
            end = place + 1 + len(value)
            if [*words[place + 1 : end]] == value and words[end] in (";", ","):
                return place + 1, end - 1
    return None


def _first_argument(words: Sequence[str], start: int) -> list[str]:
    depth, argument = 0, []
    for word in words[start:]:
        depth += (word in "([{") - (word in ")]}")
        if depth < 0 or depth == 0 and word == ",":
            break
        argument.append(word)
    return argument


def _values(pointer: list[str]) -> Iterator[list[str]]:
    """Ways to write what a pointer points to."""
    if pointer[:1] == ["&"]:
        yield pointer[1:]
        return
    yield ["*", *pointer]
    yield ["*", "(", *pointer, ")"]
    yield [*pointer, "[", "0", "]"]
    if "+" in pointer:
        place = pointer.index("+")
        yield [*pointer[:place], "[", *pointer[place + 1 :], "]"]
