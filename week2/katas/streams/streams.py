"""Week 2, kata: streams

Challenge
    A GPU has an engine that copies up, one that copies down, and multiprocessors that compute. In one stream two of
    the three always wait. Predict what that costs. In a second sitting, tasks 3 and 4, keep all three at work on data
    larger than the GPU's memory, chunk by chunk, in four arrays; then run products that are too small, side by side.

        three chunks, two buffers on each side; 2 ms up, 3 ms kernel, 1 ms down        one stream: 3 * 6 = 18 ms

        up        |0 0|1 1|.|2 2|                2 waits until the kernel has read 0, whose buffer it takes
        compute       |0 0 0|1 1 1|2 2 2|
        down                |0|   |1|   |2|      all done after 12 ms

Explore
    ./course python -m week2.katas.streams.show_timeline
    The same work, as the simulated GPU did it: a digit is the chunk that an engine works on. Two streams overlap
    their copies. With either of two mistakes nothing overlaps, and one makes copies slower, too: what is forgotten?
    Yours gains little more here, where the kernel is short. Two streams keep two engines at work, yours three: where
    the kernel takes as long as each copy, it needs a third less time than they do.

Concept
    What you know of week1/katas/transfers: a stream is a queue, work in different streams may overlap, the host does
    not wait for copies of pinned memory in a stream, cuda.synchronize() waits for everything.
    Order across streams: nothing orders the work of two streams but an event. e = cuda.event() makes one,
    e.record(stream) marks what is in the stream so far, e.wait(stream) makes all later work of that stream wait for
    the mark. The host does not wait. Without an argument both mean the default stream. An event that is recorded
    again has a new mark, and a wait means the latest so far. One that was never recorded holds nobody up.
    A missing wait is a race: the result may be right a hundred times. The simulator refuses such work.
    Double buffering: two buffers for what comes up, two for what goes down, used in turns: chunk i takes number i % 2
    of each. While the kernel reads one, the other is filled. An upload waits until the kernel two chunks before it
    has read the buffer; a kernel waits until the download two chunks before it has emptied the buffer. These waits
    take an event for each buffer, recorded in each turn right after the work that reads or empties it. To wait for
    everything in the other stream would be to wait for the chunk just before, too. Two more waits lead forward, from
    upload to kernel and from kernel to download of one chunk: `after` of task 2 makes them.
    Makespan: the time from first to last. Each engine takes the chunks in order, and begins one when it is done with
    the one before, the chunk is there, and the buffer that it fills is free. With enough chunks the slowest
    engine decides.
    What spoils it: work in the default stream, stream 0, waits for all other streams and they wait for it. A copy that
    names no stream is in it, and the host waits for it. Pageable memory makes the host wait at each copy, which is
    slower as well. A synchronize in the loop makes it wait, too.
    Kernels side by side: a kernel of few blocks leaves most multiprocessors (SMs) idle. Kernels in other streams may
    use them, as long as blocks fit. An SM holds blocks_per_sm of them, of one kernel or of several, and the blocks
    of one kernel may lie on many SMs. It pays if a kernel takes longer than its launch, about 25 us from Python.
    Fork and join: several streams work between two steps of a main stream. Before its first work each of them waits
    once for an event of main; after the last work main waits once for an event of each.

Code it
    Task 1  in_turn, makespan: what to expect                                 (eight lines)
    Task 2  after: one stream waits for another                               (three lines)
    Task 3  overlapped: three streams, two buffers on each side            (thirteen lines)
    Task 4  kernels_at_once, multiply_all: small products side by side        (eight lines)

Verify
    pytest week2/katas/streams         then: ./course quiz week2/katas/streams
    Reflect: your kernel takes ten times as long as both copies. What would a third buffer bring?

Simulated without a GPU: results, copies, their order and races between copies and kernels are exact. Time is
modelled: 25 us of the host for each piece of work and 2 us for an event, copies at the rate of an H100's link, a
kernel what its bytes take, one kernel at a time.
"""

from collections.abc import Callable

import numpy as np
from tools.gpu import cuda
from week2.katas.streams import show_timeline

THREADS = 256  # of a block
TILE = 16      # rows and columns of a block of matmul_kernel
BUFFERS = 2    # on each side


@cuda.jit
def step_kernel(x, out, rounds):
    """Each element of x, halved and one added, `rounds` times, into out. Given. x, out: (n,) float64."""
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        for _ in range(rounds):
            value = value * 0.5 + 1.0
        out[i] = value


@cuda.jit
def matmul_kernel(a, b, out, number):
    """out[number] = a[number] @ b[number]. Given. a: (count, m, k), b: (count, k, n), out: (count, m, n) float32."""
    col, row = cuda.grid(2)
    if row < out.shape[1] and col < out.shape[2]:
        total = np.float32(0)
        for p in range(a.shape[2]):
            total += a[number, row, p] * b[number, p, col]
        out[number, row, col] = total


def blocks_for(n: int, threads: int = THREADS) -> int:
    """Blocks with a thread for each of n elements; at least one. Given."""
    return max(1, -(-n // threads))


# Task 1
def in_turn(chunks: int, up: float, kernel: float, down: float) -> float:
    """Time of so many chunks in one stream. up, kernel, down: what each takes of a chunk, in one unit."""
    raise NotImplementedError("week2/katas/streams task 1: in_turn")


def makespan(chunks: int, up: float, kernel: float, down: float, buffers: int) -> float:
    """Time of so many chunks on three engines, chunk i in buffer i % buffers of each side; 0.0 for no chunks.

    up, kernel, down: as for in_turn.
    """
    uploaded = computed = downloaded = 0.0  # when each engine is done with its last chunk
    read = [0.0] * buffers     # when each buffer was last read by a kernel
    emptied = [0.0] * buffers  # and each on the other side by a download
    raise NotImplementedError("week2/katas/streams task 1: makespan")


# Task 2
def after(first, second) -> None:
    """All later work of stream `second` waits for all work that is in stream `first` now. The host does not wait."""
    raise NotImplementedError("week2/katas/streams task 2: after")


def relay(x: np.ndarray, rounds: int) -> np.ndarray:
    """x, stepped: up in one stream, computed in another, down in a third. Given, for your `after`. x: (n,) float64."""
    up, compute, down = (cuda.stream() for _ in range(3))
    source, result = (cuda.pinned_array_like(x) for _ in range(2))
    there, stepped = (cuda.device_array(x.size, np.float64) for _ in range(2))
    source[:] = x
    there.copy_to_device(source, stream=up)
    after(up, compute)
    step_kernel[blocks_for(x.size), THREADS, compute](there, stepped, rounds)
    after(compute, down)
    stepped.copy_to_host(result, stream=down)
    down.synchronize()
    return result.copy()


@show_timeline.simulated
def beside(n: int) -> tuple[float, float]:
    """What the simulated GPU did: when a small download began that is `after` a small kernel, and when an upload of n
    numbers was done, which a third stream had begun before; in microseconds. Given.
    """
    def work():
        large, first, second = (cuda.stream() for _ in range(3))
        cuda.to_device(cuda.pinned_array(n, np.float64), stream=large)
        small = cuda.device_array(1, np.float64)
        step_kernel[1, THREADS, first](small, small, 1)
        after(first, second)
        small.copy_to_host(cuda.pinned_array(1, np.float64), stream=second)
        cuda.synchronize()

    spans = show_timeline.timeline(work)
    return spans["download"][0][0], spans["upload"][0][1]


# Task 3
class Job:
    """Chunks to step and places for their results, in the host's memory. Given.

    x: (chunks, n) float64. chunks, results: arrays of that shape, in pinned memory unless pinned is False.
    """

    def __init__(self, x: np.ndarray, rounds: int, pinned: bool = True):
        self.rounds, self.n = rounds, x.shape[1]
        self.chunks, self.results = (cuda.pinned_array_like(x) if pinned else np.zeros_like(x) for _ in range(2))
        self.chunks[:] = x


def one_stream(job: Job) -> None:
    """Every chunk up, stepped, and down to its result. Given: right, and what yours is timed against."""
    stream = cuda.stream()
    source, target = (cuda.device_array(job.n, np.float64) for _ in range(2))
    for chunk, result in zip(job.chunks, job.results):
        source.copy_to_device(chunk, stream=stream)
        step_kernel[blocks_for(job.n), THREADS, stream](source, target, job.rounds)
        target.copy_to_host(result, stream=stream)
    stream.synchronize()


def two_streams(job: Job, forgets: bool = False) -> None:
    """As one_stream, in two of them by turns, each with its buffers. Given. forgets: to name one, and is slow."""
    streams = [cuda.stream() for _ in range(2)]
    sources, targets = ([cuda.device_array(job.n, np.float64) for _ in streams] for _ in range(2))
    for number, (chunk, result) in enumerate(zip(job.chunks, job.results)):
        stream, source, target = streams[number % 2], sources[number % 2], targets[number % 2]
        source.copy_to_device(chunk, stream=0 if forgets else stream)
        step_kernel[blocks_for(job.n), THREADS, stream](source, target, job.rounds)
        target.copy_to_host(result, stream=stream)
    cuda.synchronize()


def overlapped(job: Job) -> None:
    """As one_stream: a stream for uploads, one for kernels, one for downloads, and BUFFERS buffers on each side.

    No further arrays on the GPU, however many chunks there are. The host waits after the last chunk alone.
    """
    up, compute, down = (cuda.stream() for _ in range(3))
    sources, targets = ([cuda.device_array(job.n, np.float64) for _ in range(BUFFERS)] for _ in range(2))
    raise NotImplementedError("week2/katas/streams task 3: overlapped")


WAYS: dict[str, Callable[[Job], None]] = {
    "one stream": one_stream, "two streams": two_streams,
    "no stream named": lambda job: two_streams(job, forgets=True), "overlapped": overlapped}


def stepped(x: np.ndarray, rounds: int, way: str, pinned: bool = True) -> np.ndarray:
    """The results of a job, done in one of the WAYS. Given."""
    job = Job(x, rounds, pinned)
    WAYS[way](job)
    return job.results.copy()


def shortest(function: Callable[[], None], times: int) -> float:
    """The shortest of so many calls, in milliseconds of the GPU's clock. Given."""
    seen = []
    for _ in range(times):
        start, stop = cuda.event(), cuda.event()
        start.record()
        function()
        stop.record()
        stop.synchronize()
        seen.append(cuda.event_elapsed_time(start, stop))
    return min(seen)


def milliseconds(x: np.ndarray, rounds: int, way: str, times: int = 5) -> float:
    """Of a job in one of the WAYS. Given."""
    job = Job(x, rounds)
    return shortest(lambda: WAYS[way](job), times)


@show_timeline.simulated
def timeline(chunks: int, n: int, way: str, pinned: bool = True) -> dict:
    """What the simulated GPU did with a job: show_timeline.py says more. Given."""
    return show_timeline.timeline(WAYS[way], Job(np.ones((chunks, n)), 0, pinned))


@show_timeline.simulated
def allocated(chunks: int, n: int, way: str) -> list[int]:
    """Bytes of each array that a job makes on the GPU. Given."""
    return show_timeline.allocated(WAYS[way], Job(np.ones((chunks, n)), 0))


# Task 4
def kernels_at_once(blocks: int, blocks_per_sm: int, sms: int) -> int:
    """How many kernels of so many blocks each fit on the GPU at once; at least one, whose blocks may have to queue.

    A kernel's blocks go wherever there is room: each of the GPU's sms has room for blocks_per_sm of them.
    """
    raise NotImplementedError("week2/katas/streams task 4: kernels_at_once")


def multiply_all(a, b, out, main, streams: list) -> None:
    """out[i] = a[i] @ b[i] for all i, product i in streams[i % len(streams)].

    It comes after all earlier work of stream main, and later work of main comes after it. The host does not wait.
    a, b, out: arrays on the GPU, as for matmul_kernel. Products have blocks of TILE x TILE threads.
    """
    raise NotImplementedError("week2/katas/streams task 4: multiply_all")


class Products:
    """Factors in pinned memory, a main stream and others beside it. Given. a: (count, m, k), b: (count, k, n)."""

    def __init__(self, a: np.ndarray, b: np.ndarray, streams: int):
        self.main, self.streams = cuda.stream(), [cuda.stream() for _ in range(streams)]
        self.factors = [cuda.pinned_array_like(each) for each in (a, b)]
        for pinned, each in zip(self.factors, (a, b)):
            pinned[:] = each
        self.result = cuda.pinned_array((len(a), a.shape[1], b.shape[2]), np.float32)
        self.on_gpu = [cuda.device_array(each.shape, np.float32) for each in (a, b, self.result)]

    def run(self) -> None:
        """Up, multiplied, and down; done when it returns."""
        for array, pinned in zip(self.on_gpu, self.factors):
            array.copy_to_device(pinned, stream=self.main)
        multiply_all(*self.on_gpu, self.main, self.streams)
        self.on_gpu[2].copy_to_host(self.result, stream=self.main)
        self.main.synchronize()


def products(a: np.ndarray, b: np.ndarray, streams: int) -> np.ndarray:
    """All products a[i] @ b[i], by multiply_all in so many streams beside the main one. Given."""
    work = Products(a, b, streams)
    work.run()
    return work.result.copy()


def product_milliseconds(a: np.ndarray, b: np.ndarray, streams: int, times: int = 5) -> float:
    """Of all products in so many streams. Given."""
    return shortest(Products(a, b, streams).run, times)


@show_timeline.simulated
def product_streams(count: int, streams: int) -> list[int]:
    """Number of the stream in which the simulated GPU did each of `count` products: 0 for the default one, 1 for main,
    2 for the first of the others. Given.
    """
    work = Products(np.ones((count, 2, 2), np.float32), np.ones((count, 2, 2), np.float32), streams)

    def run():
        for stream in (work.main, *work.streams):  # streams are numbered by their first work
            cuda.to_device(cuda.pinned_array(1, np.float64), stream=stream)
        work.run()

    return [stream for *_, stream in show_timeline.timeline(run)["compute"]]


@show_timeline.simulated
def behind_uploads(n: int, last: int) -> tuple[list[float], list[float], float]:
    """What the simulated GPU did with two products in two streams, each behind an upload of n numbers in its stream,
    of which streams[last] has the last one: when the uploads were done, when the products began, and when main went
    on; in microseconds. Given.
    """
    def work():
        main, *streams = (cuda.stream() for _ in range(3))
        for number in 1 - last, last:
            cuda.to_device(cuda.pinned_array(n, np.float64), stream=streams[number])
        a, b, out, other = (cuda.device_array((2, 1, 1), np.float32) for _ in range(4))
        multiply_all(a, b, out, main, streams)
        other.copy_to_host(cuda.pinned_array(other.shape, np.float32), stream=main)
        cuda.synchronize()

    spans = show_timeline.timeline(work)
    uploads, products = [end for _, end, _ in spans["upload"]], [begin for begin, *_ in spans["compute"]]
    return uploads if last else uploads[::-1], products, spans["download"][0][0]
