"""memory: how many bytes of tensors a call needs beyond its arguments, on any machine."""

from collections.abc import Callable

from tools import worker
from tools.check import notes
from tools.check.case import copied
from tools.check.count import Call
from tools.worker import Memory, RemoteFunction


def memory(function: Callable, *args: object, **kwargs: object) -> Memory:
    """The memory that function(*args, **kwargs) needs, called with copies of the arguments: peak, kept, made, largest.

    Without a GPU every tensor is followed from the operation that makes it to its end: exact, and the same every time.
    On one, `peak` is that of PyTorch's allocator, which rounds each tensor up to 512 bytes: with tensors of multiples
    of 512 bytes both agree. What an operation needs inside itself counts on a GPU alone. `made` is counted tensor by
    tensor there too.

    Of `gradients(f)` the peak is that of forward and backward, and `saved` what waits between them.
    Raises what the function raises, as a call would.
    """
    handed = args, kwargs
    args, kwargs = copied(handed)
    found = _measure(function, args, kwargs)
    found.call = Call(function, args=handed[0], keywords=handed[1], seconds=0.0)
    notes.taken.append(f"{found.peak:,} bytes at the peak")
    return found


def _measure(function: Callable, args: tuple, kwargs: dict) -> Memory:
    if not isinstance(function, RemoteFunction):
        return worker.measure(function, args, kwargs)
    plain = function.lesson.ask("memory", function.__name__, args, kwargs).result()
    try:
        return Memory.from_plain(plain)
    except (TypeError, ValueError):
        raise worker.Died("something else than memory came out of the lesson's process") from None
