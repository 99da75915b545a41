"""Kernels written as a few lines of CUDA C++, translated to NumPy: ElementwiseKernel and ReductionKernel."""
