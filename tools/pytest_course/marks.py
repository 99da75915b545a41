"""Marks of a lesson test: its task, its stage, and what it needs of the machine. A skip says what is missing, what was
found, and what to do."""

import functools
import os
import shutil
import subprocess
import zlib
from collections.abc import Callable, Generator
from importlib.util import find_spec
from typing import Any, NoReturn

import numpy as np
import pytest

from tools import gpu, pip_install
from tools.pytest_course.run import run_of, unit_name

STAGES = {
    "correctness": "does it compute the right thing (the stage of a test that names none)",
    "edge": "awkward sizes and layouts",
    "nonfinite": "NaN and infinity",
    "tolerance": "as precise as it should be",
    "counters": "what the simulators count: bytes, sectors, products",
    "compiled": "what the compiler made of it",
    "speed": "a ratio of times; never run beside other tests",
}

# Mark -> (what it stands for, does a card of this compute capability have it)
CAPABILITIES = {
    "gpu": ("an NVIDIA GPU", lambda cc: True),
    "turing": ("a Turing GPU (compute capability 7.5)", lambda cc: cc == (7, 5)),
    "ampere": ("an Ampere GPU (8.0, 8.6 or 8.7)", lambda cc: cc in ((8, 0), (8, 6), (8, 7))),
    "ada": ("an Ada GPU (8.9)", lambda cc: cc == (8, 9)),
    "hopper": ("a Hopper GPU (9.x)", lambda cc: cc[0] == 9),
    "blackwell": ("a data-centre Blackwell GPU (10.x)", lambda cc: cc[0] == 10),
    "fp8": ("FP8 arithmetic (8.9 and later)", lambda cc: cc >= (8, 9)),
    "tma": ("the Tensor Memory Accelerator (9.0 and later)", lambda cc: cc >= (9, 0)),
    "wgmma": ("warpgroup matrix instructions (9.x)", lambda cc: cc[0] == 9),
    "tcgen05": ("fifth-generation tensor cores (10.x)", lambda cc: cc[0] == 10),
    "nvfp4": ("NVFP4 arithmetic (10.0 and later)", lambda cc: cc >= (10, 0)),
}


@functools.cache
def _knows_openmp() -> bool:
    from tools.doctor.programs import Place, check_openmp  # late: few units ask

    return check_openmp(Place()).state == "ok"


@functools.cache
def _reads_x86() -> bool:
    """Is there a C compiler that makes code for AVX2, and the program that shows it?"""
    if not (shutil.which("cc") and shutil.which("objdump")):
        return False
    command = ["cc", "-march=haswell", "-c", "-x", "c", "-", "-o", os.devnull]
    return subprocess.run(command, input=b"int one() { return 1; }", capture_output=True).returncode == 0


# Mark -> (what it stands for, is it on this machine, what to do where it is not)
INSTALLED: dict[str, tuple[str, Callable[[], object], str]] = {
    "c_compiler": ("a C compiler", lambda: shutil.which("cc"), "Your system's packages have gcc and clang."),
    "numba": ("Numba", lambda: find_spec("numba"), f"To install it: {pip_install('numba')}"),
    "openmp": ("a C compiler with OpenMP", _knows_openmp, "Your system's packages have gcc."),
    "x86_compiler": (
        "a C compiler for x86-64, and objdump",
        _reads_x86,
        "On such a machine your system's packages have them: gcc and binutils.",
    ),
    "valgrind": ("valgrind", lambda: shutil.which("valgrind"), "On Linux your system's packages have it."),
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "task(*numbers): the lesson's tasks that the test is about")
    for stage, meaning in STAGES.items():
        config.addinivalue_line("markers", f"{stage}: {meaning}")
    for mark, (meaning, _) in CAPABILITIES.items():
        config.addinivalue_line("markers", f"{mark}: needs {meaning}")
    config.addinivalue_line("markers", "multigpu: needs two or more GPUs")
    for mark, (meaning, *_) in INSTALLED.items():
        config.addinivalue_line("markers", f"{mark}: needs {meaning}")


def tasks_of(item: pytest.Item) -> tuple[int, ...]:
    mark = item.get_closest_marker("task")
    return mark.args if mark else ()


def stage_of(item: pytest.Item) -> str:
    return next((stage for stage in STAGES if item.get_closest_marker(stage)), "correctness")


def needs_gpu(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(mark) for mark in (*CAPABILITIES, "multigpu"))


def needs_program(item: pytest.Item) -> bool:
    """Does it need a program or a package that the course can do without?"""
    return any(item.get_closest_marker(mark) for mark in INSTALLED)


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.get_closest_marker("nonfinite"):
        item.add_marker(pytest.mark.filterwarnings("ignore::RuntimeWarning"))  # NaN is the point of these tests


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """A lesson test that names no task is an error of the course's author, found at collection."""
    report = yield
    if report.passed and isinstance(collector, pytest.Module) and unit_name(collector.path):
        for item in report.result:
            if isinstance(item, pytest.Function) and not tasks_of(item):
                report.outcome, report.result = "failed", []
                report.longrepr = f"{item.nodeid} names no task: add @pytest.mark.task(N)."
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if found := missing(item):
        skip(*found)


def skip(what: str, reason: str) -> NoReturn:
    """Skip a test, or a whole file, for want of `what`: a package or a program; "" stands for a GPU."""
    skipped = pytest.skip.Exception(reason, allow_module_level=True)
    setattr(skipped, "lacks", what)
    raise skipped


def lacks(error: BaseException) -> str | None:
    """What a test was skipped for; None of a skip of another kind, which is worth no more than a failure."""
    return getattr(error, "lacks", None)


def reason(needs: str, found: str, remedy: str) -> str:
    """Of a skip, in sentences: what is missing, what was found, what to do."""
    return f"needs {needs}; found {found}. {remedy}"


def missing(item: pytest.Item) -> tuple[str, str] | None:
    """What keeps this test from running here ("" for a GPU) and why, or None."""
    card = gpu.card()
    for mark, (meaning, has) in CAPABILITIES.items():
        if item.get_closest_marker(mark):
            if card is None:
                return "", reason(meaning, _none(), "All else counts without; a machine with one runs it.")
            if not has(card.capability):
                return "", reason(meaning, str(card), "There is nothing to do: later days do not depend on it.")
    if item.get_closest_marker("multigpu") and (card is None or card.count < 2):
        return "", reason("two or more GPUs", str(card.count if card else 0), "There is nothing to do: it is optional.")
    for mark, (meaning, is_here, remedy) in INSTALLED.items():
        if item.get_closest_marker(mark) and not is_here():
            return meaning, reason(meaning, "none", f"All else counts without. {remedy}")
    return None


def _none() -> str:
    return "none in this run, which simulates (--sim)" if gpu.installed_card() else "none"


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random inputs of this test: the run's seed and the test's name decide them, so --seed repeats them anywhere."""
    return _generator(request.node)


def _generator(item: pytest.Item) -> np.random.Generator:
    return np.random.default_rng([run_of(item.config).seed, zlib.crc32(item.nodeid.encode())])


def has_drawn(item: pytest.Item) -> bool:
    """Has the test taken a number from its `rng`?"""
    rng = getattr(item, "funcargs", {}).get("rng")
    return rng is not None and rng.bit_generator.state != _generator(item).bit_generator.state
