"""Kernels that are made faster step by step: each step is right, and the counters tell what it won."""
