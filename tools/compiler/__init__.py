"""The real compiler, ahead of time and without a GPU: its evidence on a lesson's kernels.

Only `build` and what it imports need Triton, and `numba` needs numba-cuda; they run in a worker of mode "compile".
"""

from tools.compiler.evidence import Access, Evidence, Kernel, NoSuchKernel, evidence_from

__all__ = ["Access", "CompileError", "Evidence", "Kernel", "NoCompiler", "NoSuchKernel", "evidence_from"]


class CompileError(Exception):
    """A kernel that the compiler rejects or that the chip could not launch, as the learner reads it."""


class NoCompiler(Exception):
    """There is no compiler for this kind of kernel here: what is missing, what was found, what to do.

    what: the package that would bring it.
    """

    def __init__(self, text: str, what: str = "numba-cuda") -> None:
        self.what = what
        super().__init__(text)
