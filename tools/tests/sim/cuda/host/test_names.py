"""The names of numba.cuda: each is here, or says why not; types have the same aliases, devices the table's figures."""

import types as python_types

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.translate import not_simulated


@pytest.fixture(scope="module")
def numba_cuda():
    pytest.importorskip("numba_cuda", reason="compares names with numba-cuda")
    return pytest.importorskip("numba.cuda", reason="compares names with numba-cuda")


def public(module) -> set[str]:
    """Its names, without modules: those of numba-cuda are its inside."""
    return {
        name
        for name in dir(module)
        if not name.startswith("_") and not isinstance(getattr(module, name), python_types.ModuleType)
    }


def test_each_name_of_numba_cuda_is_here_or_says_why_not(numba_cuda):
    absent = {name for name in public(numba_cuda) if not hasattr(cuda, name)}
    assert absent == public(numba_cuda) & set(not_simulated.REASON)


def test_nothing_is_both_here_and_missing():
    assert [name for name in not_simulated.REASON if hasattr(cuda, name)] == []


def test_no_name_is_missing_that_numba_cuda_has_not(numba_cuda):
    assert set(not_simulated.REASON) <= set(dir(numba_cuda))


def test_only_debug_is_a_name_that_numba_cuda_has_not(numba_cuda):
    assert public(cuda) - set(dir(numba_cuda)) == {"debug"}


def test_a_missing_name_is_an_attribute_error_with_the_reason():
    with pytest.raises(AttributeError, match="numba.cuda has reduce, and its simulator has not:\nit makes kernels"):
        cuda.reduce
    with pytest.raises(AttributeError, match="module 'numba.cuda' has no attribute 'banana'"):
        cuda.banana


def test_types_have_numbas_aliases(numba_cuda):
    theirs = {
        name: str(getattr(numba_cuda, name))
        for name in dir(numba_cuda)
        if isinstance(getattr(numba_cuda, name), numba_cuda.types.Type)
    }
    theirs = {name: text for name, text in theirs.items() if name not in not_simulated.REASON}
    assert {
        name: str(kind)
        for name, kind in ((name, getattr(cuda, name)) for name in dir(cuda))
        if isinstance(kind, cuda.types.Type)
    } == theirs


SIGNATURES = [
    "void(float32[:], int64)",
    "(float32[:, ::1], i4)",
    "void(float32[::1, :])",
    "int32(int32, f8)",
    "none(int8)",
    "void(UniTuple(int64, 2))",
    "void(Tuple((int64, float32)))",
    "void(Array(float32, 1, 'C'))",
    "void()",
    "void(types.float32, boolean)",
]
NO_SIGNATURES = [(3,), ("float32",)]


@pytest.mark.parametrize("text", SIGNATURES)
def test_a_signature_means_what_it_means_to_numba(numba_cuda, text):
    from numba.cuda.core import sigutils

    arguments, result = sigutils.normalize_signature(text)
    parsed = cuda.types.parse(text)
    assert list(map(str, parsed.arguments)) == list(map(str, arguments))
    assert str(parsed.result) == str(result)


@pytest.mark.parametrize("thing", NO_SIGNATURES)
def test_a_signature_is_made_of_types(thing):
    with pytest.raises(TypeError, match="expected a type instance, got"):
        cuda.types.parse(thing)


def test_a_type_that_is_none_of_numbers_makes_no_values():
    with pytest.raises(NotImplementedError, match="a value of type none"):
        cuda.void(3)
    with pytest.raises(AttributeError, match="no attribute 'float8'"):
        cuda.types.float8


@pytest.mark.parametrize(
    "value",
    [
        1,
        2**63,
        1.5,
        True,
        1j,
        np.float16(1),
        np.int8(1),
        (1, 2.0),
        (1, 1),
        ((1, 2), 3.0),
        np.ones((2, 3)),
        np.ones((2, 3)).T,
        np.ones((4, 6))[::2],
        np.ones(3)[::-1],
        np.array(3.0),
        np.ones((0, 3)),
        np.broadcast_to(np.ones(1), (4,)),
        np.ones(3, np.int16),
        np.ones(3, bool),
    ],
    ids=repr,
)
def test_an_argument_has_numbas_type(numba_cuda, value):
    from numba.cuda.typing.typeof import Purpose, typeof

    from tools.sim.cuda.host.arguments import typeof as ours

    assert str(ours(value)) == str(typeof(value, Purpose.argument))


# The device --------------------------------------------------------------------------------------


def test_attributes_are_those_of_the_chip(monkeypatch):
    monkeypatch.setenv("COURSE_CHIP", "h200")
    cuda.close()
    device = cuda.get_current_device()
    recorded = {  # by the driver, on an H200
        "MULTIPROCESSOR_COUNT": 132,
        "MAX_THREADS_PER_BLOCK": 1024,
        "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
        "MAX_BLOCKS_PER_MULTIPROCESSOR": 32,
        "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 233472,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": 1024,
        "TOTAL_CONSTANT_MEMORY": 65536,
        "MAX_REGISTERS_PER_BLOCK": 65536,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
        "L2_CACHE_SIZE": 62914560,
        "CLOCK_RATE": 1980000,
        "COMPUTE_CAPABILITY_MAJOR": 9,
        "COMPUTE_CAPABILITY_MINOR": 0,
        "WARP_SIZE": 32,
        "MAX_BLOCK_DIM_X": 1024,
        "MAX_BLOCK_DIM_Y": 1024,
        "MAX_BLOCK_DIM_Z": 64,
        "MAX_GRID_DIM_X": 2147483647,
        "MAX_GRID_DIM_Y": 65535,
        "MAX_GRID_DIM_Z": 65535,
        "COOPERATIVE_LAUNCH": 1,
        "UNIFIED_ADDRESSING": 1,
        "MANAGED_MEMORY": 1,
        "CAN_MAP_HOST_MEMORY": 1,
    }
    recorded |= {"GLOBAL_MEMORY_BUS_WIDTH": 6144, "MEMORY_CLOCK_RATE": 3201000}  # as nvidia-smi shows its clock
    assert {name: getattr(device, name) for name in dir(device) if name.isupper()} == recorded
    assert (device.name, device.compute_capability) == ("NVIDIA H200", (9, 0))


@pytest.mark.parametrize(
    ("chip", "bfloat16", "fp8"), [("t4", False, False), ("a100", True, False), ("h100", True, True)]
)
def test_features_come_with_the_compute_capability(monkeypatch, chip, bfloat16, fp8):
    monkeypatch.setenv("COURSE_CHIP", chip)
    cuda.close()
    assert (cuda.is_bfloat16_supported(), cuda.is_fp8_supported()) == (bfloat16, fp8)


def test_detect_shows_the_device_and_that_it_is_simulated(capsys):
    assert cuda.detect()
    assert "NVIDIA H100 80GB HBM3, simulated" in capsys.readouterr().out


def test_there_is_one_device_by_whatever_name():
    device = cuda.get_current_device()
    assert {device, cuda.select_device(0), cuda.current_context().device} == {device}
    assert {cuda.current_context(), cuda.current_context(0)} == {cuda.current_context()}
    assert [gpu.name for gpu in cuda.gpus] == [device.name]
    assert str(cuda.gpus) == "<Managed Device 0>"
    assert (repr(device), repr(cuda.current_context())) == (
        f"<CUDA device 0 '{device.name}'>",
        "<CUDA context of device 0>",
    )


def test_profiling_is_accepted():
    with cuda.profiling():
        cuda.profile_start()


def test_programs_find_the_classes_that_they_catch():
    with pytest.raises(cuda.cudadrv.driver.CudaAPIError):
        cuda.device_array(10**14)
    assert isinstance(cuda.device_array(3), cuda.cudadrv.devicearray.DeviceNDArray)
