"""Frames: one header and some buffers in a stream of bytes. Lengths come first and are limited."""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_BYTES = 3 * 2**30  # of all buffers of one frame; a table past the reach of 32-bit positions has over 2 GiB
MAX_HEADER = 2**26
MAX_BUFFERS = 2**16
_PRELUDE = struct.Struct("<4sQII")  # magic, number, length of the header, how many buffers
_MAGIC = b"gpu1"


class Malformed(Exception):
    """What arrived is no frame, or none that can be believed."""


def send(write: Callable[[memoryview], object], number: int, header: bytes, buffers: list[np.ndarray]) -> None:
    """Write one frame. A reply has the number of its request."""
    prelude = _PRELUDE.pack(_MAGIC, number, len(header), len(buffers))
    lengths = struct.pack(f"<{len(buffers)}Q", *(buffer.nbytes for buffer in buffers))
    write(memoryview(prelude + lengths + header))
    for buffer in buffers:
        write(memoryview(buffer))  # type: ignore[arg-type]


def receive(fill: Callable[[memoryview], object]) -> tuple[int, bytes, list[np.ndarray]]:
    """Read one frame: number, header, buffers (flat uint8). `fill` reads until all it is given is full."""
    magic, number, header_length, count = _PRELUDE.unpack(_bytes(fill, _PRELUDE.size))
    if magic != _MAGIC or header_length > MAX_HEADER or count > MAX_BUFFERS:
        raise Malformed("no frame begins like this")
    lengths = struct.unpack(f"<{count}Q", _bytes(fill, 8 * count))
    if sum(lengths) > MAX_BYTES:
        raise Malformed(f"a frame of more than {MAX_BYTES} bytes")
    header = _bytes(fill, header_length)
    buffers = [np.empty(length, np.uint8) for length in lengths]  # pages are taken only as bytes arrive
    for buffer in buffers:
        fill(memoryview(buffer))  # type: ignore[arg-type]
    return number, header, buffers


def _bytes(fill: Any, length: int) -> bytes:
    buffer = bytearray(length)
    fill(memoryview(buffer))
    return bytes(buffer)
