"""Numbers of a kernel, as Numba types them and a GPU computes them: types, conversions, operators, functions."""
