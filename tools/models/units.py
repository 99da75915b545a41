"""The units in which a GPU's memory and threads are counted: the same on every NVIDIA GPU from Kepler to Blackwell.

Source: CUDA C++ Programming Guide (warps), CUDA C++ Best Practices Guide and Nsight Compute's documentation (the rest).
"""

WARP = 32  # threads: lanes of a warp
SECTOR = 32  # bytes: the smallest piece that L2 and DRAM hand over
LINE = 128  # bytes: a line of the L1 and L2 caches, four sectors
BANKS = 32  # of shared memory
WORD = 4  # bytes: the width of a bank

SECTOR_BITS, LINE_BITS = 5, 7  # of an address, inside a sector and inside a line
