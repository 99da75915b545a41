"""`import tools.gpu` and then `import triton`: what happens when, and what is said when it cannot work."""

import subprocess
import sys

import pytest

from tools import ROOT, pip_install
from tools.sim.triton.install import WANTED


def python(code: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "COURSE_SIM": "1"},
    )


def test_nothing_heavy_is_imported_before_the_lesson_imports_triton():
    done = python("import sys, tools.gpu\nprint(sorted({'numpy', 'torch', 'triton', 'ml_dtypes'} & set(sys.modules)))")
    assert done.stdout == "[]\n", done.stderr


def test_triton_imported_afterwards_is_patched():
    done = python(
        "import tools.gpu, triton.language as tl, triton\n"
        "from triton.runtime import interpreter, driver\n"
        "print(interpreter._get_np_dtype(tl.bfloat16), type(driver.active).__module__)"
    )
    assert done.stdout == "bfloat16 tools.sim.triton.driver\n", done.stderr


def test_a_warning_of_the_simulator_is_told_where_triton_was_never_imported():
    done = python(
        "import sys, tools.gpu, importlib\n"
        "importlib.import_module('tools.sim.triton').SimulatedTimes('as pytest-xdist does')\n"
        "print('triton' in sys.modules)\n"
        "import triton.runtime, tools.sim.triton.driver as driver\n"
        "print(driver.SimulatedTimes.__module__)"
    )
    assert done.stdout == "False\ntools.sim.triton\n", done.stderr


def test_installing_twice_patches_once():
    done = python(
        "import sys, tools.gpu\n"
        "from tools.sim.triton import install\n"
        "install(); install(); import triton; install()\n"
        "print(sum(type(f).__module__.startswith('tools') for f in sys.meta_path))"
    )
    assert done.stdout == "1\n", done.stderr


def test_triton_imported_before_is_a_clear_error():
    done = python("import triton, tools.gpu")
    assert "ImportError: Triton was imported before tools.gpu" in done.stderr
    assert "Put `import tools.gpu` above the line that imports triton" in done.stderr


def test_triton_imported_before_in_interpreter_mode_is_patched():
    done = python(
        "import os; os.environ['TRITON_INTERPRET'] = '1'\n"
        "import triton, tools.gpu, triton.language as tl\n"
        "print(triton.runtime.interpreter._get_np_dtype(tl.bfloat16))"
    )
    assert done.stdout == "bfloat16\n", done.stderr


@pytest.mark.parametrize("version", ["3.5.1", "3.8.0", "4.0.0+git1234"])
def test_another_release_of_triton_is_a_clear_error_each_time(version, tmp_path):
    package = tmp_path / "triton"
    package.mkdir()
    (package / "__init__.py").write_text(f"__version__ = {version!r}")
    done = python(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import tools.gpu\n"
        "for _ in range(2):\n"
        "    try: import triton\n"
        "    except ImportError as error: print(error)"
    )
    words = (
        f"The simulator knows Triton 3.6 and 3.7; installed is {version}.\n"
        f"To install one that it knows: {pip_install(WANTED)}\n"
    )
    assert done.stdout == 2 * words, done.stderr


def test_without_triton_the_import_fails_as_usual():
    done = python(
        "import sys, tools.gpu\nsys.path[:] = [p for p in sys.path if 'site-packages' not in p]\nimport triton"
    )
    assert "ModuleNotFoundError: No module named 'triton'" in done.stderr
