"""What `./course bench week3/katas/fused_elementwise` measures: both ways, beside PyTorch and the compiler.

Each rival draws a mask of its own. So x is so far below 0 that its GELU is 0, dropped or not, and the results agree.
"""

from tools.course.content.workload import Compiled, Workload, tensors

P, SEED = 0.1, 7


def operands(n, rng):
    x, bias = tensors(rng, (n, n), n)
    return (x - 30).half(), bias.half(), P, SEED


def operands_back(n, rng):
    d_out, = tensors(rng, (n, n))
    return d_out.half(), *operands(n, rng)


def by_torch(x, bias, p, seed):
    import torch

    return torch.dropout(torch.nn.functional.gelu(x + bias), p, True)


class Backward:
    """The backward of by_torch, or of what the compiler makes of it. Its forward runs once a set of arguments."""

    def __init__(self, forward):
        self.forward, self.of, self.graph = forward, None, None

    def __call__(self, d_out, x, bias, p, seed):
        import torch

        if self.of != (place := (x.data_ptr(), x.shape)):
            leaves = [each.detach().requires_grad_() for each in (x, bias)]
            self.of, self.graph = place, (self.forward(*leaves, p, seed), leaves)
        return torch.autograd.grad(*self.graph, d_out, retain_graph=True)


def of_matrices(function, arguments, matrices, flops, small, rivals):
    return Workload(
        function=function, arguments=arguments, sizes=(1024, 2048, 4096, 8192), laptop_sizes=(128,), small=small,
        shape=lambda n: f"{n} x {n} float16", moved=lambda n: 2 * matrices * n * n, flops=lambda n: flops * n * n,
        terms=lambda n: n, dtype="float16", naive="PyTorch", rivals=rivals)


WORKLOADS = (
    of_matrices("gelu_dropout_forward", operands, 2, 20, 64, {
        "torch.compile": Compiled(by_torch), "PyTorch": by_torch}),
    of_matrices("gelu_dropout_backward", operands_back, 3, 30, 640, {  # more rows than programs, each with a share
        "torch.compile": Backward(Compiled(by_torch)), "PyTorch": Backward(by_torch)}),
)
