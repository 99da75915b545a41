"""Checks of this machine: is it ready for the course, what is real on it and what is simulated?

Each `check_*` judges one concern by the facts (tools.doctor.machine). A machine is never at fault for having no GPU:
what it lacks is simulated.
"""

import re

from tools.doctor import self_tests
from tools.doctor.findings import COMPILERS, REINSTALL, Finding, install, pip
from tools.doctor.machine import Facts, answer

OLDEST_PYTHON = (3, 11)
VOLTA, NEWEST_CUDA_FOR_VOLTA = (7, 0), 12  # CUDA 13 begins at Turing
LEAST_FREE_GB = 0.5  # Triton and CuPy keep compiled kernels on disk
NO_GPU = "no GPU in use"


# What every lesson needs --------------------------------------------------------------------------


def check_python(facts: Facts) -> Finding:
    if facts.python[:2] < OLDEST_PYTHON:
        found = f"{_dotted(facts.python)} is older than {_dotted(OLDEST_PYTHON)}"
        return Finding("Python", "problem", found, "Install a newer Python and set the course up with it.")
    return Finding("Python", "real", _dotted(facts.python))


def check_numpy(facts: Facts) -> Finding:
    return _self_test(facts, "NumPy", "numpy", "real", "adds right", REINSTALL)


def check_torch(facts: Facts) -> Finding:
    if facts.card:
        remedy = "Install PyTorch for this driver (docs/SETUP.md), or add --sim to work without the GPU."
        return _self_test(facts, "PyTorch", "torch", "real", "adds right on the GPU", remedy)
    return _self_test(facts, "PyTorch", "torch", "simulated", "adds right on the CPU", REINSTALL)


def check_triton(facts: Facts) -> Finding:
    if "triton" not in facts.packages:
        remedy = "Days that use Triton need Linux, WSL or a container; all others run here."
        return Finding("Triton", "missing", f"not installed ({facts.system})", remedy)
    if facts.card:
        return _self_test(facts, "Triton", "triton", "real", "adds right on the GPU", REINSTALL)
    return _self_test(facts, "Triton", "triton", "simulated", "adds right in its interpreter", REINSTALL)


def check_disk(facts: Facts) -> Finding:
    found = f"{facts.free_gb:.1f} GB free"
    if facts.free_gb < LEAST_FREE_GB:
        return Finding("disk", "problem", found, f"Make room for {LEAST_FREE_GB} GB of compiled kernels.")
    return Finding("disk", "real", found)


def check_compilers(facts: Facts) -> Finding:
    if facts.compilers:
        return Finding("compilers", "real", ", ".join(facts.compilers))
    return Finding("compilers", "missing", "neither g++ nor nvcc", "Only the CUDA C++ kata wants one.")


# What a GPU needs ---------------------------------------------------------------------------------


def check_card(facts: Facts) -> Finding:
    """A GPU that works, or none at all; in between lies a broken driver."""
    if facts.card and facts.capability:
        return Finding("GPU", "real", f"{facts.card}, compute capability {_dotted(facts.capability)}")
    if facts.listed:
        remedy = "A restart after a driver update often cures that. Until then, --sim works without the GPU."
        found = f"nvidia-smi lists {facts.listed}, but CUDA does not start on it"
        return Finding("GPU", "problem", found, remedy)
    return Finding("GPU", "simulated", f"{NO_GPU}: results and counts are exact, time is not simulated")


def check_driver(facts: Facts) -> Finding:
    """Do driver and card serve the CUDA version that each library was built for?"""
    if not (facts.card and facts.driver and facts.capability):
        return Finding("driver", "simulated", NO_GPU)
    serves = facts.driver[0]
    for library, built in _cuda_builds(facts).items():
        if built > serves:
            found = f"it serves CUDA {_dotted(facts.driver)} and older, {library} is built for CUDA {built}"
            remedy = f"Update the NVIDIA driver, or install {library} for CUDA {serves}; see docs/SETUP.md."
            return Finding("driver", "problem", found, remedy)
        if built > NEWEST_CUDA_FOR_VOLTA and facts.capability <= VOLTA:
            found = f"{library} is built for CUDA {built}, which no longer serves {facts.card}"
            remedy = f"Install {library} for CUDA {NEWEST_CUDA_FOR_VOLTA}, or add --sim; see docs/SETUP.md."
            return Finding("driver", "problem", found, remedy)
    return Finding("driver", "real", f"serves CUDA {_dotted(facts.driver)}")


def check_cupy(facts: Facts) -> Finding:
    packages = [name for name in facts.packages if name.startswith("cupy")]
    renew = f"  {pip('uninstall ' + ' '.join(packages))}\n{_install(facts)}"
    if len(packages) > 1:
        remedy = f"Each overwrites the other. Remove them all, then install the one that fits:\n{renew}"
        return Finding("CuPy", "problem", f"{' and '.join(packages)} are both installed", remedy)
    if not facts.card:
        return Finding("CuPy", "simulated", NO_GPU)
    if not packages:
        return Finding("CuPy", "missing", "not installed, so its days are simulated", _install(facts))
    remedy = f"Install the one that fits PyTorch and the driver:\n{renew}"
    return _self_test(facts, "CuPy", "cupy", "real", "adds right on the GPU", remedy)


def check_numba(facts: Facts) -> Finding:
    if not facts.card:
        return Finding("Numba CUDA", "simulated", NO_GPU)
    if "numba-cuda" not in facts.packages:
        return Finding("Numba CUDA", "missing", "not installed, so its days are simulated", _install(facts))
    return Finding("Numba CUDA", "real", facts.packages["numba-cuda"])


def check_cuda_compilers(facts: Facts) -> Finding:
    """NVIDIA's, which ask for no GPU: tests of what they make of a kernel wait where they are not."""
    here = facts.packages.get("numba-cuda")
    if not here and facts.system != "linux":
        on_mac = facts.system == "darwin"
        remedy = "They have builds for Linux and Windows only." if on_mac else f"  {install('cuda13')}"
        return Finding("CUDA compilers", "missing", f"not installed ({facts.system})", remedy)
    if not here:
        return Finding(
            "CUDA compilers",
            "missing",
            "not installed, so `compiled` tests of CUDA kernels wait",
            f"  {install(COMPILERS)}",
        )
    says = answer(facts, "compilers")
    if says == self_tests.COMPILED:
        return Finding("CUDA compilers", "real", f"numba-cuda {here} compiles, for any GPU and without one")
    return Finding(
        "CUDA compilers", "missing", f"numba-cuda {here} does not compile: {says}", f"  {install(COMPILERS)}"
    )


# Small pieces -------------------------------------------------------------------------------------


def _self_test(facts: Facts, name: str, library: str, state: str, well: str, remedy: str) -> Finding:
    says = answer(facts, library)
    if says == self_tests.RIGHT:
        return Finding(name, state, well)
    return Finding(name, "problem", f"asked to add 1 to 0 1 2 3 4 5 6 7, it answered {says}", remedy)


def _cuda_builds(facts: Facts) -> dict[str, int]:
    """Library -> the first number of the CUDA version that it was built for."""
    cupy = re.search(r"cupy-cuda(\d+)x", " ".join(facts.packages))
    builds = {"PyTorch": facts.torch_cuda and facts.torch_cuda[0], "CuPy": cupy and int(cupy[1])}
    return {library: built for library, built in builds.items() if built}


def _install(facts: Facts) -> str:
    """The command for the extra of pyproject.toml that fits: CuPy must share PyTorch's CUDA version."""
    version = facts.torch_cuda or facts.driver or (13, 0)
    extra = "cuda13" if version[0] >= 13 else "cuda12"
    return f"  {install(extra)}"


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
