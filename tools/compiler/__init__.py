"""What the real compiler makes of a lesson's kernels, ahead of time and without a GPU.

Only `build` and what it imports need Triton; they run in a worker of mode "compile".
"""

from tools.compiler.evidence import Access, Evidence, Kernel, evidence_from

__all__ = ["Access", "CompileError", "Evidence", "Kernel", "evidence_from"]


class CompileError(Exception):
    """A kernel that the compiler rejects or that the chip could not launch, as the learner reads it."""
