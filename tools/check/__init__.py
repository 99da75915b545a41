"""Everything that a test may use: `from tools.check import assert_matches, speed_ratio`."""

from tools.check.compiled import CompileError, NoCompiler, compiled
from tools.check.count import count
from tools.check.gradcheck import gradcheck
from tools.check.matching import Mismatch, assert_matches
from tools.check.memory import memory
from tools.check.profiler import NoProfiler
from tools.check.required import Unmet, require
from tools.check.terms import terms
from tools.check.timing import Undecided, speed_ratio
from tools.worker import compiled_by_torch, gradients, made_elsewhere, saved_tensors

__all__ = [
    "CompileError",
    "Mismatch",
    "NoCompiler",
    "NoProfiler",
    "Undecided",
    "Unmet",
    "assert_matches",
    "compiled",
    "compiled_by_torch",
    "count",
    "gradcheck",
    "gradients",
    "made_elsewhere",
    "memory",
    "require",
    "saved_tensors",
    "speed_ratio",
    "terms",
]
