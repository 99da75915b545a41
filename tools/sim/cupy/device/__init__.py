"""The simulated device as CuPy's users meet it: its number, streams and events, memory pools, errors."""
