"""The limits of a launch: the same on every NVIDIA GPU of chips.toml.

Source: CUDA C++ Programming Guide 13, Technical Specifications per Compute Capability.
"""

MOST_THREADS = 1024  # in a block
MOST_BLOCK = (1024, 1024, 64)  # threads along x, y, z
MOST_GRID = (2**31 - 1, 65535, 65535)  # blocks, or programs, along x, y, z: axes 0, 1, 2
