"""Refused accesses: a better question than the simulator's own, from its words and the source line.

Only what it said crosses from a lesson's process, so the facts are read from its words.
"""

import re

import numpy as np

from tools.check.diagnosis.of_values import VALUES, first_cause
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause

OVERLAP = re.compile(r"programs (\d+) and (\d+) both store element (\d+) of (\w+)")
PAST = re.compile(
    r"(\d+) of them lies? past the end of (\w+) \((\d+) elements?\)\.\s+"
    r"First one: element (\d+)"
)
OUTSIDE = re.compile(r"(?:past the end|before the start) of (\w+) \((\d+)[^)]*\)\.\s+First one: element \[?(-?\d+)")
BEYOND = re.compile(r"past the end|before the start|lies? outside|; (?:it|axis \d+) has \d+|out of bounds")
PLACE = r"(\d+|\(.+?\))"  # 3, or (3, 1)
RACE = re.compile(
    rf"line (\d+): .* thread {PLACE} of block {PLACE} writes (element (?:\d+|\[.+?\])) of (\w+), "
    rf"which thread {PLACE} of block {PLACE} wrote in line \1\."
)

ACCUMULATOR = "acc.type.element_ty == out_dtype"  # tl.dot asserts it
ADDED_TO = re.compile(r"tl\.dot\([^(),]+, [^(),]+, (?:acc=)?([A-Za-z_]\w*)[,)]")
SUMMED = re.compile(r"tl\.sum\((.+), (?:axis=)?([01])\)")
UNEQUAL = re.compile(r"incompatible dimensions at index 0: (\d+) and (\d+)")
SHAPE = re.compile(r"(\w+) is \[([\d, ]+)\]")
BLOCK = r"(\[(?:[^][]|\[\d+\])*\])"  # ['constexpr[4]', 'constexpr[2]']
ANOTHER_SHAPE = re.compile(rf"pointer argument to have shape {BLOCK} but got {BLOCK}")
TOO_LARGE = re.compile(r"exceeds triton maximum tensor numel \((\d+)\)")
PASSED_ON = re.compile(
    rf"line (\d+): \S*atomic\..* thread {PLACE} of block {PLACE} reads element 0 of \w+, which thread 0 of block"
)


def said(symptoms: Symptoms) -> str:
    """In one line, wherever its lines were broken."""
    return " ".join(symptoms.outcome.error.message.split())


def same_block(symptoms: Symptoms) -> Cause | None:
    """A program other than the first stores element 0."""
    if not (found := OVERLAP.search(said(symptoms))) or int(found[3]):
        return None
    if getattr(symptoms.ask(*symptoms.args), "size", 0) == 1:
        return cause(
            "same_element",
            f"One number is wanted, and programs {found[1]} and {found[2]} both store element 0 of {found[4]}.",
            "Should one of them, or which operation loses nothing of either?",
        )
    return cause(
        "same_block",
        f"Program {found[2]} stores element 0, as program {found[1]} does.",
        "What does each program do differently?",
    )


def blocks_overlap(symptoms: Symptoms) -> Cause | None:
    if not (found := OVERLAP.search(said(symptoms))):
        return None
    return cause(
        "blocks_overlap",
        f"Element {found[3]} of {found[4]} keeps one of the two stores.",
        f"Where should the block of program {found[2]} begin? Or has each a part of the element: what adds parts up?",
    )


def same_in_every_block(symptoms: Symptoms) -> Cause | None:
    """Threads of one number in two blocks store the element of that number."""
    if not (found := RACE.search(said(symptoms))) or found[2] != found[6] or found[4] != f"element {found[2]}":
        return None
    return cause(
        "same_in_every_block",
        f"Thread {found[2]} of both blocks takes {found[4]} of {found[5]}.",
        "What tells a thread which block it is in?",
    )


def threads_overlap(symptoms: Symptoms) -> Cause | None:
    """Two threads store one element, by the same line."""
    if not (found := RACE.search(said(symptoms))):
        return None
    return cause(
        "threads_overlap",
        f"{found[4].capitalize()} of {found[5]} can be only one thread's own.",
        "Which should store it? Or has each its own: from where on, in which steps?"
        if found[5] in (*symptoms.names, "out") or found[3] != found[7]
        else "Which threads of a block should fill it, and which element is each one's?",  # it is shared memory
    )


def all_pass_it_on(symptoms: Symptoms) -> Cause | None:
    """A further thread adds element 0, the result of its block, by an atomic."""
    if not (found := PASSED_ON.search(said(symptoms))):
        return None
    return cause(
        "all_pass_it_on",
        f"Line {found[1]} is an atomic, and thread {found[2]} comes to it too.",
        "How many threads of the block need to come to that line?",
    )


def sum_of_another_type(symptoms: Symptoms) -> Cause | None:
    """tl.dot refuses what it should add to, in Triton's words."""
    error = symptoms.outcome.error
    if ACCUMULATOR not in said(symptoms) or not error.frames:
        return None
    found = ADDED_TO.search(error.frames[-1].source)
    acc = found[1] if found else "what it adds to"
    return cause(
        "sum_of_another_type",
        f"{acc} must have the product's shape, in float32; of integers in int32.",
        f"Which line makes {acc}, and of which type?",
    )


def summed_along_the_other_axis(symptoms: Symptoms) -> Cause | None:
    """The sums of a tile's rows are wanted, or those of its columns, and the line adds up the others."""
    error = symptoms.outcome.error
    message, source = said(symptoms), error.frames[-1].source if error.frames else ""
    if not (found := SUMMED.search(source)) or not (lengths := UNEQUAL.search(message)):
        return None
    axis, meet = int(found[2]), {int(each) for each in lengths.groups()}
    shapes = {name: [int(each) for each in shape.split(", ")] for name, shape in SHAPE.findall(message)}
    tiles = [name for name, shape in shapes.items() if len(shape) == 2 and re.search(rf"\b{name}\b", found[1])]
    outside = source[: found.start(1)] + source[found.end(1) :]
    sums = [name for name, shape in shapes.items() if len(shape) == 1 and re.search(rf"\b{name}\b", outside)]
    if len(tiles) != 1 or len(sums) != 1 or set(shapes[tiles[0]]) != meet:
        return None
    added, left = shapes[tiles[0]][axis], shapes[tiles[0]][1 - axis]
    if shapes[sums[0]] != [added]:
        return None
    each = ("column", "row")[axis]
    return cause(
        "summed_along_the_other_axis",
        f"Along axis {axis} {tiles[0]} adds up to [{left}], one for each {each}; {sums[0]} is [{added}].",
        "Which axis is added up, and which one is left?",
    )


def stored_in_another_shape(symptoms: Symptoms) -> Cause | None:
    """tl.store is given more values than pointers, in Triton's words."""
    if not (found := ANOTHER_SHAPE.search(said(symptoms))):
        return None
    values, places = (f"[{', '.join(re.findall(r'[0-9]+', shape))}]" for shape in found.groups())
    return cause(
        "stored_in_another_shape",
        f"The values, with the mask, are {values}; the places for them are {places}.",
        "Which line gave the values that shape?",
    )


def larger_than_any_tile(symptoms: Symptoms) -> Cause | None:
    """A tile with more elements than Triton takes, in Triton's words."""
    if not (found := TOO_LARGE.search(said(symptoms))):
        return None
    return cause(
        "larger_than_any_tile",
        f"Triton takes no tile of more than {found[1]} elements.",
        "Which length of this one grows with the arguments?",
    )


def one_too_many(symptoms: Symptoms) -> Cause | None:
    """A single element too many, the one right behind the last."""
    if not (found := PAST.search(said(symptoms))) or int(found[1]) != 1 or found[3] != found[4]:
        return None
    return cause(
        "one_too_many",
        f"{found[2]} has {found[3]} elements, and the first is element 0.",
        f"Is element {found[4]} one of them?",
    )


def index_from_data(symptoms: Symptoms) -> Cause | None:
    """The row that does not exist is one that an argument asks for."""
    if not (found := OUTSIDE.search(said(symptoms))):
        return None
    row, rows = int(found[3]), int(found[2])
    for name, arg in zip(symptoms.names, symptoms.args):
        is_index = isinstance(arg, np.ndarray) and arg.dtype.kind in "iu" and not _holds_ends(arg, rows)
        if is_index and name != found[1] and (arg == row).any():
            return cause(
                "index_from_data",
                f"{name} holds {row}, and {found[1]} goes from 0 to {rows - 1}.",
                f"Which numbers in {name} may be used?",
            )
    return None


def _holds_ends(numbers: np.ndarray, rows: int) -> bool:
    """Are these the places where parts of an array begin, and the last one ends? That is its length, and no index."""
    return numbers.ndim == 1 and numbers[-1:].tolist() == [rows] and bool((np.diff(numbers) >= 0).all())


def mask_lets_through(symptoms: Symptoms) -> Cause | None:
    """There is a mask on that very line."""
    frames = symptoms.outcome.error.frames
    if not (found := PAST.search(said(symptoms))) or not frames or "mask=" not in frames[-1].source:
        return None
    return cause(
        "mask_lets_through",
        f"Element {found[4]} does not exist, and the mask lets it through.",
        "What does the mask compare, and with what?",
    )


def _square(matrix: np.ndarray, side: int) -> np.ndarray:
    """Its first rows and columns, contiguous if it is; of any other its strides stay, which may be what is misread."""
    square = matrix[:side, :side]
    return square.copy() if matrix.flags.c_contiguous else square


def right_when_square(symptoms: Symptoms) -> Cause | None:
    """Why an access left a matrix: a square one shows it, where the same mistake stays inside."""
    tables = [arg for arg in symptoms.args if isinstance(arg, np.ndarray) and arg.ndim == 2]
    if not BEYOND.search(said(symptoms)):  # of another refusal a smaller matrix tells nothing
        return None
    if not tables or len({arg.shape for arg in tables}) != 1 or len(set(tables[0].shape)) == 1:
        return None
    side = min(tables[0].shape)
    args = tuple(_square(arg, side) if isinstance(arg, np.ndarray) and arg.ndim == 2 else arg for arg in symptoms.args)
    square = symptoms.compare(args)
    if square.got is None or square.want is None or square.want.size < 4:
        return None
    if symptoms.is_right(square):
        return cause(
            "row_length",
            f"Given only {side} rows and columns, a square, it is right.",
            "Which of the two lengths is that of a row?",
        )
    found = first_cause(VALUES, symptoms.instead(square))
    seen = f"For the first {side} rows and columns alone nothing is refused, but:"
    return found and Cause(found.name, f"{seen}\n{found.words}")
