"""The exceptions of CuPy's own, under the names and in the modules that it gives them."""


class CUDARuntimeError(RuntimeError):
    """A refusal of the CUDA runtime. status: its number."""

    __module__ = "cupy_backends.cuda.api.runtime"

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        super().__init__(text)


class CUDADriverError(RuntimeError):
    """A refusal of the driver, as CuPy reports it."""

    __module__ = "cupy_backends.cuda.api.driver"


class CompileException(Exception):
    """Code that the compiler would refuse too."""

    __module__ = "cupy.cuda.compiler"


class OutOfMemoryError(MemoryError):
    """A request that does not fit. size, total, limit: bytes wanted, allocated so far, and allowed (0: all)."""

    __module__ = "cupy.cuda.memory"

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        bound = f", limit set to: {limit:,} bytes" if limit else ""
        super().__init__(f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes{bound}).")
