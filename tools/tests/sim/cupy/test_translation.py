"""The translation of kernels' code follows C++: types, conversions, operators, branches, loops and functions."""

import numpy as np
import pytest

from tools.sim.cupy.device.errors import CompileException
from tools.sim.cupy.kernels.machine import Machine, Variable
from tools.sim.cupy.kernels.refusal import Code, NotTranslated
from tools.sim.cupy.kernels.statement_parser import Parser
from tools.tests.sim.cupy import in_cpp

needs_compiler = pytest.mark.skipif(in_cpp.COMPILER is None, reason="needs g++, the oracle; none was found on the path")
RANDOM = 400  # expressions

LITERALS = [
    "1",
    "2147483647",
    "2147483648",
    "0x80000000",
    "0xffffffff",
    "0x100000000",
    "1u",
    "4294967296u",
    "1ll",
    "1ull",
    "017",
    "1.5",
    "1.5f",
    "1e3",
    "2.f",
    "true",
    "0",
]
PROMOTIONS = [
    "s + s",
    "h * h",
    "t + t",
    "-h",
    "~h",
    "+t",
    "n + u",
    "w + u",
    "w + v",
    "n + f",
    "w * f",
    "d - f",
    "s << 1",
    "u >> 1",
    "n / 2",
    "-7 / 2",
    "-7 % 3",
    "n % 5",
    "7u - 8",
    "n < u",
    "s == 65536 - 7",
    "!d",
    "t ? s : d",
    "h ? h : h",
    "n & w",
    "s | h",
    "1 / 2 * d",
    "(short)70000",
    "(unsigned char)-1",
    "(bool)0.5",
    "(float)w",
    "-1 < 1u",
    "w > v",
    "abs(-2.5)",
    "abs(s)",
    "sqrt(f)",
    "floorf(d)",
    "round(d)",
    "round(-2.5)",
    "round(0.49999999999999994)",
    "round(4503599627370497.0)",
    "round(d * 10)",
    "fma(f, f, 1.5f)",
    "tgamma(-1.0)",
    "tgamma(200.0)",
    "lgamma(0.0)",
    "llround(f)",
    "sqrt(-1.0)",
    "fmod(d, 0.3)",
]
PROGRAMS = {
    "a branch": "int r = 0; if (n > 0) r = 1; else if (s < 0) { r = 2; } else r = 3; show(r);",
    "nested branches": "int r = 5; if (t) { if (h > 100) { r = 1; } r += 10; } show(r);",
    "a for loop": "int r = 0; for (int j = 0; j < (h & 15); ++j) r += j * j; show(r);",
    "a while loop": "unsigned int r = u; while (r > 100) r /= 3; show((int)r);",
    "a do loop": "int r = 0; do { r++; } while (r < (h & 7)); show(r);",
    "break and continue": "int r = 0; for (int j = 0; j < 20; j++) { if (j % 3 == 0) continue; if (j > (h & 15)) break; r = r * 2 + j; } "  # noqa: E501
    "show(r);",
    "break in a branch in a loop in a loop": "int r = 0; for (int j = 0; j < 4; j++) { int k = 0; while (true) { if (k >= j + (h & 3)) { break; } k++; } "  # noqa: E501
    "r = r * 10 + k; } show(r);",
    "shadowed names": "int r = 1; { int r = 2; r += n & 3; } show(r);",
    "assignments as values": "int r, q; r = q = (n & 7); r += q -= 2; show(r * 100 + q);",
    "steps": "int r = n & 7; int a = r++; int b = ++r; int c = r--; show(a * 1000 + b * 100 + c * 10 + r);",
    "compound assignments convert": "unsigned char r = 250; r += 10; short q = 7; q *= 1.5; show(r * 1000 + q);",
    "short circuits": "int r = 0; bool b = t && (r = 1) == 1; b = b || (r += 2) == 2; show(r * 10 + b);",
    "conditions of every type": "int r = 0; if (f) r += 1; if (w) r += 2; if (!d) r += 4; show(r);",
    "several names": "int a = 1, b = a + 1, c; c = a + b; show(c);",
    "auto": "auto a = h * 2.5f; auto b = s + 1; show((int)a + b);",
    "a loop without a condition": "int r = n & 15; for (;;) { if (r > 20) break; r += 3; } show(r);",
}


def variables() -> dict[str, Variable]:
    return {
        name: Variable(np.array([lane[place] for lane in in_cpp.LANES], in_cpp.TYPES[type]), constant=False)
        for place, (name, type) in enumerate(in_cpp.VARIABLES.items())
    }


def machine(code: str) -> tuple[Machine, Parser]:
    place = Code("test", code)
    return Machine(place, len(in_cpp.LANES), variables(), {}), Parser(place)


def evaluated(expression: str) -> np.ndarray:
    runner, parser = machine(expression)
    with np.errstate(all="ignore"):
        return np.broadcast_to(parser.expression().value(runner), len(in_cpp.LANES))


def executed(program: str) -> np.ndarray:
    """The number that a program shows: the translation stores it in a variable instead."""
    runner, parser = machine(program.replace("show(", "shown = ("))
    runner.scopes[0]["shown"] = Variable(np.zeros(len(in_cpp.LANES), np.int32))
    body = parser.statements()
    body.check(runner)
    body.run(runner)
    return np.broadcast_to(runner.scopes[0]["shown"].value, len(in_cpp.LANES))


@needs_compiler
def test_expressions_have_the_types_and_values_of_cpp(tmp_path):
    generator = in_cpp.Expressions(seed=1)
    expressions = [*LITERALS, *PROMOTIONS, *(generator.any(3) for _ in range(RANDOM))]
    wanted = in_cpp.results([f"show({expression});" for expression in expressions], tmp_path)
    wrong = [
        f"{expression}: {lines[lane]}, not {in_cpp.shown(value)}"
        for expression, lines in zip(expressions, wanted)
        for lane, value in enumerate(evaluated(expression))
        if not in_cpp.same(lines[lane], value)
    ]
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:5])


@needs_compiler
def test_programs_do_what_they_do_in_cpp(tmp_path):
    wanted = in_cpp.results(list(PROGRAMS.values()), tmp_path)
    for (name, program), lines in zip(PROGRAMS.items(), wanted):
        found = executed(program)
        assert all(map(in_cpp.same, lines, found)), f"{name}: {lines}, not {[in_cpp.shown(each) for each in found]}"


@pytest.mark.parametrize(
    "code, words",
    [
        ("y = x +", "a value is missing; the end of the code"),
        ("y = (1 + 2", "')' is missing; the end"),
        ("if (n > 1 { }", "')' is missing; '{' stands"),
        ("int = 3", "a name is missing; '=' stands"),
        ("n = missing", "'missing' is not declared"),
        ("int a; int a", "'a' is declared twice"),
        ("f = f % 2", "C++ has no % for float32 and int32"),
        ("f = f & 1", "C++ has no & for float32"),
        ("1 = n", "Nothing can be stored"),
        ("{ n = 1;", "brace is never closed"),
        ("n = 1 $ 2", "'$' means nothing"),
        ("n = f[0]", "Only a raw argument can have an index"),
        ("if (false) n = missing", "'missing' is not declared"),
        ("for (; false; ) n = missing", "'missing' is not declared"),
        ("f = sqrt(n)", "sqrt is there for float and for double. Which one is meant for int32?"),
        ("f = max(f, 0)", "max takes two of one type, not float32 and int32. Convert one"),
        ("f = INFINITY", "'INFINITY' is not declared. CuPy's headers do not: write CUDART_INF_F"),
        ("n = (int64_t)f", "CuPy's headers do not declare int64_t: write long long"),
        ("n = 99999999999999999999", "is no number of C++"),
        ("f = f ** 2", "C++ has no operator **: a square is x * x, any power pow(x, y)."),
        ("f = f ^ 2", "It combines bits; a square is x * x, any power pow(x, y)."),
        ("# a comment\nn = 1", "In C++ a comment begins with //, not with #."),
        ("f = np.exp(f)", "'np' is not declared. C++ has its functions without a prefix, as exp(x)."),
        ("n = True", "'True' is not declared. C++ has true."),
        ("f = f.size", "'f' is one number here, a float32, which has no .size."),
    ],
)
def test_wrong_code_is_refused_as_by_a_compiler(code, words):
    with pytest.raises(CompileException) as refused:
        executed(code)
    place, what, *_ = str(refused.value).splitlines()
    assert place.startswith("kernel 'test', line 1:  ") and words in what


@pytest.mark.parametrize(
    "code, words",
    [
        ("int *p = 0;", "pointers and references"),
        ("int a[3];", "arrays that a thread has"),
        ("switch (n) { }", "switch"),
        ("n = threadIdx.x;", "threadIdx"),
        ("__syncthreads();", "the function __syncthreads"),
        ("goto end;", "goto"),
        ("n = *(&n);", "pointers"),
        ("n = (1, 2);", "the comma"),
        ("n = reinterpret_cast<int>(f);", "reinterpret_cast"),
        ("#define N 3", "preprocessor lines"),
        ("n = atomicAdd(&n, 1);", "the old value that atomicAdd gives"),
    ],
)
def test_what_is_not_translated_says_so_and_what_to_do(code, words):
    with pytest.raises(NotTranslated) as refused:
        executed(code)
    place, what, advice = str(refused.value).splitlines()
    assert place.startswith("kernel 'test', line 1:  ") and advice
    assert what.startswith(f"The simulated CuPy does not translate {words}")


@pytest.mark.parametrize(
    "code, words",
    [
        ("f = 1 if n else 2", "C++ writes: condition ? one : other, and if (condition) statement."),
        ("for j in range(3): n = j", "C++ writes: for (int j = 0; j < n; j++) statement."),
        ("import math", "This is Python; the code is C++."),
    ],
)
def test_what_is_pythons_is_named(code, words):
    with pytest.raises(CompileException) as refused:
        executed(code)
    assert str(refused.value).splitlines()[2] == words


@pytest.mark.parametrize(
    "code, advice",
    [
        ("f = sqr(f);", "Is sqrt meant?"),
        ("f = relu(f);", "If CUDA has it, write a RawKernel; if it is yours, define it"),
        ("f = print(f);", "If CUDA has it, write a RawKernel"),
    ],
)
def test_an_unknown_function_may_be_a_misspelt_one(code, advice):
    with pytest.raises(NotTranslated) as refused:
        executed(code)
    assert str(refused.value).splitlines()[2].startswith(advice)


def test_operators_have_other_names():
    in_words, in_signs = "show(not (n > 1 and n < 3) or f > 100);", "show(!(n > 1 && n < 3) || f > 100);"
    assert (executed(in_words) == executed(in_signs)).all()


def test_a_message_says_which_line():
    with pytest.raises(CompileException, match="line 3:  q = 1;"):
        executed("int a = 1;\n// nothing here\nq = 1;\n")


def test_an_endless_loop_ends(monkeypatch):
    monkeypatch.setattr("tools.sim.cupy.kernels.statements.ROUNDS", 100)
    with pytest.raises(CompileException, match="does not end"):
        executed("while (true) { }")


def test_a_preamble_may_name_types():
    import tools.sim.cupy as cp

    preamble = "typedef unsigned long long uint64_t;\nusing real = double; typedef real number;"
    code = "uint64_t big = x; y = uint64_t(big << 40) >> 38 | (uint64_t)x; z = number(1) / 3;"
    kernel = cp.ElementwiseKernel("int32 x", "uint64 y, float64 z", code, "named", preamble=preamble)
    y, z = kernel(cp.arange(3, dtype=np.int32))
    assert y.get().tolist() == [0, 5, 10] and (z.get() == 1 / 3).all()
