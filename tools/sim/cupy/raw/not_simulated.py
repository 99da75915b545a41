"""Words of CUDA C++ that NVRTC knows without a header, and the simulated GPU does not, with what to say of them."""

NOT_SIMULATED = {
    "cudaTextureObject_t": "Textures are not simulated; a GPU has them. An array and an index read the same.",
    "cudaSurfaceObject_t": "Surfaces are not simulated; a GPU has them. An array and an index write the same.",
}
