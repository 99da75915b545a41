"""Names that a kernel calls: positions, atomics, barriers, shuffles, half precision and the like."""
