"""Mutants: which faults are made of a piece of code, how they are named, and what is left alone."""

import ast

import pytest

from tools.selfcheck.mutants import mutants


def names(body: str, parameters: str = "", given: int = 0) -> list[str]:
    source = f"def f({parameters}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return [mutant.id.removeprefix("f: ") for mutant in mutants(source, {"f": given})]


FAULTS = {
    "operators are swapped": ("x = p + q", ["x = p {+ -> -} q"]),
    "every operator of a formula": ("x = p * q // r", ["x = p * q {// -> /} r", "x = p {* -> /} q // r"]),
    "an augmented one is swapped and dropped": ("x -= p", ["x {-= -> +=} p", "without x -= p"]),
    "comparisons move their edge": ("x = p < q", ["x = p {< -> <=} q"]),
    "integers move by one": ("x = 5", ["x = {5 -> 6}", "x = {5 -> 4}"]),
    "pairs change places": ("x = (p, q)", ["x = ({p, q -> q, p})"]),
    "a transpose is dropped": ("x = p.T", ["x = p{.T ->}"]),
    "brackets stay whole": ("x = p(q[1], r[0])", ["x = p({q[1], r[0] -> r[0], q[1]})"]),
    "a keyword is dropped": ("x = p(axis=q)", ["x = p({axis=q ->})"]),
    "arguments change places": ("x = p(q, r)", ["x = p({q, r -> r, q})"]),
    "a call for its effect is dropped": ("p(q)", ["without p(q)"]),
    "an element keeps its value": ("p[q] = r", ["without p[q] = r", "p[q {-> + 1}] = r"]),
    "a range stops early": ("for x in range(p):\n    q = x", ["for x in range(p {-> - 1}):"]),
    "an index moves": ("x = p[q, r]", ["x = p[q {-> + 1}, r]"]),
    "a slice moves either end": ("x = p[q:r]", ["x = p[q {-> + 1}:r]", "x = p[q:r {-> + 1}]"]),
    "a cast is dropped": ("x = float(p)", ["x = {float(p) -> p}"]),
    "a change of dtype is dropped": ("x = p.astype(q)", ["x = p{.astype(q) ->}"]),
    "a condition is turned round": ("if p:\n    x = q", ["if {-> not} p:"]),
    "a filter is turned round": ("x = [p for p in q if r]", ["x = [p for p in q if {-> not} r]"]),
    "a name stays bound": ("x = p\nx = q", ["without x = p", "without x = q"]),
}


@pytest.mark.parametrize("body, wanted", FAULTS.values(), ids=FAULTS)
def test_each_kind_of_fault_is_made_and_named(body, wanted):
    assert set(wanted) <= set(names(body))


def test_a_function_may_return_its_first_parameter():
    assert names("return b", "a, b") == ["return {b -> a}"]
    assert names("return a", "a, b") == []


def test_what_the_stub_gives_is_left_alone():
    assert names('"""Says 1."""\nx = 1\nreturn x', "a", given=1) == ["return {x -> a}"]


def test_symmetric_calls_keep_their_order():
    assert names("x = max(p, q)") == []


def test_a_name_bound_once_is_not_dropped():
    assert names("x = p\ny = x") == []


def test_two_faults_that_come_to_the_same_are_one():
    sources = [mutant.source for mutant in mutants("def f(a):\n    return a[0 - 1:]\n", {"f": 0})]
    assert len(sources) == len({ast.dump(ast.parse(source)) for source in sources})


def test_faults_that_read_alike_are_numbered():
    assert names("p(q)\np(q)") == ["without p(q)", "without p(q) (2)"]


def test_a_long_line_shows_the_change_and_what_stands_around_it():
    [name] = [
        n
        for n in names("x = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa(p + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb)")
        if "+" in n
    ]
    assert name == "...aaaaaaaaaaaaaaaaaaaaaaaaaaa(p {+ -> -} bbbbbbbbbbbbbbbbbbbbbbbbbbbbb..."


def test_only_the_named_functions_change():
    source = "def f():\n    return 1\n\ndef g():\n    return 2\n\nclass C:\n    def h(self):\n        return 3\n"
    assert [mutant.id for mutant in mutants(source, {"C.h": 0})] == ["C.h: return {3 -> 4}", "C.h: return {3 -> 2}"]


def test_every_mutant_parses_and_differs_from_the_reference():
    body = "for i in range(n):\n        a[i] += float(a[i - 1]) if i > 1 else 0\n    return a.T, n"
    source = f"def f(a, n):\n    {body}\n"
    made = mutants(source, {"f": 0})
    assert len(made) >= 15
    assert all(ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(source)) for mutant in made)
