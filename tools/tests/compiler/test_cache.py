"""The cache: what is compiled again after an edit, and what is thrown away."""

import os
import uuid

from tools.check import compiled
from tools.compiler import cache

TWO = """
import triton
import triton.language as tl


@triton.jit
def one_kernel(x_ptr):
    tl.store(x_ptr, 1.0)


@triton.jit
def another_kernel(x_ptr):
    # MARK
    tl.store(x_ptr, 2.0)
"""


def compiled_now(plain, file, text: str) -> list[str]:
    """The kernels that had to be compiled for that text."""
    file.write_text(text)
    kernels = compiled(plain.launch_those_in, str(file)).kernels
    return [kernel.name for kernel in kernels if not kernel.from_cache]


def test_after_an_edit_only_the_changed_kernel_is_compiled(plain, tmp_path):
    file, text = tmp_path / "edited.py", TWO.replace("MARK", uuid.uuid4().hex)  # never seen before
    assert "another_kernel" in compiled_now(plain, file, text)
    assert compiled_now(plain, file, text) == []
    assert compiled_now(plain, file, text.replace("2.0", "3.0")) == ["another_kernel"]


def test_a_kernel_from_the_cache_is_shown_in_the_file_that_it_stands_in_now(plain, tmp_path):
    for name in ("first.py", "second.py"):
        compiled_now(plain, tmp_path / name, TWO)
    (tmp_path / "first.py").unlink()
    kernel = compiled(plain.launch_those_in, str(tmp_path / "second.py")).kernels[0]
    (store,) = kernel.accesses
    assert kernel.from_cache
    assert (kernel.file, store.file, store.source) == ("second.py", "second.py", "tl.store(x_ptr, 1.0)")


def test_another_launch_of_a_kernel_is_compiled_only_for_other_types(plain):
    import torch

    known = [compiled(plain.vector_add, torch.zeros(n), torch.zeros(n)).kernels[0] for n in (4096, 8192)]
    assert known[1].from_cache and known[0].key == known[1].key


def test_the_kernels_compiled_longest_ago_are_thrown_away(tmp_path):
    for age in range(5):
        folder = tmp_path / str(age)
        folder.mkdir()
        os.utime(folder, (1000 - age, 1000 - age))
    cache.prune(tmp_path, most=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


def test_where_the_course_may_not_write_kernels_go_where_triton_keeps_them(tmp_path, monkeypatch):
    (tmp_path / ".course").write_text("a file is in the way")
    monkeypatch.setattr(cache, "ROOT", tmp_path)
    assert cache.folder().parts[-2:] == (".triton", "cache")


def test_where_there_is_no_cache_yet_nothing_is_thrown_away(tmp_path):
    cache.prune(tmp_path / "not there")
    assert list(tmp_path.iterdir()) == []
