"""Numba's own compiler, at work on CUDA kernels whose launches the stand-in for numba.cuda hands on.

The stand-in's objects come as arguments and are known by their shape: a dispatcher has a py_func, a type a name.
"""
