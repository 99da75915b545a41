"""The functions of the module cupy, by what they do with arrays."""
