"""What `./course bench week2/day3` measures: three transposes, and a polynomial, against PyTorch."""

from tools.course.content.workload import Compiled, Workload, tensors

TERMS = 16


def transposed(a):
    return a.T.contiguous()


def by_horner(x, coefficients):
    total = coefficients[0].expand_as(x)
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def transposition(function):
    return Workload(
        function=function, arguments=lambda n, rng: tensors(rng, (n, n)),
        sizes=(1024, 2048, 4096, 8192), laptop_sizes=(64,), small=64, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 2 * 4 * n * n, flops=lambda n: 0,
        naive="PyTorch", rivals={"torch.compile": Compiled(transposed), "PyTorch": transposed})


def points(n, rng):
    x, coefficients = tensors(rng, n, TERMS)
    return x.clamp(-1, 1), coefficients


WORKLOADS = (
    *(transposition(function) for function in ("transpose", "transpose_padded", "transpose_swizzled")),
    Workload(
        function="polynomial", arguments=points,
        sizes=(2**16, 2**20, 2**24, 2**26), laptop_sizes=(4096,), small=4096, shape=lambda n: f"{n} float32",
        moved=lambda n: 2 * 4 * n, flops=lambda n: 2 * TERMS * n, terms=lambda n: TERMS,
        naive="PyTorch, term by term",
        rivals={"torch.compile": Compiled(by_horner), "PyTorch, term by term": by_horner}),
)
