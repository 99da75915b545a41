// CUDA's keywords. __shared__ is none of them: the source is rewritten where it stands.
#pragma once

#define __CUDACC__
#define __CUDACC_RTC__
#define __CUDA_ARCH__ 900

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__  // libstdc++ writes __attribute__((__noinline__)), so it must stay empty
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
    unsigned x, y, z;
    SIMT_PLAIN constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    SIMT_PLAIN dim3(uint3 other) : x(other.x), y(other.y), z(other.z) {}
    SIMT_PLAIN operator uint3() const { return {x, y, z}; }
};

namespace simt {

template <class T> SIMT_PLAIN T as(Index index) { return {index.x, index.y, index.z}; }

}  // namespace simt

#define threadIdx (simt::as<uint3>(simt::thread_index()))
#define blockIdx (simt::as<uint3>(simt::block_index()))
#define blockDim (simt::as<dim3>(simt::block_size()))
#define gridDim (simt::as<dim3>(simt::grid_size()))
constexpr int warpSize = 32;

namespace simt {

template <class Array> SIMT_PLAIN constexpr Element element_of() {
    using T = std::remove_all_extents_t<Array>;
    return {sizeof(T), alignof(T)};
}

// Shared arrays: a reference into the memory of the block that runs.
template <class Reference>
SIMT_PLAIN Reference shared_array(int number, const char* function, const char* name) {
    using Array = std::remove_reference_t<Reference>;
    return *static_cast<Array*>(shared(number, function, name, sizeof(Array), element_of<Array>(), SIMT_HERE));
}

template <class Reference>
SIMT_PLAIN Reference dynamic_array(const char* name) {
    using Array = std::remove_reference_t<Reference>;
    return reinterpret_cast<Reference>(*static_cast<char*>(dynamic_shared(name, element_of<Array>())));
}

template <class T>
SIMT_PLAIN Variable variable(const char* name, T& value, Space space) {
    return {name, const_cast<std::remove_cv_t<std::remove_all_extents_t<T>>*>(
                      reinterpret_cast<const std::remove_all_extents_t<T>*>(&value)),
            sizeof(T), element_of<T>().size, space};
}

}  // namespace simt

SIMT_PLAIN inline unsigned long long clock64() { return simt::steps(); }
SIMT_PLAIN inline long clock() { return long(simt::steps()); }
SIMT_PLAIN inline void __threadfence() { simt::fence(false); }
SIMT_PLAIN inline void __threadfence_system() { simt::fence(false); }
SIMT_PLAIN inline void __threadfence_block() { simt::fence(true); }

#define __trap() simt::trapped()
#define __nanosleep(nanoseconds) simt::pause()

// One instruction on a GPU with a hint for the caches; here, the plain access, in the learner's own line.
#define __ldg(pointer) (*(pointer))
#define __ldca(pointer) (*(pointer))
#define __ldcg(pointer) (*(pointer))
#define __ldcs(pointer) (*(pointer))
#define __ldlu(pointer) (*(pointer))
#define __ldcv(pointer) (*(pointer))
#define __stwb(pointer, value) (*(pointer) = (value))
#define __stcg(pointer, value) (*(pointer) = (value))
#define __stcs(pointer, value) (*(pointer) = (value))
#define __stwt(pointer, value) (*(pointer) = (value))
