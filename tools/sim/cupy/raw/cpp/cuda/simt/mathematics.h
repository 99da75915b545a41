// Arithmetic functions that the C library does not have, or has under another name. A GPU's fast ones (__expf) are
// less exact than these.
#pragma once

#define SIMT_FUNCTION SIMT_PLAIN inline

// CUDA's min and max, for these pairs of types and no others. Of a number and a NaN, they give the number.
#define SIMT_EXTREMES(A, B, T)                                                        \
    SIMT_FUNCTION T min(A a, B b) {                                                   \
        T one = a, other = b;                                                         \
        return other < one ? other : one;                                             \
    }                                                                                 \
    SIMT_FUNCTION T max(A a, B b) {                                                   \
        T one = a, other = b;                                                         \
        return one < other ? other : one;                                             \
    }
#define SIMT_EXTREMES_OF_FLOATS(A, B, T)                                              \
    SIMT_FUNCTION T min(A a, B b) { return __builtin_fmin(a, b); }                    \
    SIMT_FUNCTION T max(A a, B b) { return __builtin_fmax(a, b); }
#define SIMT_EXTREMES_OF_INTEGERS(T)                                                  \
    SIMT_EXTREMES(T, T, T)                                                            \
    SIMT_EXTREMES(unsigned T, unsigned T, unsigned T)                                 \
    SIMT_EXTREMES(unsigned T, T, unsigned T)                                          \
    SIMT_EXTREMES(T, unsigned T, unsigned T)

SIMT_EXTREMES_OF_INTEGERS(int)
SIMT_EXTREMES_OF_INTEGERS(long)
SIMT_EXTREMES_OF_INTEGERS(long long)
SIMT_EXTREMES_OF_FLOATS(float, float, float)
SIMT_EXTREMES_OF_FLOATS(double, double, double)
SIMT_EXTREMES_OF_FLOATS(float, double, double)
SIMT_EXTREMES_OF_FLOATS(double, float, double)

namespace simt {

// sin(pi x + pi/2 quarters), exact where it is 0 or 1: what is left of x is reduced before it is multiplied.
SIMT_PLAIN inline double sine_of_quarters(double x, int quarters) {
    double turn = fmod(x, 2.0), halves = nearbyint(2 * turn), rest = M_PI * (turn - halves / 2);
    int quadrant = int(halves) + quarters;
    double value = quadrant & 1 ? cos(rest) : sin(rest);
    return quadrant & 2 ? -value : value;
}

}  // namespace simt

#define SIMT_UNARY(name, expression)                        \
    SIMT_FUNCTION float name##f(float x) {                  \
        using T = float;                                    \
        return T(expression);                               \
    }                                                       \
    SIMT_FUNCTION double name(double x) {                   \
        using T = double;                                   \
        return T(expression);                               \
    }

SIMT_UNARY(rsqrt, T(1) / sqrt(T(x)))
SIMT_UNARY(rcbrt, T(1) / cbrt(T(x)))
SIMT_UNARY(sinpi, simt::sine_of_quarters(double(x), 0))
SIMT_UNARY(cospi, simt::sine_of_quarters(double(x), 1))
SIMT_UNARY(normcdf, erfc(-double(x) * M_SQRT1_2) / 2)

SIMT_FUNCTION float __fdividef(float x, float y) { return x / y; }
SIMT_FUNCTION float __saturatef(float x) { return fminf(fmaxf(x, 0.f), 1.f); }

// The C library has functions of these names, too, which are its own.
#define __expf(x) expf(x)
#define __exp10f(x) float(pow(10.0, double(x)))
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __powf(x, y) powf(x, y)
#define __sincosf(x, sine, cosine) (*(sine) = sinf(x), *(cosine) = cosf(x))
#define sincosf(x, sine, cosine) (*(sine) = sinf(x), *(cosine) = cosf(x))
#define sincos(x, sine, cosine) (*(sine) = sin(x), *(cosine) = cos(x))

// Rounded to the nearest, as all arithmetic is here.
SIMT_FUNCTION float __fadd_rn(float x, float y) { return x + y; }
SIMT_FUNCTION float __fsub_rn(float x, float y) { return x - y; }
SIMT_FUNCTION float __fmul_rn(float x, float y) { return x * y; }
SIMT_FUNCTION float __fdiv_rn(float x, float y) { return x / y; }
SIMT_FUNCTION float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
SIMT_FUNCTION float __frcp_rn(float x) { return 1.f / x; }
SIMT_FUNCTION float __fsqrt_rn(float x) { return sqrtf(x); }
SIMT_FUNCTION float __frsqrt_rn(float x) { return float(1 / sqrt(double(x))); }
SIMT_FUNCTION double __dadd_rn(double x, double y) { return x + y; }
SIMT_FUNCTION double __dmul_rn(double x, double y) { return x * y; }
SIMT_FUNCTION double __ddiv_rn(double x, double y) { return x / y; }
SIMT_FUNCTION double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

namespace simt {

// As a GPU converts: what does not fit becomes the nearest number of T that does. NaN becomes 0, but the number of which
// only the top bit is set where one of the two types has 64 bits. wide: x came as a double.
template <class T> SIMT_PLAIN T whole(double x, bool wide) {
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    if (x != x) return wide || sizeof(T) == 8 ? T(1ull << (8 * sizeof(T) - 1)) : 0;
    if (x <= double(least)) return least;
    return x >= double(most) ? most : T(x);
}

}  // namespace simt

#define SIMT_CONVERSIONS(from, From, to, To)                                                                        \
    SIMT_FUNCTION To __##from##2##to##_rn(From x) { return simt::whole<To>(nearbyint(double(x)), sizeof(x) == 8); } \
    SIMT_FUNCTION To __##from##2##to##_rz(From x) { return simt::whole<To>(trunc(double(x)), sizeof(x) == 8); }     \
    SIMT_FUNCTION To __##from##2##to##_rd(From x) { return simt::whole<To>(floor(double(x)), sizeof(x) == 8); }     \
    SIMT_FUNCTION To __##from##2##to##_ru(From x) { return simt::whole<To>(ceil(double(x)), sizeof(x) == 8); }

SIMT_CONVERSIONS(float, float, int, int)
SIMT_CONVERSIONS(float, float, uint, unsigned)
SIMT_CONVERSIONS(float, float, ll, long long)
SIMT_CONVERSIONS(float, float, ull, unsigned long long)
SIMT_CONVERSIONS(double, double, int, int)
SIMT_CONVERSIONS(double, double, uint, unsigned)
SIMT_CONVERSIONS(double, double, ll, long long)
SIMT_CONVERSIONS(double, double, ull, unsigned long long)

SIMT_FUNCTION float __int2float_rn(int x) { return float(x); }
SIMT_FUNCTION float __uint2float_rn(unsigned x) { return float(x); }
SIMT_FUNCTION float __ll2float_rn(long long x) { return float(x); }
SIMT_FUNCTION double __int2double_rn(int x) { return double(x); }
SIMT_FUNCTION float __double2float_rn(double x) { return float(x); }

#undef SIMT_EXTREMES
#undef SIMT_EXTREMES_OF_FLOATS
#undef SIMT_EXTREMES_OF_INTEGERS
#undef SIMT_UNARY
#undef SIMT_CONVERSIONS
