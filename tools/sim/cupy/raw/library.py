"""A compiled module in this process: the runtime's functions and structures, and the lines of its code."""

import ctypes as c
import functools
import re
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.sim.cupy.raw import doubles

FINISHED, MORE, FULL, FAULT = range(4)  # what simt_run gives
REFUSALS = """
    out_of_bounds misaligned read_only uninitialised race divergent_barrier stuck not_itself two_masks nobody_gives
    index_refused division stack_overflow too_much_shared assertion trap endless_loop no_memory crash
    deadlock not_cooperative grid_missed whole_warp misused in_flight endless_phase
""".split()
OPERATIONS = ("load", "store", "atomic")
SPACES = ("global", "shared")
TALLIES = (  # what the runtime adds up by place
    "lanes",  # that entered a basic block
    "barriers",  # warps that came to one
    "products",  # floating-point or integer operations of products of matrices
)
FLOW = ("instructions", "lanes", "branches", "divergent_branches")


def _fields(text: str) -> list[tuple[str, Any]]:
    """The fields of a structure, a line for each type: its name in ctypes, and those of the fields."""
    lines = filter(None, map(str.split, text.splitlines()))
    return [(name, getattr(c, f"c_{kind}")) for kind, *names in lines for name in names]


class Parameter(c.Structure):
    """See cpp/cuda/simt/runtime.h."""

    _fields_ = _fields("uint size\n char kind\n uint element_size\n char element_kind\n bool read_only")


class Kernel(c.Structure):
    """See cpp/cuda/simt/runtime.h."""

    _fields_ = [*_fields("void_p call function\n uint count"), ("parameters", c.POINTER(Parameter))]


class Fault(c.Structure):
    """See cpp/runtime/interface.h."""

    _fields_ = [
        *_fields("int32 refusal operation\n uint64 place other_place\n uint32 thread other_thread"),
        *((name, c.c_uint32 * 3) for name in ("block", "other_block")),
        *_fields(
            "int32 of_blocks other_operation\n int64 offset size array_size element number\n int32 earlier by_rows"
        ),
        *_fields("int64 start stride"),
        *(("array", c.c_char * 64), ("text", c.c_char * 192)),
    ]


class Rows(c.Structure):
    """See cpp/runtime/interface.h."""

    _fields_ = [
        *_fields("uint64 place\n int32 operation space\n int64 size\n uint64 count"),
        ("addresses", c.POINTER(c.c_int64)),
    ]


class Flow(c.Structure):
    """See cpp/runtime/interface.h."""

    _fields_ = [(name, c.c_uint64) for name in FLOW]


_THREE, _COUNTS = c.POINTER(c.c_uint32), c.POINTER(c.c_uint64)
SIGNATURES: dict[str, tuple] = {
    "simt_argument": (c.c_void_p, c.c_char_p, c.c_void_p, c.c_size_t, c.c_int64, c.c_size_t, c.c_bool),
    "simt_begin": (c.c_bool, c.POINTER(Kernel), _THREE, _THREE, c.c_size_t, *[c.c_bool] * 3, c.POINTER(c.c_void_p)),
    "simt_run": (c.c_int, c.c_uint64),
    "simt_static_shared": (c.c_uint64,),
    "simt_progress": (c.c_uint64,),
    "simt_give_up": (None,),
    "simt_fault": (c.POINTER(Fault),),
    "simt_missing": (None, c.POINTER(c.c_uint8)),
    "simt_waiting": (None, _THREE),
    "simt_changed": (c.c_void_p, c.c_size_t),
    "simt_end": (None,),
    "simt_rows": (c.c_bool, c.c_size_t, c.POINTER(Rows)),
    "simt_forget_rows": (None,),
    "simt_flow": (None, c.POINTER(Flow)),
    "simt_tally": (c.c_size_t, c.c_int, _COUNTS, _COUNTS, c.c_size_t),
    "simt_variable": (c.c_void_p, c.c_char_p, c.POINTER(c.c_size_t)),
}


class Library:
    """The functions of the runtime are attributes. lock: one launch at a time."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, file: Path) -> None:
        self.file = file
        self.lock = threading.Lock()
        self._loaded = c.CDLL(str(file))
        for name, (result, *arguments) in SIGNATURES.items():
            function = getattr(self._loaded, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self._lines: dict[int, int] = {}

    def kernel(self, number: int) -> Kernel:
        return Kernel.in_dll(self._loaded, f"simt_kernel_{number}")

    def exports(self, name: str) -> bool:
        """Has the module a function of this name, not mangled?"""
        return hasattr(self._loaded, name)

    def tally(self, what: str) -> dict[int, int]:
        """By place, since the launch began, one of TALLIES."""
        number = TALLIES.index(what)
        size = self.simt_tally(number, None, None, 0)
        places, counts = (c.c_uint64 * size)(), (c.c_uint64 * size)()
        self.simt_tally(number, places, counts, size)
        return dict(zip(places, counts))

    @functools.cached_property
    def doubles(self) -> list[doubles.Work]:
        """The instructions that work with double, or convert."""
        return doubles.work(self.file)

    def line(self, place: int) -> int:
        """Number of the source line of a place in the code; 0 if it is not the learner's."""
        return self.lines([place])[0]

    def lines(self, places: Iterable[int]) -> list[int]:
        """The source lines of several places."""
        places = list(places)
        new = [place for place in dict.fromkeys(places) if place not in self._lines]
        if new:
            self._lines |= zip(new, _lines(self.file, new))
        return [self._lines[place] for place in places]


def _lines(file: Path, places: list[int]) -> list[int]:
    calls = [hex(place - 1) for place in places]  # a place is where a call returns to; the call lies before
    told = subprocess.run(["addr2line", "-e", file, *calls], capture_output=True, text=True, check=True).stdout
    found = (re.search(r"kernel\.cu:(\d+)", line) for line in told.splitlines())
    return [int(match[1]) if match else 0 for match in found]


library = functools.cache(Library)  # loading a file twice gives the same memory
