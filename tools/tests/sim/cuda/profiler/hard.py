"""Kernels chosen to be hard to count: edges, other types, structs, scans, histograms, ragged loops, odd blocks."""

import numpy as np

from tools.gpu import cuda

float32, float64, int32 = np.float32, np.float64, np.int32
BINS = 64
DYNAMIC = {"dynamic_reverse": 200 * 4}  # bytes of dynamic shared memory


@cuda.jit
def stencil_guarded(a, out):
    column, row = cuda.grid(2)
    if 0 < row < a.shape[0] - 1 and 0 < column < a.shape[1] - 1:
        out[row, column] = (
            a[row, column] + a[row - 1, column] + a[row + 1, column] + a[row, column - 1] + a[row, column + 1]
        )


@cuda.jit
def stencil_clamped(a, out):
    column, row = cuda.grid(2)
    rows, columns = a.shape[0], a.shape[1]
    if row < rows and column < columns:
        left, right = max(column - 1, 0), min(column + 1, columns - 1)
        up, down = max(row - 1, 0), min(row + 1, rows - 1)
        out[row, column] = a[up, column] + a[down, column] + a[row, left] + a[row, right]


@cuda.jit
def copy_every(x, out, stride):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i * stride]


@cuda.jit
def one_field(points, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = points[i, 1]


@cuda.jit
def three_fields(points, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = points[i, 0] * points[i, 1] + points[i, 2]


@cuda.jit
def warp_scan(x, out):
    i, lane = cuda.grid(1), cuda.laneid
    value = x[i]
    for step in (1, 2, 4, 8, 16):
        below = cuda.shfl_up_sync(0xFFFFFFFF, value, step)
        if lane >= step:
            value += below
    out[i] = value


@cuda.jit
def histogram_global(x, bins):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(bins, x[i], 1)


@cuda.jit
def histogram_private(x, bins):
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(bins, t, mine[t])


@cuda.jit
def tickets(x, counter, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        if x[i] > float32(0):
            out[i] = cuda.atomic.add(counter, 0, 1)


@cuda.jit
def ragged_rows(starts, values, out):
    row = cuda.grid(1)
    if row < out.shape[0]:
        total = float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k]
        out[row] = total


@cuda.jit
def early_returns(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    value = x[i]
    if value < float32(0):
        out[i] = -value
        return
    if i % 3 == 0:
        return
    out[i] = value


@cuda.jit
def odd_block(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + x[i + 1]


@cuda.jit
def copy_3d(a, out):
    x, y, z = cuda.grid(3)
    if x < a.shape[2] and y < a.shape[1] and z < a.shape[0]:
        out[z, y, x] = a[z, y, x]


@cuda.jit
def transpose_swizzled(a, out):
    tile = cuda.shared.array((32, 32), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx ^ ty] = a[row, column]
    cuda.syncthreads()
    out[cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx] = tile[tx, ty ^ tx]


@cuda.jit
def shared_doubles(x, out, stride):
    line = cuda.shared.array(1024, float64)
    t = cuda.threadIdx.x
    for k in range(0, 1024, 64):
        line[t + k] = x[t + k]
    cuda.syncthreads()
    out[t] = line[t * stride % 1024]


@cuda.jit
def shared_bytes(x, out, stride):
    line = cuda.shared.array(2048, np.int8)
    t = cuda.threadIdx.x
    for k in range(0, 2048, 64):
        line[t + k] = x[t + k]
    cuda.syncthreads()
    out[t] = line[t * stride % 2048]


@cuda.jit
def shared_halves(x, out, stride):
    line = cuda.shared.array(2048, np.int16)
    t = cuda.threadIdx.x
    for k in range(0, 2048, 64):
        line[t + k] = x[t + k]
    cuda.syncthreads()
    out[t] = line[t * stride % 2048]


@cuda.jit
def shared_gather(x, places, out):
    line = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    for k in range(0, 1024, 128):
        line[t + k] = x[t + k]
    cuda.syncthreads()
    out[t] = line[places[t]]


@cuda.jit
def shared_gather_doubles(x, places, out):
    line = cuda.shared.array(1024, float64)
    t = cuda.threadIdx.x
    for k in range(0, 1024, 128):
        line[t + k] = x[t + k]
    cuda.syncthreads()
    out[t] = line[places[t]]


@cuda.jit
def shared_broadcasts(x, out):
    line = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    line[t] = x[t]
    cuda.syncthreads()
    out[t] = line[t // 16] + line[t // 4 * 2] + line[t % 2 * 32]


@cuda.jit
def shared_maximum(x, out):
    most = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    if t < 4:
        most[t] = 0
    cuda.syncthreads()
    cuda.atomic.max(most, t % 4, x[cuda.grid(1)])
    cuda.syncthreads()
    if t < 4:
        out[cuda.blockIdx.x, t] = most[t]


@cuda.jit
def compact(x, counts, out):
    i, lane = cuda.grid(1), cuda.laneid
    keep = x[i] > float32(0)
    kept = cuda.ballot_sync(0xFFFFFFFF, keep)
    warp = i // 32
    if lane == 0:
        counts[warp] = cuda.popc(kept)
    if keep:
        out[warp * 32 + cuda.popc(kept & ((1 << lane) - 1))] = x[i]


@cuda.jit
def rows_by_warps(a, x, out):
    row, lane = cuda.grid(1) // 32, cuda.laneid
    total = float32(0)
    for k in range(lane, a.shape[1], 32):
        total += a[row, k] * x[k]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
    if lane == 0:
        out[row] = total


@cuda.jit
def gather_rows(table, ids, out):
    place, column = cuda.blockIdx.x, cuda.threadIdx.x
    out[place, column] = table[ids[place], column]


@cuda.jit
def dynamic_reverse(x, out):
    line = cuda.shared.array(0, float32)
    t, last = cuda.threadIdx.x, cuda.blockDim.x - 1
    start = cuda.blockIdx.x * cuda.blockDim.x
    line[t] = x[start + t]
    cuda.syncthreads()
    out[start + t] = line[last - t]


@cuda.jit
def uniform_loads(x, table, out):
    i = cuda.grid(1)
    total = x[i]
    for k in range(table.shape[0]):
        total += table[k] * float32(k)
    out[i] = total


def cases(array):
    """As in textbook.py. array(shape, dtype, high): whole numbers below `high` where one is given."""
    yield "stencil_guarded", stencil_guarded, (9, 7), (17, 13), (array((90, 150)), array((90, 150)))
    yield (
        "stencil_clamped_f64",
        stencil_clamped,
        (10, 24),
        (16, 4),
        (array((90, 150), float64), array((90, 150), float64)),
    )
    for dtype, stride in (
        (np.int8, 1),
        (np.int8, 3),
        (np.float16, 1),
        (np.float16, 5),
        (float64, 1),
        (float64, 3),
        (np.complex64, 1),
        (np.complex128, 1),
        (np.complex128, 2),
    ):
        name = f"copy_{np.dtype(dtype).name}_every_{stride}"
        yield name, copy_every, 32, 128, (array(4096 * stride, dtype), array(4096, dtype), stride)
    yield "one_field", one_field, 32, 128, (array((4096, 3)), array(4096))
    yield "three_fields", three_fields, 32, 128, (array((4096, 3)), array(4096))
    yield "four_fields_f64", three_fields, 32, 128, (array((4096, 4), float64), array(4096, float64))
    yield "warp_scan", warp_scan, 32, 128, (array(4096), array(4096))
    yield "histogram_global", histogram_global, 40, 256, (array(10_000, int32, BINS), array(BINS, int32, 1))
    yield "histogram_private", histogram_private, 8, 256, (array(10_000, int32, BINS), array(BINS, int32, 1))
    yield "tickets", tickets, 40, 256, (array(10_000), array(1, int32, 1), array(10_000))
    starts = np.concatenate(([0], np.cumsum(np.random.default_rng(7).integers(0, 40, 1000)))).astype(np.int64)
    yield "ragged_rows", ragged_rows, 8, 128, (starts, array(int(starts[-1])), array(1000))
    yield "early_returns", early_returns, 40, 256, (array(10_000), array(10_000))
    yield "odd_block", odd_block, 57, 72, (array(4097), array(4096))
    yield "copy_3d", copy_3d, (4, 3, 5), (7, 5, 3), (array((14, 13, 25)), array((14, 13, 25)))
    yield "transpose_swizzled", transpose_swizzled, (8, 8), (32, 32), (array((256, 256)), array((256, 256)))
    for stride in (1, 2, 5, 16):
        yield f"shared_doubles_{stride}", shared_doubles, 1, 64, (array(1024, float64), array(64, float64), stride)
    for stride in (1, 3, 4, 128):
        yield f"shared_bytes_{stride}", shared_bytes, 1, 64, (array(2048, np.int8), array(64, np.int8), stride)
    yield "shared_halves_6", shared_halves, 1, 64, (array(2048, np.int16), array(64, np.int16), 6)
    yield "shared_gather", shared_gather, 1, 128, (array(1024), array(128, int32, 1024), array(128))
    yield (
        "shared_gather_doubles",
        shared_gather_doubles,
        1,
        128,
        (array(1024, float64), array(128, int32, 1024), array(128, float64)),
    )
    yield (
        "shared_gather_few",
        shared_gather_doubles,
        1,
        128,
        (array(1024, float64), array(128, int32, 40), array(128, float64)),
    )
    yield "shared_broadcasts", shared_broadcasts, 1, 64, (array(64), array(64))
    yield "shared_maximum", shared_maximum, 16, 128, (array(2048, int32, 1000), array((16, 4), int32, 1))
    yield "compact", compact, 32, 128, (array(4096), array(128, int32, 1), array(4096))
    yield "rows_by_warps", rows_by_warps, 16, 128, (array((64, 300)), array(300), array(64))
    yield "gather_rows", gather_rows, 50, 96, (array((1000, 96)), array(50, np.int64, 1000), array((50, 96)))
    yield "dynamic_reverse", dynamic_reverse, 10, 200, (array(2000), array(2000))
    yield "uniform_loads", uniform_loads, 8, 128, (array(1024), array(20), array(1024))
