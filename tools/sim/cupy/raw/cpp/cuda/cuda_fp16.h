// __half and __half2: numbers of 16 bits, computed in double and then rounded to the nearest, ties to even.
#pragma once

namespace simt {

SIMT_PLAIN static unsigned short to_half(double value) {
    unsigned short sign = __builtin_signbit(value) ? 0x8000 : 0;
    double size = __builtin_fabs(value);
    if (size != size) return 0x7fff;
    if (size >= 65520.0) return sign | 0x7c00;
    if (size < 0x1p-14) return sign | (unsigned short)__builtin_nearbyint(size * 0x1p24);  // subnormal
    int exponent;  // size = fraction * 2**exponent, with a fraction from 0.5 to 1
    __builtin_frexp(size, &exponent);
    int fraction = int(__builtin_nearbyint(__builtin_ldexp(size, 11 - exponent)));
    return sign | (unsigned short)(((exponent + 13) << 10) + fraction);
}

SIMT_PLAIN static float from_half(unsigned short bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? __builtin_nan("") : __builtin_inf())
        : exponent == 0 ? fraction * 0x1p-24 : __builtin_ldexp(1024 + fraction, exponent - 25);
    return float(bits & 0x8000 ? -size : size);
}

}  // namespace simt

struct alignas(2) __half {
    unsigned short bits;

    SIMT_COPIES(__half)
    template <class T, class = simt::If<simt::is_number<T>>>
    SIMT_PLAIN __half(T value) : bits(simt::to_half(double(value))) {}
    SIMT_PLAIN operator float() const {
        simt::touch(this, sizeof *this, simt::LOAD, SIMT_HERE);
        return simt::from_half(bits);
    }
};

struct alignas(4) __half2 {
    __half x, y;

    SIMT_COPIES(__half2)
    SIMT_PLAIN __half2(__half x, __half y) : x(x), y(y) {}
};

using half = __half;
using half2 = __half2;

SIMT_PLAIN static __half __ushort_as_half(unsigned short bits) {
    __half value;
    value.bits = bits;
    return value;
}
SIMT_PLAIN static unsigned short __half_as_ushort(__half x) { return x.bits; }
SIMT_PLAIN static float __half2float(__half x) { return simt::from_half(x.bits); }
SIMT_PLAIN static __half __float2half(float x) { return x; }
SIMT_PLAIN static __half __float2half_rn(float x) { return x; }
SIMT_PLAIN static __half __double2half(double x) { return x; }
SIMT_PLAIN static __half __int2half_rn(int x) { return x; }
SIMT_PLAIN static int __half2int_rn(__half x) { return __float2int_rn(__half2float(x)); }
SIMT_PLAIN static int __half2int_rz(__half x) { return __float2int_rz(__half2float(x)); }

SIMT_PLAIN static __half2 __halves2half2(__half x, __half y) { return {x, y}; }
SIMT_PLAIN static __half2 make_half2(__half x, __half y) { return {x, y}; }
SIMT_PLAIN static __half2 __half2half2(__half x) { return {x, x}; }
SIMT_PLAIN static __half2 __float2half2_rn(float x) { return {x, x}; }
SIMT_PLAIN static __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
SIMT_PLAIN static __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
SIMT_PLAIN static float2 __half22float2(__half2 v) { return {__half2float(v.x), __half2float(v.y)}; }
SIMT_PLAIN static __half __low2half(__half2 v) { return v.x; }
SIMT_PLAIN static __half __high2half(__half2 v) { return v.y; }
SIMT_PLAIN static float __low2float(__half2 v) { return __half2float(v.x); }
SIMT_PLAIN static float __high2float(__half2 v) { return __half2float(v.y); }

#define SIMT_BINARY(name, name2, symbol)                                                                       \
    SIMT_PLAIN static __half name(__half a, __half b) {                                                        \
        return double(__half2float(a)) symbol double(__half2float(b));                                         \
    }                                                                                                          \
    SIMT_PLAIN static __half2 name2(__half2 a, __half2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }         \
    SIMT_PLAIN static __half operator symbol(__half a, __half b) { return name(a, b); }                        \
    SIMT_PLAIN static __half2 operator symbol(__half2 a, __half2 b) { return name2(a, b); }                    \
    template <class T, class = simt::If<simt::one_of<T, __half, __half2>>>                                     \
    SIMT_PLAIN static T& operator symbol##=(T& a, T b) {                                                       \
        simt::touch(&a, sizeof a, simt::LOAD, SIMT_HERE);                                                      \
        simt::touch(&a, sizeof a, simt::STORE, SIMT_HERE);                                                     \
        T before;                                                                                              \
        simt::move(&before, &a, sizeof a);                                                                     \
        T after = before symbol b;                                                                             \
        simt::move(&a, &after, sizeof a);                                                                      \
        return a;                                                                                              \
    }

SIMT_BINARY(__hadd, __hadd2, +)
SIMT_BINARY(__hsub, __hsub2, -)
SIMT_BINARY(__hmul, __hmul2, *)
SIMT_BINARY(__hdiv, __h2div, /)

#define SIMT_COMPARE(name, symbol)                                                                             \
    SIMT_PLAIN static bool name(__half a, __half b) { return __half2float(a) symbol __half2float(b); }         \
    SIMT_PLAIN static bool operator symbol(__half a, __half b) { return name(a, b); }

SIMT_COMPARE(__heq, ==)
SIMT_COMPARE(__hne, !=)
SIMT_COMPARE(__hlt, <)
SIMT_COMPARE(__hle, <=)
SIMT_COMPARE(__hgt, >)
SIMT_COMPARE(__hge, >=)

#define SIMT_OF_HALF(name, expression)                                                                         \
    SIMT_PLAIN static __half name(__half a) {                                                                  \
        double x = __half2float(a);                                                                            \
        return expression;                                                                                     \
    }

SIMT_OF_HALF(__hneg, -x)
SIMT_OF_HALF(__habs, fabs(x))
SIMT_OF_HALF(hsqrt, sqrt(x))
SIMT_OF_HALF(hrsqrt, 1 / sqrt(x))
SIMT_OF_HALF(hrcp, 1 / x)
SIMT_OF_HALF(hexp, exp(x))
SIMT_OF_HALF(hexp2, exp2(x))
SIMT_OF_HALF(hlog, log(x))
SIMT_OF_HALF(hlog2, log2(x))
SIMT_OF_HALF(hsin, sin(x))
SIMT_OF_HALF(hcos, cos(x))

SIMT_PLAIN static __half operator-(__half a) { return __hneg(a); }
SIMT_PLAIN static bool __hisnan(__half a) { return isnan(__half2float(a)); }
SIMT_PLAIN static __half __hmin(__half a, __half b) { return fminf(__half2float(a), __half2float(b)); }
SIMT_PLAIN static __half __hmax(__half a, __half b) { return fmaxf(__half2float(a), __half2float(b)); }
SIMT_PLAIN static __half __hfma(__half a, __half b, __half c) {
    return fma(double(__half2float(a)), double(__half2float(b)), double(__half2float(c)));
}
SIMT_PLAIN static __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

#undef SIMT_BINARY
#undef SIMT_COMPARE
#undef SIMT_OF_HALF
