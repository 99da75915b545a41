"""Week 2, kata: layouts

Challenge
    A layout says where in memory each element lies. The tile of a block, the registers of a tensor core, an order of
    threads that loads whole sectors: each is a layout, and a small algebra makes one of another. It is that of CuTe,
    the part of NVIDIA's CUTLASS in which its kernels for matrices are written. Write it in plain Python: tasks 1 to 3,
    and in a second sitting tiles, tasks 4 and 5.

        ((2, 3), (3, 1)): 2 rows, 3 columns, stored row by row
            index          0       1       2       3       4       5      the first number of a coordinate runs fastest
            coordinate   (0, 0)  (1, 0)  (0, 1)  (1, 1)  (0, 2)  (1, 2)
            offset         0       3       1       4       2       5      3 * row + 1 * column

Explore
    ./course python -c "import numpy as np; x = np.ones((4, 6), bool); print(x.strides, x.T.strides, x[:, ::2].strides)"
    One piece of memory, three rules to read it. What does a transpose change, and what does a slice change?

Concept
    Layout: a pair (shape, stride), two ints or two tuples of the same form. CuTe writes (2,3):(3,1) for the one above,
    and so do the comments here. A pair of a size and its stride, such as 2:3, is a mode; that may be a layout again.
    Offset: each number of a coordinate times its stride, all added. If a mode is a layout itself, its part of the
    coordinate goes through that layout. An index may stand for a coordinate: idx2crd, given, makes one of it.
    Size: how many indices there are. Cosize: the largest offset, plus 1; here no stride is negative.
    Coalesce: the same offset for each index, with fewer modes. A mode of size 1 is left out. A mode s1:d1 that follows
    s0:d0 goes on where that one ends if d1 == s0 * d0; then both are one mode, (s0 * s1):d0.
    Composition: a o b takes index i to a(b(i)), so b chooses elements of a. Each mode of b goes by itself. A mode s:d
    of it means every d-th index of a, s of them. Coalesce a, and take it mode by mode, with step = d and left = s:
        a = (6,2):(8,2), b = 4:3    mode 6:8    6 // 3 = 2 indices, at stride 3 * 8; left is 4 // 2 = 2, step is 1
                                    mode 2:2    2 indices, at stride 1 * 2           so a o b = (2,2):(24,2)
    If the step is n or more, a mode of n indices gives none, and the step is divided by n. Any other gives n // step,
    but never more than are left; left is divided by that, so if all are given, 1 is left. After the first mode that
    gives any, the step is 1. CuTe refuses a division that is not exact; here all are, and you need not check.
    Complement: how to move a layout so that its copies fill the offsets below n, each once. Leave out modes of size 1,
    take the others by growing stride, and note how many offsets are full: at first 1. A mode s:d leaves a gap, which
    d // full copies fill, `full` apart; then s * d offsets are full. At the end n // full copies do the same.
        4:2 in 24    0 2 4 6    2 copies, 1 apart: 8 are full.    24 // 8 = 3 copies, 8 apart: (2,3):(1,8)
    Division: a o (tiler, c), where c is the tiler's complement in n = size(a[0]). Its first mode is one tile, its
    second the way from tile to tile. zipped_divide, given, does so to rows and to columns.
    Thread-value layout: a mode of threads and one of each thread's values, which lead to an index of a tile. Indices
    run down the rows first: row + rows * column. Composed with the tile's layout it says which thread loads what.
    Swizzle: an order that no strides describe. Each of `bits` bits of an offset, from place base + shift on, flips (^)
    the bit `shift` places lower. In Swizzle<2,0,2>, bits, base, shift, bit 2 flips bit 0: 4 = 0b0100 goes to 0b0101.
    Libraries: cuBLAS has whole products, ready to call. CUTLASS has their parts, as C++ templates and in Python, for a
    product with a type, an order or a last step that cuBLAS lacks. CUB has sums, scans, sorts and histograms in C++,
    for a warp, a block or the device. Ask them first; write what they do not have.

Code it
    Task 1  crd2idx, cosize: the layout as a function                          (seven lines)
    Task 2  coalesce: the same function, with fewer modes                       (nine lines)
    Task 3  composition: elements chosen by another layout                       (ten lines)
    Task 4  complement, logical_divide: tiles, and the way from tile to tile   (seven lines)
    Task 5  block_tile, fragment, warp_copy, swizzle: all of it in use           (six lines)

Verify
    pytest week2/katas/layouts         then: ./course quiz week2/katas/layouts
    Reflect: which layout would the tile of week 2, day 3 have, padded by a column? Why has its swizzle none?

Nothing here runs on a GPU: the same arithmetic is done by the compiler in CuTe, by a thread in other kernels.
"""

import math

WARP = 32    # lanes
SECTOR = 32  # bytes
BANKS = 32   # of shared memory, of 4 bytes each

Nested = int | tuple            # an int, or a tuple of ints and of such tuples
Layout = tuple[Nested, Nested]  # (shape, stride)


# Given: to take layouts apart and put them together, and to count
def size(shape: Nested) -> int:
    """How many coordinates a shape has."""
    return shape if isinstance(shape, int) else math.prod(size(part) for part in shape)


def modes(layout: Layout) -> list[Layout]:
    """modes(((6, 2), (8, 2))) == [(6, 8), (2, 2)]. A layout of two ints is its only mode."""
    shape, stride = layout
    return [layout] if isinstance(shape, int) else list(zip(shape, stride, strict=True))


def join(layouts: list[Layout]) -> Layout:
    """join([(6, 8), (2, 2)]) == ((6, 2), (8, 2)). One alone stays as it is; none at all become 1:0."""
    if len(layouts) < 2:
        return layouts[0] if layouts else (1, 0)
    return tuple(shape for shape, _ in layouts), tuple(stride for _, stride in layouts)


def flat(layout: Layout) -> list[tuple[int, int]]:
    """All its modes of two ints: flat(((2, (3, 4)), (1, (2, 6)))) is [(2, 1), (3, 2), (4, 6)]."""
    if isinstance(layout[0], int):
        return [layout]
    return [pair for mode in modes(layout) for pair in flat(mode)]


def idx2crd(index: int, shape: Nested) -> Nested:
    """The coordinate with this index: idx2crd(3, (2, 3)) == (1, 1)."""
    if isinstance(shape, int):
        return index
    coordinate = []
    for part in shape:  # the first runs fastest
        coordinate.append(idx2crd(index % size(part), part))
        index //= size(part)
    return tuple(coordinate)


def sectors(offsets: list[int]) -> int:
    """Sectors of global memory that hold these elements of float32."""
    return len({4 * offset // SECTOR for offset in offsets})


def wavefronts(offsets: list[int]) -> int:
    """Wavefronts of a request for these elements of float32 in shared memory."""
    wanted = [offset % BANKS for offset in set(offsets)]
    return max(wanted.count(bank) for bank in wanted)


# Task 1
def crd2idx(coordinate: Nested, layout: Layout) -> int:
    """The offset of a coordinate, in which any part may be given as an index: crd2idx(3, ((2, 3), (3, 1))) == 4.

    A layout of two ints multiplies. Any other adds up crd2idx of each part and its mode: sum, zip and isinstance serve.
    """
    shape, stride = layout
    if isinstance(shape, int):
        return coordinate * stride
    if isinstance(coordinate, int):
        coordinate = idx2crd(coordinate, shape)
    return sum(crd2idx(part, mode) for part, mode in zip(coordinate, modes(layout), strict=True))


def cosize(layout: Layout) -> int:
    """The largest offset, plus 1. No stride is negative, so one coordinate tells."""
    return crd2idx(size(layout[0]) - 1, layout) + 1


# Task 2
def coalesce(layout: Layout) -> Layout:
    """The layout of the fewest modes that has the same offset for each index; nothing in it is nested.

    A layout with one index is 1:0.
    """
    kept = []
    for extent, stride in flat(layout):
        if extent == 1:
            continue
        if kept and stride == kept[-1][0] * kept[-1][1]:
            kept[-1] = kept[-1][0] * extent, kept[-1][1]
        else:
            kept.append((extent, stride))
    return join(kept)


# Task 3
def composition(a: Layout, b: Layout) -> Layout:
    """The layout whose index i has the offset a(b(i)).

    It has a mode for each mode of b, nested as b is: the first lines, which are given, see to that. Yours is a b of two
    ints, and its result is coalesced. All offsets of b are indices of a, and all divisions are exact.
    """
    left, step = b
    if not isinstance(left, int):
        return join([composition(a, mode) for mode in modes(b)])
    if step == 0:  # index 0 again and again, and a(0) is 0
        return b
    chosen = []
    for extent, stride in flat(coalesce(a)):
        if step >= extent:
            step //= extent
        else:
            taken = min(extent // step, left)
            chosen.append((taken, step * stride))
            left //= taken
            step = 1
    return coalesce(join(chosen))


# Task 4
def complement(layout: Layout, n: int) -> Layout:
    """The layout of the moves by which copies of this layout fill the offsets below n, each once; coalesced.

    layout: no two of its indices have the same offset. n: a multiple of what is full after all of its modes.
    """
    moves, full = [], 1
    for stride, extent in sorted((stride, extent) for extent, stride in flat(layout) if extent > 1):
        moves.append((stride // full, full))
        full = extent * stride
    moves.append((n // full, full))
    return coalesce(join(moves))


def logical_divide(a: Layout, tiler: Layout) -> Layout:
    """a o (tiler, its complement in the size of a): two modes that stay two, one tile and the way from tile to tile.

    The size of a is size(a[0]), however far apart its elements lie.
    """
    return composition(a, join([tiler, complement(tiler, size(a[0]))]))


def zipped_divide(matrix: Layout, tilers: tuple[Layout, Layout]) -> Layout:
    """A matrix divided, the rows by the first tiler and the columns by the second. Given.

    A tiler chooses indices: its stride counts rows, or columns, whatever theirs is in memory.
    Two modes: (rows, columns) of a tile, and (tiles down, tiles across).
    """
    divided = [modes(logical_divide(mode, tiler)) for mode, tiler in zip(modes(matrix), tilers, strict=True)]
    return join([join([tile for tile, _ in divided]), join([moves for _, moves in divided])])


# Task 5
def block_tile(matrix: Layout, rows: int, columns: int, block: tuple[int, int]) -> tuple[Layout, int]:
    """The layout of a tile of rows x columns, and the offset of its first element.

    matrix: two modes, perhaps nested, which rows and columns divide. block: how many tiles down and across the tile is.
    """
    tile, moves = modes(zipped_divide(matrix, ((rows, 1), (columns, 1))))
    return tile, crd2idx(block, moves)


def fragment() -> Layout:
    """Which of the 16 x 8 sums of one mma instruction a lane holds: the shape ((4, 8), (2, 2)) and its strides.

    Lane t has the value v of its four in row t // 4 + 8 * (v // 2), column 2 * (t % 4) + v % 2. That is index
    row + 16 * column of the tile.
    """
    return ((4, 8), (2, 2)), ((32, 1), (16, 8))


def warp_copy(tile: Layout) -> Layout:
    """The offsets at which a warp loads a tile of float32: a mode of 32 lanes, and one of 4 * rows values of each.

    tile: two modes, perhaps nested. The first has `rows` indices, size(tile[0][0]); the second has 128 columns. In
    memory a row is whole, or in parts of 32 columns or more, wherever these lie: only neighbours in a row share sectors
    for sure. In each of `rows` requests a lane asks for 4 elements that follow each other, as one piece of 16 bytes.
    The mode of values begins with the four of the first request. No request takes more sectors than it must, 16.
    """
    rows = size(tile[0][0])
    return composition(tile, ((WARP, (4, rows)), (4 * rows, (rows, 1))))


def swizzle(offset: int, bits: int, base: int, shift: int) -> int:
    """The offset with its `bits` bits from place `base` on flipped by those from place base + shift on.

    Places count from 0, the lowest bit. Offsets stay together in groups of 2**base. shift: at least `bits`.
    """
    return offset ^ (offset >> shift & (2**bits - 1) << base)
