"""Workloads of the course: each names a function of its unit, and its figures are those of the mathematics."""

import pytest

from tools.course.content import catalogue
from tools.course.content.workload import workloads


def test_every_workload_names_a_function_and_grows(name, workload):
    assert f"\ndef {workload.function}(" in catalogue.unit(name).lesson.read_text(encoding="utf-8")
    assert workload.naive in {"", *workload.rivals}
    assert list(workload.sizes) == sorted(set(workload.sizes))
    assert workload.on in ("gpu", "cpu")
    moved, flops = ([figure(size) for size in workload.sizes] for figure in (workload.moved, workload.flops))
    assert moved == sorted(set(moved))
    assert flops == sorted(set(flops)) or not any(flops)  # a copy has none


@pytest.mark.parametrize("name", [f"week1/day{number}" for number in range(1, 8)])
def test_a_day_that_runs_a_kernel_has_workloads(name):
    assert workloads(catalogue.unit(name))


@pytest.mark.parametrize(
    ("name", "function", "size", "moved", "flops"),
    [
        ("week1/day4", "vector_add", 1000, 12_000, 1000),
        ("week1/day6", "matmul", 64, 3 * 4 * 64 * 64, 2 * 64**3),
        ("week1/day1", "matmul_naive", 10, 3 * 8 * 100, 2000),
        ("week1/katas/locality", "distances_blas", 8, 8 * (2 * 8 * 64 + 64), 3 * 64 * 64),
    ],
)
def test_least_bytes_and_flops_are_those_of_the_mathematics(name, function, size, moved, flops):
    workload = next(each for each in workloads(catalogue.unit(name)) if each.function == function)
    assert (workload.moved(size), workload.flops(size)) == (moved, flops)
