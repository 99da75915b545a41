"""The simulator's counters beside Nsight Compute's, kernel by kernel; see tools/sim/PROFILER.md."""
