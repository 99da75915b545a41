"""CUDA C++ without a GPU: RawKernel and RawModule of the CuPy stand-in.

A source is compiled with the host's g++ or clang++ and the headers under cpp/cuda; the runtime under cpp/runtime
plays the GPU. Each access is checked before it happens; while a recording runs, what the threads of a warp did is put
together as if they had gone in lockstep. On Linux only (Windows: WSL). Limits:
- Threads run one at a time, blocks one after another, or in turns where one waits for others: as many at a time as a
  GPU has room for, and the host for their stacks (some 30,000 threads). Who waits for ever is named as soon as all
  others wait, too; a loop that looks at the time, or reads a flag as plain memory, after 10 seconds.
- Races are looked for in shared memory, and in arrays of at most 32 MiB that an argument lets the kernel store to. Of
  the bytes of one word only the last writer is remembered. A fence and a flag order what they do on a GPU, though the
  reader's own fence is not asked for.
- Accesses are those of the source: what NVIDIA's compiler merges, or keeps in a register, is counted as often as it is
  written. Structures are counted in pieces of 4 bytes, or as their alignment says where g++ tells it.
- Of cooperative groups there are the block, tiles of up to 32 threads, coalesced threads and the grid; no clusters.
- What is done in double, and converted, is read off the instructions for the CPU: see doubles.py.
- Instructions and branches are those of basic blocks, which differ a little between compilers.
- Arithmetic is the CPU's: a product and a sum are rounded apart, and __expf and the like are as exact as expf.
  Sums of tensor cores are exact and rounded once, where a tensor core drops some of the last bits.
- Asynchronous copies are read when they are issued, and arrive when they are waited for; what changes their source in
  between is not noticed.
- An address without memory that nothing reported ends the launch with a fault, too. What can still harm the process:
  a function of the C library that writes through a wild pointer to memory that exists.
"""

from tools.sim.cupy.raw.kernels import RawKernel, RawModule
from tools.sim.cupy.raw.toolchain import NoCompiler

__all__ = ["NoCompiler", "RawKernel", "RawModule"]
