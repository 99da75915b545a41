"""What `./course bench week2/katas/persistent` measures: sums of rows of which a few are long, three ways.

On 132 SMs with 8 programs each every 1056th row is long, so that they all fall to one program of the static kernel.
Where a few rows are simulated, 8 programs take them, and every 8th is long.
"""

from tools.course.content.workload import OnTensors, Workload

SHORT, KINDS, FEW = 16, 8, 64


def programs(n):
    return 8 if n <= FEW else 1056


def width(n):
    """Elements of a long row."""
    return 2**12 if n <= FEW else 2**17


def rows(n, rng):
    """n rows as they come."""
    import torch

    number = torch.arange(n, dtype=torch.int32)
    lengths = torch.full((n,), SHORT, dtype=torch.int32)
    lengths[::programs(n)] = width(n)
    starts = torch.zeros(n + 1, dtype=torch.int32)
    starts[1:] = lengths.cumsum(0)
    kinds = (number + number // programs(n)) % KINDS  # the long ones take turns, too
    x = torch.as_tensor(rng.standard_normal(int(starts[-1]), dtype="float32"))
    weight = torch.as_tensor(rng.standard_normal((KINDS, width(n)), dtype="float32"))
    return tuple(tensor.to(device()) for tensor in (x, starts, kinds, weight, number))


def rows_that_stay(n, rng):
    """With the number of programs, where it is not that of the GPU."""
    return *rows(n, rng), *([programs(n)] if n <= FEW else [])


def longest_first(n, rng):
    import torch

    x, starts, kinds, weight, _, *number = rows_that_stay(n, rng)
    order = torch.argsort(starts.diff(), descending=True, stable=True).to(torch.int32)
    return x, starts, kinds, weight, order, *number


def device():
    from tools.gpu import device

    return device


def elements(n):
    return long(n) * width(n) + (n - long(n)) * SHORT


def long(n):
    """So many rows are."""
    return -(-n // programs(n))


def moved(n):
    """x; of each kind the weights of its longest row; starts, kinds, order and sums. Each once."""
    long_kinds = min(long(n), KINDS)
    weights = long_kinds * width(n) + (KINDS - long_kinds) * SHORT
    return 4 * (elements(n) + weights + 4 * n + 1)


def sum_segments(x, weight, places, lengths):
    import torch

    return torch.segment_reduce(x * weight[places], "sum", lengths=lengths)


class Segments(OnTensors):
    """PyTorch's sums of segments. Where each element finds its weight is worked out before the clock runs."""

    @staticmethod
    def convert(arguments):
        import torch

        x, starts, kinds, weight, *_ = arguments
        lengths = starts.diff().long()
        row = torch.repeat_interleave(lengths)
        places = kinds[row].long() * weight.shape[1] + torch.arange(len(x), device=x.device) - starts[row]
        return x, weight.flatten(), places, lengths


WORKLOADS = tuple(
    Workload(
        function=function, arguments=arguments, sizes=(2**12, 2**14, 2**16), laptop_sizes=(FEW,), small=FEW,
        shape=lambda n: f"{n} rows, {elements(n)} float32", moved=moved, flops=lambda n: 2 * elements(n), terms=width,
        rivals={"PyTorch": Segments(sum_segments)})
    for function, arguments in [
        ("sums_by_grid", rows), ("sums_static", rows_that_stay), ("sums_by_queue", longest_first)])
