"""Neighbouring threads that ask for elements far apart are told with these elements."""

import numpy as np
import pytest
import torch

from tools import gpu
from tools.check import count
from tools.check.diagnosis.counted import told_by_counters
from tools.gpu import cuda

pytestmark = [
    pytest.mark.skipif(gpu.card() is not None, reason="calls are made again in the simulator: run it with --sim"),
    pytest.mark.filterwarnings("ignore:(Grid size|Host array)"),  # small grids, on purpose
]


@cuda.jit
def rows_for_neighbours(x):
    row, col = cuda.grid(2)
    x[row, col] = 1


@cuda.jit
def four_for_each(x):
    i = cuda.grid(1)
    for j in range(4 * i, 4 * i + 4):
        x[0, j] = 1


@cuda.jit
def in_rows(x):
    col, row = cuda.grid(2)
    x[row, col] = 1


@cuda.jit
def backwards(x):
    row, col = cuda.blockIdx.x, 2 * cuda.threadIdx.x
    x[row, 126 - col] = 1


@cuda.jit
def beside_each_other(x):
    row, col = cuda.blockIdx.x, cuda.threadIdx.x
    x[row, col + 1] = 1


def told(kernel, grid, block, x):
    return told_by_counters(count(lambda: kernel[grid, block](x)), "assert counters.sectors_per_request <= 1")


@pytest.mark.parametrize(
    "kernel, grid, block, x, said",
    [
        (rows_for_neighbours, (1, 1), (16, 16), (16, 64), "[0, 0] and [1, 0] of x, 64 elements (256 bytes) apart."),
        (four_for_each, 1, 32, (1, 128), "[0, 0] and [0, 4] of x, 4 elements (16 bytes) apart."),
        (backwards, 1, 64, (1, 128), "[0, 126] and [0, 124] of x, 2 elements (8 bytes) apart."),
    ],
)
def test_the_first_two_neighbours_are_told_with_their_elements(kernel, grid, block, x, said):
    *_, fact, question = told(kernel, grid, block, np.zeros(x, np.float32))
    assert fact.startswith("At one time threads 0 and 1 of a block store in line ")
    assert fact.endswith(said)
    assert question == "What changes there from one thread to the next, and what should?"


def test_an_array_that_is_a_part_of_another_has_its_own_elements():
    fact = told(rows_for_neighbours, (1, 1), (16, 16), torch.zeros(20, 80)[4:, 8:72])[-2]
    assert fact.endswith("[0, 0] and [1, 0] of x, 80 elements (320 bytes) apart.")


def test_an_array_that_runs_backwards_has_no_places():
    fact = told(rows_for_neighbours, (1, 1), (16, 16), cuda.to_device(np.zeros((20, 80), np.float32))[::-1])[-2]
    assert fact.endswith("elements of x, 80 elements (320 bytes) apart.")


def test_of_neighbours_that_lie_side_by_side_nothing_is_said():
    assert told(beside_each_other, 1, 64, np.zeros((1, 128), np.float32))[-1].startswith("Which addresses do the 32")


def test_rows_that_are_shorter_than_a_sector_are_told_at_their_end():
    fact = told(in_rows, 1, (4, 8), np.zeros((8, 64), np.float32))[-2]
    assert fact.startswith("At one time threads 3 and 4 of a block store in line ")
    assert fact.endswith("[0, 3] and [1, 0] of x, 61 elements (244 bytes) apart.")


def test_of_rows_that_fill_a_sector_nothing_is_said():
    assert told(in_rows, 1, (8, 8), np.zeros((8, 64), np.float32))[-1].startswith("Which addresses do the 32")
