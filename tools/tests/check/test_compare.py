"""What counts as equal: types, bits, NaN, infinities, signs of zero, tolerances."""

import numpy as np
import pytest
import torch

from tools.check.compare import Rule, contents, form
from tools.check.tolerances import Tolerance

EXACT = Rule(exact=True)
NAN, INF = float("nan"), float("inf")


def same(got, want, rule=None) -> bool:
    rule = rule or Rule()
    return form(got, want, rule) is None and contents(got, want, rule) is None


@pytest.mark.parametrize(
    "got, want",
    [
        (7, 7),
        (True, True),
        ("a", "a"),
        (None, None),
        (10**500, 10**500),
        (torch.float32, torch.float32),
        ((1, "x"), (1, "x")),
        ([1, [2]], [1, [2]]),
        ({"a": 1}, {"a": 1}),
        ([NAN, 1.0], [NAN, 1.0]),
        (0.1 + 0.2, 0.3),
        (NAN, NAN),
        (INF, INF),
        (-0.0, 0.0),
        (np.float64(2.0), 2.0),
        (2.0, np.float64(2.0)),
        (7, np.int64(7)),
    ],
)
def test_equal_python_values(got, want):
    assert same(got, want)


@pytest.mark.parametrize(
    "got, want",
    [
        (7, 8),
        (7, 7.0),
        (7.0, 7),
        (True, 1),
        (1, True),
        ("a", "b"),
        (None, 0),
        (10**500, 10**500 + 1),
        ((1, 2), [1, 2]),
        ((1, 2), (1, 2, 3)),
        ((1.0, 2), (1, 2)),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        (0.3, 0.3000001),
        (NAN, 0.0),
        (INF, -INF),
        (INF, 1e308),
        (np.int64(7), 7),
        (np.float32(2.0), 2.0),
        (np.array(7), 7),
    ],
)
def test_different_python_values(got, want):
    assert not same(got, want)


def test_a_tolerance_applies_to_python_floats_and_never_to_whole_numbers():
    loose = Rule(tolerance=Tolerance(0.1, "a guess"))
    assert same(10.5, 10.0, loose) and not same(12.0, 10.0, loose)
    assert not same(101, 100, loose)
    assert not same(np.array([101]), np.array([100]), loose)


def test_exact_python_floats_agree_to_the_bit():
    assert same(0.1, 0.1, EXACT) and same(NAN, NAN, EXACT)
    assert not same(0.1 + 0.2, 0.3, EXACT)
    assert not same(-0.0, 0.0, EXACT)


@pytest.mark.parametrize("make", [np.array, torch.tensor], ids=["NumPy", "PyTorch"])
def test_array_elements_are_equal_within_the_tolerance_and_by_kind_where_not_finite(make):
    want = make([1.0, NAN, INF, -INF, 0.0])
    assert same(make([1.0 + 1e-15, NAN, INF, -INF, -0.0]), want)
    for place, value in enumerate([1.0001, 0.0, -INF, INF, 1e-3]):
        got = want + 0
        got[place] = value
        fault = contents(got, want, Rule())
        assert fault.wrong.tolist() == [index == place for index in range(5)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn])
def test_exact_arrays_agree_to_the_bit_in_every_float_format(dtype):
    want = torch.tensor([0.0, 1.0, NAN]).to(dtype)
    assert same(want.clone(), want, EXACT)
    assert not same(torch.tensor([-0.0, 1.0, NAN]).to(dtype), want, EXACT)
    assert not same(torch.tensor([0.0, 1.125, NAN]).to(dtype), want, EXACT)


def test_nan_is_nan_whatever_its_payload():
    odd = np.array([0x7FC0BEEF], np.uint32).view(np.float32)
    assert same(odd, np.array([NAN], np.float32), EXACT)


def test_complex_arrays_compare_both_parts():
    want = np.array([1 + 2j, complex(NAN, 0)])
    assert same(want.copy(), want)
    assert not same(np.array([1 - 2j, complex(NAN, 0)]), want)


@pytest.mark.parametrize(
    "got, want, name",
    [
        (None, np.ones(2), "nothing_returned"),
        ([1.0, 1.0], np.ones(2), "wrong_type"),
        (1.0, np.ones(()), "wrong_type"),
        (torch.ones(2), np.ones(2), "wrong_type"),
        (np.ones(2), torch.ones(2), "wrong_type"),
        (np.ones(2, np.float32), np.ones(2), "wrong_dtype"),
        (np.ones(2), np.ones(2, int), "wrong_dtype"),
        (np.ones(2), np.ones((2, 1)), "wrong_shape"),
        (np.ones(1), np.ones(()), "wrong_shape"),
        (torch.ones(2, device="meta"), torch.ones(2), "wrong_device"),
        ((np.ones(2), None), (np.ones(2), np.ones(2)), "nothing_returned"),
        ([np.ones(2)], (np.ones(2),), "wrong_type"),
    ],
)
def test_faults_of_form_have_names(got, want, name):
    assert form(got, want, Rule()).kind == name


def test_an_element_of_a_nest_is_named_by_its_place():
    fault = form({"a": (np.ones(2), None)}, {"a": (np.ones(2), np.ones(2))}, Rule())
    assert (fault.kind, fault.part) == ("nothing_returned", "result['a'][1]")


def test_a_missing_part_is_a_difference_in_value():
    assert form((np.ones(2),), (np.ones(2), np.ones(2)), Rule()) is None
    assert contents((np.ones(2),), (np.ones(2), np.ones(2)), Rule()).kind == "values"


def test_a_numpy_scalar_is_an_array_without_axes_beside_an_oracles_numpy_scalar():
    assert same(np.float32(2.0), np.float64(2.0), Rule(dtype="float32"))
    assert form(np.float64(2.0), np.float64(2.0), Rule(dtype="float32")).kind == "wrong_dtype"
    assert same(np.array(2.0, np.float32), np.float64(2.0), Rule(dtype="float32"))


def test_the_dtype_of_a_float_result_is_the_rules_and_of_others_the_oracles():
    assert same(np.ones(2, np.float32), np.ones(2), Rule(dtype="float32"))
    assert same(np.ones(2, np.int64), np.ones(2, np.int64), Rule(dtype="float32"))
    asked = Tolerance(1e-6, "", "float32")
    assert same(np.ones(2, np.float32), np.ones(2), Rule(dtype="float16", tolerance=asked))
