"""Week 1, kata: preprocessing

Challenge
    Before a network sees a batch of images, each is cropped, made linear in light, freed of its exposure, and laid
    out colour by colour. In NumPy that can take longer than the network. Move it to the GPU: first line by line
    with CuPy, then in three launches, with one upload of bytes and one download of floats.

        4 x 2 pixels, cropped to 2 x 2         planes
        grey   red    green   grey             red   1 -1    green  -1  1    blue  -1 -1
        grey   blue   white   grey                  -1  1           -1  1           1  1

        light is 0 or 1 here, its mean is 1/2 and its spread is 1/2: (light - mean) / spread is 1 or -1

Explore
    ./course python -c "import numpy as np; a = np.uint8([1]); print((a / 255).dtype, (a / np.float32(255)).dtype)"
    The first has twice as many bytes for all that follows. What does a / 255.0 give, and what does CuPy say to
    each of them?

Concept
    What is copied: an image has one byte for each colour of a pixel; the result has four. So crop first, upload
    uint8, and let the GPU make floats: the link between host and GPU is slower than either memory.
    Gamma: cameras store light to the power 1/2.2, because eyes see that in even steps. Sums and means of light
    need light itself: light = (byte / 255) ** 2.2.
    ElementwiseKernel: day 2's line of C for each element. Constants are 255.0f with f; without it C computes in
    float64, and pow finds a float beside a double. It also takes broadcast shapes, such as one mean for an image.
    ReductionKernel: one number of many, such as a mean over some axes:
        cupy.ReductionKernel("float32 x", "float32 y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    Its texts are inputs, outputs, what to take of each element, how two results a and b become one, what to make
    of the last one, the start, and a name. norm(x, axis=(1, 2), keepdims=True) is called like a sum. In the
    fifth text _in_ind.size() / _out_ind.size() is how many elements each result is made of. preamble="..." holds
    C functions that the texts may call.
    Order: pixels lie r g b r g b; networks want one plane for each colour. x.transpose(0, 3, 1, 2) is a view and
    moves nothing; cupy.ascontiguousarray(view) writes it out. A kernel that reads the view and writes a new
    array, cupy.empty(shape, np.float32), changes the order at no further cost.
    Two passes: the spread, the root of the mean of (light - mean)**2, needs the mean first. In one pass,
    mean(light**2) - mean**2, float32 keeps no digit where the spread is small. In CuPy line by line:
    cupy.sqrt, and cupy.maximum(spread, least), which keeps a division by nearly nothing away.

Code it
    Task 1  preprocess_on_gpu: preprocess by CuPy, one upload and one download              (six lines)
    Task 2  mean_kernel, spread_kernel, normalise_kernel: a line of C or three each
            preprocess_to_gpu: the same in three launches; the result stays there           (six lines)
    Task 3  predict_crossing, most_images_per_second: what the link between them allows      (two lines)

Verify
    pytest week1/katas/preprocessing           then: ./course quiz week1/katas/preprocessing
    Reflect: which of the two copies is left if the network runs on the same GPU? Which one was dearer?

Simulated without a GPU: results, types, launches and every byte that is copied are exact. Time is not.
"""

import functools

import numpy as np

from tools.gpu import cupy

GAMMA = 2.2
LEAST_SPREAD = 1e-4  # an image of one colour has no spread to divide by


def load(path: str) -> np.ndarray:
    """An image in the format PPM: (height, width, 3) uint8. Given."""
    with open(path, "rb") as file:
        lines = [line for line in (file.readline() for _ in range(4)) if not line.startswith(b"#")]
        width, height = map(int, lines[1].split())  # between "P6" and "255"
        return np.frombuffer(file.read(), np.uint8).reshape(height, width, 3)


def cropped(images: np.ndarray, size: int) -> np.ndarray:
    """The middle of each image, size x size pixels: a view. Given."""
    top, left = (images.shape[1] - size) // 2, (images.shape[2] - size) // 2
    return images[:, top:top + size, left:left + size]


def preprocess(images: np.ndarray, size: int, gamma: float = GAMMA) -> np.ndarray:
    """What a network is fed: light, less its mean over the image, over its spread there, plane by plane. Given.

    images: (n, height, width, 3) uint8, both at least size. Returns (n, 3, size, size) float32, contiguous.
    """
    light = (cropped(images, size) / np.float32(255)) ** gamma
    apart = light - light.mean(axis=(1, 2, 3), keepdims=True)
    spread = np.sqrt((apart * apart).mean(axis=(1, 2, 3), keepdims=True))
    return np.ascontiguousarray((apart / np.maximum(spread, LEAST_SPREAD)).transpose(0, 3, 1, 2))


# Task 1
def preprocess_on_gpu(images: np.ndarray, size: int, gamma: float = GAMMA) -> np.ndarray:
    """The result of preprocess, by the same operations of CuPy; the crop goes up as uint8, the result comes down.

    images: (n, height, width, 3) uint8, both at least size, on the host. Returns (n, 3, size, size) float32, there too.
    """
    raise NotImplementedError("week1/katas/preprocessing task 1: preprocess_on_gpu")


# Task 2
@functools.cache
def mean_kernel() -> cupy.ReductionKernel:
    """The kernel of the mean light. Inputs: uint8 x, float32 gamma; output: float32 mean."""
    raise NotImplementedError("week1/katas/preprocessing task 2: mean_kernel")


@functools.cache
def spread_kernel() -> cupy.ReductionKernel:
    """The kernel of the spread, the root of the mean of (light - mean)**2.

    Inputs: uint8 x, float32 gamma, float32 mean; output: float32 spread.
    """
    raise NotImplementedError("week1/katas/preprocessing task 2: spread_kernel")


@functools.cache
def normalise_kernel() -> cupy.ElementwiseKernel:
    """The kernel of (light - mean) / spread, where a spread below least counts as least.

    Inputs: uint8 x, float32 gamma, float32 mean, float32 spread, float32 least; output: float32 out.
    """
    raise NotImplementedError("week1/katas/preprocessing task 2: normalise_kernel")


def preprocess_to_gpu(images: np.ndarray, size: int, gamma: float = GAMMA) -> cupy.ndarray:
    """The result of preprocess by one upload and one launch of each of these three kernels; it stays on the GPU.

    images: (n, height, width, 3) uint8, both at least size, on the host. Returns (n, 3, size, size) float32 on the GPU.
    """
    raise NotImplementedError("week1/katas/preprocessing task 2: preprocess_to_gpu")


def preprocess_fused(images: np.ndarray, size: int, gamma: float = GAMMA) -> np.ndarray:
    """The result of preprocess_to_gpu, downloaded for a network that runs on the host. Given."""
    return cupy.asnumpy(preprocess_to_gpu(images, size, gamma))


# Task 3
def predict_crossing(n: int, size: int) -> tuple[int, int]:
    """(bytes uploaded, bytes downloaded) by preprocess_fused for n images cropped to size x size pixels."""
    raise NotImplementedError("week1/katas/preprocessing task 3: predict_crossing")


def most_images_per_second(size: int, gb_per_s: float) -> float:
    """Images a second that the link carries, if nothing else takes time: each goes up, and then comes down.

    size: of the cropped images, size x size pixels. gb_per_s: of the link, in 1e9 bytes a second.
    """
    raise NotImplementedError("week1/katas/preprocessing task 3: most_images_per_second")
