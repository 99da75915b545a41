"""What `./course bench week2/katas/spmv` measures: y = A @ x by each kernel, against cuSPARSE."""

from tools.course.content.workload import Workload, tensors

MEAN = 32  # non-zeros of a row


def matrix(lengths, rng):
    """A matrix in CSR with rows of these lengths and columns at random, and a vector for it."""
    import torch

    values, x = tensors(rng, int(lengths.sum()), len(lengths))
    indptr = torch.zeros(len(lengths) + 1, dtype=torch.int64)
    indptr[1:] = torch.from_numpy(lengths).cumsum(0)
    indices = torch.from_numpy(rng.integers(0, len(lengths), len(values)))
    return indptr.to(x.device, torch.int32), indices.to(x.device, torch.int32), values, x


def uniform(rows, rng):
    return matrix(rng.integers(MEAN, MEAN + 1, rows), rng)


def skewed(rows, rng):
    """Many short rows and a few long ones: at 2**20 rows from 9 to about 29,000."""
    sizes = (rng.random(rows) + 1e-5) ** -0.7
    lengths = (sizes * MEAN * rows / sizes.sum()).astype("int64")
    lengths[: MEAN * rows - lengths.sum()] += 1  # what was cut off to get whole numbers
    return matrix(lengths, rng)


def by_cusparse(indptr, indices, values, x):
    import torch

    return torch.sparse_csr_tensor(indptr, indices, values, (len(indptr) - 1, len(x))) @ x


def of_matrices(function, arguments, what):
    return Workload(
        function=function, arguments=arguments, sizes=(2**14, 2**17, 2**20), laptop_sizes=(1024,), small=128,
        shape=lambda rows: f"{rows} {what} rows of {MEAN} float32", moved=lambda rows: (8 * MEAN + 12) * rows,
        flops=lambda rows: 2 * MEAN * rows, terms=lambda rows: 1000 * MEAN, rivals={"cuSPARSE": by_cusparse})


WORKLOADS = (
    of_matrices("spmv_rows", uniform, "equal"),
    of_matrices("spmv_lanes", uniform, "equal"),
    of_matrices("spmv_shares", skewed, "skewed"),
)
