"""Kernels mean what they mean to NVIDIA's compiler behind CuPy's headers: types, constants, refusals, small numbers."""

import re

import numpy as np
import pytest

from tools.sim.cupy.device.errors import CompileException
from tools.sim.cupy.dispatch.ufuncs import UNFLUSHED
from tools.sim.cupy.kernels import calls, types
from tools.sim.cupy.kernels.machine import CONSTANTS, ELSEWHERE, Machine, Variable
from tools.sim.cupy.kernels.refusal import Code, NotTranslated
from tools.sim.cupy.kernels.statement_parser import Parser
from tools.tests.sim.cupy import in_cpp

cupy = pytest.importorskip("cupy", reason="needs CuPy, whose headers are compiled; pip install cupy-cuda13x[ctk]")
try:
    from tools.tests.sim.cupy import in_cuda

    in_cuda.compiled("")
except Exception as error:
    pytest.skip(f"needs NVIDIA's compiler, which does not run here: {error}", allow_module_level=True)

NAMES = list(in_cuda.VARIABLES)
ONE = [
    *calls.ONE,
    *(f"{name}f" for name in calls.ONE),
    *calls.ONLY_FLOAT[1],
    *calls.ABOUT,
    *calls.WHOLE,
    *calls.COMPLEX,
]
TWO = [*calls.TWO, *(f"{name}f" for name in calls.TWO), *calls.ONLY_FLOAT[2], *calls.EITHER]
OPERATORS = ("+ - * /", "% & | ^ << >>", "< <= > >=", "== != && ||", "= += -=", "*= /= %= &= <<=")
MIXED = [
    "t ? s : d",
    "max(f, 0)",
    "max(f, 0.0f)",
    "max(f, 0.0)",
    "min(n, 3u)",
    "min(w, 3)",
    "pow(f, 2)",
    "pow(d, 0.5f)",
    "sqrt(n * 1.0)",
    "exp(-n)",
    "abs(n - 3)",
    "complex<float>(f)",
    "complex<double>(f, d)",
    "c.real()",
    "z.imag()",
    "conj(c) * c",
    "c + 1",
    "z * 2.0",
    "n++",
    "--h",
    "f++",
    "(f *= 2)",
    "float(s)",
]


def found(expression: str) -> str | None:
    """The dtype by the translation; None where it refuses as a compiler would, "" where it has no translation."""
    place = Code("test", expression)
    names = {name: Variable(np.zeros(1, in_cuda.DTYPES[type])) for name, type in in_cuda.VARIABLES.items()}
    machine = Machine(place, 1, names, {})
    machine.mask = np.zeros(1, bool)
    try:
        with np.errstate(all="ignore"):
            return str(Parser(place).expression().value(machine).dtype)
    except CompileException:
        return None
    except NotTranslated:
        return ""


def compare(expressions: list[str]) -> None:
    mine = [found(expression) for expression in expressions]
    wrong = [
        f"{expression}: {one}, not {wanted}"
        for expression, one, wanted in zip(expressions, mine, in_cuda.types(expressions))
        if one not in (wanted, "")
    ]
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:10])
    assert mine.count("") <= len(mine) / 3


def test_functions_of_one():
    compare([f"{name}({one})" for name in ONE for one in NAMES])


@pytest.mark.parametrize("names", [TWO[:6], TWO[6:12], TWO[12:]], ids=" ".join)
def test_functions_of_two(names):
    compare([f"{name}({one}, {other})" for name in names for one in NAMES for other in NAMES])


def test_functions_of_three():
    compare(
        [
            f"{name}({one}, {two}, {three})"
            for name in ("fma", "fmaf")
            for one in "nfdewt"
            for two in "nfdec"
            for three in "nfdhe"
        ]
    )


@pytest.mark.parametrize("operators", OPERATORS)
def test_operators(operators):
    compare(
        [
            f"{one} {operator} {other}"
            for operator in operators.split()
            for one in NAMES
            for other in NAMES
            if not (one == "e" and other in "cz" and operator.endswith("="))
        ]
    )  # errors that only a use brings out


def test_choices():
    compare([f"{condition} ? {one} : {other}" for condition in "tc" for one in NAMES for other in NAMES])


def test_signs_and_casts():
    compare([f"{operator}{one}" for operator in "+-!~" for one in NAMES])
    compare([f"({type}){one}" for type in in_cuda.DTYPES for one in NAMES])
    compare([f"static_cast<{type}>({one})" for type in in_cuda.DTYPES for one in NAMES])


def test_mixed_expressions():
    compare(MIXED)
    generator = in_cpp.Expressions(seed=2)
    compare([generator.any(3) for _ in range(300)])


def test_types_and_constants_are_declared_and_as_large():
    sizes = {name: types.named(name).itemsize for name in (*types.NAMED, *types.SIMPLE, *types.ABSENT.values())}
    sizes |= {name: value.itemsize for name, value in CONSTANTS.items()}
    in_cuda.compiled("".join(f'static_assert(sizeof({name}) == {size}, "{name}");' for name, size in sizes.items()))


def test_constants_have_these_values():
    numbers = {name: value for name, value in CONSTANTS.items() if value == value}  # one NaN is like another
    assembly = in_cuda.compiled(
        "".join(
            f'extern "C" __global__ void {name}_({"float" if value.itemsize == 4 else "double"}* x) {{ *x = {name}; }}\n'  # noqa: E501
            for name, value in numbers.items()
        )
    )
    stored = re.findall(r"mov\.\w+\s+%\w+, (\d+);", assembly)
    assert [int(bits) for bits in stored] == [int(value.view(f"u{value.itemsize}")) for value in numbers.values()]


def test_what_cupy_s_headers_lack_is_refused():
    uses = "".join(f"(void)({name});" for name in (*ELSEWHERE, *types.ABSENT))
    with pytest.raises(ValueError) as refused:
        in_cuda.compiled(f"void use() {{ {uses} }}")
    assert re.findall(r'identifier "(\w+)" is undefined', str(refused.value)) == [*ELSEWHERE, *types.ABSENT]
    assert all(found(f"({name})n") is None for name in types.ABSENT) and not any(map(found, ELSEWHERE))


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "negative",
        "absolute",
        "sign",
        "ceil",
        "greater",
        "maximum",
        "isnan",
        "positive",
        "conjugate",
        "signbit",
        "copysign",
    ],
)
def test_elementwise_functions_treat_small_numbers_as_zero(name):
    ufunc = getattr(cupy, name)
    routine = next(each for each in ufunc._ops.ops if set(map(np.dtype, each.in_types)) == {np.dtype("f")})
    kinds = {f"in{place}": np.dtype(kind).name for place, kind in enumerate(routine.in_types)}
    kinds |= {"out0": np.dtype(routine.out_types[0]).name}
    types = "".join(f"typedef {kind.removesuffix('32')} {name}_type; " for name, kind in kinds.items())
    loads = "".join(f"{name}_type {name} = x[{place}]; " for place, name in enumerate(kinds))
    assembly = in_cuda.compiled(
        f'{types} {ufunc._preamble or ""}\nextern "C" __global__ void k(const float* x, out0_type* y) '
        f"{{ {loads} {routine.routine}; *y = out0; }}",
        "-ftz=true",
    )
    assert (".ftz" in assembly) == (name not in UNFLUSHED)
