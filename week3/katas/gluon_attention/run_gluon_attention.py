"""Attention of the kata on a GPU, in a process of its own: a kernel that waits for ever is ended with it.

    ./course python -m week3.katas.gluon_attention.run_gluon_attention FILE DTYPE D causal|full B,H,KV_H,N_Q,N_K ...

checks the `attention` of FILE; "timed" times it.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

SECONDS = 60
MODULE = "week3.katas.gluon_attention.gluon_attention"


def alone(file, dtype, d, causal, *shapes, timed=False):
    """What `check`, or if timed `time`, gives for each shape, by "b,h,kv_h,n_q,n_k". A text if it failed."""
    names = [",".join(map(str, shape)) for shape in shapes]
    command = [sys.executable, "-m", "week3.katas.gluon_attention.run_gluon_attention", str(file), dtype, str(d),
               "causal" if causal else "full", *names]
    try:
        done = subprocess.run(command + ["timed"] * timed, capture_output=True, text=True, timeout=SECONDS,
                              cwd=Path(__file__).parents[3])
    except subprocess.TimeoutExpired:
        return (f"The kernel has not ended within {SECONDS} s, and was ended. Who waits, at which barrier?\n"
                "The model shows it, unless the bytes or a type are other ones there.")
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr[-600:]


def lesson_in(file):
    spec = importlib.util.spec_from_file_location(MODULE, file)
    sys.modules[MODULE] = lesson = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lesson)
    return lesson


def inputs(dtype, batches, heads, kv_heads, n_q, n_k, d):
    import torch

    torch.manual_seed(0)
    return [torch.randn(batches, number, n, d, device="cuda", dtype=dtype)
            for number, n in ((heads, n_q), (kv_heads, n_k), (kv_heads, n_k))]


def check(attention, q, k, v, causal):
    """How many rows of out and of lse are beyond the bound, and how many of nine calls more differ.

    A weight is rounded to 16 bits, and so is out: each by half a step, of numbers that are rarely above 4.
    """
    import torch

    results = [attention(q, k, v, causal) for _ in range(10)]
    apart = {"out": 0, "lse": 0}
    for batch in range(q.shape[0]):
        for head in range(q.shape[1]):
            one, key, value = (x.double() for x in (q[batch, head], *(
                x[batch, head * k.shape[1] // q.shape[1]] for x in (k, v))))
            s = q.shape[-1] ** -0.5 * one @ key.T
            if causal:
                s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -torch.inf)
            bound = 4 * torch.finfo(q.dtype).eps
            off = (results[0][0][batch, head].double() - s.softmax(-1) @ value).abs().amax(-1)
            apart["out"] += int((~(off <= bound)).sum())
            apart["lse"] += int((~((results[0][1][batch, head] - s.logsumexp(-1)).abs() <= 1e-4)).sum())
    apart["differ"] = sum(not all(map(torch.equal, results[0], other)) for other in results[1:])
    return apart


def by_cudnn(q, k, v, causal):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    k, v = (x if x.shape[1] == q.shape[1] else x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION if q.is_cuda else SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def time(attention, q, k, v, causal):
    """cuDNN's time by that of attention, and the least that it may be."""
    from tools.check import speed_ratio

    ratio = speed_ratio(lambda *x: attention(*x, causal)[0], lambda *x: by_cudnn(*x, causal), q, k, v)
    return {"ratio": ratio.value, "low": ratio.low}


def main():
    import tools.gpu  # noqa: F401
    import torch

    file, dtype, d, mask, *shapes = (word for word in sys.argv[1:] if word != "timed")
    work, attention = (time if "timed" in sys.argv else check), lesson_in(file).attention
    print(json.dumps({name: work(attention, *inputs(getattr(torch, dtype), *map(int, name.split(",")), int(d)),
                                 mask == "causal") for name in shapes}))


if __name__ == "__main__":
    main()
