// What cuda_fp16.h and cuda_bf16.h have in common: how their types are made, and converted by names of one pattern.
#pragma once

// A number of 16 bits, `digits` of them for its fraction, and the pair of two.
#define SIMT_NARROW_TYPES(name, name2, digits)                                                                 \
    struct alignas(2) name {                                                                                   \
        unsigned short bits;                                                                                   \
        static constexpr int fraction = digits;                                                                \
        SIMT_COPIES(name)                                                                                      \
        template <class T, class = simt::If<simt::is_number<T>>>                                               \
        SIMT_PLAIN name(T value) : bits(simt::narrowed(double(value), digits, simt::NEAREST)) {}               \
        SIMT_PLAIN operator float() const {                                                                    \
            simt::touch(this, sizeof *this, simt::LOAD, SIMT_HERE);                                            \
            return float(simt::widened(bits, digits));                                                         \
        }                                                                                                      \
    };                                                                                                         \
    struct alignas(4) name2 {                                                                                  \
        name x, y;                                                                                             \
        SIMT_COPIES(name2)                                                                                     \
        SIMT_PLAIN name2(name x, name y) : x(x), y(y) {}                                                       \
    };                                                                                                         \
    namespace simt { SIMT_PLAIN inline double wide(name x) { return widened(x.bits, digits); } }               \
    SIMT_PLAIN inline float __low2float(name2 v) { return float(simt::wide(v.x)); }                            \
    SIMT_PLAIN inline float __high2float(name2 v) { return float(simt::wide(v.y)); }                           \
    SIMT_PLAIN inline name2 __lowhigh2highlow(name2 v) { return {v.y, v.x}; }

namespace simt {

// An integer of `bits` bits, from a number that lies between two of them; NaN is 0, and what is too large the largest.
SIMT_PLAIN inline double whole(double x, Rounding rounding, double least, double most) {
    double rounded = rounding == NEAREST ? __builtin_nearbyint(x) : rounding == DOWN ? __builtin_floor(x)
        : rounding == UP ? __builtin_ceil(x) : __builtin_trunc(x);
    return rounded != rounded ? 0 : rounded < least ? least : rounded > most ? most : rounded;
}

}  // namespace simt

#define SIMT_TO_NARROW(of, T, name, type, suffix, rounding)                                                    \
    SIMT_PLAIN inline type __##of##2##name##suffix(T x) {                                                      \
        type value;                                                                                            \
        value.bits = simt::narrowed(double(x), type::fraction, simt::rounding);                                \
        return value;                                                                                          \
    }
#define SIMT_ALL_TO_NARROW(name, type, suffix, rounding)                                                       \
    SIMT_TO_NARROW(float, float, name, type, suffix, rounding)                                                 \
    SIMT_TO_NARROW(int, int, name, type, suffix, rounding)                                                     \
    SIMT_TO_NARROW(uint, unsigned, name, type, suffix, rounding)                                               \
    SIMT_TO_NARROW(short, short, name, type, suffix, rounding)                                                 \
    SIMT_TO_NARROW(ushort, unsigned short, name, type, suffix, rounding)
#define SIMT_OF_NARROW(name, type, to, T, least, most, suffix, rounding)                                       \
    SIMT_PLAIN inline T __##name##2##to##suffix(type x) {                                                      \
        return (T)simt::whole(simt::wide(x), simt::rounding, least, most);                                      \
    }
#define SIMT_ALL_OF_NARROW(name, type, suffix, rounding)                                                       \
    SIMT_OF_NARROW(name, type, int, int, -0x1p31, 0x1p31 - 1, suffix, rounding)                                \
    SIMT_OF_NARROW(name, type, uint, unsigned, 0, 0x1p32 - 1, suffix, rounding)                                \
    SIMT_OF_NARROW(name, type, short, short, -32768, 32767, suffix, rounding)                                  \
    SIMT_OF_NARROW(name, type, ushort, unsigned short, 0, 65535, suffix, rounding)
#define SIMT_NARROW_CONVERSIONS(name, word, type)                                                              \
    SIMT_ALL_TO_NARROW(name, type, _rn, NEAREST)                                                               \
    SIMT_ALL_TO_NARROW(name, type, _rz, TOWARDS_ZERO)                                                          \
    SIMT_ALL_TO_NARROW(name, type, _rd, DOWN)                                                                  \
    SIMT_ALL_TO_NARROW(name, type, _ru, UP)                                                                    \
    SIMT_ALL_OF_NARROW(name, type, _rn, NEAREST)                                                               \
    SIMT_ALL_OF_NARROW(name, type, _rz, TOWARDS_ZERO)                                                          \
    SIMT_ALL_OF_NARROW(name, type, _rd, DOWN)                                                                  \
    SIMT_ALL_OF_NARROW(name, type, _ru, UP)                                                                    \
    SIMT_PLAIN inline type __ushort_as_##word(unsigned short bits) {                                           \
        type value;                                                                                            \
        value.bits = bits;                                                                                     \
        return value;                                                                                          \
    }                                                                                                          \
    SIMT_PLAIN inline unsigned short __##word##_as_ushort(type x) { return x.bits; }                           \
    SIMT_PLAIN inline type __short_as_##word(short bits) { return __ushort_as_##word((unsigned short)bits); }  \
    SIMT_PLAIN inline short __##word##_as_short(type x) { return short(x.bits); }
