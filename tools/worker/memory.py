"""The memory that a call needs beyond its arguments, measured where it runs."""

import gc
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tools import gpu
from tools.worker import alive
from tools.worker.alive import Held, Moment
from tools.worker.origin import module_of


class NotMeasured(Exception):
    """A figure that this call has none of."""


@dataclass(repr=False)
class Memory:
    """Bytes of tensors that one call made. Arguments do not count, nor does what an operation needs inside itself.

    peak: the most that were alive at one time during the call, its result among them.
    kept: those alive after it beside its result: what the lesson keeps for another call, and what a result with a
        grad_fn keeps for the backward.
    made: those of all tensors that were made, alive at one time or one after the other.
    largest: the largest tensor that was made: its `bytes`, `shape`, `dtype`, and the `line` and `source` that made it.
    at_peak, left: the tensors that were alive at the peak, and those that were left: the largest of them first.
    each_made: the tensors that were made, and how often: those of most bytes together first.
    call: the call itself, for failures.
    """

    peak: int
    kept: int
    largest: Held
    at_peak: tuple[Held, ...]
    left: tuple[Held, ...]
    after_forward: Moment | None
    made: int
    each_made: tuple[tuple[Held, int], ...]
    call: Any = field(default=None, compare=False)

    def __repr__(self) -> str:  # short: pytest shows it in an assertion that fails
        return f"<memory: {self.peak:,} bytes at the peak>"

    @property
    def saved(self) -> int:
        """Of `gradients(f)`: the bytes alive between forward and backward, beside arguments and result."""
        if self.after_forward is None:
            raise NotMeasured("saved is what waits for a backward: ask for memory(gradients(f), ..., d_out=...).")
        return self.after_forward.bytes

    def to_plain(self) -> tuple:
        after = None if self.after_forward is None else _plain(self.after_forward)
        at_peak, kept = Moment(0, self.at_peak), Moment(self.kept, self.left)
        made = self.made, [(*held, times) for held, times in self.each_made]
        return self.peak, _plain(at_peak), _plain(kept), after, made, (*self.largest,)

    @classmethod
    def from_plain(cls, plain: Any) -> "Memory":
        """Any exception means that it was none."""
        peak, at_peak, kept, after, (made, each), largest = plain
        (_, at), (left_bytes, left) = _moment(at_peak), _moment(kept)
        saved = None if after is None else _moment(after)
        each_made = tuple((_held(held), _whole(times)) for *held, times in each)
        return cls(_whole(peak), left_bytes, _held(largest), at, left, saved, _whole(made), each_made)


def _plain(moment: Moment) -> tuple:
    return moment.bytes, [(*held,) for held in moment.tensors]


def _moment(plain: Any) -> Moment:
    size, tensors = plain
    return Moment(_whole(size), tuple(map(_held, tensors)))


def _held(plain: Any) -> Held:
    match tuple(plain):
        case (int(), tuple(), str(), int(), str(), str()):
            return Held(*plain)
    raise ValueError("no tensor is described like this")


def _whole(number: Any) -> int:
    if type(number) is not int:
        raise ValueError("no number of bytes")
    return number


def measure(function: Callable, args: tuple, kwargs: dict) -> Memory:
    """The memory that function(*args, **kwargs) needs, of a function of this process. Raises what it raises.

    On a GPU the peak is that of PyTorch's allocator, which rounds each tensor up to 512 bytes. A first call is
    made then: it compiles, tries configurations, and lets libraries allocate what they keep.
    """
    import torch  # noqa: F401  what is watched is PyTorch's

    on_gpu = gpu.card() is not None
    before = _watched(function, args, kwargs) if on_gpu else None
    base = _begin_on_gpu() if on_gpu else 0
    found = _watched(function, args, kwargs)
    if before is not None:
        found.peak = max(0, _peak_on_gpu() - base)
        found.kept, found.left = before.kept, before.left  # a second call does not make what the first one keeps
    return found


def device() -> str:
    """The kind of memory that counts."""
    return gpu.device


def _watched(function: Callable, args: tuple, kwargs: dict) -> Memory:
    file = getattr(sys.modules.get(module_of(function)), "__file__", None)
    collecting = gc.isenabled()
    gc.disable()  # when it runs is luck, and decides what is alive
    try:
        with alive.watched([os.path.realpath(file)] if file else [], (args, kwargs), device()) as watch:
            result = function(*args, **kwargs)
        if watch.now(beside=result).bytes:
            gc.collect()  # what only points at itself is not kept
        peak, left = watch.at_peak(), watch.now(beside=result)
    finally:
        if collecting:
            gc.enable()
    each_made = watch.each_made.items()
    made = sum(held.bytes * times for held, times in each_made)
    told = tuple(sorted(each_made, key=lambda each: -each[0].bytes * each[1])[: alive.MOST])
    return Memory(peak.bytes, left.bytes, watch.largest, peak.tensors, left.tensors, watch.saved, made, told)


def _begin_on_gpu() -> int:
    torch: Any = sys.modules["torch"]
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def _peak_on_gpu() -> int:
    torch: Any = sys.modules["torch"]
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated()
