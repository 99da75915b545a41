"""Memory to which nothing was stored holds a known number, in a copy of the call that is made to explain a failure."""

import pytest
import torch

from tools import worker
from tools.worker import FRESH, NUMBERS, in_fresh_memory


def half_stored(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    out[: len(x) // 2] = 1
    return out


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.int8, torch.uint8, torch.int64]
)
@pytest.mark.parametrize("number", NUMBERS)
def test_what_was_never_stored_holds_the_number(number, dtype):
    x = torch.zeros(4).to(dtype)
    assert in_fresh_memory(half_stored)(x, fresh=number).float().tolist() == [1, 1, number, number]


def test_a_bool_holds_either_value():
    x = torch.zeros(2, dtype=torch.bool)
    assert [in_fresh_memory(half_stored)(x, fresh=number)[1].item() for number in NUMBERS] == [True, False]


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.empty(3),
        lambda: torch.zeros(2).new_empty(3),
        lambda: torch.empty_strided((3,), (2,)),
        lambda: torch.empty_like(torch.zeros(3)),
    ],
    ids=["empty", "new_empty", "empty_strided", "empty_like"],
)
def test_all_ways_to_fresh_memory_are_known(make):
    assert in_fresh_memory(make)(fresh=96).tolist() == [96, 96, 96]


def test_gradients_are_taken_in_fresh_memory_too():
    found = in_fresh_memory(worker.gradients(lambda x: x * 3))(torch.ones(2), d_out=torch.ones(2), **{FRESH: 40})
    assert found[0].tolist() == [3, 3]
