// Addresses of shared memory as PTX has them, of 32 bits; and asynchronous copies that name them so.
#pragma once

SIMT_PLAIN inline size_t __cvta_generic_to_shared(const void* address) { return simt::to_shared(address); }
SIMT_PLAIN inline size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<size_t>(address); }
SIMT_PLAIN inline void* __cvta_shared_to_generic(size_t address) { return simt::from_shared(address); }
SIMT_PLAIN inline unsigned __isShared(const void* address) { return simt::is_shared(address); }

namespace simt {

template <class T> SIMT_PLAIN unsigned shared_address(T address) {
    return unsigned(to_shared(reinterpret_cast<const void*>(address)));
}

template <class T> SIMT_PLAIN void copy_by_ptx(size_t to, T from, size_t size) {
    copy_async(from_shared(to), reinterpret_cast<const void*>(from), size, 0, SIMT_HERE);
}
template <class T> SIMT_PLAIN void copy_by_ptx(size_t to, T from, size_t size, size_t of_source) {
    copy_async(from_shared(to), reinterpret_cast<const void*>(from), size, of_source < size ? size - of_source : 0, SIMT_HERE);
}

}  // namespace simt
