"""Maps in few cells, against loops over their elements."""

import numpy as np
import pytest

from tools.draw.cells import NOBODY, OUTSIDE, SEVERAL, binned
from tools.draw.touched import Map


def map_of(rows: int, cols: int, touched: dict[int, set[int]]) -> Map:
    pairs = sorted((element, program) for element, programs in touched.items() for program in programs)
    elements, programs = np.array(pairs, np.int64).reshape(-1, 2).T
    return Map((("x", "loaded"),), rows, cols, elements, programs)


def by_hand(drawn: Map, touched: dict[int, set[int]], cells, followed: int):
    """who and followed of each cell, and whether some cell shows less than it has."""
    who, mine, sampled = {}, {}, False
    for line in range(cells.who.shape[0]):
        for column in range(cells.who.shape[1]):
            if cells.wrapped:
                first = (line * cells.who.shape[1] + column) * cells.width
                inside = range(first, min(first + cells.width, drawn.cols))
            else:
                inside = [
                    row * drawn.cols + col
                    for row in range(line * cells.height, min((line + 1) * cells.height, drawn.rows))
                    for col in range(column * cells.width, min((column + 1) * cells.width, drawn.cols))
                ]
            found = [touched[element] for element in inside if touched.get(element)]
            mine[line, column] = any(followed in programs for programs in found)
            if not len(inside):
                who[line, column] = OUTSIDE
            elif any(len(programs) > 1 for programs in found):
                who[line, column] = SEVERAL
            else:
                who[line, column] = min(found[0]) if found else NOBODY
                sampled |= any(programs != found[0] for programs in found)
    return who, mine, sampled


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 7), (1, 300), (5, 3), (40, 9), (13, 100), (64, 64)])
@pytest.mark.parametrize("most", [1, 2])
def test_each_cell_shows_what_its_elements_have(rows, cols, most):
    random = np.random.default_rng(rows * 1000 + cols + most)
    touched = {
        element: set(random.integers(0, 4, random.integers(0, most + 1)).tolist()) for element in range(rows * cols)
    } | {0: {1}}
    drawn = map_of(rows, cols, touched)
    cells = binned(drawn, 2, 8, 16)
    who, mine, sampled = by_hand(drawn, touched, cells, 2)
    assert {place: int(cells.who[place]) for place in who} == who
    assert {place: bool(cells.followed[place]) for place in mine} == mine
    assert cells.sampled == sampled
    assert cells.who.shape[0] <= 8 and cells.who.shape[1] <= 16


def test_small_maps_have_a_cell_for_each_element():
    cells = binned(map_of(3, 5, {element: {element} for element in range(15)}), 0, 8, 16)
    assert (cells.height, cells.width, cells.sampled) == (1, 1, False)
    assert cells.who.ravel().tolist() == list(range(15))


def test_labels_count_rows_of_a_matrix_and_elements_of_a_vector():
    matrix = binned(map_of(40, 9, {0: {0}}), 0, 8, 16)
    assert [matrix.label(line) for line in range(3)] == [0, 8, 16]
    vector = binned(map_of(1, 300, {0: {0}}), 0, 8, 16)
    assert (vector.width, [vector.label(line) for line in range(3)]) == (4, [0, 64, 128])
