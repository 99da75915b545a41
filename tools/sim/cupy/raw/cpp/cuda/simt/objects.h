// What <cuda/atomic>, <cuda/barrier> and <cuda/pipeline> have in common: scopes, memory orders, copies in pieces.
// cuda::std is written as cuda::simt_std here, because the word std is taken away where NVRTC has none (source.py).
#pragma once

namespace simt {

static use_objects objects_are_used;

}  // namespace simt

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

enum memory_order {
    memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release, memory_order_acq_rel,
    memory_order_seq_cst
};

namespace simt_std {

using cuda::memory_order;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_consume;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;

template <class T> struct without_reference { using type = T; };
template <class T> struct without_reference<T&> { using type = T; };
template <class T> struct without_reference<T&&> { using type = T; };

template <class T> SIMT_PLAIN typename without_reference<T>::type&& move(T&& value) {
    return static_cast<typename without_reference<T>::type&&>(value);
}

}  // namespace simt_std
}  // namespace cuda

namespace simt {

// The thread's part of a copy by a group of `threads`: each has every so manieth piece. Pieces are as large as all
// addresses and sizes allow; those of less than 4 bytes are copied at once.
SIMT_PLAIN inline void copy_in_pieces(void* to, const void* from, size_t size, size_t rank, size_t threads, void* here) {
    size_t common = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | size | 16, piece = common & (~common + 1);
    for (size_t at = rank * piece; at < size; at += threads * piece) {
        char* target = static_cast<char*>(to) + at;
        const char* source = static_cast<const char*>(from) + at;
        if (piece >= 4 && is_shared(to) && !is_shared(from)) copy_async(target, source, piece, 0, here);
        else copy(target, source, piece, piece, here);
    }
}

}  // namespace simt
