"""Tensors in GPU memory cross to a lesson on the GPU as others do."""

from pathlib import Path

import pytest
import torch

from tools import worker

LESSON = Path(__file__).parent / "lessons/friendly.py"
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that PyTorch can use")


@pytest.fixture(scope="module")
def on_gpu():
    return worker.proxy("week9.day1.friendly", LESSON, mode="gpu")


def test_a_result_and_an_out_argument_come_back_on_the_gpu(on_gpu):
    a, out = torch.arange(6.0, device="cuda").reshape(2, 3).T, torch.zeros(6, 4, device="cuda")[1:4, ::2]
    outcome = worker.call(on_gpu.add, (a, a), {"out": out})
    assert outcome.value is out and torch.equal(out, 2 * a) and list(outcome.changed) == ["out"]
    result = on_gpu.add(a, a)
    assert result.device.type == "cuda" and torch.equal(result, 2 * a) and result.stride() == (2 * a).stride()


def test_a_view_of_an_argument_shares_its_gpu_memory(on_gpu):
    a = torch.zeros(2, 3, device="cuda", dtype=torch.bfloat16)
    outcome = worker.call(on_gpu.first_row, (a,))
    outcome.value[1] = 5
    assert (outcome.alias, a[0, 1].item()) == ("a", 5)


def test_a_prepared_call_waits_for_the_gpu(on_gpu):
    a = torch.ones(2**20, device="cuda")
    with worker.prepare(on_gpu.total, (a,)) as prepared:
        prepared.run(3)
