"""What `./course bench week1/katas/preprocessing` measures: images of 256 x 256 cropped to 224, against PyTorch."""

import numpy as np

from tools import gpu
from tools.course.content.workload import Workload

SIDE, SIZE, GAMMA, LEAST = 256, 224, 2.2, 1e-4
EDGE = (SIDE - SIZE) // 2
NUMBERS = 3 * SIZE * SIZE  # of an image


def images(n, rng):
    return rng.integers(0, 256, (n, SIDE, SIDE, 3), dtype=np.uint8), SIZE


def by_numpy(images, size):
    light = (images[:, EDGE:EDGE + size, EDGE:EDGE + size] / np.float32(255)) ** np.float32(GAMMA)
    light -= light.mean(axis=(1, 2, 3), keepdims=True)
    spread = np.sqrt((light * light).mean(axis=(1, 2, 3), keepdims=True))
    return np.ascontiguousarray((light / np.maximum(spread, np.float32(LEAST))).transpose(0, 3, 1, 2))


def by_torch(images, size):
    import torch

    crop = torch.from_numpy(np.ascontiguousarray(images[:, EDGE:EDGE + size, EDGE:EDGE + size])).to(gpu.device)
    light = (crop / 255) ** GAMMA
    apart = light - light.mean(dim=(1, 2, 3), keepdim=True)
    spread = apart.square().mean(dim=(1, 2, 3), keepdim=True).sqrt().clamp(min=LEAST)
    return (apart / spread).permute(0, 3, 1, 2).contiguous().cpu()


WORKLOADS = tuple(
    Workload(
        function=function, arguments=images, sizes=(8, 32, 128), laptop_sizes=(2,), small=1,
        shape=lambda n: f"{n} x {SIZE} x {SIZE} pixels", moved=lambda n: (1 + 4) * NUMBERS * n,
        crossed=lambda n: (1 + 4) * NUMBERS * n, flops=lambda n: 8 * NUMBERS * n, terms=lambda n: NUMBERS,
        rivals={"PyTorch": by_torch, "NumPy": by_numpy})
    for function in ("preprocess_on_gpu", "preprocess_fused"))
