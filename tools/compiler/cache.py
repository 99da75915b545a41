"""The cache of compiled kernels, CUDA's too: Triton's own, in the course's folder, with a cheaper key."""

import base64
import functools
import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path

from tools import ROOT

MOST = 400  # kernels, each about 300 KB


def folder() -> Path:
    """A folder for each kernel stands in here, named by its key."""
    ours = ROOT / ".course" / "cache" / "triton"
    with suppress(OSError):
        ours.mkdir(parents=True, exist_ok=True)
    return ours if os.access(ours, os.W_OK) else Path.home() / ".triton" / "cache"  # Triton's own choice


def key_of(text: str) -> str:
    """A name for a folder, the same for the same text."""
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def write(file: Path, contents: bytes) -> None:
    """All of it at once: another process may do the same at this moment."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    unfinished.write_bytes(contents)
    unfinished.replace(file)


@functools.cache
def use() -> None:
    """Have Triton keep what it compiles in `folder`, from now on in this process."""
    from triton.runtime import cache

    os.environ["TRITON_CACHE_DIR"] = str(folder())
    prune(folder())
    cache.triton_key = release  # Triton's own hashes all of itself: 460 MB, a third of a second in each process


@functools.cache
def release() -> str:
    """Tells builds of Triton apart."""
    import triton

    library = Path(triton.__file__).parent.joinpath("_C", "libtriton.so").stat()
    return f"{triton.__version__}-{library.st_size}-{library.st_mtime_ns}"


def prune(place: Path, most: int = MOST) -> None:
    """Remove the kernels that were compiled longest ago, until `most` are left."""
    kernels = [entry for entry in os.scandir(place) if entry.is_dir()] if place.is_dir() else []
    if len(kernels) > most:
        kernels.sort(key=lambda entry: entry.stat().st_mtime)
        for entry in kernels[:-most]:
            shutil.rmtree(entry.path, ignore_errors=True)  # another process may be doing the same
