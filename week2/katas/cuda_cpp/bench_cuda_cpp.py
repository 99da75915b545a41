"""What `./course bench week2/katas/cuda_cpp` measures: the kernels in CUDA C++ against PyTorch, the products cuBLAS."""

from tools.course.content.workload import OnTensors, Workload, cupy_arrays, matmul_by_library


def scaled_sum(a, x, y):
    return (a * x).add_(y)


def by_one_kernel(a, x, y):
    return y.add(x, alpha=a)


def of_matrices(function, smallest, laptop):
    return Workload(
        function=function, arguments=lambda n, rng: cupy_arrays(rng, (n, n), (n, n)), sizes=(512, 1024, 2048, 4096),
        laptop_sizes=(laptop,), small=smallest, shape=lambda n: f"{n} x {n} float32", moved=lambda n: 3 * 4 * n * n,
        flops=lambda n: 2 * n**3, terms=lambda n: n, rivals={"cuBLAS": OnTensors(matmul_by_library)})


WORKLOADS = (
    Workload(
        function="add", arguments=lambda n, rng: cupy_arrays(rng, n, n), sizes=(2**16, 2**20, 2**24, 2**28),
        laptop_sizes=(65536,), small=4096, shape=lambda n: f"{n} float32", moved=lambda n: 3 * 4 * n,
        flops=lambda n: n, rivals={"PyTorch": OnTensors(lambda x, y: x + y)}),
    Workload(
        function="saxpy", arguments=lambda n, rng: (2.5, *cupy_arrays(rng, n, n)), sizes=(2**16, 2**20, 2**24, 2**28),
        laptop_sizes=(65536,), small=4096, shape=lambda n: f"{n} float32", moved=lambda n: 3 * 4 * n,
        flops=lambda n: 2 * n, naive="PyTorch, two kernels",
        rivals={"PyTorch": OnTensors(by_one_kernel), "PyTorch, two kernels": OnTensors(scaled_sum)}),
    Workload(
        function="total", arguments=lambda n, rng: tuple(map(abs, cupy_arrays(rng, n))),
        sizes=(2**16, 2**20, 2**24, 2**28), laptop_sizes=(65536,), small=4096, shape=lambda n: f"{n} float32",
        moved=lambda n: 4 * n, flops=lambda n: n, terms=lambda n: n,
        rivals={"PyTorch": OnTensors(lambda x: x.sum().reshape(1))}),
    Workload(
        function="transpose", arguments=lambda n, rng: cupy_arrays(rng, (n, n)), sizes=(1024, 4096, 8192),
        laptop_sizes=(256,), small=64, shape=lambda n: f"{n} x {n} float32", moved=lambda n: 2 * 4 * n * n,
        flops=lambda n: 0, rivals={"PyTorch": OnTensors(lambda x: x.T.contiguous())}),
    of_matrices("matmul_tiled", 64, 128),
    of_matrices("matmul", 256, 256),
)
