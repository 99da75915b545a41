"""Calls brought to the device: NumPy's function on the elements, a launch on the record, CuPy's types and refusals."""
