"""The handles that launches and kernel.warmup give without a GPU, and the driver that speaks of the simulated one."""

import tools.gpu  # noqa: F401  # isort: skip
import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources

from tools.compiler import CompileError, NoCompiler, cache, front_end, machine_code, whole
from tools.sim.recording import record
from tools.sim.triton import handles, programs
from tools.tests.compiler.lessons import persistent


@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


def warmed(n=64, block=32, **options):
    return add_one.warmup(torch.zeros(n), n, BLOCK=block, grid=(1,), **options)


def test_a_launch_gives_the_compiled_kernel():
    kernel = add_one[(2,)](torch.zeros(64), 64, BLOCK=32, num_warps=2)
    assert 4 <= kernel.n_regs <= 32 and kernel.n_spills == 0
    assert (kernel.name, kernel.metadata.name, kernel.metadata.shared) == ("add_one", "add_one", 0)
    assert (kernel.metadata.num_warps, kernel.metadata.target.arch) == (2, 90)
    assert "tt.load" in kernel.asm["ttir"] and ".target sm_90a" in kernel.asm["ptx"] and "STG" in kernel.asm["sass"]
    assert set(kernel.asm) >= {"source", "ttir", "ttgir", "llir", "ptx", "cubin", "sass"}


def test_nothing_is_compiled_until_something_is_asked_for(monkeypatch):
    asked = []
    compile_it = whole.compiled
    monkeypatch.setattr(whole, "compiled", lambda *args: asked.append(args) or compile_it(*args))
    kernel = add_one[(2,)](torch.zeros(64), 64, BLOCK=32, num_warps=16)
    assert not asked
    assert "ld.global" in kernel.asm["ptx"] and kernel.n_regs and kernel.metadata
    again = add_one[(2,)](torch.zeros(64), 64, BLOCK=32, num_warps=16)
    assert again.hash == kernel.hash and len(asked) == 1


def test_what_is_compiled_is_kept_by_its_text(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(front_end, "_taken", {})
    first = warmed(num_warps=1)
    first._init_handles()
    assert [each.name for each in tmp_path.iterdir()] == [first.hash]
    front_end._taken.clear()
    monkeypatch.setattr(machine_code, "_run", lambda *command: pytest.fail("it was compiled again"))
    again = warmed(num_warps=1)
    again._init_handles()
    assert (again.n_regs, again.n_spills, again.metadata) == (first.n_regs, first.n_spills, first.metadata)
    assert dict(again.asm) == dict(first.asm) and type(again.asm["cubin"]) is bytes
    assert again.metadata.target == triton.runtime.driver.active.get_current_target()


def test_warmup_runs_no_program_and_takes_types_instead_of_tensors():
    x = torch.zeros(64)
    with record() as counters:
        kernel = add_one.warmup(x, 64, BLOCK=32, grid=(2,))
        by_type = add_one.warmup(torch.float32, 64, BLOCK=32, grid=(2,))
    assert counters.launches == () and not x.any()
    assert kernel.hash == by_type.hash != warmed(block=16).hash


def test_registers_are_known_once_the_kernel_is_loaded():
    kernel = warmed()
    with pytest.raises(AttributeError, match=r"n_regs is known once .* or handle._init_handles\(\)"):
        kernel.n_regs
    assert kernel.metadata.shared == 0
    kernel._init_handles()
    assert kernel.n_regs > 0


def test_warmup_refuses_what_a_launch_refuses():
    with pytest.raises(TypeError, match="missing a required argument|missing 1 required"):
        add_one.warmup(torch.zeros(1), BLOCK=32, grid=(1,))
    with pytest.raises(TypeError, match="block is no argument of add_one; BLOCK is"):
        add_one.warmup(torch.zeros(1), 1, block=32, grid=(1,))
    with pytest.raises(CompileError, match="power of 2"):
        warmed(block=31)


def test_a_compiled_kernel_is_launched_with_all_arguments_in_their_order():
    x, kernel = torch.zeros(64), warmed()
    with record() as counters:
        kernel[(2, 1, 1)](x, 64, 32)
    assert x.tolist() == [1.0] * 64 and [launch.grid for launch in counters.launches] == [(2, 1, 1)]
    assert kernel.n_regs > 0
    with pytest.raises(TypeError, match="takes all of its 3 arguments in their order, constants too, and was given 2"):
        kernel[(2, 1, 1)](x, 64)


@pytest.mark.parametrize("grid", [(2,), (2, 1), lambda meta: (2, 1, 1)])
def test_its_grid_has_three_numbers(grid):
    with pytest.raises(IndexError, match=r"three numbers: handle\[\(n, 1, 1\)\]"):
        warmed()[grid]


@pytest.mark.parametrize(
    "arguments, says",
    [
        ((64, 16), "BLOCK of add_one is 16; when it was compiled, it was 32."),
        ((63, 32), "n of add_one is an i32; when it was compiled, it was an i32 divisible by 16."),
        ((1, 32), "n of add_one is 1; when it was compiled, it was an i32 divisible by 16."),
    ],
)
def test_arguments_that_it_was_not_compiled_for_are_refused(arguments, says):
    with pytest.raises(ValueError) as refused:
        warmed()[(2, 1, 1)](torch.zeros(64), *arguments)
    assert str(refused.value).splitlines()[0] == says
    with pytest.raises(ValueError, match=r"^x_ptr of add_one is a \*fp64 divisible by 16; .* a \*fp32 divisible"):
        warmed()[(2, 1, 1)](torch.zeros(64, dtype=torch.float64), 64, 32)


def test_arguments_that_its_code_is_right_for_are_taken():
    x, kernel = torch.zeros(64), warmed(n=63)
    for n in (63, 64, 1):
        kernel[(2, 1, 1)](x, n, 32)
    assert x.tolist() == [3.0] + [2.0] * 62 + [1.0]


@triton.jit
def square(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.dot(x, x))


def test_a_kernel_that_needs_too_much_shared_memory_cannot_be_loaded(monkeypatch):
    kernel = square.warmup(torch.float16, torch.float32, N=64, grid=(1,))
    needs, utils = kernel.metadata.shared, triton.runtime.driver.active.utils
    assert needs == 2 * 64 * 64 * 2
    monkeypatch.setattr(utils, "get_device_properties", lambda device: {"max_shared_mem": needs - 1})
    with pytest.raises(OutOfResources, match=f"shared memory, Required: {needs}, Hardware limit: {needs - 1}"):
        kernel._init_handles()


def test_what_the_assembler_refuses_is_told_in_a_few_lines(capfd):
    with pytest.raises(CompileError) as refused:
        square.warmup(torch.float16, torch.float32, N=256, grid=(1,), num_warps=16).metadata
    assert "square does not compile for h100" in str(refused.value) and "Insufficient registers" in str(refused.value)
    assert capfd.readouterr() == ("", "")


def test_a_launch_of_an_autotuner_gives_the_chosen_kernel():
    configs = [triton.Config({"BLOCK": 16}, num_warps=1), triton.Config({"BLOCK": 32})]
    kernel = triton.autotune(configs, key=["n"])(add_one)
    with pytest.warns(UserWarning):
        assert kernel[(4,)](torch.zeros(64), 64).metadata.num_warps == 1
    assert [each.metadata.num_warps for each in kernel.warmup(torch.float32, 64, grid=(1,))] == [1, 4]


def test_without_a_compiler_it_says_that_figures_are_not_known(monkeypatch):
    kernel = warmed(block=128)
    monkeypatch.setattr(whole, "PROGRAMS", ("ptxas", "a_program"))
    with pytest.raises(NoCompiler, match="not known here: this Triton comes without a_program"):
        kernel.metadata
    monkeypatch.setattr(programs, "front_end", None)
    with pytest.raises(RuntimeError) as unknown:
        warmed().asm
    assert str(unknown.value) == handles.UNKNOWN


# The driver, and arithmetic with what it says ----------------------------------------------------


def test_the_driver_tells_the_properties_of_the_simulated_gpu():
    driver = triton.runtime.driver.active
    properties = driver.utils.get_device_properties(driver.get_current_device())
    assert properties == {
        "max_shared_mem": 232448,
        "max_num_regs": 65536,
        "multiprocessor_count": 132,
        "warpSize": 32,
        "sm_clock_rate": 1980000,
        "mem_clock_rate": 2619000,
        "mem_bus_width": 5120,
    }
    assert (driver.get_current_target().backend, driver.get_current_target().arch) == ("cuda", 90)
    assert driver.get_device_capability() == (9, 0) and driver.get_active_torch_device().type == "cpu"


def test_a_persistent_kernel_starts_as_many_programs_as_its_registers_leave_room_for():
    x = torch.randn(2000, 1000)
    with record() as counters:
        out = persistent.row_sums(x)
    assert torch.allclose(out, x.sum(1), atol=1e-3)
    (launch,) = counters.launches
    registers, spills, shared = persistent.registers_of_a_launch(x).tolist()
    resident = min(65536 // (registers * 32 * 8), 232448 // shared)
    assert launch.grid == (min(2000, 132 * resident), 1, 1) and 132 <= launch.grid[0] < 2000
    assert spills == 0
