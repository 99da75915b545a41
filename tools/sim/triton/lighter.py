"""Triton's own objects that every operation of a kernel makes, in less time: types of blocks, tensors and their shapes.

They are what Triton makes, but those that are equal share their shape. Whatever is not plain is left to Triton.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import triton
import triton.language as tl

KNOWN = ((3, 6), (3, 7))  # releases whose objects these are
FACTS = "facts_of_the_course"  # attribute of a shape


class Facts:
    """A shape: as a type has it, as a tensor has it, and its elements, for both."""

    def __init__(self, shape: Any, elements: int) -> None:
        self.shape, self.elements = shape, elements
        self.constants = tl.tuple([tl.constexpr(length) for length in shape.values])
        self.constant = tl.constexpr(elements)


_known: dict[tuple[int, ...], Facts] = {}


def patch(interpreter: ModuleType) -> None:
    """Replace how they are made. Before all other patches."""
    if tuple(int(part) for part in triton.__version__.split(".")[:2]) not in KNOWN:
        return
    _patch_types()
    _patch_comparisons()
    _patch_broadcast(type(interpreter.interpreter_semantic))
    _patch_handles(interpreter)
    _patch_builtins(interpreter)


def _patch_types() -> None:
    block, tensor = tl.block_type, tl.tensor
    make_type, make_tensor = block.__init__, tensor.__init__

    def init_type(self: Any, element_ty: Any, shape: Any) -> None:
        facts = _facts(shape)
        if facts is None:
            make_type(self, element_ty, shape)
            facts = Facts(self.shape, self.numel)
            if all(type(length) is int for length in self.shape.values):
                vars(self.shape)[FACTS] = _known[tuple(self.shape.values)] = facts
        else:
            self.element_ty, self.shape, self.numel = element_ty, facts.shape, facts.elements

    def init_tensor(self: Any, handle: Any, type: Any) -> None:
        if not type.is_block():
            self.shape, self.numel = EMPTY, ONE
        elif facts := vars(type.shape).get(FACTS):
            self.shape, self.numel = facts.constants, facts.constant
        else:
            make_tensor(self, handle, type)
            return
        self.handle, self.type, self.dtype = handle, type, type.scalar

    block.__init__, tensor.__init__ = init_type, init_tensor
    setattr(block, "name", _Name())


def _facts(shape: Any) -> Facts | None:
    """Of a shape that has been seen."""
    if type(shape) is tl.tuple:
        facts = vars(shape).get(FACTS)
        if facts is not None:
            return facts
        shape = shape.values
    elif type(shape) is not list:
        return None
    lengths = [each.value if type(each) is tl.constexpr else each for each in shape]
    for each in lengths:
        if type(each) is not int:
            return None
    return _known.get(tuple(lengths))


class _Name:
    """The name of a type of blocks, which few ask for."""

    def __get__(self, of: Any, owner: type) -> Any:
        if of is None:
            return self
        of.name = f"<{of.shape}, {of.element_ty}>"
        return of.name


EMPTY = tl.tuple([])
ONE, TRUE, FALSE = tl.constexpr(1), tl.constexpr(True), tl.constexpr(False)


def _patch_comparisons() -> None:
    compare_shapes, compare_types, unwrap = tl.tuple.__eq__, tl.dtype.__eq__, tl.core._unwrap_if_constexpr

    def same_shape(self: Any, other: Any) -> Any:
        if self is other:
            return TRUE
        values = other.values if type(other) is tl.tuple else other
        if type(values) is list and set(map(type, values)) <= {int}:
            return TRUE if self.values == values else FALSE
        return compare_shapes(self, other)

    def same_type(self: Any, other: Any) -> Any:
        if type(other) is tl.dtype:
            return self.name == other.name
        return compare_types(self, other)

    def unwrapped(value: Any) -> Any:
        kind = type(value)
        if kind is tl.constexpr:
            return value.value
        return value if kind in PLAIN else unwrap(value)

    setattr(tl.tuple, "__eq__", same_shape)
    setattr(tl.dtype, "__eq__", same_type)
    tl.core._unwrap_if_constexpr = unwrapped


PLAIN = {int, float, bool, str, type(None), tl.tensor, tl.dtype}


def _patch_broadcast(semantic: type) -> None:
    broadcast = getattr(semantic, "broadcast_impl_value")

    def two_alike(self: Any, left: Any, right: Any) -> Any:
        """Operands of one shape stay as they are."""
        is_block = left.type.is_block()
        if is_block == right.type.is_block() and (not is_block or left.type.shape is right.type.shape):
            return left, right
        return broadcast(self, left, right)

    setattr(semantic, "broadcast_impl_value", two_alike)


def _patch_handles(interpreter: ModuleType) -> None:
    handle = interpreter.TensorHandle
    check = handle.__post_init__

    def init(self: Any, data: Any, dtype: Any, attr: dict | None = None) -> None:
        self.data, self.dtype, self.attr = data, dtype, {} if attr is None else attr
        if (
            data.itemsize > 1
            and not isinstance(dtype, tl.pointer_type)
            and 8 * data.itemsize > dtype.primitive_bitwidth
        ):
            check(self)

    def create_expand_dims(self: Any, source: Any, axis: int) -> Any:
        shape = source.data.shape
        return handle(source.data.reshape(*shape[:axis], 1, *shape[axis:]), source.dtype.scalar)

    handle.__init__ = init
    interpreter.InterpreterBuilder.create_expand_dims = create_expand_dims


def _patch_builtins(interpreter: ModuleType) -> None:
    """A function of the language is called with the interpreter's semantics, and by no wrapper in between."""
    semantic = interpreter.interpreter_semantic

    def patch_attr(owner: Any, name: str, member: Callable, builder: Any, scope: Any) -> None:
        function = getattr(member, "__wrapped__", member)

        def call(*args: Any, **named: Any) -> Any:
            named["_semantic"] = semantic
            return function(*args, **named)

        scope.set_attr(owner, name, call)

    setattr(interpreter, "_patch_attr", patch_attr)
