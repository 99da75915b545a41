"""Week 1, kata: transfers

Challenge
    A program takes a millisecond, and its kernel two microseconds of it. The rest are copies to the GPU and back:
    too many small ones, from memory that the GPU cannot read by itself, and one after the other although both
    directions could be used at once. Measure them by the GPU's clock, then make a film's way a fifth faster.

        one stream     up 0 | k | down 0 | up 1 | k | down 1 | up 2 | k | down 2
        two streams    up 0 | k | down 0 |      up 2  | k | down 2
                              up 1       | k | down 1 |                          both directions at once

Explore
    ./course python -c "from tools.gpu import cuda; print(cuda.pinned_array(3).flags.owndata, cuda.mapped_array(3))"
    The values are whatever lay there, NaN in the simulator. Whose memory is it, and who may read it?

Concept
    Batching: each copy and each launch costs the host some microseconds, whatever its size: about 25 from Python.
    A copy of 4 KB takes hardly longer than one of nothing, so join small ones: np.concatenate(parts) into one
    array, np.cumsum(sizes) for where each part ends, np.split(array, ends[:-1]) to part it again.
    cuda.to_device(x) uploads, .copy_to_host() downloads.
    Pinned memory: host memory that may not be moved, so the GPU reads it by itself, faster, while the host goes
    on. NumPy's memory is *pageable*: the driver copies it into a pinned buffer first, and the host waits.
    Pinned memory is scarce and slow to get: cuda.pinned_array_like(x).
    Mapped memory: pinned memory that kernels read and write over the link, at each access, without a copy:
    cuda.mapped_array_like(x). It pays for data that are used once. np.array(mapped) copies a result out of it.
    Managed memory: memory of both, whose pages move to whoever touches them: cuda.managed_array(shape, dtype).
    Streams: a stream is a queue of work for the GPU, done in order. Work in different streams may overlap: one
    copy up, one copy down, and kernels. stream = cuda.stream(); cuda.to_device(x, stream=stream), a launch
    kernel[blocks, threads, stream], device_array.copy_to_device(x, stream=stream) and copy_to_host(x,
    stream=stream) only ask for the work. Wait before you read a result or use a buffer for something else:
    stream.synchronize() for one stream, cuda.synchronize() for all.
    Events: an event is a mark in a stream that notes the GPU's time: e = cuda.event(); e.record();
    e.synchronize() waits for it; cuda.event_elapsed_time(start, stop) is in milliseconds.

Code it
    Task 1  milliseconds: by events; predict_milliseconds, half_speed_size: what copies cost    (seven lines)
    Task 2  invert_all: many pictures, one copy each way, one launch                             (seven lines)
    Task 3  invert_pinned, invert_mapped, invert_managed; bytes_over_link                      (eighteen lines)
    Task 4  pipeline: what one_stream does, with both directions at once                        (eight lines)

Verify
    pytest week1/katas/transfers       then: ./course quiz week1/katas/transfers
    Reflect: a data loader has pin_memory and prefetch_factor. Which line of your pipeline is which?

Simulated without a GPU: results, copies and their order are exact. Time is modelled: engines that overlap, copies
at the rate of an H100's link, 25 us for each piece of work; a kernel takes what its bytes take. Page faults are free.
"""

import functools

import numpy as np

from tools.gpu import cuda

THREADS = 256  # of a block


@cuda.jit
def invert_kernel(pixels, out):
    """Inverts pixels into out, which may be the same array: both of uint8, or of words of eight pixels. Given."""
    i = cuda.grid(1)
    if i < pixels.size:
        out[i] = ~pixels[i]


def blocks_for(n: int) -> int:
    """Blocks of THREADS threads with a thread for each of n elements; at least one. Given."""
    return max(1, -(-n // THREADS))


# Task 1
def milliseconds(function, *args) -> float:
    """Milliseconds of the GPU's clock from before function(*args) until all work that it asked for is done."""
    raise NotImplementedError("week1/katas/transfers task 1: milliseconds")


def upload(nbytes: int, copies: int) -> None:
    """Upload nbytes of pageable memory in `copies` copies of one size. Given, to be timed."""
    part = np.zeros(nbytes // copies, np.uint8)
    target = cuda.device_array(part.size, np.uint8)
    for _ in range(copies):
        target.copy_to_device(part)


@functools.cache
def pinned_bytes(nbytes: int) -> np.ndarray:
    """An array of nbytes in pinned memory, made once: to get it takes milliseconds. Given."""
    return cuda.pinned_array(nbytes, np.uint8)


def upload_pinned(nbytes: int) -> None:
    """Upload nbytes of pinned memory, and do not wait. Given, to be timed."""
    cuda.device_array(nbytes, np.uint8).copy_to_device(pinned_bytes(nbytes), stream=cuda.stream())


def launch(times: int) -> None:
    """Launch a kernel of one block `times` times, and do not wait. Given, to be timed."""
    pixels = cuda.device_array(1, np.uint8)
    for _ in range(times):
        invert_kernel[1, THREADS](pixels, pixels)


def predict_milliseconds(nbytes: int, copies: int, gb_per_s: float, overhead_us: float) -> float:
    """Milliseconds that nbytes take in `copies` copies, one after the other.

    gb_per_s: of the link, in 1e9 bytes a second. overhead_us: what each copy costs besides, in microseconds.
    """
    raise NotImplementedError("week1/katas/transfers task 1: predict_milliseconds")


def half_speed_size(gb_per_s: float, overhead_us: float) -> float:
    """Bytes of a copy that reaches half of gb_per_s: its overhead takes as long as its bytes. Units as above."""
    raise NotImplementedError("week1/katas/transfers task 1: half_speed_size")


# Task 2
def one_by_one(pictures: list[np.ndarray]) -> list[np.ndarray]:
    """Each picture inverted. Given: right, and what yours is timed against. pictures: uint8, of any shapes."""
    inverted = []
    for picture in pictures:
        pixels = cuda.to_device(picture.ravel())
        invert_kernel[blocks_for(picture.size), THREADS](pixels, pixels)
        inverted.append(pixels.copy_to_host().reshape(picture.shape))
    return inverted


def invert_all(pictures: list[np.ndarray]) -> list[np.ndarray]:
    """As one_by_one, with one upload, one launch and one download. pictures: uint8, at least one, of any shapes."""
    raise NotImplementedError("week1/katas/transfers task 2: invert_all")


# Task 3
def invert_pinned(pixels: np.ndarray, rounds: int) -> np.ndarray:
    """pixels inverted `rounds` times in the GPU's memory; it is uploaded from pinned memory, and downloaded into such.

    pixels: (n,) uint8, contiguous, in pageable memory. All work is in one stream, and the host waits once.
    """
    raise NotImplementedError("week1/katas/transfers task 3: invert_pinned")


def invert_mapped(pixels: np.ndarray, rounds: int) -> np.ndarray:
    """pixels inverted `rounds` times in mapped memory: nothing is copied, and the host waits once."""
    raise NotImplementedError("week1/katas/transfers task 3: invert_mapped")


def invert_managed(pixels: np.ndarray, rounds: int) -> np.ndarray:
    """pixels inverted `rounds` times in managed memory: no copies that you would see, and the host waits once."""
    raise NotImplementedError("week1/katas/transfers task 3: invert_managed")


def bytes_over_link(memory: str, nbytes: int, rounds: int) -> int:
    """Bytes that cross between host and GPU, both ways together, if nbytes are inverted `rounds` times, at least once.

    memory: "pinned", "mapped" or "managed", as in the three above. Nothing that crosses is kept in a cache.
    """
    raise NotImplementedError("week1/katas/transfers task 3: bytes_over_link")


# Task 4
class Film:
    """Frames in pinned memory, and pinned memory for their pictures: each an array of words of eight pixels. Given."""

    def __init__(self, frames: np.ndarray):
        self.shape, words = frames.shape, frames.reshape(len(frames), -1).view(np.uint64)
        self.frames, self.pictures = cuda.pinned_array_like(words), cuda.pinned_array_like(words)
        self.frames[:] = words


def load(frames: np.ndarray) -> Film:
    """A film of uint8 frames, shape (frames, rows, columns), with a multiple of eight pixels in each. Given."""
    return Film(frames)


def one_stream(film: Film) -> None:
    """Every frame of the film up, inverted, and down to its picture. Given: right, and what yours is timed against."""
    stream, words = cuda.stream(), cuda.device_array(film.frames.shape[1], np.uint64)
    for frame, picture in zip(film.frames, film.pictures):
        words.copy_to_device(frame, stream=stream)
        invert_kernel[blocks_for(words.size), THREADS, stream](words, words)
        words.copy_to_host(picture, stream=stream)
    stream.synchronize()


def pipeline(film: Film) -> None:
    """What one_stream does, in less time: one frame is uploaded while the one before it is downloaded."""
    raise NotImplementedError("week1/katas/transfers task 4: pipeline")


def develop(frames: np.ndarray) -> np.ndarray:
    """The pictures of a film, by pipeline. Given; frames as for load."""
    film = load(frames)
    pipeline(film)
    return film.pictures.view(np.uint8).reshape(film.shape).copy()
