"""Week 2, kata: histogram

Challenge
    A histogram counts how many values fall into each bin. Each value changes one counter, and which one is known only
    when the value is read: two threads may want the same one at once. Count by atomics, first in global memory, then
    in each block's own bins; build an atomic that is missing; and do without atomics where keys are sorted.

        256 bins of [0, 1], eight values, two blocks of four
            x                 0.50  0.25  0.50  1.00 | -0.10  0.50   nan  0.00
            bin                128    64   128   255 |     -   128     -     0
            global atomics    six updates of counts; the three of counts[128] wait in line
            private bins      64: 1, 128: 2, 255: 1  |  0: 1, 128: 1
                              then each block adds its bins to counts: counts[128] gets a 2 and a 1

Explore
    ./course python -c "import numpy as np; print(np.histogram([-.1, 0, .5, 1, 1.1, np.nan], 256, (0, 1))[0].nonzero())"
    ./course python -c "print(int(-.001 * 256), int(1 * 256))"
    Which bins does NumPy fill, and with which of the six values? In which would int alone put -0.001 and 1?

Concept
    Bins: bin b of 256 holds b / 256 <= value < (b + 1) / 256, and the last one holds 1 too. Values outside of [0, 1]
    and NaN are not counted. int cuts off towards 0, so check the range first; a comparison with NaN is false.
    Multiply by np.float32(BINS): float32 times BINS, an int, is float64 in Numba.
    Atomic: cuda.atomic.add(counts, b, 1) loads, adds and stores element b as one step. counts[b] += 1 is three steps:
    two threads may load the same number, and one update is lost. Atomic updates of one element wait in line.
    Private bins: a block counts in shared memory, cuda.shared.array(BINS, np.int32). Each thread clears one bin;
    barrier; all count, by atomics on that array; barrier; each thread adds one bin to counts by an atomic. With a
    grid-stride loop (week 1, day 3) a few blocks take all values, and counts gets few updates.
    Contention: a load of one element serves all lanes that ask for it; an addition is made for each of them. In one
    wavefront (week 2, day 3) a bank makes one addition; bin b lies in bank b % 32. So lanes that want one bank take
    turns, in the same bin or not: 32 equal values take 32 wavefronts.
    Copies: copies_kernel, given in CUDA C++, has two arrays of bins for each warp, one for its even lanes and one for
    its odd ones. A row has 257 places, so that copies of one bin lie in different banks: 32 equal values take 16
    wavefronts. Values that are spread evenly take no fewer. float4 is four float32, loaded at once.
    The constant 1: the simulator, the tests and predict_wavefronts count an addition for each lane, whatever number is
    added. Only an A100 or H100 has an instruction of its own to add the constant 1 in shared memory, where the result
    is not used, as in both kernels. It adds up the lanes that want one bin at once: equal values need no copies there.
    Width: shared bins are int32, which shared memory adds to in one instruction; an int64 takes a loop there. counts
    is int64: an int32 that goes beyond 2**31 - 1 becomes negative.
    Compare and swap: cuda.atomic.cas(array, i, old, new) stores new if array[i] equals old, and returns what it
    found. If it found old, the update is done; if not, another thread came first: take what was found as old and try
    again. The first old is a plain load: if another thread changes the element after it, cas finds that out. This loop
    makes an atomic of any operation. cas takes integers: cuda.libdevice.float_as_int(x) is the int32 of the same bits
    as the float32 x, and cuda.libdevice.int_as_float(i) is the way back.
    Without atomics: in sorted keys equal ones are neighbours. Key v begins at the first place with v or more, and
    ends before the first place with v + 1 or more. first_from, given, finds a place by halving the range, in log2(n)
    steps; thread v alone stores counts[v], a 0 too.

Code it
    Task 1  bin_of, global_kernel: a histogram by global atomics                           (eight lines)
    Task 2  private_kernel; predict_wavefronts                                            (twelve lines)
    Task 3  atomic_max: the larger of two floats, by compare and swap                        (six lines)
    Task 4  degree_kernel; sorted_kernel: degrees of a graph by atomics, counts of sorted keys without (seven lines)

Verify
    pytest week2/katas/histogram       then: ./course quiz week2/katas/histogram
    Reflect: keys come unsorted, and sorting takes time. When would you sort them all the same?

Simulated without a GPU: results, races and bytes are exact, and wavefronts too, but for the constant 1 on a GPU.
Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one

import numpy as np
from tools.gpu import cuda, cupy

BINS = 256     # of a histogram
THREADS = 256  # of a block: one for each bin
BLOCKS = 1056  # eight for each of the 132 multiprocessors of an H100
BANKS = 32     # of shared memory; element i of 4 bytes lies in bank i % BANKS


def blocks_for(n: int) -> int:
    """Blocks of THREADS threads with a thread for each of n elements; at least one. Given."""
    return max(1, -(-n // THREADS))


def few_blocks_for(n: int) -> int:
    """Blocks of THREADS threads for n values, about 16 a thread; at least one, at most BLOCKS. Given."""
    return min(BLOCKS, blocks_for(n // 16))


# Task 1
@cuda.jit(device=True)  # a function for kernels to call
def bin_of(value):
    """The bin of a float32 value, 0 to BINS - 1; -1 if it belongs to none."""
    pass


@cuda.jit
def bins_kernel(x, bins):
    """Given."""
    i = cuda.grid(1)
    if i < x.size:
        bins[i] = bin_of(x[i])


def bins_of(x: cupy.ndarray) -> cupy.ndarray:
    """The bin of each value, by bin_of. x: float32, contiguous. Given."""
    bins = cupy.empty(x.size, np.int32)
    bins_kernel[blocks_for(x.size), THREADS](x, bins)
    return bins


@cuda.jit
def global_kernel(x, counts):
    """Adds each value of x to its bin in counts; the grid has a thread for each of them."""
    pass


def histogram_global(x: cupy.ndarray, *, counts: cupy.ndarray | None = None) -> cupy.ndarray:
    """counts, after the values of x have been added to it by global_kernel. Given.

    x: float32 of any length, contiguous. counts: (BINS,) int64; zeros if not given.
    """
    counts = cupy.zeros(BINS, np.int64) if counts is None else counts
    global_kernel[blocks_for(x.size), THREADS](x, counts)
    return counts


# Task 2
@cuda.jit
def private_kernel(x, counts):
    """As global_kernel, for any number of blocks of THREADS threads; each block counts in shared memory first."""
    pass


def histogram_private(x: cupy.ndarray, *, blocks: int | None = None,
                      counts: cupy.ndarray | None = None) -> cupy.ndarray:
    """As histogram_global, by private_kernel with `blocks` blocks, few_blocks_for(x.size) if None. Given."""
    counts = cupy.zeros(BINS, np.int64) if counts is None else counts
    private_kernel[blocks or few_blocks_for(x.size), THREADS](x, counts)
    return counts


def predict_wavefronts(bins: list[int]) -> int:
    """Wavefronts in which one warp updates the private bins, where an addition is made for each lane.

    bins: those of its 32 lanes, each from 0 to 255.
    """
    raise NotImplementedError("week2/katas/histogram task 2: predict_wavefronts")


copies_source = """
__device__ void add(int* bins, float value) {
    if (value >= 0 && value <= 1)
        atomicAdd(bins + min((int)(value * 256), 255), 1);
}

extern "C" __global__ void copies_kernel(const float* x, long long n, unsigned long long* counts) {
    __shared__ int bins[16][257];
    for (int i = threadIdx.x; i < 16 * 257; i += 256)
        bins[i / 257][i % 257] = 0;
    __syncthreads();
    int* mine = bins[threadIdx.x / 32 * 2 + threadIdx.x % 2];
    long long first = blockIdx.x * 256 + threadIdx.x;
    for (long long i = first; i < n / 4; i += gridDim.x * 256) {
        float4 four = ((const float4*)x)[i];
        add(mine, four.x);
        add(mine, four.y);
        add(mine, four.z);
        add(mine, four.w);
    }
    if (first < n % 4)  // what is left beyond the last four
        add(mine, x[n / 4 * 4 + first]);
    __syncthreads();
    int sum = 0;
    for (int copy = 0; copy < 16; copy++)
        sum += bins[copy][threadIdx.x];
    atomicAdd(counts + threadIdx.x, (unsigned long long)sum);
}
"""
copies_kernel = cupy.RawKernel(copies_source, "copies_kernel")


def histogram_copies(x: cupy.ndarray, *, blocks: int | None = None, counts: cupy.ndarray | None = None) -> cupy.ndarray:
    """As histogram_private, by copies_kernel. x: begins at a multiple of 16 bytes, as each new array does. Given."""
    counts = cupy.zeros(BINS, np.int64) if counts is None else counts
    copies_kernel((blocks or few_blocks_for(x.size),), (THREADS,), (x, np.int64(x.size), counts))
    return counts


# Task 3
@cuda.jit(device=True)
def atomic_max(bits, place, value):
    """Makes the float whose bits are bits[place] the larger of itself and value, whatever other threads do.

    bits: an array of int32. value: float32; one that is not larger, or NaN, needs no cas.
    """
    pass


@cuda.jit
def max_kernel(values, keys, bits):
    """Given."""
    i = cuda.grid(1)
    if i < values.size:
        atomic_max(bits, keys[i], values[i])


def largest(values: cupy.ndarray, keys: cupy.ndarray, number: int, *, start: float = -np.inf) -> cupy.ndarray:
    """(number,) float32: for each key the largest of `start` and of its values that are not NaN. Given.

    values: (n,) float32. keys: (n,) int32, one for each value, 0 <= key < number.
    """
    out = cupy.full(number, start, np.float32)
    max_kernel[blocks_for(values.size), THREADS](values, keys, out.view(np.int32))
    return out


# Task 4
@cuda.jit
def degree_kernel(edges, degrees):
    """Edge j joins the nodes edges[0, j] and edges[1, j]: one more for the degree of each.

    For an edge from a node to itself that is two more for this node.
    """
    pass


def degrees_of(edges: cupy.ndarray, nodes: int) -> cupy.ndarray:
    """(nodes,) int32: how many ends of edges each node has. edges: (2, m) int32, 0 <= edges < nodes. Given."""
    degrees = cupy.zeros(nodes, np.int32)
    degree_kernel[blocks_for(edges.shape[1]), THREADS](edges, degrees)
    return degrees


@cuda.jit(device=True)
def first_from(keys, key):
    """The first place in sorted keys that holds `key` or more; keys.size if there is none. Given."""
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@cuda.jit
def sorted_kernel(keys, counts):
    """Stores in counts[v] how many of the sorted keys are v, for each v; the grid has a thread for each."""
    pass


def count_sorted(keys: cupy.ndarray, number: int) -> cupy.ndarray:
    """(number,) int32: how many keys are 0, 1, ... number - 1, without an atomic. Given.

    keys: int32 of any length, contiguous, sorted: no key is followed by a smaller one.
    """
    counts = cupy.empty(number, np.int32)
    sorted_kernel[blocks_for(number), THREADS](keys, counts)
    return counts
