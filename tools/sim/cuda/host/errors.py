"""Exceptions and warnings of the host side, under the names that numba-cuda gives them."""

import os
import warnings

from tools.sim.cuda.faults import learner_frame

OUT_OF_MEMORY, INVALID_HANDLE, NOT_READY = 2, 400, 600  # of the driver API's CUresult


class CudaSupportError(ImportError):
    """There is no GPU to work with. Never raised here; programs catch it."""


class CudaAPIError(Exception):
    """The driver refused a call. code: its CUresult. msg: what happened."""

    def __init__(self, code: int, msg: str) -> None:
        self.code, self.msg = code, msg
        super().__init__(code, msg)

    def __str__(self) -> str:
        return f"[{self.code}] {self.msg}"


class CUDAError(Exception):
    """The driver refused a launch."""


class DeprecationError(Exception):
    """A keyword of former releases."""


class NumbaPerformanceWarning(Warning):
    """It works, and could be faster."""


def warn_of_performance(switch: str, message: str) -> None:
    """Warn at the learner's line, unless this environment variable is 0 or NUMBA_DISABLE_PERFORMANCE_WARNINGS is 1."""
    if os.environ.get(switch, "1") == "0" or os.environ.get("NUMBA_DISABLE_PERFORMANCE_WARNINGS", "0") != "0":
        return
    frame = learner_frame()
    warnings.warn_explicit(
        message,
        NumbaPerformanceWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
