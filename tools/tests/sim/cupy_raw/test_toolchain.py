"""The host's compiler: who says that it is missing, and what it made before."""

import os
import shutil
import subprocess
import sys

import pytest

import tools.sim.cupy as cp
from tools import ROOT
from tools.sim.cupy.raw import NoCompiler, toolchain
from tools.tests.sim.cupy_raw.running import needs_compiler, zeros
from tools.tests.sim.cupy_raw.test_compiling import SCALE


@pytest.fixture
def no_compiler(monkeypatch):
    toolchain.compiler.cache_clear()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    yield monkeypatch
    toolchain.compiler.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="is about Linux; other systems have a message of their own")
def test_without_a_compiler_it_says_how_to_get_one(no_compiler):
    with pytest.raises(NoCompiler) as caught:
        cp.RawKernel(SCALE + "// never compiled before", "scale", ("-DFACTOR=1",))((1,), (1,), (zeros(1), zeros(1)))
    text = str(caught.value).splitlines()
    assert "apt install g++" in str(caught.value) and len(text) <= 5 and max(map(len, text)) <= 80


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_on_another_system_it_says_where_kernels_run(no_compiler, system):
    no_compiler.setattr(sys, "platform", system)
    with pytest.raises(NoCompiler, match="runs on Linux only(.|\n)*WSL(.|\n)*container") as caught:
        toolchain.compiler()
    assert len(str(caught.value).splitlines()) <= 5


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    shutil.copy(toolchain._runtime(), tmp_path)  # takes a second to build
    monkeypatch.setattr(toolchain, "folder", lambda: tmp_path)
    return tmp_path


@needs_compiler
def test_an_equal_source_is_compiled_once(empty_cache, monkeypatch):
    first = toolchain.module("int one;")
    monkeypatch.setattr(toolchain, "_run", None)
    files = [file for file in empty_cache.rglob("*") if file.is_file()]
    assert toolchain.module("int one;") == first and {file.suffix for file in files} <= {".o", ".so", ".gch"}


@needs_compiler
def test_another_source_or_option_is_another_module(empty_cache):
    modules = {toolchain.module("int one;"), toolchain.module("int two;"), toolchain.module("int one;", ("-DN=1",))}
    assert len(modules) == 3


@needs_compiler
def test_what_cannot_be_compiled_is_not_kept(empty_cache):
    with pytest.raises(toolchain.Rejected, match="error"):
        toolchain.module("int one")
    assert not list(empty_cache.glob("*.so"))
    folders = [path for path in empty_cache.iterdir() if path.is_dir()]
    assert all((folder / toolchain.READ).exists() for folder in folders)


@needs_compiler
def test_an_option_that_changes_the_header_has_it_read_anew(empty_cache):
    text = f'#include "{toolchain.HEADER}"\nfloat most = INFINITY;'
    toolchain.module(text)
    with pytest.raises(toolchain.Rejected, match="INFINITY"):
        toolchain.module(text, ("-DSIMT_NVRTC",))


def test_the_oldest_modules_make_room(tmp_path):
    for number in range(toolchain.MOST + 3):
        (tmp_path / f"{number}.so").write_text("")
        os.utime(tmp_path / f"{number}.so", (number, number))
    toolchain._prune(tmp_path)
    assert {int(file.stem) for file in tmp_path.iterdir()} == set(range(3, toolchain.MOST + 3))


def test_the_oldest_headers_make_room(tmp_path):
    for number in range(toolchain.MOST_READ + 3):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / toolchain.READ).write_text("")
        os.utime(tmp_path / str(number) / toolchain.READ, (number, number))
    toolchain._prune(tmp_path)
    assert {int(folder.name) for folder in tmp_path.iterdir()} == set(range(3, toolchain.MOST_READ + 3))


RACER = """
import sys
from pathlib import Path
import numpy as np
import tools.sim.cupy as cp
from tools.sim.cupy.raw import toolchain
toolchain.folder = lambda: Path(sys.argv[1])
Path(sys.argv[1], sys.argv[2]).touch()
while not all(Path(sys.argv[1], name).exists() for name in ("first", "second")):
    pass
out = cp.asarray(np.zeros(4, np.float32))
cp.RawKernel('extern "C" __global__ void f(float* out) { out[threadIdx.x] = threadIdx.x; }', "f")((1,), (4,), (out,))
print(out.get().tolist())
"""


@needs_compiler
def test_two_processes_may_compile_the_same_at_once(empty_cache):
    commands = [[sys.executable, "-c", RACER, str(empty_cache), name] for name in ("first", "second")]
    runs = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for command in commands]
    assert [run.communicate(timeout=60)[0].strip() for run in runs] == ["[0.0, 1.0, 2.0, 3.0]"] * 2
    assert len(list(empty_cache.glob("*.so"))) == 1
