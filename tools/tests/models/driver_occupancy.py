"""Our occupancy beside the driver's, for 200 random kernels; and the chip table beside what the driver says.

On a machine with a GPU and CuPy, from the root: python3 -m tools.tests.models.driver_occupancy OUT.json
"""

import random
import sys

import cupy
from cupy.cuda import driver, runtime

from tools.models.chips import Chip, detect
from tools.models.occupancy import occupancy
from tools.models.warps import warps_in
from tools.tests.models.recorded import write

KERNELS = 200
STATIC = 49152  # bytes, the most that a kernel may declare
SOURCE = """
extern "C" __global__ void kernel{number}(float* memory) {{
    extern __shared__ char dynamic[];
    __shared__ char fixed[{static}];
    float held[{floats}];
    #pragma unroll
    for (int i = 0; i < {floats}; ++i) held[i] = memory[i * 1024 + threadIdx.x];
    fixed[threadIdx.x % {static}] = dynamic[threadIdx.x] = (char)held[0];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < {floats}; ++i)
        memory[i * 1024 + threadIdx.x] = held[i] * held[(i + 1) % {floats}] + fixed[(threadIdx.x + 1) % {static}];
}}
"""
RECORDED = ("threads", "registers", "static", "dynamic", "driver")
LIMITS = {  # of the chip table -> of cudaDeviceProp
    "registers": "regsPerMultiprocessor",
    "shared": "sharedMemPerMultiprocessor",
    "shared_per_block": "sharedMemPerBlockOptin",
    "shared_reserved": "reservedSharedMemPerBlock",
    "blocks": "maxBlocksPerMultiProcessor",
}


def drawn(chip: Chip) -> list[dict]:
    """What the kernels are to be: threads of a block (odd numbers too), floats held in registers, shared bytes."""
    dice, kernels = random.Random(chip.key), []
    for number in range(KERNELS):
        static = dice.choice([1, dice.randrange(1, 4096), dice.randrange(1, STATIC + 1)])
        left = chip.limits.shared_per_block - static
        kernels.append(
            {
                "number": number,
                "threads": dice.choice([32 * dice.randrange(1, 33), dice.randrange(1, 1025)]),
                "floats": dice.choice([1, dice.randrange(1, 60), dice.randrange(1, 240)]),
                "static": static,
                "dynamic": dice.choice([0, dice.randrange(2048), dice.randrange(left)]),
            }
        )
    return kernels


def compare(chip: Chip) -> list[dict]:
    """Both calculators' blocks of each kernel, with the registers and the shared memory that the compiler gave it."""
    kernels = drawn(chip)
    module = cupy.RawModule(code="".join(SOURCE.format(**kernel) for kernel in kernels))
    for kernel in kernels:
        function = module.get_function(f"kernel{kernel['number']}")
        function.max_dynamic_shared_size_bytes = kernel["dynamic"]
        kernel["registers"], kernel["static"] = function.num_regs, function.shared_size_bytes
        kernel["driver"] = driver.occupancyMaxActiveBlocksPerMultiprocessor(
            function.kernel.ptr, kernel["threads"], kernel["dynamic"]
        )
        ours = occupancy(
            chip.limits, warps_in(kernel["threads"]), kernel["registers"], kernel["static"] + kernel["dynamic"]
        )
        kernel["ours"], kernel["limiter"] = ours.blocks, ours.limiter
    return kernels


def table_and_card(chip: Chip, properties: dict) -> dict[str, list]:
    """Figures of the chip table, each beside the driver's."""
    limits = {name: [getattr(chip.limits, name), properties[theirs]] for name, theirs in LIMITS.items()}
    return limits | {
        "warps": [chip.limits.warps, properties["maxThreadsPerMultiProcessor"] // properties["warpSize"]],
        "multiprocessors": [chip.multiprocessors, properties["multiProcessorCount"]],
        "l2": [chip.l2, properties["l2CacheSize"]],
        "boost_mhz": [chip.boost_mhz, cupy.cuda.Device().attributes["ClockRate"] // 1000],
    }


def main(path: str) -> None:
    properties = runtime.getDeviceProperties(0)
    card, capability = properties["name"].decode(), 10 * properties["major"] + properties["minor"]
    chip = detect(card, capability)
    if chip is None:
        sys.exit(f"{card} (compute capability {capability / 10}) is not in tools/models/chips.toml")
    kernels, figures = compare(chip), table_and_card(chip, properties)
    different = [kernel for kernel in kernels if kernel["driver"] != kernel["ours"]]
    print(f"{card}: {len(kernels) - len(different)} of {len(kernels)} kernels have equal occupancy")
    for kernel in different:
        print(" ".join(f"{name} {value}" for name, value in kernel.items()))
    for name, (ours, theirs) in figures.items():
        print(f"{name:16} table {ours:>10}  card {theirs:>10}{'' if ours == theirs else '  differ'}")
    facts = {"card": card, "driver": runtime.driverGetVersion(), "table_and_card": figures}
    write(
        path,
        "tools.tests.models.driver_occupancy",
        facts,
        [{name: kernel[name] for name in RECORDED} for kernel in kernels],
    )
    sys.exit(bool(different))


if __name__ == "__main__":
    main(sys.argv[1])
