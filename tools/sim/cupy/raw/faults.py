"""Faults of a CUDA C++ kernel in words, from what the runtime noted."""

import ctypes
import math
from dataclasses import dataclass

import numpy as np

from tools.models.units import WARP
from tools.sim import faults
from tools.sim.cupy.arrays import launches
from tools.sim.cupy.raw import fault_texts, library
from tools.sim.cupy.raw.origin import Origin
from tools.words import plural, wrapped

DOES = {"load": "reads", "store": "writes", "atomic": "updates"}
DID = {"load": "read", "store": "wrote", "atomic": "updated"}
RACES = {(False, True): "write-after-read", (True, False): "read-after-write", (True, True): "write-after-write"}
KINDS = fault_texts.KINDS | {
    "stuck": "warp_mask",
    "not_itself": "warp_mask",
    "two_masks": "warp_mask",
    "nobody_gives": "shuffle",
    "index_refused": "out_of_bounds",
    "crash": "out_of_bounds",
    "assertion": "device_assert",
}

# What happened, and the question that leads to the cause. In braces: what Report._words says about the note.
TEXTS = fault_texts.TEXTS | {
    "out_of_bounds": (
        "{who} {verb} {element}; it has {extent}.",
        "Which threads have an element? The others must not touch the array.",
    ),
    "outside": (
        "{who} {verb} {size} bytes where no array lies.",
        "Does the pointer come from an argument, and is it moved by elements?",
    ),
    "index_refused": (
        "{who} takes element {number} of an array of type {text}.",
        "Its first element has the index 0. Which index goes too far?",
    ),
    "crash": ("{who} uses an address {where}.", "Which pointer or index leads there?"),
    "misaligned": (
        "{who} {verb} {size} bytes at a time, but they begin {offset} bytes into {array}.",
        "The hardware wants multiples of {size} there. Is every part of the index one?",
    ),
    "read_only": ("{who} stores to {array}, which is constant.", "Where should the result go?"),
    "uninitialised": (
        "{who} reads {element}, to which nothing was stored.",
        "Which thread fills it, and when? Or should this one not read?",
    ),
    "too_much_shared": (
        "Here the kernel has declared {number:,} bytes of shared memory; 49,152 are allowed.",
        "More must be dynamic: extern __shared__, and shared_mem= at the launch.",
    ),
    "division": ("{who} divides by 0.", "A GPU goes on with a meaningless number. Which divisor can be 0?"),
    "stack_overflow": (
        "{who} has no stack left.",
        "What ends the recursion, or are there very large arrays in its functions?",
    ),
    "assertion": ("{who} asserts {text}, which is not so.", ""),
    "trap": ("{who} calls __trap.", ""),
    "endless_loop": (
        "{who} is still here after {patience:g} seconds.",
        "What should end its loop? A value that others store must be read as volatile.",
    ),
    "deadlock": (
        "{who} waits here for ever: nobody changes what it looks at.\n{everyone}.",
        "Who should change it, and what keeps that thread from it?",
    ),
    "not_cooperative": (
        "{who} waits for the whole grid by {text}, in a launch that is\nnot cooperative: a GPU ends it with an error.",
        "cupy.RawKernel(..., enable_cooperative_groups=True) lets all blocks run at once.",
    ),
    "grid_missed": (
        "{who} waits here for all blocks by {text}, but {ended}.",
        "Which condition keeps some of them from it?",
    ),
    "stuck": (
        "{who} names lanes that are not here.\nThe mask of {text} is {mask}; {missing} would be waited for, and "
        "{present} came.",
        "Should all of them call it? Else {remedy}.",
    ),
    "not_itself": (
        "{who} calls {text} with a mask that leaves it out.\nIt is lane {lane} of its warp; the mask is {mask}.",
        "A mask names the lane itself and those it works with. Which lanes come here?",
    ),
    "two_masks": (
        "{who} calls {text} with the mask {mask}, and {other} with {other_mask}.",
        "Lanes that work together pass one mask. Which lanes are they?",
    ),
    "nobody_gives": (
        "{who} reads a value that nobody gives.\nLane {lane} of its warp asks lane {number} by {text}; {members} came.",
        "What keeps lane {number} from coming: a condition, a return, the block's size?",
    ),
    "divergent_barrier": (
        "{who} waits here, but {absent}.",
        "A barrier is for all threads of a block. Which condition keeps some from it?",
    ),
}


@dataclass(frozen=True)
class Scene:
    """The launch of a fault. grid, block: sizes. patience: seconds that a block may take."""

    loaded: library.Library
    origin: Origin
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    patience: float

    def fault(self) -> Exception:
        """The exception for what the runtime noted last."""
        return Report(self, self.loaded.simt_fault()[0]).exception()

    def spot(self, place: int) -> faults.Spot:
        return self.origin.spot(self.loaded.line(place), self.kernel)


class Report:
    """One note of the runtime."""

    def __init__(self, scene: Scene, note: library.Fault) -> None:
        self.scene, self.note = scene, note
        self.refusal = library.REFUSALS[note.refusal]
        self.array, self.text = note.array.decode(errors="replace"), note.text.decode(errors="replace")

    def exception(self) -> Exception:
        if self.refusal == "no_memory":
            return MemoryError(f"The host has no memory for the shared arrays and threads of {self.scene.kernel}.")
        what, question = self._race() if self.refusal == "race" else self._told()
        thread, place, operation = self._parties()[-1]
        return faults.ThreadFault(
            self.scene.spot(place),
            KINDS.get(self.refusal, self.refusal),
            "\n".join(wrapped(what)),
            question,
            block=tuple(self.note.block),
            thread=self._position(thread),
            index=self.note.offset // self.note.element if self.note.element else None,
            array=self.array or None,
            operation=operation if self.array else None,
        )

    def _told(self) -> tuple[str, str]:
        if self.refusal == "misused":
            return fault_texts.misused(self._name(self.note.thread), self.text)
        refusal = "outside" if self.refusal == "out_of_bounds" and not self.array else self.refusal
        if refusal == "stuck" and self.text.startswith(fault_texts.OF_WHOLE_WARPS):
            refusal = "whole_warp"
        words = self._words(refusal)
        what, question = TEXTS[refusal]
        if fragment := fault_texts.of_fragment(refusal, self.note, self.array):
            begins, question = fragment
            what = f"{what}\n{begins}"
        return what.format_map(words), question.format_map(words)

    def _words(self, refusal: str) -> dict[str, object]:
        note, bits = self.note, [lane for lane in range(WARP) if self.note.number >> lane & 1]
        words: dict[str, object] = {
            "who": self._name(note.thread),
            "other": self._name(note.other_thread),
            "verb": launches.VERBS[library.OPERATIONS[note.operation]],
            "lane": note.thread % WARP,
            **{name: getattr(note, name) for name in ("size", "number", "offset")},
            **{"array": self.array, "text": self.text, "patience": self.scene.patience},
            **{"mask": f"{note.number:#010x}", "other_mask": f"{note.size:#010x}"},
            "members": _lanes([lane for lane in range(WARP) if note.size >> lane & 1]),
            "where": f"{note.offset} bytes from the start of {self.array}" if self.array else "where no array lies",
        }
        if note.element:
            words["element"], words["extent"] = self._element()
        if refusal == "deadlock":
            words["everyone"] = self._everyone()
        if refusal == "grid_missed":
            words["ended"] = f"{note.number:,} of them {'have' if note.number > 1 else 'has'} ended"
        if refusal == "in_flight":
            words["line"] = self.scene.spot(note.other_place).line
            words["other"] = "it" if note.other_thread == note.thread else self._name(note.other_thread)
        if self.refusal == "whole_warp":
            words["missing"] = _lanes([lane for lane in range(WARP) if lane not in bits])
        if self.refusal == "stuck":
            words["remedy"] = "__ballot_sync before the branch gives a mask"
            if not self.text.startswith("__"):
                words["remedy"] = "coalesced_threads() is the group of a branch"
            missing = [thread % WARP for thread in self._missing()]
            words["missing"], words["present"] = _lanes(missing), _lanes([each for each in bits if each not in missing])
        if refusal == "divergent_barrier":
            absent = self._missing()
            threads, comes = plural("thread", len(absent)), "come" if len(absent) > 1 else "comes"
            who = f"{len(absent)} {threads} of its block never {comes}:\n{threads} {faults.ranges(absent)}"
            words["absent"] = who + self._elsewhere(absent)
        return words

    def _elsewhere(self, absent: list[int]) -> str:
        """Where those who do not come wait instead; and what a GPU does where whole warps are at another barrier."""
        here = set(range(math.prod(self.scene.block))) - set(absent)
        may_pass = not {thread // WARP for thread in here} & {thread // WARP for thread in absent}
        places = np.zeros(math.prod(self.scene.block), np.uint32)
        self.scene.loaded.simt_waiting(places.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32)))
        lines = {self.scene.spot(place).line if place else 0 for place in places[absent].tolist()}
        if len(lines) == 1 and (line := lines.pop()) not in (0, self.scene.spot(self.note.place).line):
            wait = "They wait" if len(absent) > 1 else "It waits"
            said = f". {wait} in line {line}, and two lines are two barriers"
            return said + ".\nA GPU may let it pass; CUDA promises nothing" * may_pass
        return ".\nA GPU may let it pass if they wait at another barrier; CUDA promises nothing" * may_pass

    def _everyone(self) -> str:
        """What the others do in a deadlock. The note's number: of the first block that has not begun, 0 if all have."""
        if not self.note.number:
            return "All other threads wait, too, or have ended"
        z, y, x = (int(each) for each in np.unravel_index(self.note.number, self.scene.grid[::-1]))
        where = faults.shown((x, y, z), self.scene.grid)
        return f"A GPU runs {self.note.number:,} of these blocks at a time; block {where} begins when one has ended"

    def _race(self) -> tuple[str, str]:
        (first, place, before), (second, there, after) = self._parties()
        line = self.scene.spot(place).line
        same_warp = first // WARP == second // WARP
        why = "Neither a barrier nor a __syncwarp lies" if same_warp else "No barrier lies"
        why, earlier = f"{why} between the two.", self._name(first)
        if self.note.of_blocks:
            why, earlier = "Blocks run in any order.", self._name(first, self.note.other_block)
        kind = RACES[before != "load", after != "load"]
        remedy = "A GPU lets equal values pass." if before == after == "store" else "What puts them in order?"
        if before == after == "store" and line == self.scene.spot(there).line:
            why = "No barrier, no __syncwarp lies between." if why.startswith("Neither") else why  # in one line
            why, remedy = f"{why[:-1]}; a GPU lets equal values pass.", "Which should not store there?"
        return (
            f"{self._name(second)} {DOES[after]} {self._element()[0]},\nwhich {earlier} {DID[before]} in "
            f"line {line}.\n{why}",
            f"A {kind} race: either may come first. {remedy}",
        )

    def _missing(self) -> list[int]:
        """Numbers of the threads that the one of the note waits for in vain."""
        flags = np.zeros(np.prod(self.scene.block), np.uint8)
        self.scene.loaded.simt_missing(flags.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)))
        return np.flatnonzero(flags).tolist()

    def _parties(self) -> list[tuple[int, int, str]]:
        """Thread, place and operation of those who are involved; of a race, the earlier one first."""
        note = self.note
        mine = note.thread, note.place, library.OPERATIONS[note.operation]
        other = note.other_thread, note.other_place, library.OPERATIONS[note.other_operation]
        if self.refusal != "race":
            return [mine]
        return [mine, other] if note.earlier else [other, mine]

    def _position(self, thread: int) -> tuple[int, int, int]:
        x, y, _ = self.scene.block
        return thread % x, thread // x % y, thread // (x * y)

    def _name(self, thread: int, block: tuple[int, ...] = ()) -> str:
        where = faults.shown(tuple(block or self.note.block), self.scene.grid)
        return f"thread {faults.shown(self._position(thread), self.scene.block)} of block {where}"

    def _element(self) -> tuple[str, str]:
        """element 5 of x, and how many it has; or bytes 6 to 9, where these are no whole elements"""
        note, unit, name = self.note, self.note.element, "element"
        if note.offset % unit or note.size % unit:
            unit, name = 1, "byte"
        first, count = note.offset // unit, note.size // unit
        which = f"{name} {first}" if count == 1 else f"{name}s {first} to {first + count - 1}"
        return f"{which} of {self.array}", f"{note.array_size // unit}{' bytes' * (name == 'byte')}"


def _lanes(numbers: list[int]) -> str:
    """lane 5, or lanes 0 to 15, 20"""
    return f"{plural('lane', len(numbers))} {faults.ranges(numbers)}" if numbers else "no lane"
