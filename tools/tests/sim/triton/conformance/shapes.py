"""Elements put in other places."""

from collections.abc import Iterator

import torch
import triton
import triton.language as tl

from tools.tests.sim.triton.conformance.case import C, Case, R, name, on_device, some


@triton.jit
def rearrange(x_ptr, y_ptr, out_ptr, OP: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    if OP == "trans":
        z = tl.reshape(tl.trans(x), [R * C])
    elif OP == "permute":
        z = tl.reshape(tl.permute(x, [1, 0]), [R * C])
    elif OP == "T":
        z = tl.reshape(x.T, [R * C])
    elif OP == "reshape":
        z = tl.reshape(tl.trans(tl.reshape(x, [C, R])), [R * C])
    elif OP == "join":
        z = tl.reshape(tl.join(x, y), [2 * R * C])
    elif OP == "interleave":
        z = tl.reshape(tl.interleave(x, y), [2 * R * C])
    elif OP == "split":
        first, second = tl.split(tl.reshape(x, [R, C // 2, 2]))
        z = tl.reshape(first - second, [R * C // 2])
    elif OP == "broadcast":
        z = tl.reshape(tl.broadcast_to(tl.max(x, axis=1).to(x.dtype)[:, None], [R, C]), [R * C])
    elif OP == "expand_dims":
        z = tl.reshape(tl.expand_dims(tl.max(x, axis=0).to(x.dtype), 0) + x, [R * C])
    elif OP == "ravel":
        z = tl.ravel(x)
    elif OP == "gather":
        z = tl.reshape(tl.gather(x, tl.load(y_ptr + i).to(tl.int32), axis=1), [R * C])
    tl.store(out_ptr + tl.arange(0, z.numel), z)


REARRANGED = {
    "trans": lambda x, y: x.T,
    "permute": lambda x, y: x.T,
    "T": lambda x, y: x.T,
    "ravel": lambda x, y: x,
    "reshape": lambda x, y: x.reshape(C, R).T,
    "join": lambda x, y: torch.stack([x, y], -1),
    "interleave": lambda x, y: torch.stack([x, y], -1),
    "split": lambda x, y: x[:, 0::2] - x[:, 1::2],
    "broadcast": lambda x, y: x.amax(1, keepdim=True).expand(R, C),
    "expand_dims": lambda x, y: x.amax(0) + x,
    "gather": lambda x, y: x.gather(1, y.long()),
}


def cases() -> Iterator[Case]:
    for dtype in (torch.int32, torch.bfloat16):
        for op, wanted in REARRANGED.items():

            def compute(op=op, wanted=wanted, dtype=dtype):
                x, y = some(dtype, R, C, low=0, high=C // 8), some(dtype, R, C, seed=1, low=0, high=C - 1)
                want = wanted(x, y).reshape(-1)
                out = on_device(torch.empty(want.numel(), dtype=dtype))
                rearrange[(1,)](on_device(x), on_device(y), out, OP=op, R=R, C=C)
                return out, want

            yield Case(op, name(dtype), compute)
