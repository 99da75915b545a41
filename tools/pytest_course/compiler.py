"""The compiler's process starts before the lesson is imported here, and imports it at the same time.

Only for days that ask the compiler, and only once some kernel is written: a stub has nothing to compile. Where single
tests are named, it starts when one of them asks: most do not, and it costs more than the rest of such a run.
"""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tools.check.compiled import NoCompiler, begin_compiler
from tools.pytest_course import preload
from tools.pytest_course.lessons import file_of
from tools.pytest_course.marks import skip
from tools.pytest_course.run import run_of, unit_name

ASKS = "pytest.mark.compiled"
WRITTEN = (".store(", "cuda.grid(")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    name = unit_name(module_path)
    if name is None:
        return
    run = run_of(parent.config)
    unit = run.unit(name)  # for every day: its lesson may delete itself
    lesson, tests = file_of(run, unit.module), module_path.read_text(encoding="utf-8")
    source = lesson.read_text(encoding="utf-8", errors="replace") if lesson.is_file() else ""
    if not run.remote:
        preload.libraries(tests, source)
    single = any("::" in argument for argument in parent.config.args)
    at_once = parent.config.getini("course_compiler") == "at once" and not single
    if at_once and ASKS in tests and any(written in source for written in WRITTEN):
        begin_compiler(unit.module, lesson, copied=not run.remote)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, Any, Any]:
    """Where there is no compiler for this kind of kernel, its test is skipped, and says what is missing."""
    try:
        return (yield)
    except NoCompiler as missing:
        skip(missing.what, str(missing))
