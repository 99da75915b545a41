"""What `./course bench week2/katas/persistent` measures: sums of rows of which a few are long, three ways.

Every 1056th row is long, so that on 132 SMs with 8 programs each they all fall to one program of the static kernel.
"""

from tools.course.content.workload import OnTensors, Workload

SHORT, WIDTH, KINDS, EVERY = 16, 2**17, 8, 1056


def rows(n, rng):
    """n rows, and the longest of them first."""
    import torch

    lengths = torch.full((n,), SHORT, dtype=torch.int32)
    lengths[::EVERY] = WIDTH
    starts = torch.zeros(n + 1, dtype=torch.int32)
    starts[1:] = lengths.cumsum(0)
    x = torch.as_tensor(rng.standard_normal(int(starts[-1]), dtype="float32"))
    weight = torch.as_tensor(rng.standard_normal((KINDS, WIDTH), dtype="float32"))
    kinds = torch.as_tensor(rng.integers(0, KINDS, n), dtype=torch.int32)
    order = torch.argsort(lengths, descending=True, stable=True).to(torch.int32)
    return tuple(tensor.to(device()) for tensor in (x, starts, kinds, weight, order))


def in_turn(n, rng):
    import torch

    *others, order = rows(n, rng)
    return *others, torch.arange(n, dtype=torch.int32, device=order.device)


def device():
    from tools.gpu import device

    return device


def elements(n):
    long = -(-n // EVERY)
    return long * WIDTH + (n - long) * SHORT


def sum_segments(x, weight, places, lengths):
    import torch

    return torch.segment_reduce(x * weight[places], "sum", lengths=lengths)


class Segments(OnTensors):
    """PyTorch's sums of segments. Where each element finds its weight is worked out before the clock runs."""

    @staticmethod
    def convert(arguments):
        import torch

        x, starts, kinds, weight, _ = arguments
        lengths = starts.diff().long()
        row = torch.repeat_interleave(lengths)
        places = kinds[row].long() * WIDTH + torch.arange(len(x), device=x.device) - starts[row]
        return x, weight.flatten(), places, lengths


WORKLOADS = tuple(
    Workload(
        function=function, arguments=arguments, sizes=(2**12, 2**14, 2**16), laptop_sizes=(64,), small=64,
        shape=lambda n: f"{n} rows, {elements(n)} float32", moved=lambda n: 4 * elements(n) + 20 * n,
        flops=lambda n: 2 * elements(n), terms=lambda n: WIDTH, rivals={"PyTorch": Segments(sum_segments)})
    for function, arguments in [("sums_by_grid", in_turn), ("sums_static", in_turn), ("sums_by_queue", rows)])
