#error Tensor cores (wmma) are not simulated: such a kernel runs on a GPU only.
