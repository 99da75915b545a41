"""What the simulator says of types and of refusals, Numba's compiler says too. It needs no GPU for that."""

import builtins
import inspect
import math
import operator
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers import promotion
from tools.sim.cuda.numbers.mathematics import NUMPY, meaning
from tools.sim.cuda.numbers.promotion import TYPES, result_type, unary_type, unify
from tools.sim.cuda.translate import name_rules
from tools.tests.sim.cuda.language.verdicts import load

pytest.importorskip("numba_cuda", minversion="0.30", reason="numba-cuda 0.30 is not installed, with which to compare")

from numba import cuda  # noqa: E402
from numba.cuda import compiler, dispatcher, types  # noqa: E402
from numba.cuda.descriptor import cuda_target  # noqa: E402
from numba.cuda.np.numpy_support import as_dtype, from_dtype  # noqa: E402

SEVERAL = [
    np.dtype(name) for name in ("bool", "int16", "int64", "uint64", "float16", "float32", "float64", "complex64")
]
PARAMETERS = {"a": types.float32[:], "m": types.float32[:, :], "n": types.int64}


@contextmanager
def no_gpu_needed():
    """Numba asks which GPU there is when it compiles some of its own functions, and for what NumPy 2.5 lacks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "row_stack", np.vstack, raising=False)
        patch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))
        cuda_target.typing_context.refresh()
        yield


@pytest.fixture(autouse=True, scope="module")
def a_gpu_to_compile_for():
    with no_gpu_needed():
        yield


def dtype_of(numba_type):
    if isinstance(numba_type, types.BaseTuple):
        return tuple(map(dtype_of, numba_type))
    return as_dtype(numba_type)


def inferred(function, *dtypes):
    """The type of function(...) for Numba; None if it has no such function."""
    try:
        found = cuda_target.typing_context.resolve_function_type(function, tuple(map(from_dtype, dtypes)), {})
    except Exception:
        return None
    return found and dtype_of(found.return_type)


def compiled(function, *types_):
    """The same, from the whole compiler: some functions are known and still not compiled."""
    try:
        return dtype_of(lowered(function, *types_))
    except Exception:
        return None


def lowered(function, *types_):
    """The type of the result, after everything but the making of machine code. Exceptions of any kind."""
    return compiler.compile_cuda(function, None, types_, cc=(9, 0)).signature.return_type


def simulated(function, *dtypes):
    """The same, from the simulator."""
    try:
        with np.errstate(all="ignore"):
            result = function(*(dtype.type(1) for dtype in dtypes))
    except Refused:
        return None
    return tuple(each.dtype for each in result) if isinstance(result, tuple) else result.dtype


def pairs():
    return [(a, b) for a in TYPES for b in TYPES]


# Types -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "lshift",
        "rshift",
        "and_",
        "or_",
        "xor",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
    ],
)
def test_an_operator_gives_numbas_type_for_every_pair(name):
    theirs = {pair: inferred(getattr(operator, name), *pair) for pair in pairs()}
    assert {pair: result_type(name, *pair) for pair in pairs()} == theirs


@pytest.mark.parametrize("name", ["neg", "pos", "invert", "not_"])
def test_a_sign_gives_numbas_type(name):
    assert [unary_type(name, a) for a in TYPES] == [inferred(getattr(operator, name), a) for a in TYPES]


def test_a_variable_with_two_types_gets_numbas_type():
    for a, b in pairs():
        theirs = cuda_target.typing_context.unify_types(from_dtype(a), from_dtype(b))
        assert unify(a, b) == as_dtype(theirs)


@pytest.mark.parametrize("function", [abs, int, float, complex, round])
def test_a_built_in_function_of_one_number_gives_numbas_type(function):
    theirs = [compiled(lambda x: function(x), from_dtype(a)) for a in TYPES]
    assert [simulated(meaning(function), a) for a in TYPES] == theirs


@pytest.mark.parametrize("function", [min, max, complex])
def test_a_built_in_function_of_two_numbers_gives_numbas_type(function):
    some = [(a, b) for a, b in pairs() if a in SEVERAL and b in SEVERAL]
    theirs = {pair: compiled(lambda x, y: function(x, y), *map(from_dtype, pair)) for pair in some}
    assert {pair: simulated(meaning(function), *pair) for pair in some} == theirs


def test_min_of_three_numbers_gives_numbas_type():
    for three in [(TYPES[4], TYPES[8], TYPES[10]), (TYPES[1], TYPES[5], TYPES[3]), (TYPES[0], TYPES[0], TYPES[0])]:
        theirs = compiled(lambda x, y, z: min(x, y, z), *map(from_dtype, three))
        assert simulated(meaning(min), *three) == theirs


@pytest.mark.parametrize("function", [divmod, pow])
def test_an_operator_that_is_a_function_gives_numbas_type(function):
    theirs = {pair: inferred(function, *pair) for pair in pairs()}
    assert {pair: simulated(meaning(function), *pair) for pair in pairs()} == theirs


def of_one_number(function) -> list:
    """function(x) for x of each type; of float16, inference alone does not know."""
    return [compiled(lambda x: function(x), from_dtype(a)) if a == np.float16 else inferred(function, a) for a in TYPES]


MATH = [name for name in dir(math) if callable(getattr(math, name)) and not name.startswith("_")]


@pytest.mark.parametrize("name", MATH)
def test_a_function_of_math_gives_numbas_type_or_is_unknown_to_both(name):
    function = getattr(math, name)
    of_one = of_one_number(function)
    of_two = {pair: inferred(function, *pair) for pair in pairs()} if not any(of_one) else {}
    if meaning(function) is None:
        assert not any(of_one) and not any(of_two.values())
    elif any(of_one):
        assert [simulated(meaning(function), a) for a in TYPES] == of_one
    else:
        assert {pair: simulated(meaning(function), *pair) for pair in pairs()} == of_two


@pytest.mark.parametrize("name", NUMPY)
def test_a_function_of_numpy_gives_numbas_type(name):
    function = getattr(np, name)
    assert [simulated(meaning(function), a) for a in TYPES] == of_one_number(function)


def test_numbas_types_are_known_by_their_names():
    assert {each: promotion.dtype_of(from_dtype(each)) for each in TYPES} == {each: each for each in TYPES}


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function, verdict", load(cuda), ids=lambda each: getattr(each, "__name__", ""))
def test_numba_compiles_what_it_is_said_to_compile(function, verdict):
    signature = tuple(PARAMETERS[name[0]] for name in inspect.signature(function).parameters)
    if verdict == "refused":
        with pytest.raises(Exception):  # of many kinds; some are bugs of Numba's
            lowered(function, *signature)
    else:
        assert lowered(function, *signature) == types.none


def never_compiles(name: str, **space) -> bool:
    """name(...), whatever its arguments."""
    for arguments in ("a[0]", "a"):
        exec(f"def kernel(a):\n    value = {name}({arguments})\n    a[0] = value is None", space)
        try:
            lowered(space["kernel"], types.float32[:])
        except Exception:
            continue
        return False
    return True


REFUSED = [f"np.{name}" for name in (*name_rules.NUMPY_ARRAYS, *name_rules.NUMPY_NUMBERS)] + [
    name
    for name, value in vars(builtins).items()
    if callable(value)
    and not name.startswith("_")
    and not (isinstance(value, type) and issubclass(value, BaseException))
    and value not in (*name_rules.SIMULATED, *name_rules.COMPILED, str, repr)
    and meaning(value) is None
]


@pytest.fixture(scope="module")
def compiled_by_numba():
    """Which of REFUSED, and of two that are not, Numba compiles in a process of its own: where it has compiled anything
    for the CPU, its compiler for GPUs finds functions of the CPU's too."""
    code = f"""from {__name__} import *
with no_gpu_needed():
    print(*(name for name in [*REFUSED, "abs", "np.sin"] if not never_compiles(name, np=np)))"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_a_function_that_numba_compiles_is_seen_to_compile(compiled_by_numba):
    assert {"abs", "np.sin"} <= set(compiled_by_numba)


@pytest.mark.parametrize("name", REFUSED)
def test_numba_compiles_no_function_that_is_refused(name, compiled_by_numba):
    assert name not in compiled_by_numba


@pytest.mark.parametrize("name", [value.__name__ for value in name_rules.COMPILED])
def test_numba_knows_the_built_in_functions_that_only_the_simulator_does_not(name):
    cuda_target.typing_context.resolve_value_type(getattr(builtins, name))
