"""The gradients of a lesson's function, through torch.autograd, where the lesson runs."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter
from typing import Any

from tools.sim import libraries
from tools.wire import is_tensor
from tools.words import quantity
from tools.worker import alive
from tools.worker.made import Made, is_made, make, signature_of

NO_WAY_BACK = (
    "has no grad_fn: autograd knows no way back from it to the arguments.\n"
    "Which line computes it where autograd does not look, or detaches it?"
)
GIVEN = "d_out"  # keyword: the gradient that arrives at the result


class NoGradient(Exception):
    """Autograd cannot go back through a function, or what comes back fits no argument: why, in whole sentences."""


def gradients(function: Callable) -> Callable:
    """A function that returns the gradients of `function` for all its float tensor arguments, as a tuple.

    It takes the arguments of `function`, all but `out`, and the keyword `d_out`: the gradient that arrives at the
    result, a tensor of its shape; for a tuple of results a tuple, with None where none arrives. Arguments inside lists
    and dicts count. An argument that the result does not hang on has None.

    Raises NoGradient, and what forward and backward raise.
    """
    return make(Gradients, function)


def gives_gradients(function: Callable) -> bool:
    """Is it what `gradients` returned?"""
    return is_made(Gradients, function)


class Gradients(Made):
    words = "gradients of"

    @classmethod
    def changed(cls, signature: inspect.Signature) -> inspect.Signature:
        """Without out, and with d_out."""
        kept = [each for each in signature.parameters.values() if each.name != "out"]
        rest = kept[-1:] if kept and kept[-1].kind == Parameter.VAR_KEYWORD else []
        own = Parameter(GIVEN, Parameter.KEYWORD_ONLY)
        return signature.replace(parameters=[*kept[: len(kept) - len(rest)], own, *rest], return_annotation=tuple)

    def __call__(self, *args: Any, d_out: Any, **kwargs: Any) -> tuple:
        import torch

        leaves: dict[str, Any] = {}
        args, kwargs = as_leaves(self.function, args, kwargs, leaves)
        with torch.enable_grad():
            result = self.function(*args, **kwargs)
        alive.forward_ended(result)
        ends, arriving = _ends(result, d_out)
        found = backwards(ends, arriving, leaves)
        return tuple(_own_memory(gradient, [*leaves.values(), *arriving]) for gradient in found)


def backwards(ends: list, arriving: list, leaves: dict[str, Any]) -> tuple:
    """The gradients of leaves, where a gradient arrives at each of these ends. Raises NoGradient."""
    import torch

    with _watched_backwards(ends, leaves) as faults:
        try:
            found = torch.autograd.grad(ends, list(leaves.values()), arriving, allow_unused=True)
        except RuntimeError as error:
            if not faults:
                raise
            raise NoGradient(faults[0]) from error
    if faults:
        raise NoGradient(faults[0])
    return found


def as_leaves(function: Callable, args: tuple, kwargs: dict, leaves: dict[str, Any]) -> tuple[tuple, dict]:
    """The arguments with a leaf of a graph, over the same memory, in place of each float tensor; `leaves` takes them
    by the argument's name. Raises NoGradient where there is none."""
    names = _names(function, len(args))
    new_args = tuple(_with_leaves(value, name, leaves) for name, value in zip(names, args))
    new_kwargs = {name: _with_leaves(value, name, leaves) for name, value in kwargs.items()}
    if not leaves:
        raise NoGradient("No argument is a tensor of floats, so there is no gradient to ask for.")
    return new_args, new_kwargs


def _names(function: Callable, count: int) -> list[str]:
    """Those of the positional arguments; "rest[0]" of one that *rest takes."""
    signature = signature_of(function)
    parameters = list(signature.parameters.values()) if signature else []
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    rest = next((each.name for each in parameters if each.kind == each.VAR_POSITIONAL), "argument")
    return [*names, *(f"{rest}[{number}]" for number in range(count - len(names)))]


def _with_leaves(value: Any, name: str, leaves: dict[str, Any]) -> Any:
    if is_float_tensor(value):
        leaves[name] = value.detach().requires_grad_()
        return leaves[name]
    if type(value) in (tuple, list):
        return type(value)(_with_leaves(part, f"{name}[{i}]", leaves) for i, part in enumerate(value))
    if type(value) is dict:
        return {key: _with_leaves(part, f"{name}[{key!r}]", leaves) for key, part in value.items()}
    return value


def is_float_tensor(value: Any) -> bool:
    """Has it a gradient? Complex tensors are not asked for theirs."""
    return is_tensor(value) and value.is_floating_point()


def _ends(result: Any, d_out: Any) -> tuple[list, list]:
    """The results at which a gradient arrives, and those gradients."""
    several = isinstance(result, (tuple, list)) and not is_tensor(d_out)
    results, arriving = (tuple(result), tuple(d_out)) if several else ((result,), (d_out,))
    if len(results) != len(arriving):
        raise NoGradient(f"It returned {len(results)} results; d_out has a gradient for each of {len(arriving)}.")
    ends: list[tuple[Any, Any]] = []
    for place, (one, gradient) in enumerate(zip(results, arriving)):
        if gradient is None:
            continue
        what = f"result[{place}]" if several else "The result"
        if not is_tensor(one):
            raise NoGradient(f"{what} is of type {type(one).__name__}; only from a tensor is there a way back.")
        if one.shape != gradient.shape:
            raise NoGradient(f"{what} has shape {tuple(one.shape)}; wanted {tuple(gradient.shape)}.")
        if not one.requires_grad:
            raise NoGradient(f"{what} {NO_WAY_BACK}")
        ends.append((one, gradient.to(one.dtype)))
    return [one for one, _ in ends], [gradient for _, gradient in ends]


def _own_memory(gradient: Any, given: list) -> Any:
    """A gradient that autograd handed through is copied: a caller may write to what it gets."""
    if gradient is None:
        return None
    shared = any(gradient.untyped_storage().data_ptr() == each.untyped_storage().data_ptr() for each in given)
    with libraries.unlisted():  # the copy is not the lesson's
        return gradient.clone() if shared else gradient


# What a backward returns ----------------------------------------------------------------------------------


@contextmanager
def _watched_backwards(ends: list, leaves: dict[str, Any]) -> Iterator[list[str]]:
    """Inside, what the backward of each autograd.Function returns for an argument is compared with the argument.

    Autograd adds up a gradient that was not summed over broadcast axes, and casts one of another dtype: without a word.
    """
    faults: list[str] = []
    nodes: dict[Any, list] = {}
    for node in _functions_behind(ends):
        nodes.setdefault(getattr(type(node), "_forward_cls"), []).append(node)
    own = {cls: cls.__dict__.get("backward") for cls in nodes}
    for cls, its_nodes in nodes.items():
        cls.backward = staticmethod(_watched(cls.backward, its_nodes, leaves, faults))
    try:
        yield faults
    finally:
        for cls, backward in own.items():
            if backward is None:
                del cls.backward
            else:
                cls.backward = backward


def _functions_behind(ends: list) -> Iterator[Any]:
    """The nodes that autograd.Functions made, of the graph behind these results."""
    import torch

    seen: set = set()
    waiting = [end.grad_fn for end in ends]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        own = getattr(type(node), "_forward_cls", None)  # of a node of PyTorch's own there is none
        if own is not None and own.backward is not torch.autograd.Function.backward:
            yield node
        waiting += [earlier for earlier, _ in node.next_functions]


def _watched(backward: Callable, nodes: list, leaves: dict[str, Any], faults: list[str]) -> Callable:
    def watched(ctx: Any, *arriving: Any) -> Any:
        with libraries.by_their_own_names():
            returned = backward(ctx, *arriving)
        if ctx in nodes:
            faults.extend(_faults(ctx, returned if isinstance(returned, tuple) else (returned,), leaves))
        return returned

    return watched


def _faults(node: Any, returned: tuple, leaves: dict[str, Any]) -> Iterator[str]:
    needed = [place for place, needs in enumerate(node.needs_input_grad) if needs]
    origins = [earlier for earlier, _ in node.next_functions if earlier is not None]
    taken = len(node.needs_input_grad)
    if len(returned) < taken:
        yield (
            f"The backward returns {quantity(len(returned), 'gradient')}, "
            f"the forward takes {quantity(taken, 'argument')}.\n"
            "Each argument has a gradient or None, in their order. Which is left out?"
        )
        return
    for place, origin in zip(needed, origins):
        gradient: Any = returned[place] if place < len(returned) else None
        argument: Any = getattr(origin, "variable", None)
        name = next((name for name, leaf in leaves.items() if leaf is argument), None)
        if name is None or not is_tensor(gradient):
            continue
        if gradient.shape != argument.shape:
            asks = "Over which axis is it a sum?" if gradient.numel() > argument.numel() else "Which line decides it?"
            yield (
                f"Wrong shape: {name} has shape {tuple(argument.shape)}, and the backward returns a gradient of shape "
                f"{tuple(gradient.shape)} for it. {asks}"
            )
        elif gradient.dtype != argument.dtype:
            mine, right = (str(each.dtype).removeprefix("torch.") for each in (gradient, argument))
            yield f"Wrong dtype: {name} is {right}, and the backward returns a gradient in {mine} for it."
