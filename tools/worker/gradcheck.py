"""PyTorch's gradcheck of a lesson's function, where it runs, with the numbers behind what it finds."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tools.worker.gradients import NO_WAY_BACK, NoGradient, as_leaves, backwards, is_float_tensor
from tools.worker.made import Made, make

STEP = 1e-6  # h of (f(x + h) - f(x - h)) / 2h; this and the limits are gradcheck's own
RELATIVE, ABSOLUTE = 1e-3, 1e-5
MOST = 256  # elements of one argument that are moved, one by one


class Found(NamedTuple):
    """What is wrong with the gradient of one argument; both arrays are float64 and have its shape.

    by_backward: what the backward returns for a d_out drawn at random. by_steps: how the result changes when an element
        is moved a little; NaN where none was tried.
    """

    argument: str
    by_backward: Any
    by_steps: Any


def checked(function: Callable) -> Callable:
    """A function that calls gradcheck for its arguments in float64, with `_full` for a complete one.

    It returns None where all is right; else (argument, by_backward, by_steps) as in Found, or gradcheck's own words.
    """
    return make(Checked, function)


class Checked(Made):
    words = "gradcheck of"

    def __call__(self, *args: Any, _full: bool = False, **kwargs: Any) -> tuple | str | None:
        import torch
        from torch.autograd.gradcheck import GradcheckError

        leaves: dict[str, Any] = {}
        wide_args, wide_kwargs = _in_float64((args, kwargs))
        args, kwargs = as_leaves(self.function, wide_args, wide_kwargs, leaves)

        def results(*tensors: Any) -> tuple:
            new = {id(leaf): tensor for leaf, tensor in zip(leaves.values(), tensors)}
            called_args, called_kwargs = _exchanged((args, kwargs), new)
            return _float_results(self.function(*called_args, **called_kwargs))

        inputs = tuple(leaves.values())
        _draw_and_go_back(results(*inputs), leaves)  # raises what is wrong before any number is
        try:
            with _without_its_slow_mode():
                torch.autograd.gradcheck(results, inputs, eps=STEP, atol=ABSOLUTE, rtol=RELATIVE, fast_mode=not _full)
        except GradcheckError as error:
            found = _first_wrong(results, leaves)
            return tuple(found) if found else str(error).strip().splitlines()[0]
        return None


@contextmanager
def _without_its_slow_mode() -> Iterator[None]:
    """When the fast mode fails, PyTorch computes a whole Jacobian for its own words: a minute where there are many
    elements. The words here come from less."""
    module: Any = sys.modules["torch.autograd.gradcheck"]
    slow = getattr(module, "_run_slow_mode_and_get_error", None)
    module._run_slow_mode_and_get_error = lambda *_, **__: ""
    try:
        yield
    finally:
        module._run_slow_mode_and_get_error = slow


def _in_float64(value: Any) -> Any:
    if is_float_tensor(value):
        return value.detach().double()
    return _each(_in_float64, value)


def _exchanged(value: Any, new: dict[int, Any]) -> Any:
    """The same nest with new tensors in the places of leaves."""
    if id(value) in new:
        return new[id(value)]
    return _each(lambda part: _exchanged(part, new), value)


def _each(change: Callable, value: Any) -> Any:
    if type(value) in (tuple, list):
        return type(value)(map(change, value))
    if type(value) is dict:
        return {key: change(part) for key, part in value.items()}
    return value


def _float_results(result: Any) -> tuple:
    found = tuple(filter(is_float_tensor, result if isinstance(result, (tuple, list)) else (result,)))
    if not found:
        raise NoGradient(f"It returned {type(result).__name__}; only from a tensor of floats is there a way back.")
    return found


def _first_wrong(results: Callable, leaves: dict[str, Any]) -> Found | None:
    """The first argument whose gradient is not how the result changes."""
    import torch

    arriving, backward = _draw_and_go_back(results(*leaves.values()), leaves)

    def total(*tensors: Any) -> Any:
        with torch.no_grad():
            return sum((end * gradient).sum() for end, gradient in zip(results(*tensors), arriving))

    for place, (name, leaf) in enumerate(leaves.items()):
        mine = torch.zeros_like(leaf) if backward[place] is None else backward[place].detach().clone()
        right = _by_steps(total, [each.detach().clone() for each in leaves.values()], place)
        if ((mine - right).abs() > ABSOLUTE + RELATIVE * right.abs()).any():
            return Found(name, mine, right)
    return None


def _draw_and_go_back(ends: tuple, leaves: dict[str, Any]) -> tuple[list, tuple]:
    """Random gradients that arrive at these ends, always the same ones, and those of the leaves."""
    import torch

    if not all(end.requires_grad for end in ends):
        raise NoGradient(f"The result {NO_WAY_BACK}")
    own = torch.Generator().manual_seed(0)
    arriving = [torch.randn(end.shape, generator=own, dtype=torch.float64).to(end) for end in ends]
    return arriving, backwards(list(ends), arriving, leaves)


def _by_steps(total: Callable, tensors: list, place: int) -> Any:
    import torch

    found = torch.full_like(tensors[place], torch.nan).contiguous()
    moved, changes = tensors[place].contiguous(), found.view(-1)
    tensors[place] = moved
    flat = moved.view(-1)
    for i in range(0, flat.numel(), max(1, -(-flat.numel() // MOST))):
        own = flat[i].item()
        ahead, behind = (_moved(total, tensors, flat, i, own + step) for step in (STEP, -STEP))
        flat[i] = own
        changes[i] = (ahead - behind) / (2 * STEP)
    return found


def _moved(total: Callable, tensors: list, flat: Any, i: int, value: float) -> Any:
    flat[i] = value
    return total(*tensors)
