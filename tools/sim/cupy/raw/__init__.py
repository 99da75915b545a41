"""CUDA C++ without a GPU: RawKernel and RawModule of the CuPy stand-in.

A source is compiled with the host's g++ or clang++ and the headers under cpp/cuda; the runtime under cpp/runtime
plays the GPU. Each access is checked before it happens; while a recording runs, what the threads of a warp did is put
together as if they had gone in lockstep. On Linux only (Windows: WSL). Limits:
- Threads run one at a time, blocks one after another: a block that waits for a later one never ends. Races are looked
  for in shared memory, and in arrays of at most 32 MiB that an argument lets the kernel store to. Of the bytes of one
  word only the last writer is remembered.
- Accesses are those of the source: what NVIDIA's compiler merges, or keeps in a register, is counted as often as it is
  written. Structures are counted in pieces of 4 bytes, or as their alignment says where g++ tells it. g++ does not
  report structures that a call takes or gives by value, as f(items[i]); CUDA's vector types and half are reported.
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
