#error bfloat16 is not simulated in CUDA C++: use float or __half, or a GPU.
