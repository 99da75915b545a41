"""Pictures to play with: they say and draw what brute force finds."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from tools.draw import explore
from tools.draw.explore import matmul
from tools.notebook.build import PICTURES


def told(svg: str) -> str:
    """The line below the title."""
    return ElementTree.fromstring(svg).find("{*}desc").text


def tips(svg: str) -> list[str]:
    """What a pointer is told over each part of the picture."""
    return [tip.text for tip in ElementTree.fromstring(svg).iterfind(".//{*}rect/{*}title")]


@pytest.mark.parametrize("n, block", [(10, 4), (8, 4), (1, 32), (0, 8), (64, 16)])
def test_each_element_has_its_program_and_the_rest_is_masked(n, block):
    svg = explore.programs(n, block)
    count = -(-n // block)
    assert tips(svg) == [
        f"element {i}: program {i // block}{'' if i < n else ', masked'}" for i in range(count * block)
    ]
    empty = count * block - n
    assert f"{count} programs" in told(svg) or count < 2
    assert f"{empty} position" in told(svg) if empty else "no position" in told(svg)


@pytest.mark.parametrize("m, n, tile_m, tile_n", [(40, 24, 16, 16), (1, 64, 32, 8), (16, 16, 16, 16)])
def test_tiles_cover_the_matrix(m, n, tile_m, tile_n):
    parts = [list(map(int, re.findall(r"\d+", tip))) for tip in tips(explore.tiles(m, n, tile_m, tile_n))]
    assert [program for program, *_ in parts] == list(range(len(parts)))
    assert sum(rows * cols for _, rows, _, cols, _ in parts) == m * n


@pytest.mark.parametrize("x, y", [(16, 4), (5, 7), (64, 1), (1, 1)])
def test_threads_are_numbered_x_first(x, y):
    assert tips(explore.warps(x, y)) == [
        f"thread ({i % x}, {i // x}): warp {i // 32}, lane {i % 32}" for i in range(x * y)
    ]


@pytest.mark.parametrize("threads, alike", [(64, 1), (64, 32), (64, 24), (40, 64), (33, 1), (1, 2), (128, 16)])
def test_a_warp_whose_threads_differ_goes_both_ways(threads, alike):
    ways = {(t // 32, t // alike % 2) for t in range(threads)}
    warps = len({warp for warp, _ in ways})
    svg = explore.branches(threads, alike)
    assert told(svg).startswith(f"{warps} warp{'s' * (warps > 1)}, {len(ways) - warps} of them divergent")
    assert f"{len(ways)} pass" in told(svg) and f"{threads / 32 / len(ways):.0%} of which work" in told(svg)
    assert sorted(tips(svg)) == sorted(f"thread {t}: {['if', 'else'][t // alike % 2]}" for t in range(threads))


@pytest.mark.parametrize("stride, offset, itemsize", [(1, 0, 4), (2, 0, 4), (1, 3, 4), (16, 7, 8), (0, 5, 2)])
def test_sectors_are_those_that_the_lanes_bytes_lie_in(stride, offset, itemsize):
    places = {(offset + i * stride) * itemsize for i in range(32)}
    sectors = {place // 32 for place in places}
    svg = explore.sectors(stride, offset, itemsize)
    assert told(svg).startswith(f"{len(sectors)} sector")
    assert f"{len(places) * itemsize} of {32 * len(sectors)} bytes" in told(svg)
    assert len(tips(svg)) == len(sectors) * 32 // itemsize
    assert sum("not wanted" not in tip for tip in tips(svg)) == len(places)


@pytest.mark.parametrize("fields, wanted, first", [(4, 1, 0), (4, 4, 0), (3, 2, 5), (8, 1, 3), (1, 1, 0), (16, 3, 31)])
def test_a_warp_is_sent_the_sectors_of_the_fields_that_it_wants(fields, wanted, first):
    svg = explore.structs(fields, wanted, first)
    asked = {(struct, field) for struct in range(first, first + 32) for field in range(wanted)}
    all_fields = [(struct, field) for struct in range(64) for field in range(fields)]
    orders = all_fields, sorted(all_fields, key=lambda pair: pair[::-1])
    sent = [{place // 8 for place, pair in enumerate(order) if pair in asked} for order in orders]
    assert told(svg) == (
        f"{4 * len(asked)} bytes are wanted; an array of structs sends {32 * len(sent[0])}, "
        f"a struct of arrays {32 * len(sent[1])}"
    )
    assert tips(svg) == [
        f"struct {pair[0]}, field {pair[1]}: "
        + ("wanted" if pair in asked else "sent, not wanted" if place // 8 in sectors else "not sent")
        for order, sectors in zip(orders, sent, strict=True)
        for place, pair in enumerate(order)
    ]


@pytest.mark.parametrize("stride", [0, 1, 2, 3, 8, 32, 33])
def test_a_bank_serves_one_element_in_each_wavefront(stride):
    elements = {i * stride for i in range(32)}
    most = np.bincount([element % 32 for element in elements]).max()
    assert told(explore.banks(stride)).startswith(f"{most} wavefront")
    assert len(tips(explore.banks(stride))) == len(elements)


@pytest.mark.parametrize("read, at", [("row", 0), ("row", 31), ("column", 1), ("diagonal", 0), ("diagonal", 5)])
@pytest.mark.parametrize("padding, swizzled", [(0, False), (1, False), (2, False), (32, False), (0, True), (1, True)])
def test_a_tile_is_read_in_as_many_wavefronts_as_its_busiest_bank_has_elements(read, at, padding, swizzled):
    cells = {"row": lambda i: (at, i), "column": lambda i: (i, at), "diagonal": lambda i: (i, (at + i) % 32)}[read]
    banks = [
        (row * (32 + padding) + (int(np.bitwise_xor(row, col)) if swizzled else col)) % 32
        for row, col in map(cells, range(32))
    ]
    svg = explore.tile_in_banks(padding, swizzled, read, at)
    most = int(np.bincount(banks).max())
    assert told(svg) == (
        f"{most} wavefront{'s' * (most > 1)}; the tile takes {32 * (32 + padding) * 4} bytes of shared memory"
    )
    expected = [f"lane {i}: element [{cells(i)[0]}, {cells(i)[1]}] in bank {bank}" for i, bank in enumerate(banks)]
    assert sorted(tips(svg)) == sorted(expected)


@pytest.mark.parametrize(
    "load, compute, tiles, stages", [(3, 2, 4, 1), (3, 2, 4, 2), (3, 2, 4, 3), (1, 5, 7, 2), (9, 1, 8, 4)]
)
def test_a_tile_is_loaded_when_its_slot_is_free_and_computed_with_in_turn(load, compute, tiles, stages):
    free, end, expected = [0] * stages, 0, []
    for tile in range(tiles):
        asked = free[tile % stages]
        begin = max(end, asked + load)
        end = free[tile % stages] = begin + compute
        expected.append(f"tile {tile} is loaded: {asked} to {asked + load}")
        expected += [f"tile {tile} waits: {asked + load} to {begin}"] if begin > asked + load else []
        expected.append(f"tile {tile} is computed with: {begin} to {end}")
    svg = explore.pipeline(load, compute, tiles, stages)
    assert tips(svg) == expected
    assert told(svg) == f"{end} clocks; in {tiles * compute / end:.0%} of them a tile is computed with"


@pytest.mark.parametrize(
    "rows, cols, row_stride, col_stride", [(2, 3, 3, 1), (3, 2, 1, 3), (2, 2, 0, 1), (5, 8, 12, 12)]
)
def test_a_views_elements_lie_where_its_strides_say(rows, cols, row_stride, col_stride):
    memory = np.arange(1000)
    view = np.lib.stride_tricks.as_strided(memory, (rows, cols), (8 * row_stride, 8 * col_stride))
    assert tips(explore.view(rows, cols, row_stride, col_stride)) == [
        f"[{r}, {c}] lies at {view[r, c]}" for r in range(rows) for c in range(cols)
    ]
    distinct = len(np.unique(view))
    assert f"in {distinct} place" in told(explore.view(rows, cols, row_stride, col_stride))


@pytest.mark.parametrize("blocks, sms, per_sm", [(12, 4, 2), (8, 4, 2), (9, 4, 2), (1, 2, 1), (48, 8, 4)])
def test_blocks_fill_the_places_of_one_wave_before_the_next_begins(blocks, sms, per_sm):
    svg = explore.waves(blocks, sms, per_sm)
    at_a_time = sms * per_sm
    assert tips(svg) == [f"block {i}: wave {i // at_a_time}, SM {i % at_a_time % sms}" for i in range(blocks)]
    rounds = len(range(0, blocks, at_a_time))
    assert told(svg).startswith(f"{rounds} wave")
    assert told(svg).endswith(f" {blocks} of {rounds * at_a_time} places: {blocks / (rounds * at_a_time):.0%}")


@pytest.mark.parametrize("kib, clocks", [(16, 40), (256, 40), (257, 260), (60 * 1024, 260), (60 * 1024 + 1, 480)])
@pytest.mark.parametrize("at_once, waits", [(1, 64), (3, 22), (64, 1)])
def test_the_first_level_with_room_answers_and_loads_wait_together(kib, clocks, at_once, waits):
    svg = explore.memory(kib, at_once)
    assert f"{waits} wait" in told(svg) and told(svg).endswith(f" of {clocks} clocks, {waits * clocks} in all")
    assert [tip for tip in tips(svg) if tip.startswith("wait ")] == [f"wait {i}" for i in range(waits)]


@pytest.mark.parametrize("tile", [1, 4, 7, 16, 64])
@pytest.mark.parametrize("row, col, p", [(0, 0, 0), (20, 3, 5), (39, 23, 31)])
def test_a_product_is_made_from_a_tile_of_each_matrix(row, col, p, tile):
    def around(index, length):
        return [i for i in range(length) if i // tile == index // tile]

    svg = explore.tiled_matmul(row, col, p, tile)
    m, n, k = matmul.M, matmul.N, matmul.K
    rows, cols, ks = around(row, m), around(col, n), around(p, k)
    pieces = [[list(range(*map(int, part.split(":")))) for part in re.findall(r"\d+:\d+", tip)] for tip in tips(svg)]
    assert pieces[2] == [rows, ks] and pieces[5] == [ks, cols] and pieces[8] == [rows, cols]
    across = len(range(0, n, tile))
    assert told(svg).startswith(f"program {row // tile * across + col // tile} of ")
    loaded = m * k * across + k * n * len(range(0, m, tile))
    assert f"load {loaded} elements ({2 * m * n * k} in" in told(svg)


@pytest.mark.parametrize("scale", [0, 0.5, 4])
@pytest.mark.parametrize("seen", [0, 1, 4])
def test_the_keys_that_are_seen_share_out_one_query(scale, seen):
    scores = np.array([4, 0, 2, 6])[:seen] * scale
    powers = np.exp(scores - max(scores, default=0))
    weights = powers / powers.sum() if seen else powers
    x, y = sum((w * np.array(v) for w, v in zip(weights, [(1, 0), (0, 1), (1, 1), (2, 0)])), np.zeros(2))
    svg = explore.attention(scale, seen)
    assert f"out = ({x:.3f}, {y:.3f})" in told(svg)
    assert (f"l = {powers.sum():.3f}" in told(svg)) == (seen > 0)
    padded = [np.pad(numbers, (0, 4 - seen)) for numbers in (powers, weights)]
    assert tips(svg)[:8] == [
        f"key {key}: {name} {numbers[key]:.4f}{', hidden' if key >= seen else ''}"
        for key in range(4)
        for name, numbers in zip(["exp(score - m)", "weight"], padded)
    ]


@pytest.mark.parametrize("scores", [[2, 0, 1, 3], [6, -6, 5, 5], [0, 0, 0, 0]])
@pytest.mark.parametrize("block", [1, 3, 4])
def test_what_each_key_adds_shrinks_when_a_larger_score_comes(scores, block):
    svg = explore.online_softmax(scores, block)
    powers = np.exp(np.array(scores) - max(scores))
    x, y = powers @ np.array([(1, 0), (0, 1), (1, 1), (2, 0)]) / powers.sum()
    assert f"l = {powers.sum():.3f}: output ({x:.3f}, {y:.3f})" in told(svg)
    ends = [min(end, 4) for end in range(block, 4 + block, block)]
    assert tips(svg) == [
        f"{end} score{'s' * (end > 1)} seen: exp({score} - {(m := max(scores[:end]))}) = {np.exp(score - m):.4f}"
        for end in ends
        for score in scores[:end]
    ]


@pytest.mark.parametrize("picture, ranges", sorted(set(PICTURES.values())))
def test_pictures_can_be_drawn_at_both_ends_of_every_slider(picture, ranges):
    known = eval(f"dict({ranges})")
    for end in (0, 1, -1):
        ElementTree.fromstring(getattr(explore, picture)(**{name: values[end] for name, values in known.items()}))


OF_A = {
    2: lambda group, inside, i: (group + 8 * (i // 2 % 2), inside * 2 + i % 2 + 8 * (i // 4)),
    4: lambda group, inside, i: (group + 8 * (i % 2), inside + 4 * (i // 2)),
}
OF_B = {
    2: lambda group, inside, i: (inside * 2 + i % 2 + 8 * (i // 2), group),
    4: lambda group, inside, i: (inside + 4 * i, group),
}


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("lane", [0, 5, 31])
def test_the_lane_of_each_element_is_that_of_the_formula_in_the_ptx_isa(lane, size):
    k, group, inside = 32 // size, lane // 4, lane % 4
    rows_and_cols = {
        "a": [OF_A[size](group, inside, i) for i in range(k // 2)],
        "b": [OF_B[size](group, inside, i) for i in range(k // 4)],
        "sum": [(group + 8 * (i // 2), inside * 2 + i % 2) for i in range(4)],
    }
    want = {
        f"{name}[{row}, {col}]: lane {lane}, number {i}"
        for name, places in rows_and_cols.items()
        for i, (row, col) in enumerate(places)
    }
    assert {tip for tip in tips(explore.fragments(lane, size)) if f"lane {lane}," in tip} == want
    assert len(tips(explore.fragments(lane, size))) == 16 * k + k * 8 + 16 * 8
