"""One case of the conformance table, and the numbers that cases are made of."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

import tools.gpu

NARROW = (torch.float8_e4m3fn, torch.float8_e5m2)
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
N = 1024
R, C = 16, 64  # rows and columns, where a case has a matrix
SPECIAL = (0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 1e-40, 65504.0, 3e38, 1e-3, -7.5)


@dataclass(frozen=True)
class Case:
    """compute: gives what the kernel made, what is wanted, and perhaps a scale, the size of what was added up
    where the sum may be far smaller. allowed: error in units of the last place of the result or the scale.
    capability: what a GPU must have for it.
    """

    operation: str
    dtype: str
    compute: Callable[[], tuple]
    allowed: float = 0.0
    capability: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        return f"{self.operation}: {self.dtype}"

    def error(self) -> float:
        """In units of the last place; 0 for equal, NaN and infinity included."""
        got, want, *scale = self.compute()
        return error(got.cpu(), want.cpu(), *scale)


def error(got: torch.Tensor, want: torch.Tensor, scale: torch.Tensor | float | None = None) -> float:
    """The largest, in units of the last place of `got`; infinite where shapes, NaN or infinities differ."""
    if got.shape != want.shape:
        return float("inf")
    if not got.dtype.is_floating_point:
        return float((got != want).sum() and "inf")
    unit = torch.finfo(got.dtype).eps
    got, want = got.double(), want.double()
    same = (got == want) | (got.isnan() & want.isnan())
    size = want.abs() if scale is None else torch.as_tensor(scale).double().cpu().expand(want.shape)
    apart = torch.where(same, 0.0, (got - want).abs() / (unit * size.clamp_min(1e-37)))
    return float(apart.nan_to_num(nan=float("inf")).max()) if apart.numel() else 0.0


def name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def on_device(values: torch.Tensor) -> torch.Tensor:
    return values.to(tools.gpu.device)


def some(dtype: torch.dtype, *shape: int, seed: int = 0, low: float = -8, high: float = 8) -> torch.Tensor:
    """Numbers of a type. Not zero."""
    draw = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return (torch.rand(shape, generator=draw, dtype=torch.float64) * (high - low) + low).to(dtype)
    low = max(int(low), torch.iinfo(dtype).min) if low < 0 and torch.iinfo(dtype).min else max(int(low), 1)
    numbers = torch.randint(low, max(int(high), low + 1) + 1, shape, generator=draw)
    return torch.where(numbers == 0, 1, numbers).to(dtype)


def with_specials(dtype: torch.dtype, seed: int) -> torch.Tensor:
    values = some(dtype, N, seed=seed)
    if dtype.is_floating_point:
        special = torch.tensor(SPECIAL, dtype=torch.float64).to(dtype)
        pairs = torch.cartesian_prod(special, special)[:, seed % 2]
        values[: len(pairs)] = pairs
    return values


def exact(dtype: torch.dtype, *shape: int, seed: int) -> torch.Tensor:
    """Small whole numbers: every order of summation gives the same."""
    return some(dtype, *shape, seed=seed, low=-7, high=7).double().round().to(dtype)
