"""Triton's own objects, made in less time: they are what Triton makes, and the compiler's stay Triton's."""

import tools.gpu  # noqa: F401  # isort: skip
import numpy as np
import pytest
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from tools.sim.triton import original
from tools.sim.triton.blas import _library, on_one_thread

SHAPES = [[4], [4, 8], tl.tuple([4, 8]), [tl.constexpr(4), 8], [1, 2, 4, 8]]


def facts(kind):
    return kind.name, str(kind), kind.shape.values, kind.numel, kind.element_ty, kind.scalar, kind.is_block()


@pytest.mark.parametrize("shape", SHAPES, ids=range(len(SHAPES)))
def test_a_type_of_blocks_is_what_triton_makes(shape):
    for _ in range(2):  # the second one shares its shape with the first
        made = tl.block_type(tl.float32, shape)
        with original.in_place():
            wanted = tl.block_type(tl.float32, shape)
            assert vars(wanted).keys() >= {"name", "shape", "numel"} and not isinstance(wanted.shape, list)
        assert facts(made) == facts(wanted)
        assert made == wanted and made != tl.block_type(tl.float16, shape)
    assert made.shape is made.with_element_ty(tl.int1).shape
    assert made != tl.block_type(tl.float32, [2]) and made != tl.float32


@pytest.mark.parametrize(
    "shape, error",
    [([], TypeError), ([3], ValueError), ([2.0], TypeError), ([np.int64(4)], AttributeError), ((4,), AssertionError)],
)
def test_a_shape_that_triton_refuses_is_refused_each_time(shape, error):
    tl.block_type(tl.float32, [4])
    tl.block_type(tl.float32, [2])
    for _ in range(2):
        with pytest.raises(error):
            tl.block_type(tl.float32, shape)


@pytest.mark.parametrize("shape", [[4], [4, 8]])
def test_a_tensor_is_what_triton_makes(shape):
    kind = tl.block_type(tl.int32, shape)
    made, number = tl.tensor("handle", kind), tl.tensor("handle", tl.int32)
    with original.in_place():
        wanted, wanted_number = tl.tensor("handle", kind), tl.tensor("handle", tl.int32)
    for one, other in ((made, wanted), (number, wanted_number)):
        assert vars(one).keys() == vars(other).keys()
        assert [each.value for each in one.shape] == [each.value for each in other.shape]
        assert (one.numel.value, one.type, one.dtype) == (other.numel.value, other.type, other.dtype)
        assert one.handle == other.handle


def test_shapes_are_compared_as_triton_compares_them():
    shape = tl.tuple([4, 8])
    for other in (shape, [4, 8], tl.tuple([4, 8]), tl.tuple([tl.constexpr(4), 8]), (4, 8)):
        assert bool(shape == other) is True and bool(shape != other) is False
    for other in ([4], [8, 4], tl.tuple([4, 8, 1])):
        assert bool(shape == other) is False and bool(shape != other) is True


def test_values_that_do_not_fit_their_type_are_refused():
    with pytest.raises(ValueError, match="exceeds dtype primitive_bitwidth"):
        TensorHandle(np.zeros(2, np.int64), tl.int32)
    assert TensorHandle(np.zeros(2, np.uint8), tl.int1).attr == {}


def test_a_product_uses_one_thread_and_leaves_the_number_as_it_was():
    ask, tell = _library()
    before, during = ask(), []
    tell(2)
    two = ask()
    assert on_one_thread(lambda *operands: during.append(ask()) or operands)(1, 2) == (1, 2)
    assert during == [1] and ask() == two
    with pytest.raises(ZeroDivisionError):
        on_one_thread(lambda: 1 / 0)()
    assert ask() == two
    tell(before)
