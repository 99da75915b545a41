"""What `./course bench week2/katas/reduction` measures: the sum of float32 by each kernel, against PyTorch."""

from tools.course.content.workload import Workload, tensors

SEVERAL_A_THREAD = 2**21  # elements: more than 2048 blocks of 256 threads


def vector(n, rng):
    x, = tensors(rng, n)
    return (x.abs(),)  # a sum that does not cancel


def named(n, rng):
    return "sum", *vector(n, rng)


def by_torch(x):
    return x.sum().reshape(1)


def by_torch_too(name, x):
    return by_torch(x)


def of_vectors(function, sizes, arguments=vector, small=4096, **rivals):
    return Workload(
        function=function, arguments=arguments, sizes=sizes, laptop_sizes=(65536,), small=small,
        shape=lambda n: f"{n} float32", moved=lambda n: 4 * n, flops=lambda n: n, terms=lambda n: n, **rivals)


WORKLOADS = (
    # added one by one in float32, 2**24 numbers lose two percent of their sum: that is not the sum that PyTorch gives
    of_vectors("sum_atomic", (2**16, 2**18, 2**20), rivals={"PyTorch": by_torch}),
    *(of_vectors(function, (2**16, 2**20, 2**24), rivals={"PyTorch": by_torch})
      for function in ("sum_interleaved", "sum_strided", "sum_tree")),
    of_vectors("sum_shuffles", (2**16, 2**20, 2**24, 2**28), small=SEVERAL_A_THREAD, rivals={"PyTorch": by_torch}),
    of_vectors("sum_triton", (2**16, 2**20, 2**24, 2**28), small=SEVERAL_A_THREAD, rivals={"PyTorch": by_torch}),
    of_vectors("reduce", (2**16, 2**20, 2**24, 2**28), arguments=named, small=SEVERAL_A_THREAD,
               rivals={"PyTorch": by_torch_too}),
)
