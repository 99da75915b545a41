"""What CuPy can be asked without a GPU: its names, its signatures, its tables of types, its refusals of host arrays."""

import inspect
import itertools

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.cupy import names
from tools.sim.cupy.dispatch import reductions
from tools.sim.cupy.dispatch.loops import SIGNATURES, WEAK, choose
from tools.sim.cupy.functions import table as functions

cupy = pytest.importorskip("cupy", reason="needs CuPy, whose tables are read; pip install cupy-cuda13x")
TYPES = [*map(np.dtype, "?bBhHiIlLefdFD"), *WEAK]
OF_TYPES = {"issctype", "issubclass_", "issubsctype", "obj2sctype", "sctype2char"}  # not about arrays
SCORES = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 2}


def public(module) -> set[str]:
    return {name for name in dir(module) if not name.startswith("_")}


def test_every_name_of_cupy_is_there_or_says_that_it_is_not():
    unknown = public(cupy) - set(names.public) - set(names.MODULES) - set(names.LATER) - names.NOT_SIMULATED - OF_TYPES
    assert unknown == {"annotations", "disable_experimental_feature_warning"}
    assert names.NOT_SIMULATED <= public(cupy)


def test_the_stand_in_adds_no_names():
    assert set(names.public) - public(cupy) == set()


@pytest.mark.parametrize("name", sorted(names.NOT_SIMULATED))
def test_a_name_that_is_not_simulated_says_so(name):
    with pytest.raises(NotImplementedError, match=f"cupy.{name} is not part of the simulated CuPy"):
        getattr(cp, name)


TABLES = (functions.ANYWHERE, functions.COMPILED, functions.DEVICE_ONLY, functions.FORWARDED, functions.UPLOADING)
LINES = [line.strip() for table in TABLES for line in table.splitlines() if line.strip()]
LINES += reductions.SIGNATURES.values()


@pytest.mark.parametrize("line", LINES)
def test_functions_of_the_tables_have_the_signatures_of_cupy(line):
    name, _, parameters = line.partition("(")
    wanted = inspect.signature(getattr(cupy, name)).parameters.values()
    found = inspect.signature(eval(f"lambda {parameters[:-1]}: None")).parameters.values()
    assert [(each.name, each.kind, each.default) for each in found] == [
        (each.name, each.kind, each.default) for each in wanted
    ]


def as_cupy_chooses(name: str, operands: tuple):
    """By CuPy's own tables, which it searches without a GPU."""
    types = tuple(WEAK.get(each, each) for each in operands)
    weak = tuple(each if each in WEAK else False for each in operands)
    strong_score = max((SCORES[each.kind] for each in operands if each not in WEAK), default=-1)
    weak_score = max((SCORES[WEAK[each].kind] for each in operands if each in WEAK), default=9)
    weak = weak if strong_score >= weak_score else (False,) * len(types)
    loop = getattr(cupy, name)._ops._guess_routine_from_in_types(types, weak)
    return loop and (tuple(map(np.dtype, loop.in_types)), tuple(map(np.dtype, loop.out_types)))


@pytest.mark.parametrize("name", sorted(set(SIGNATURES) - {"copy", "where", "clip", "ldexp"}))
def test_elementwise_functions_choose_the_types_that_cupy_chooses(name):
    operands = len(SIGNATURES[name][0].split("->")[0])
    for types in itertools.product(TYPES, repeat=operands):
        assert choose(name, types) == as_cupy_chooses(name, types), types


V, M, I, B = np.ones(4), np.ones((2, 2)), np.array([0, 1]), np.array([True, False, True, True])
HOST = [  # calls with arrays of the host that CuPy answers without a GPU
    ("all", V),
    ("amax", V),
    ("any", V),
    ("argsort", V),
    ("argwhere", V),
    ("array_split", V, 2),
    ("asfortranarray", V),
    ("astype", V, "f"),
    ("broadcast_to", V, (2, 4)),
    ("clip", V, 0, 1),
    ("column_stack", [V, V]),
    ("copyto", V, V),
    ("cumprod", V),
    ("cumsum", V),
    ("diagonal", M),
    ("dot", V, V),
    ("expand_dims", V, 0),
    ("extract", B, V),
    ("flatnonzero", V),
    ("flip", V),
    ("inner", V, V),
    ("isfortran", V),
    ("kron", V, V),
    ("matmul", M, M),
    ("max", V),
    ("mean", V),
    ("median", V),
    ("min", V),
    ("moveaxis", M, 0, 1),
    ("nanmean", V),
    ("nansum", V),
    ("ndim", V),
    ("nonzero", V),
    ("prod", V),
    ("ravel", V),
    ("repeat", V, 2),
    ("reshape", V, (2, 2)),
    ("rollaxis", M, 1),
    ("searchsorted", V, V),
    ("shape", V),
    ("size", V),
    ("sort", V),
    ("split", V, 2),
    ("squeeze", V),
    ("stack", [V, V]),
    ("std", V),
    ("sum", V),
    ("swapaxes", M, 0, 1),
    ("take", V, I),
    ("tensordot", M, M),
    ("trace", M),
    ("transpose", V),
    ("var", V),
    ("vdot", V, V),
    ("where", B),
]


def answer(module, name: str, arguments: tuple) -> tuple:
    """Type and value, or type and message."""
    try:
        value = getattr(module, name)(*arguments)
        return type(value), np.asarray(value).tolist()
    except Exception as error:
        return type(error), str(error)[:60]


@pytest.mark.parametrize("call", HOST, ids=[name for name, *_ in HOST])
def test_host_arrays_are_refused_or_passed_on_as_by_cupy(call):
    name, *arguments = call
    assert answer(cp, name, arguments) == answer(cupy, name, arguments)
