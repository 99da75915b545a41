"""What Nsight Compute counts for single requests of one warp, each measured as a kernel of its own.

On a machine with a GPU, `ncu` and CuPy, from the root: python3 -m tools.tests.models.profiled_requests OUT.json
"""

import csv
import random
import re
import subprocess
import sys

from tools.tests.models.recorded import write

WARP = 32
TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}  # by bytes of a lane
ATOMICS = {4: "add.u32", 8: "exch.b64"}  # each is one instruction also in shared memory
COUNTS = {"load": 24, "store": 16, "atomic": 20}  # patterns of each size
SUFFIX = {"load": "ld", "store": "st", "atomic": "atom"}
METRICS = {
    "shared": (
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",
    ),
    "global": ("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"),
}
SOURCE = """
__constant__ int offsets[32];
extern "C" __global__ void {name}(char* memory, unsigned* sink) {{
    extern __shared__ __align__(16) char shared[];
    int offset = offsets[threadIdx.x];
    unsigned v[4] = {{threadIdx.x, 1, 2, 3}};
    unsigned long long wide = threadIdx.x;
    if (offset < 0) return;
    {address}
    asm volatile("{instruction}" : {outputs} : {inputs} : "memory");
    if ((v[0] ^ v[1] ^ v[2] ^ v[3] ^ (unsigned)wide) == {never}u) *sink = 1;
}}
"""


def requests():
    """All that is measured: (space, kind, size, byte offset of each lane, -1 for a lane that is not active)."""
    for space in METRICS:
        for kind, count in COUNTS.items():
            for size in ATOMICS if kind == "atomic" else TYPES:
                dice = random.Random(f"{space} {kind} {size}")
                simple = [*regular(size)] if size >= 4 else []
                drawn = [drawn_at(dice, size) for _ in range(count)]
                yield from ((space, kind, size, lanes) for lanes in simple + drawn)


def regular(size: int):
    """Neighbours, one word, two columns, halves, quarters, every other lane, two lanes, none."""
    lanes = range(WARP)
    yield [lane * size for lane in lanes]
    yield [0] * WARP
    yield [lane % 2 * 128 for lane in lanes]
    yield [lane // 16 * 128 for lane in lanes]
    yield [lane // 8 * 128 for lane in lanes]
    yield [lane * size if lane % 2 else -1 for lane in lanes]
    yield [lane * size if lane in (0, 8) else -1 for lane in lanes]
    yield [-1] * WARP


def drawn_at(dice: random.Random, size: int) -> list[int]:
    """Offsets from many lanes at few words to few at many, with neighbours that agree, and with lanes left out."""
    span = max(size, 4 * 2 ** dice.randrange(10))
    lanes = [dice.randrange(span // size) * size for _ in range(WARP)]
    if dice.random() < 0.3:  # a column of a matrix
        lanes = [dice.randrange(8) * 128 + dice.randrange(128 // size) * size for _ in lanes]
    for distance in (1, 2, 4, 8, 16):
        if dice.random() < 0.35:
            lanes = [lanes[lane & ~distance] for lane in range(WARP)]
    if dice.random() < 0.2:
        lanes[dice.randrange(WARP)] = dice.randrange(64) * size
    left_out = dice.choice(["no", "no", "any", "quarters", "ends"])
    first, last = sorted(dice.randrange(WARP) for _ in range(2))
    active = {
        "no": [True] * WARP,
        "any": [dice.random() < 0.6 for _ in lanes],
        "quarters": [quarter for quarter in (dice.random() < 0.5 for _ in range(4)) for _ in range(8)],
        "ends": [first <= lane <= last for lane in range(WARP)],
    }[left_out]
    return [offset if there else -1 for offset, there in zip(lanes, active)]


def kernel(space: str, kind: str, size: int) -> str:
    """CUDA C++ of a kernel whose warp makes one request at `offsets`."""
    values = [f"v[{number}]" for number in range(max(1, size // 4))]
    names = [f"%{number}" for number in range(len(values))]
    group = f"{{{', '.join(names)}}}" if len(names) > 1 else names[0]
    where = '"r"(address)' if space == "shared" else '"l"(address)'
    address = (
        "unsigned address = (unsigned)__cvta_generic_to_shared(shared) + offset;"
        if space == "shared"
        else "char* address = memory + offset;"
    )
    if kind == "atomic":
        value = '"+r"(v[0])' if size == 4 else '"+l"(wide)'
        text, outputs, inputs = f"atom.{space}.{ATOMICS[size]} %0, [%1], %0;", value, where
    elif kind == "load":
        text = f"ld.{space}.{TYPES[size]} {group}, [%{len(values)}];"
        outputs, inputs = ", ".join(f'"=r"({value})' for value in values), where
    else:
        text = f"st.{space}.{TYPES[size]} [%{len(values)}], {group};"
        outputs, inputs = "", ", ".join([f'"r"({value})' for value in values] + [where])
    # The memory is zero, so that no lane ever reads `never`; the compiler cannot know, and keeps the load.
    return SOURCE.format(
        name=f"{space}_{kind}_{size}",
        address=address,
        instruction=text,
        outputs=outputs,
        inputs=inputs,
        never=77 if size < 4 else 0x9E3779B9,
    )


def launch(space: str) -> None:
    """Make each request of one space once; this runs under the profiler."""
    import cupy
    import numpy

    memory, sink = cupy.cuda.alloc(1 << 16), cupy.cuda.alloc(4)
    cupy.cuda.runtime.memset(memory.ptr, 0, 1 << 16)
    modules = {}
    for _, kind, size, lanes in (request for request in requests() if request[0] == space):
        if (kind, size) not in modules:
            modules[kind, size] = cupy.RawModule(code=kernel(space, kind, size))
        offsets = numpy.array(lanes, numpy.int32)
        modules[kind, size].get_global("offsets").copy_from_host(offsets.ctypes.data, offsets.nbytes)
        function = modules[kind, size].get_function(f"{space}_{kind}_{size}")
        function((1,), (WARP,), (memory.ptr, sink.ptr), shared_mem=32768)
    cupy.cuda.Device().synchronize()


def profile(space: str) -> list[dict]:
    """The profiler's figures of each launch, by metric."""
    names = [metric.format(suffix) for metric in METRICS[space] for suffix in SUFFIX.values()]
    command = [
        "ncu",
        "--csv",
        "--page",
        "raw",
        "--clock-control",
        "none",
        "--metrics",
        ",".join(names),
        sys.executable,
        "-m",
        "tools.tests.models.profiled_requests",
        "--launch",
        space,
    ]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    table = csv.DictReader(line for line in printed if line.startswith('"'))
    next(table)  # the units
    return list(table)


def main(path: str) -> None:
    measured = []
    for space in METRICS:
        wanted = [request for request in requests() if request[0] == space]
        for (_, kind, size, lanes), figures in zip(wanted, profile(space), strict=True):
            assert figures["Kernel Name"] == f"{space}_{kind}_{size}", figures["Kernel Name"]
            counts = [int(float(figures[metric.format(SUFFIX[kind])])) for metric in METRICS[space]]
            measured.append([space, kind, size, *counts, lanes])
    version = re.search(r"Version (\S+)", subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout)
    facts = {
        "card": figures["device__attribute_display_name"],
        "profiler": f"Nsight Compute {version[1]}",
        "columns": ["space", "kind", "size", "wavefronts | requests", "conflicts | sectors", "byte offsets"],
    }
    write(path, "tools.tests.models.profiled_requests", facts, measured)
    print(f"{len(measured)} requests measured on {facts['card']}")


if __name__ == "__main__":
    launch(sys.argv[2]) if sys.argv[1] == "--launch" else main(sys.argv[1])
