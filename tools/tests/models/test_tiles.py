"""Tiles against plain loops over elements, and against figures from Triton's matrix multiplication tutorial."""

import itertools

import numpy as np
import pytest

from tools.models.tiles import Tiles, Traffic, matmul_traffic

SHAPES = [(64, 64, 16, 16), (65, 33, 16, 8), (1, 1, 16, 16), (7, 100, 3, 9), (144, 48, 16, 16), (5, 0, 2, 2)]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)


@shapes
@pytest.mark.parametrize("group", [1, 2, 3, 8, 100])
def test_every_tile_belongs_to_one_program(shape, group):
    tiles = Tiles(*shape)
    owned = [tiles.tile_of(program, group) for program in range(tiles.count)]
    down, across = tiles.grid
    assert sorted(owned) == list(itertools.product(range(down), range(across)))


@shapes
def test_the_tiles_cover_every_element_once(shape):
    tiles, covered = Tiles(*shape), np.zeros(shape[:2], int)
    for program in range(tiles.count):
        covered[tiles.extent(*tiles.tile_of(program))] += 1
    assert (covered == 1).all()


@shapes
def test_a_tile_is_whole_when_it_covers_a_full_tile_of_elements(shape):
    tiles, matrix = Tiles(*shape), np.empty(shape[:2])
    for program in range(tiles.count):
        tile = tiles.tile_of(program)
        assert tiles.is_whole(*tile) == (matrix[tiles.extent(*tile)].shape == shape[2:])


def test_a_group_of_one_goes_row_by_row():
    tiles = Tiles(4, 6, 2, 2)
    assert [tiles.tile_of(program) for program in range(6)] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


def test_a_group_goes_down_its_rows_and_then_across():
    tiles = Tiles(5, 3, 1, 1)
    assert [tiles.tile_of(program, group=2) for program in range(15)] == [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (0, 2),
        (1, 2),
        (2, 0),
        (3, 0),
        (2, 1),
        (3, 1),
        (2, 2),
        (3, 2),
        (4, 0),
        (4, 1),
        (4, 2),  # the last group has one row
    ]


def test_groups_read_fewer_strips_for_the_same_number_of_programs():
    # Matrices of 9 x 9 tiles: for the first 9 tiles of C, 90 tiles of A and B row by row, 54 in groups of three.
    tiles = Tiles(9, 9, 1, 1)
    assert tiles.strips(range(9)) == (1, 9)
    assert tiles.strips(range(9), group=3) == (3, 3)
    assert [9 * sum(tiles.strips(range(9), group)) for group in (1, 3)] == [90, 54]


@pytest.mark.parametrize("program", [-1, 4])
def test_a_program_beyond_the_last_has_no_tile(program):
    with pytest.raises(IndexError, match=f"4 programs, 0 to 3, have a tile each; not program {program}"):
        Tiles(4, 4, 2, 2).tile_of(program)


# A tiled product ---------------------------------------------------------------------------------


def counted_by_element(m: int, n: int, k: int, tile_m: int, tile_n: int, tile_k: int) -> Traffic:
    """Runs the loops of every program and asks for each element of a tile whether the mask lets it through."""
    a = b = c = products = 0
    for first_row, first_col in itertools.product(range(0, m, tile_m), range(0, n, tile_n)):
        rows = [row for row in range(first_row, first_row + tile_m) if row < m]
        cols = [col for col in range(first_col, first_col + tile_n) if col < n]
        for start in range(0, k, tile_k):
            along = [index for index in range(start, start + tile_k) if index < k]
            a += len([None for _ in itertools.product(rows, along)])
            b += len([None for _ in itertools.product(along, cols)])
            products += len([None for _ in itertools.product(rows, along, cols)])
        c += len([None for _ in itertools.product(rows, cols)])
    return Traffic(a, b, c, products)


@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (17, 31, 5), (1, 40, 8), (12, 12, 0), (0, 4, 4)])
@pytest.mark.parametrize("tile_m, tile_n, tile_k", [(4, 4, 4), (8, 3, 5), (16, 32, 2), (1, 1, 1)])
def test_traffic_is_what_the_programs_read_and_write(m, n, k, tile_m, tile_n, tile_k):
    assert matmul_traffic(m, n, k, tile_m, tile_n) == counted_by_element(m, n, k, tile_m, tile_n, tile_k)


def test_traffic_falls_by_the_size_of_the_tile():
    one, sixteen = matmul_traffic(256, 256, 256, 1, 1), matmul_traffic(256, 256, 256, 16, 16)
    assert (one.a, one.b, one.bytes(4)) == (256**3, 256**3, 2 * 256**3 * 4 + 256**2 * 4)
    assert (one.a // sixteen.a, one.b // sixteen.b) == (16, 16)


def test_intensity_is_operations_per_byte():
    # 2 * 128^3 operations; A and B read once, C written once: 3 * 128^2 elements of 2 bytes.
    assert matmul_traffic(128, 128, 128, 128, 128).intensity(itemsize=2) == pytest.approx(128 / 3)
