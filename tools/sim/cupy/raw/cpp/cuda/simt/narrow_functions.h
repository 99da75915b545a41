// Functions of the numbers of 16 bits that float16 and bfloat16 have by the same names. Included once for each type,
// with SIMT_NARROW and SIMT_NARROW2, its pair, defined. Results are those of the exact ones, rounded once.

#define SIMT_PAIR(name2, name)                                                                                 \
    SIMT_PLAIN inline SIMT_NARROW2 name2(SIMT_NARROW2 a, SIMT_NARROW2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }

#define SIMT_ASSIGN(T, symbol)                                                                                 \
    SIMT_PLAIN inline T& operator symbol##=(T& a, T b) {                                                       \
        simt::touch(&a, sizeof a, simt::LOAD, SIMT_HERE);                                                      \
        simt::touch(&a, sizeof a, simt::STORE, SIMT_HERE);                                                     \
        T before;                                                                                              \
        simt::move(&before, &a, sizeof a);                                                                     \
        T after = before symbol b;                                                                             \
        simt::move(&a, &after, sizeof a);                                                                      \
        return a;                                                                                              \
    }

#define SIMT_BINARY(name, name2, symbol)                                                                       \
    SIMT_PLAIN inline SIMT_NARROW name(SIMT_NARROW a, SIMT_NARROW b) {                                         \
        return SIMT_NARROW(simt::wide(a) symbol simt::wide(b));                                                \
    }                                                                                                          \
    SIMT_PAIR(name2, name)                                                                                     \
    SIMT_PLAIN inline SIMT_NARROW operator symbol(SIMT_NARROW a, SIMT_NARROW b) { return name(a, b); }         \
    SIMT_PLAIN inline SIMT_NARROW2 operator symbol(SIMT_NARROW2 a, SIMT_NARROW2 b) { return name2(a, b); }     \
    SIMT_ASSIGN(SIMT_NARROW, symbol)                                                                           \
    SIMT_ASSIGN(SIMT_NARROW2, symbol)

SIMT_BINARY(__hadd, __hadd2, +)
SIMT_BINARY(__hsub, __hsub2, -)
SIMT_BINARY(__hmul, __hmul2, *)
SIMT_BINARY(__hdiv, __h2div, /)

// These are never joined into a fused product and sum, which the simulated GPU does with none.
#define SIMT_APART(name, name2)                                                                                \
    SIMT_PLAIN inline SIMT_NARROW name##_rn(SIMT_NARROW a, SIMT_NARROW b) { return name(a, b); }               \
    SIMT_PLAIN inline SIMT_NARROW2 name2##_rn(SIMT_NARROW2 a, SIMT_NARROW2 b) { return name2(a, b); }

SIMT_APART(__hadd, __hadd2)
SIMT_APART(__hsub, __hsub2)
SIMT_APART(__hmul, __hmul2)

SIMT_PLAIN inline SIMT_NARROW __hfma(SIMT_NARROW a, SIMT_NARROW b, SIMT_NARROW c) {
    return SIMT_NARROW(simt::fused(simt::wide(a), simt::wide(b), simt::wide(c)));
}
SIMT_PLAIN inline SIMT_NARROW2 __hfma2(SIMT_NARROW2 a, SIMT_NARROW2 b, SIMT_NARROW2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

// Into 0 to 1, where NaN becomes 0; or negative results made 0, where NaN stays.
SIMT_PLAIN inline SIMT_NARROW simt_saturated(SIMT_NARROW a) {
    double x = simt::wide(a);
    return SIMT_NARROW(x >= 1 ? 1.0 : x > 0 ? x : 0.0);
}
SIMT_PLAIN inline SIMT_NARROW simt_rectified(SIMT_NARROW a) { return simt::wide(a) <= 0 ? SIMT_NARROW(0.0) : a; }

#define SIMT_SATURATED(name)                                                                                   \
    SIMT_PLAIN inline SIMT_NARROW name##_sat(SIMT_NARROW a, SIMT_NARROW b) { return simt_saturated(name(a, b)); } \
    SIMT_PAIR(name##2_sat, name##_sat)

SIMT_SATURATED(__hadd)
SIMT_SATURATED(__hsub)
SIMT_SATURATED(__hmul)

#define SIMT_FUSED(name, change)                                                                               \
    SIMT_PLAIN inline SIMT_NARROW __hfma_##name(SIMT_NARROW a, SIMT_NARROW b, SIMT_NARROW c) {                 \
        return change(__hfma(a, b, c));                                                                        \
    }                                                                                                          \
    SIMT_PLAIN inline SIMT_NARROW2 __hfma2_##name(SIMT_NARROW2 a, SIMT_NARROW2 b, SIMT_NARROW2 c) {            \
        return {__hfma_##name(a.x, b.x, c.x), __hfma_##name(a.y, b.y, c.y)};                                   \
    }

SIMT_FUSED(sat, simt_saturated)
SIMT_FUSED(relu, simt_rectified)

// Comparisons. Of a pair: 1 or 0 for each, or whether it is so for both. With a u, NaN makes it true.
#define SIMT_COMPARE(name, symbol)                                                                             \
    SIMT_PLAIN inline bool __h##name(SIMT_NARROW a, SIMT_NARROW b) { return simt::wide(a) symbol simt::wide(b); } \
    SIMT_PLAIN inline bool __h##name##u(SIMT_NARROW a, SIMT_NARROW b) {                                        \
        double x = simt::wide(a), y = simt::wide(b);                                                           \
        return x != x || y != y || x symbol y;                                                                 \
    }                                                                                                          \
    SIMT_PLAIN inline SIMT_NARROW2 __h##name##2(SIMT_NARROW2 a, SIMT_NARROW2 b) {                              \
        return {SIMT_NARROW(__h##name(a.x, b.x)), SIMT_NARROW(__h##name(a.y, b.y))};                           \
    }                                                                                                          \
    SIMT_PLAIN inline bool __hb##name##2(SIMT_NARROW2 a, SIMT_NARROW2 b) {                                     \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                                     \
    }                                                                                                          \
    SIMT_PLAIN inline SIMT_NARROW2 __h##name##u2(SIMT_NARROW2 a, SIMT_NARROW2 b) {                             \
        return {SIMT_NARROW(__h##name##u(a.x, b.x)), SIMT_NARROW(__h##name##u(a.y, b.y))};                     \
    }                                                                                                          \
    SIMT_PLAIN inline bool __hb##name##u2(SIMT_NARROW2 a, SIMT_NARROW2 b) {                                    \
        return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y);                                               \
    }                                                                                                          \
    SIMT_PLAIN inline bool operator symbol(SIMT_NARROW a, SIMT_NARROW b) { return __h##name(a, b); }           \
    SIMT_PLAIN inline bool operator symbol(SIMT_NARROW2 a, SIMT_NARROW2 b) { return __hb##name##2(a, b); }

SIMT_COMPARE(eq, ==)
SIMT_COMPARE(lt, <)
SIMT_COMPARE(le, <=)
SIMT_COMPARE(gt, >)
SIMT_COMPARE(ge, >=)

// __hne is false where there is a NaN; != is __hneu, as in C++.
SIMT_PLAIN inline bool __hne(SIMT_NARROW a, SIMT_NARROW b) {
    return simt::wide(a) < simt::wide(b) || simt::wide(a) > simt::wide(b);
}
SIMT_PLAIN inline bool __hneu(SIMT_NARROW a, SIMT_NARROW b) { return simt::wide(a) != simt::wide(b); }
SIMT_PLAIN inline SIMT_NARROW2 __hne2(SIMT_NARROW2 a, SIMT_NARROW2 b) {
    return {SIMT_NARROW(__hne(a.x, b.x)), SIMT_NARROW(__hne(a.y, b.y))};
}
SIMT_PLAIN inline bool __hbne2(SIMT_NARROW2 a, SIMT_NARROW2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
SIMT_PLAIN inline bool __hbneu2(SIMT_NARROW2 a, SIMT_NARROW2 b) { return __hneu(a.x, b.x) && __hneu(a.y, b.y); }
SIMT_PLAIN inline bool operator!=(SIMT_NARROW a, SIMT_NARROW b) { return __hneu(a, b); }
SIMT_PLAIN inline bool operator!=(SIMT_NARROW2 a, SIMT_NARROW2 b) { return __hbneu2(a, b); }

// Of two numbers, the one that is no NaN; with _nan, NaN if either is. Of two zeros, -0 is the smaller.
#define SIMT_EXTREME(name, symbol, negative_first)                                                             \
    SIMT_PLAIN inline SIMT_NARROW __h##name##_nan(SIMT_NARROW a, SIMT_NARROW b) {                              \
        double x = simt::wide(a), y = simt::wide(b);                                                           \
        if (x != x || y != y) return SIMT_NARROW(__builtin_nan(""));                                           \
        if (x == 0 && y == 0) return bool(__builtin_signbit(x)) == negative_first ? a : b;                     \
        return x symbol y ? a : b;                                                                             \
    }                                                                                                          \
    SIMT_PLAIN inline SIMT_NARROW __h##name(SIMT_NARROW a, SIMT_NARROW b) {                                    \
        double x = simt::wide(a), y = simt::wide(b);                                                           \
        if (x != x && y == y) return b;                                                                        \
        return y != y && x == x ? a : __h##name##_nan(a, b);                                                   \
    }                                                                                                          \
    SIMT_PAIR(__h##name##2, __h##name)                                                                         \
    SIMT_PAIR(__h##name##2_nan, __h##name##_nan)

SIMT_EXTREME(min, <, true)
SIMT_EXTREME(max, >, false)

// The sign is a bit of its own, whatever the rest says.
SIMT_PLAIN inline SIMT_NARROW simt_of_bits(unsigned bits, SIMT_NARROW) {
    SIMT_NARROW value;
    value.bits = (unsigned short)bits;
    return value;
}
SIMT_PLAIN inline SIMT_NARROW __hneg(SIMT_NARROW a) { return simt_of_bits(a.bits ^ 0x8000, a); }
SIMT_PLAIN inline SIMT_NARROW __habs(SIMT_NARROW a) { return simt_of_bits(a.bits & 0x7fff, a); }
SIMT_PLAIN inline SIMT_NARROW2 __hneg2(SIMT_NARROW2 a) { return {__hneg(a.x), __hneg(a.y)}; }
SIMT_PLAIN inline SIMT_NARROW2 __habs2(SIMT_NARROW2 a) { return {__habs(a.x), __habs(a.y)}; }
SIMT_PLAIN inline SIMT_NARROW operator-(SIMT_NARROW a) { return __hneg(a); }
SIMT_PLAIN inline SIMT_NARROW2 operator-(SIMT_NARROW2 a) { return __hneg2(a); }
SIMT_PLAIN inline SIMT_NARROW operator+(SIMT_NARROW a) { return a; }
SIMT_PLAIN inline bool __hisnan(SIMT_NARROW a) { return simt::wide(a) != simt::wide(a); }
SIMT_PLAIN inline int __hisinf(SIMT_NARROW a) {
    double x = simt::wide(a);
    return __builtin_isinf(x) ? (x > 0 ? 1 : -1) : 0;
}
SIMT_PLAIN inline SIMT_NARROW2 __hisnan2(SIMT_NARROW2 a) {
    return {SIMT_NARROW(__hisnan(a.x)), SIMT_NARROW(__hisnan(a.y))};
}

#define SIMT_OF_ONE(name, expression)                                                                          \
    SIMT_PLAIN inline SIMT_NARROW h##name(SIMT_NARROW a) {                                                     \
        double x = simt::wide(a);                                                                              \
        return SIMT_NARROW(double(expression));                                                                \
    }                                                                                                          \
    SIMT_PLAIN inline SIMT_NARROW2 h2##name(SIMT_NARROW2 a) { return {h##name(a.x), h##name(a.y)}; }

SIMT_OF_ONE(sqrt, sqrt(x))
SIMT_OF_ONE(rsqrt, 1 / sqrt(x))
SIMT_OF_ONE(rcp, 1 / x)
SIMT_OF_ONE(exp, exp(x))
SIMT_OF_ONE(exp2, exp2(x))
SIMT_OF_ONE(exp10, pow(10.0, x))
SIMT_OF_ONE(log, log(x))
SIMT_OF_ONE(log2, log2(x))
SIMT_OF_ONE(log10, log10(x))
SIMT_OF_ONE(sin, sin(x))
SIMT_OF_ONE(cos, cos(x))
SIMT_OF_ONE(tanh, tanh(x))
SIMT_OF_ONE(floor, floor(x))
SIMT_OF_ONE(ceil, ceil(x))
SIMT_OF_ONE(trunc, trunc(x))
SIMT_OF_ONE(rint, nearbyint(x))

#undef SIMT_PAIR
#undef SIMT_ASSIGN
#undef SIMT_BINARY
#undef SIMT_APART
#undef SIMT_SATURATED
#undef SIMT_FUSED
#undef SIMT_COMPARE
#undef SIMT_EXTREME
#undef SIMT_OF_ONE
