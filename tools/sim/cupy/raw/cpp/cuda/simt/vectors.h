// CUDA's vector types, float4 and the like, with the alignments of the CUDA C++ Programming Guide's table.
#pragma once

namespace simt {

template <bool condition> using If = std::enable_if_t<condition>;
template <class T> constexpr bool is_number = std::is_arithmetic_v<T>;
template <class T, class... Types> constexpr bool one_of = (std::is_same_v<T, Types> || ...);

}  // namespace simt

// g++ does not instrument structures that a call takes or gives by value. So these copy themselves by a function.
#define SIMT_COPIES(name)                                                                                   \
    name() = default;                                                                                       \
    SIMT_PLAIN name(const name& other) { simt::copy(this, &other, sizeof(name), alignof(name), SIMT_HERE); } \
    SIMT_PLAIN name& operator=(const name& other) {                                                         \
        simt::copy(this, &other, sizeof(name), alignof(name), SIMT_HERE);                                   \
        return *this;                                                                                       \
    }

#define SIMT_VECTORS(name, T, of2, of4)                                                                     \
    struct name##1 {                                                                                        \
        T x;                                                                                                \
        SIMT_COPIES(name##1)                                                                                \
        SIMT_PLAIN name##1(T x) : x(x) {}                                                                   \
    };                                                                                                      \
    struct alignas(of2) name##2 {                                                                           \
        T x, y;                                                                                             \
        SIMT_COPIES(name##2)                                                                                \
        SIMT_PLAIN name##2(T x, T y = 0) : x(x), y(y) {}                                                    \
    };                                                                                                      \
    struct name##3 {                                                                                        \
        T x, y, z;                                                                                          \
        SIMT_COPIES(name##3)                                                                                \
        SIMT_PLAIN name##3(T x, T y = 0, T z = 0) : x(x), y(y), z(z) {}                                     \
    };                                                                                                      \
    struct alignas(of4) name##4 {                                                                           \
        T x, y, z, w;                                                                                       \
        SIMT_COPIES(name##4)                                                                                \
        SIMT_PLAIN name##4(T x, T y = 0, T z = 0, T w = 0) : x(x), y(y), z(z), w(w) {}                      \
    };                                                                                                      \
    SIMT_PLAIN inline name##1 make_##name##1(T x) { return {x}; }                                           \
    SIMT_PLAIN inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                   \
    SIMT_PLAIN inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                           \
    SIMT_PLAIN inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

SIMT_VECTORS(char, signed char, 2, 4)
SIMT_VECTORS(uchar, unsigned char, 2, 4)
SIMT_VECTORS(short, short, 4, 8)
SIMT_VECTORS(ushort, unsigned short, 4, 8)
SIMT_VECTORS(int, int, 8, 16)
SIMT_VECTORS(uint, unsigned, 8, 16)
SIMT_VECTORS(long, long, 16, 16)
SIMT_VECTORS(ulong, unsigned long, 16, 16)
SIMT_VECTORS(longlong, long long, 16, 16)
SIMT_VECTORS(ulonglong, unsigned long long, 16, 16)
SIMT_VECTORS(float, float, 8, 16)
SIMT_VECTORS(double, double, 16, 16)

#undef SIMT_VECTORS
