"""Kernels that a lesson has compiled before it launches them, and lessons that ask the driver where they begin."""

import torch

from tools.check import compiled
from tools.tests.compiler.conftest import lesson_in


def test_a_lesson_may_ask_the_driver_at_its_top_and_launch_a_kernel_that_it_warmed_up():
    (kernel,) = compiled(lesson_in("persistent").row_sums, torch.zeros(300, 1000), chip="h100").kernels
    assert (kernel.name, kernel.num_warps, kernel.launches) == ("row_sums_kernel", 8, 1)
    assert kernel.grid == (300, 1, 1) and kernel.constants == {"BLOCK": "1024"}
    assert [access.kind for access in kernel.accesses] == ["load", "store"] and kernel.accesses[0].sectors


def test_a_launch_gives_the_kernel_with_its_registers():
    (kernel,) = compiled(lesson_in("persistent").registers_of_a_launch, torch.zeros(300, 1000), chip="h100").kernels
    assert 8 <= kernel.registers <= 64
