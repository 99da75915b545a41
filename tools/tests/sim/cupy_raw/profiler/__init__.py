"""CUDA C++ and Triton: the simulator's counters beside Nsight Compute's; see tools/sim/PROFILER.md."""
