"""Persistent kernels: how many programs there are hangs on what one of them needs. The driver is asked at the top."""

import tools.gpu  # noqa: F401  # isort: skip
import torch
import triton
import triton.language as tl

driver = triton.runtime.driver.active
device = driver.get_active_torch_device()
properties = driver.utils.get_device_properties(device.index)
target = driver.get_current_target()


@triton.jit
def row_sums_kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0)
        tl.store(out_ptr + row, tl.sum(x, axis=0))


def row_sums(x):
    out, (rows, columns), block = torch.empty(len(x)), x.shape, triton.next_power_of_2(x.shape[1])
    kernel = row_sums_kernel.warmup(x, out, rows, columns, BLOCK=block, num_warps=8, grid=(1,))
    kernel._init_handles()
    resident = properties["max_num_regs"] // (kernel.n_regs * properties["warpSize"] * kernel.metadata.num_warps)
    resident = min(resident, properties["max_shared_mem"] // max(1, kernel.metadata.shared))
    programs = min(properties["multiprocessor_count"] * resident, rows)
    kernel[(programs, 1, 1)](x, out, rows, columns, block)
    return out


def registers_of_a_launch(x):
    kernel = row_sums_kernel[(4,)](x, torch.empty(len(x)), *x.shape, BLOCK=1024, num_warps=8)
    return torch.tensor([kernel.n_regs, kernel.n_spills, kernel.metadata.shared])
