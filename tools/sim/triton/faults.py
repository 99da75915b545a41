"""Faults of Triton kernels: an exception, which says program and line, for what the hardware would refuse."""

import os
import sys
from types import FrameType, TracebackType

import numpy as np

from tools.models.launch import MOST_GRID
from tools.sim import faults
from tools.sim.faults import position
from tools.sim.triton.arguments import View
from tools.sim.triton.found import REAL
from tools.sim.triton.rows import came_as, end_of, indices, row_step

UNKNOWN = "Which of these places exist, and what computes them?"  # where nothing tells what went wrong
UNKNOWN_PLACE = "From what is that place computed?"
VERBS = {"load": "loads", "store": "stores", "atomic": "updates"}


class Fault(faults.Fault):
    """As every fault of a simulator; program, grid: which of how many."""

    def __init__(self, kind: str, what: str, question: str = "", **where: str | None) -> None:
        self.program, self.grid = running()
        super().__init__(faults.spot(learner_frame()), kind, what, question, **where)


def learner_frame() -> FrameType | None:
    """The innermost frame that is neither Triton's nor the simulator's: the learner's line."""
    frame: FrameType | None = sys._getframe(1)  # each access of a kernel asks: no calls in this loop
    while frame is not None:
        is_inner = _inner.get(frame.f_code.co_filename)
        if is_inner is None:
            is_inner = _inner[frame.f_code.co_filename] = _is_inner(frame.f_code.co_filename)
        if not is_inner:
            return frame
        frame = frame.f_back
    return None


def learner_line() -> int:
    """The number of that line; 0 where there is none."""
    frame = learner_frame()
    return frame.f_lineno if frame else 0


def learner_traceback() -> TracebackType | None:
    """The frames of the kernel that runs, as an exception has them that is raised at the learner's line."""
    frame, trace = learner_frame(), None
    while frame is not None and frame.f_code.co_name != "play":  # turns/launch.py, which calls kernels
        trace = TracebackType(trace, frame, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return trace


_inner: dict[str, bool] = {}  # by file


def _is_inner(file: str) -> bool:
    triton = os.path.dirname(str(sys.modules["triton"].__file__))
    return file.startswith((triton + os.sep, os.path.dirname(__file__) + os.sep))


def running() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The program that runs now and the grid, both in as many dimensions as the grid uses."""
    builder = sys.modules["triton.runtime.interpreter"].interpreter_builder
    grid = tuple(builder.grid_dim)
    used = max([axis for axis, size in enumerate(grid, start=1) if size > 1], default=1)
    return tuple(builder.grid_idx)[:used], grid[:used]


def program_name() -> str:
    """The program that runs now: "program 1 of 2", "program (0, 3) of (2, 4)"."""
    return "program {} of {}".format(*map(name, running()))


def name(program: tuple[int, ...]) -> str:
    """3, or (0, 3)"""
    return str(program[0] if len(program) == 1 else program)


# What is refused about a launch -----------------------------------------------------------------


def too_many_programs(axis: int, size: int) -> faults.Fault:
    """So many programs along an axis are more than a GPU takes. None runs: the fault is in the line of the launch."""
    what = f"The grid has {size:,} programs along axis {axis}.\nA GPU takes at most {MOST_GRID[axis]:,} there"
    question = "Could a program do the work of several?"
    if axis:
        what += f", and {MOST_GRID[0]:,} along axis 0"
        question = "Which axis should count what there may be most of?"
    return faults.Fault(faults.spot(learner_frame()), "grid", what + ".", question)


# What is refused about memory --------------------------------------------------------------------


def out_of_bounds(
    operation: str,
    view: View | None,
    addresses: np.ndarray,
    outside: np.ndarray,
    masked: bool,
    block: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> Fault:
    """Some of the `addresses` of one access, those marked `outside`, lie in no argument that it may touch.

    masked: has the access a mask, if only one that lets all through?
    block: all addresses in their shape, also those that a mask keeps out; which of them are asked for, and which of
    these lie outside.
    """
    wrong, several = addresses[outside], addresses.size > 1
    what = f"{program_name()} {VERBS[operation]} {addresses.size} element{'s' * several}; "
    what += f"{wrong.size} of them lie{'s' * (wrong.size == 1)} " if several else "it lies "
    if view is None and int(wrong[0]) < REAL:
        return Fault(
            "out_of_bounds",
            what + "in none of its arguments.\nNor is there another tensor at that address.",
            "Is the tensor whose data_ptr() this was still alive, and do the offsets stay inside it?",
            operation=operation,
        )
    if view is None:
        return Fault(
            "out_of_bounds",
            what + "in none of its arguments.",
            "Does each pointer come from an argument, with offsets counted in elements?",
            operation=operation,
        )
    before, past = (wrong < view.low).any(), (wrong >= view.low).any()
    side = "outside" if before and past else "before the start of" if before else "past the end of"
    if view.distinct < view.tensor.numel():
        what += f"{side} {view.name}.\n{_distinct(view)}"
        question = f"Does the kernel use its strides? Else {view.name}.contiguous() writes all of it out."
        return Fault("out_of_bounds", what, question, array=view.name, operation=operation)
    what += f"{side} {view.name} ({view.extent}).\n"
    what += f"{'First one' if several else 'That is'}: {element(view, int(wrong[0]))}."
    all_of_it, asked, lost = block
    question, places = _which(view, addresses, outside, before), indices(view, all_of_it, lost)
    what += came_as(view, places)
    if question in (UNKNOWN, UNKNOWN_PLACE) and (step := row_step(view, all_of_it, asked)):
        what += f" The block takes rows {step} elements apart."
        question = f"Rows of {view.name} lie {view.tensor.stride(-2)} apart. What is the number of a row multiplied by?"
    elif question == UNKNOWN and several and not masked:
        question = f"This {operation} has no mask. Which of these places exist?"
    elif question == UNKNOWN:
        question = end_of(view, places) or UNKNOWN
    return Fault("out_of_bounds", what, question, array=view.name, operation=operation)


def _distinct(view: View) -> str:
    """Of a view that repeats its elements, as an expanded one does."""
    is_are, it_them = ("is", "it") if view.distinct == 1 else ("are", "them")
    return f"Of its {view.extent} {view.distinct} {is_are} in memory; a stride of 0 repeats {it_them}."


def _which(view: View, addresses: np.ndarray, outside: np.ndarray, before: bool) -> str:
    """A question for an access that left a view. What it says of blocks has been checked."""
    if before:
        return "Which index is negative, and in which program?"
    program, grid = running()
    if addresses.size > 1 and len(grid) == view.tensor.dim() == 1 and _is_block(view, addresses, program[0]):
        if outside.all():
            return "None of its elements exists. Is this program needed, and does it start where it should?"
        if program[0] == grid[0] - 1:
            return "The last block is partly empty. Which of its positions exist?"
    if outside.all():
        memory = view.storage + view.tensor.untyped_storage().nbytes()
        if view.storage <= int(addresses.min()) and int(addresses.max()) < memory:
            return f"A GPU would not notice: {view.name} is a part of a tensor. Is that one meant? Then pass it."
        return UNKNOWN_PLACE
    return UNKNOWN


def _is_block(view: View, addresses: np.ndarray, program: int) -> bool:
    """Is it a block of neighbours, and the one of this number if all blocks are equally long?"""
    size = view.tensor.element_size()
    first = (int(addresses.flat[0]) - view.low) // size
    return first == program * addresses.size and bool((np.diff(addresses.ravel().astype(np.int64)) == size).all())


def too_many_values(places: int, values: int) -> Fault:
    """An atomic is given a block, and one pointer."""
    where = "one place" if places == 1 else f"{places} places"
    return Fault(
        "values",
        f"{program_name()} updates {where} with {values} values.",
        "Should the pointers be a block too, or the values become one number?",
        operation="atomic",
    )


def misaligned(operation: str, view: View, addresses: np.ndarray, size: int) -> Fault:
    """An element of `size` bytes begins at an address that is no multiple of it."""
    first = int(addresses[addresses % size != 0][0]) - view.low
    return Fault(
        "misaligned",
        f"It {VERBS[operation]} {size} bytes at a time, but one begins {first} bytes into {view.name}.",
        f"The hardware wants multiples of {size} there. Is an offset counted in another type's elements?",
        array=view.name,
        operation=operation,
    )


def wiped_out(view: View, address: int, other: int, operation: str) -> Fault:
    """Of this program and number `other`, one stores to this address what the other one updates."""
    program, grid = running()
    storing, updating = [program, position(other, grid)][:: 1 if operation == "store" else -1]
    return Fault(
        "overlap",
        f"program {name(storing)} stores {element(view, address)} of {view.name}, and program {name(updating)} "
        "updates it.\nThey run at the same time, so the store may wipe the update out.",
        "What should the element hold before the launch?",
        array=view.name,
        operation=operation,
    )


def overlap(view: View, address: int, other: int, operation: str = "store") -> Fault:
    """Program number `other` stored to this address before."""
    program, grid = running()
    first, second = map(name, sorted([program, position(other, grid)]))
    return Fault(
        "overlap",
        f"programs {first} and {second} both store {element(view, address)} of {view.name}.",
        "They run at the same time, so either may come last. Whose element is it?",
        array=view.name,
        operation=operation,
    )


def element(view: View, address: int) -> str:
    """element 1025, or element [3, 0]"""
    index = view.index(address)
    if index is None:
        return f"{address - view.low} bytes from its start"
    return f"element {index[0] if len(index) == 1 else index}"
