"""ElementwiseKernel and ReductionKernel: their C++ is read here and evaluated with NumPy, for all elements at once.

No compiler is needed, and the counters are the same on every machine. (`raw` runs whole kernels, with a compiler, on
Linux only; NVRTC's choice of types, conversions that saturate, float32 that is flushed to 0 and values that were never
set are known here and not there.)

types and operators are C++'s; calls are its functions. tokens, expression_parser and statement_parser read a code;
expressions and statements are its parts, which evaluate themselves on a machine.
"""
