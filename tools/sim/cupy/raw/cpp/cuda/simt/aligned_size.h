// cuda::aligned_size_t, which <cuda/barrier> and <cuda/pipeline> bring, and <cooperative_groups/memcpy_async.h> does not.
#pragma once

namespace cuda {

template <size_t alignment> struct aligned_size_t {
    static constexpr size_t align = alignment;
    size_t value;
    SIMT_PLAIN explicit aligned_size_t(size_t size) : value(size) {}
    SIMT_PLAIN operator size_t() const { return value; }
};

}  // namespace cuda
