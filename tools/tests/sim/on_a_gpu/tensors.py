"""Arguments of Triton's launches, taken apart so that they can be pickled."""

from typing import Any

import numpy as np


def plain(value: Any, storages: dict | None = None) -> Any:
    """Tensors as where they lie in which storage, whose bytes come with the first of them."""
    import torch

    storages = {} if storages is None else storages
    if isinstance(value, torch.Tensor):
        storage = value.untyped_storage()
        first = storage.data_ptr() not in storages
        storages[storage.data_ptr()] = True
        data = np.frombuffer(_bytes(storage), np.uint8) if first else None
        return (
            "tensor",
            storage.data_ptr(),
            data,
            str(value.dtype).removeprefix("torch."),
            value.storage_offset(),
            tuple(value.shape),
            tuple(value.stride()),
        )
    if isinstance(value, (tuple, list)):
        return ("sequence", type(value) is tuple, [plain(each, storages) for each in value])
    if isinstance(value, dict):
        return ("dict", {name: plain(each, storages) for name, each in value.items()})
    if type(value).__name__ == "TensorDescriptor":
        fields = [plain(each, storages) for each in (value.base, value.shape, value.strides, value.block_shape)]
        return ("descriptor", *fields, getattr(value, "padding", "zero"))
    if type(value).__name__ == "InterpretedFunction":
        return ("function", value.fn.__module__, value.fn.__qualname__)
    return ("value", value)


def _bytes(storage: Any) -> bytes:
    import torch

    return torch.empty(0, dtype=torch.uint8).set_(storage, 0, (len(storage),), (1,)).numpy().tobytes()
