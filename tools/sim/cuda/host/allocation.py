"""Pieces of the device's memory: new ones, and those that another library describes."""

import numpy as np

from tools.sim import host
from tools.sim.cuda.host import layouts, streams
from tools.sim.cuda.host.errors import OUT_OF_MEMORY, CudaAPIError
from tools.sim.device_memory import OutOfMemory, Piece


def allocated(shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...]) -> tuple[Piece, np.ndarray]:
    """New memory for such an array, and NumPy's view of it. Raises CudaAPIError when there is not enough."""
    try:
        piece = host.device().memory.allocate(layouts.extent(shape, strides, dtype.itemsize))
    except OutOfMemory as error:
        raise CudaAPIError(OUT_OF_MEMORY, f"CUDA_ERROR_OUT_OF_MEMORY:\n{error}.") from None
    return piece, piece.array(shape, dtype, strides)


def values_of(obj: object) -> np.ndarray:
    """The values that would cross over to the device. Raises TypeError or ValueError for what cannot."""
    values = np.asanyarray(obj)
    if values.dtype.hasobject:
        raise TypeError(f"The memory of a GPU holds no Python objects, such as {type(obj).__name__}.")
    return values


def is_cuda_array(obj: object) -> bool:
    """Does it say where on the device it is?"""
    return hasattr(obj, "__cuda_array_interface__")


def interface(elements: np.ndarray, address: int, stream: int | None) -> dict:
    """The CUDA array interface of such memory. stream: whose work it waits for."""
    strides = None if elements.flags.c_contiguous else elements.strides
    data, typestr = (address, False), elements.dtype.str
    return {
        "shape": elements.shape,
        "strides": strides,
        "data": data,
        "typestr": typestr,
        "version": 3,
        "stream": stream,
    }


def described(interface: dict, sync: bool) -> tuple[Piece, np.ndarray]:
    """The memory that a CUDA array interface describes, and NumPy's view of it.

    sync: wait for the stream that it names, if any. Raises ValueError when the device knows no such memory.
    """
    if interface.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    memory, address = host.device().memory, interface["data"][0]
    piece = memory.at(address) if address else memory.allocate(0)
    if piece is None:
        raise ValueError(f"The simulated GPU has no memory at address {address:#x}.")
    if sync and interface.get("stream") is not None:
        streams.external_stream(interface["stream"]).synchronize()
    offset = address and address - piece.address
    return piece, piece.array(interface["shape"], interface["typestr"], interface.get("strides"), offset)
