// Atomic functions. Threads run one at a time here, so reading and then writing is one step; each gives the old value.
#pragma once

namespace simt {

template <class T> struct As { using type = T; };  // a parameter that takes no part in deduction

// The first read of a loop around atomicCAS, of a place that the swap checks.
template <class T> SIMT_PLAIN static T guess(const volatile T& place) {
    touch_guess(const_cast<const T*>(&place), sizeof(T), SIMT_HERE);
    T value;
    move(&value, const_cast<const T*>(&place), sizeof(T));
    return value;
}

}  // namespace simt

#define SIMT_ATOMIC(name, new_value, ...)                                                            \
    template <class T> SIMT_PLAIN static T name(T* address, typename simt::As<T>::type value) {      \
        static_assert(simt::one_of<T, __VA_ARGS__>, "there is no " #name " for this type");          \
        simt::touch(address, sizeof(T), simt::ATOMIC, SIMT_HERE);                                    \
        simt::Alone alone;                                                                           \
        T old;                                                                                       \
        simt::move(&old, address, sizeof(T));                                                        \
        T now = T(new_value);                                                                        \
        simt::move(address, &now, sizeof(T));                                                        \
        return old;                                                                                  \
    }

struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;

SIMT_ATOMIC(atomicAdd, old + value, int, unsigned, unsigned long long, float, double, __half, __half2, __nv_bfloat16,
            __nv_bfloat162)
SIMT_ATOMIC(atomicSub, old - value, int, unsigned)
SIMT_ATOMIC(atomicExch, value, int, unsigned, unsigned long long, float)
SIMT_ATOMIC(atomicMin, value < old ? value : old, int, unsigned, long long, unsigned long long)
SIMT_ATOMIC(atomicMax, value > old ? value : old, int, unsigned, long long, unsigned long long)
SIMT_ATOMIC(atomicAnd, old & value, int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicOr, old | value, int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicXor, old ^ value, int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicInc, old >= value ? 0 : old + 1, unsigned)
SIMT_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1, unsigned)

template <class T>
SIMT_PLAIN inline T atomicCAS(T* address, typename simt::As<T>::type expected, typename simt::As<T>::type value) {
    static_assert(simt::one_of<T, int, unsigned, unsigned long long, unsigned short>,
                  "there is no atomicCAS for this type");
    simt::touch(address, sizeof(T), simt::ATOMIC, SIMT_HERE);
    simt::Alone alone;
    T old;
    simt::move(&old, address, sizeof(T));
    if (old == expected) simt::move(address, &value, sizeof(T));
    return old;
}

#undef SIMT_ATOMIC

// Wider and narrower scopes differ in time only.
#define atomicAdd_block atomicAdd
#define atomicAdd_system atomicAdd
#define atomicSub_block atomicSub
#define atomicSub_system atomicSub
#define atomicExch_block atomicExch
#define atomicExch_system atomicExch
#define atomicMin_block atomicMin
#define atomicMin_system atomicMin
#define atomicMax_block atomicMax
#define atomicMax_system atomicMax
#define atomicAnd_block atomicAnd
#define atomicAnd_system atomicAnd
#define atomicOr_block atomicOr
#define atomicOr_system atomicOr
#define atomicXor_block atomicXor
#define atomicXor_system atomicXor
#define atomicInc_block atomicInc
#define atomicInc_system atomicInc
#define atomicDec_block atomicDec
#define atomicDec_system atomicDec
#define atomicCAS_block atomicCAS
#define atomicCAS_system atomicCAS
