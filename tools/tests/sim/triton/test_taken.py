"""A translation is made once for all that decides over it, and again when any of that changes."""

import tools.gpu  # noqa: F401  # isort: skip
import importlib.util

import pytest
import torch

from tools.compiler import CompileError, cache, front_end, taken

TEXT = """
import triton
import triton.language as tl

FIXED = tl.constexpr(3)
KIND = tl.float32
PLAIN = 5


@triton.jit
def helper(x, by: tl.constexpr = PLAIN):
    return x * by


@triton.jit
def kernel(out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, helper(i + FIXED).to(KIND), mask=i < n)
"""


class Translations:
    """kernels: that were translated."""

    def __init__(self, monkeypatch, tmp_path) -> None:
        self.kernels, self.folder, translate = [], tmp_path / "texts", front_end._translated
        self.folder.mkdir()
        monkeypatch.setattr(cache, "folder", lambda: tmp_path / "triton")
        monkeypatch.setattr(front_end, "_translated", lambda *what: self.kernels.append(what) or translate(*what))
        taken._known.cache_clear()

    def of(self, text: str, n: int = 8, **constants) -> int:
        """How many a launch needs of the kernel in a module that is made of this text."""
        file = self.folder / f"lesson{len(list(self.folder.iterdir()))}.py"  # bytecode of another text is not its own
        file.write_text(text)
        spec = importlib.util.spec_from_file_location("lesson", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        before = len(self.kernels)
        module.kernel[(1,)](torch.zeros(32), n, **({"N": 8} | constants))
        return len(self.kernels) - before


@pytest.fixture
def translations(monkeypatch, tmp_path):
    yield Translations(monkeypatch, tmp_path)
    taken._known.cache_clear()


def test_the_same_kernel_is_not_translated_again_wherever_it_stands(translations):
    assert translations.of(TEXT) == 1
    assert translations.of(f"# moved\n{TEXT}\n# longer") == 0


def test_a_later_process_knows_it_too(translations):
    assert translations.of(TEXT) == 1
    taken._known.cache_clear()
    assert translations.of(TEXT) == 0


@pytest.mark.parametrize(
    "was, now",
    [
        ("i < n", "i <= n"),
        ("return x * by", "return x + by"),
        ("constexpr(3)", "constexpr(4)"),
        ("constexpr(3)", "constexpr(True)"),
        ("tl.float32", "tl.float16"),
        ("PLAIN = 5", "PLAIN = 6"),
    ],
)
def test_whatever_it_depends_on_makes_it_another_one(translations, was, now):
    translations.of(TEXT)
    assert translations.of(TEXT.replace(was, now)) == 1


def test_other_arguments_make_another_one_and_facts_about_them_do_not(translations):
    translations.of(TEXT)
    assert translations.of(TEXT, n=16) == 0  # which is divisible by 16
    assert translations.of(TEXT, n=1) == 1  # which the compiler takes for a constant
    assert translations.of(TEXT, N=16) == 1
    assert translations.of(TEXT, num_warps=8) == 1


def test_what_is_refused_is_refused_again(translations):
    for _ in range(2):
        with pytest.raises(CompileError, match="Cannot access global variable PLAIN"):
            translations.of(TEXT.replace("i + FIXED", "i + PLAIN"))


def test_what_the_compiler_warns_of_is_heard_again(translations):
    for _ in range(2):
        with pytest.warns(UserWarning, match="Logical operators 'and' and 'or' are deprecated"):
            translations.of(TEXT.replace("mask=i < n", "mask=i < n and i < N"))


def test_a_value_that_no_text_says_all_of_is_not_relied_on(translations):
    text = TEXT.replace("import triton\n", "import errno\nimport triton\n").replace("i + FIXED", "i + errno.EPERM")
    assert translations.of(text) == translations.of(text) == 1


def test_the_memory_is_bounded(translations, monkeypatch):
    monkeypatch.setattr(taken, "MOST", 4)
    for constant in (1, 2, 4, 8, 16):
        translations.of(TEXT, N=constant)
    assert len(taken._known()) == 1
    taken._known.cache_clear()
    assert translations.of(TEXT, N=16) == 0 and len(taken._known()) == 2
