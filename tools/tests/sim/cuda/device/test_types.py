"""Names, numbers of arguments and types: accepted here where numba-cuda accepts them, with the results' types."""

from contextlib import nullcontext

import numpy as np
import pytest

from tools.sim import cuda as ours
from tools.sim.cuda.device import atomics
from tools.sim.cuda.faults import Refused
from tools.tests.sim.cuda.device.running import inside, run

cuda = pytest.importorskip("numba.cuda", reason="needs numba-cuda, to compare with")
pytest.importorskip("numba.cuda.fp16", reason="needs numba-cuda, to compare with")

TYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)
FULL, X = np.int64(-1), None  # X: the argument whose type varies
CALLS = [
    *(
        (name, X)
        for name in (
            "popc",
            "clz",
            "brev",
            "cbrt",
            "nanosleep",
            "syncwarp",
            "syncthreads_count",
            "syncthreads_and",
            "syncthreads_or",
            "fp16.hneg",
            "fp16.hexp",
        )
    ),
    *(
        (name, FULL, X)
        for name in ("all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync", "match_all_sync")
    ),
    ("match_any_sync", X, np.int64(0)),
    *((name, FULL, X, np.int32(0)) for name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")),
    ("selp", np.bool_(True), X, X),
    ("selp", np.bool_(True), np.int32(1), X),
    ("fma", X, X, X),
    ("fma", np.float32(1), np.float32(2), X),
    ("fma", np.float64(1), X, np.int16(1)),
    ("fp16.hadd", np.float16(1), X),
    ("fp16.heq", X, np.float16(1)),
    ("fp16.hfma", X, X, np.float16(1)),
    ("activemask",),
    ("lanemask_lt",),
    ("syncwarp",),
    ("threadfence",),
    ("syncthreads",),
]


@pytest.fixture(scope="module")
def numba_type():
    """numba_type("popc", a Numba type): the name of the result's type; None where the call is refused."""
    from numba.core import errors
    from numba.core.target_extension import target_override
    from numba.cuda.core import errors as cuda_errors
    from numba.cuda.descriptor import cuda_target

    context = cuda_target.typing_context
    context.refresh()

    def ask(name: str, *types) -> str | None:
        with target_override("cuda"):
            function = context.resolve_value_type(cuda)
            for part in name.split("."):
                function = context.resolve_getattr(function, part)
            try:
                signature = context.resolve_function_type(function, types, {})
            except (errors.TypingError, cuda_errors.TypingError):
                return None
        return str(signature.return_type) if signature else None

    return ask


def as_numba(dtype):
    return getattr(cuda.types, "boolean" if dtype.kind == "b" else str(dtype))


def our_type(name: str, *values) -> str | None:
    """The same for the simulator and values of such types."""
    function = ours
    for part in name.split("."):
        function = getattr(function, part)
    with inside(threads=1) as lanes:
        lanes.races = Nobody()
        try:
            result = function.meaning(*values)
        except Refused:
            return None
    if isinstance(result, tuple):
        return f"Tuple({', '.join(str(each.dtype) for each in result)})"
    return "none" if result is None else str(result.dtype)


class Nobody:
    """Who is told of barriers, where no memory is."""

    def __getattr__(self, name):
        return lambda *arguments: None


@pytest.mark.parametrize("name, arguments", [(name, arguments) for name, *arguments in CALLS], ids=str)
def test_a_call_has_the_type_that_numba_gives_it(name, arguments, numba_type):
    for dtype in map(np.dtype, TYPES):
        values = [dtype.type(1) if each is X else each for each in arguments]
        assert our_type(name, *values) == numba_type(name, *(as_numba(value.dtype) for value in values)), dtype


ATOMICS = ("add", "sub", "and_", "or_", "xor", "exch", "inc", "dec", "min", "max", "nanmin", "nanmax")


@pytest.mark.parametrize("name", [*ATOMICS, "cas", "compare_and_swap"])
def test_an_atomic_update_takes_the_arrays_that_numba_takes(name, numba_type):
    update = getattr(atomics, name)

    def one_value(cells, x):
        update(cells, 0, x)

    def swap(cells, x):
        update(cells, 0, x, x)

    def swap_first(cells, x):
        update(cells, x, x)

    kernel = {"cas": swap, "compare_and_swap": swap_first}.get(name, one_value)
    for dtype in map(np.dtype, TYPES):
        x, values = as_numba(dtype), {"cas": 2, "compare_and_swap": 2}.get(name, 1)
        index = [] if name == "compare_and_swap" else [cuda.types.int64]
        accepted = numba_type(f"atomic.{name}", x[::1], *index, *[x] * values) is not None
        with nullcontext() if accepted else pytest.raises(Refused):
            run(kernel, 1, 1, np.zeros(4, dtype), dtype.type(1))


@pytest.mark.parametrize(
    "name, taken, refused",
    [
        ("ffs", ["int32"], ["int8"]),
        ("selp", ["bool", "int32", "int32"], ["int64", "int32", "int32"]),
        ("shfl_sync", ["int32", "int32", "int32"], ["int16", "int32", "int32"]),
        ("shfl_up_sync", ["int64", "float32", "uint32"], ["int32", "float32", "uint8"]),
        ("ballot_sync", ["uint32", "bool"], ["uint16", "bool"]),
    ],
)
def test_what_numba_types_but_cannot_compile_is_refused_too(name, taken, refused):
    arguments, scope = ", ".join("abc"[: len(taken)]), {"cuda": cuda}
    exec(f"def function({arguments}):\n    return cuda.{name}({arguments})", scope)

    def compiled(types):
        types = tuple(as_numba(np.dtype(each)) for each in types)
        return cuda.compile_ptx(scope["function"], types, device=True, cc=(9, 0))

    def values(types):
        return [np.dtype(each).type(number) for each, number in zip(types, (1, 32, 32))]  # a mask, 32: oneself

    assert compiled(taken) and our_type(name, *values(taken)) is not None
    with pytest.raises(Exception):  # numba's errors differ: some come from the compiler behind it
        compiled(refused)
    assert our_type(name, *values(refused)) is None
