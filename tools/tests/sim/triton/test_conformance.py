"""Every operation that the course uses gives what PyTorch or its definition gives."""

import warnings

import pytest
import torch

import tools.gpu
from tools.tests.sim.triton.conformance import all_cases
from tools.tests.sim.triton.conformance.case import error

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_operation_in_a_kernel_gives_what_its_definition_says(case):
    card = tools.gpu.card()
    if card and card.capability < case.capability:
        pytest.skip(f"needs compute capability {case.capability}; here is {card}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # block pointers are deprecated
        assert case.error() <= case.allowed


def test_no_float32_case_would_let_half_precision_pass():
    exact = torch.linspace(1, 2, 1000)
    of_half_precision = error(exact.half().float(), exact)
    of_float32 = [case for case in CASES if case.dtype == "float32" and "deviation" not in case.operation]
    assert of_half_precision > 16 * max(case.allowed for case in of_float32)
