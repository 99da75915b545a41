"""Kernels of Gluon: compiled as others are, and the layout in the code is the one that they ask for."""

import pytest
import torch

from tools.check import compiled
from tools.tests.compiler.conftest import lesson_in


@pytest.mark.parametrize("chip", ["h100", "b200"])
@pytest.mark.parametrize("width", [1, 4])
def test_a_gluon_kernel_is_compiled_with_its_own_layout(chip, width):
    (kernel,) = compiled(lesson_in("of_gluon").copied, torch.zeros(4096), width, chip=chip).kernels
    assert (kernel.name, kernel.grid, kernel.spills) == ("copy_kernel", (8, 1, 1), 0)
    assert [access.width for access in kernel.accesses] == [4 * width, 4 * width]
