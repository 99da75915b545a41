// Numbers of 16 bits: float16 with 10 bits of fraction, bfloat16 with 7. Rounded once, from a double that is exact
// enough for it.
#pragma once

namespace simt {

constexpr int EXPONENT_BITS = 15;  // together with those of the fraction

static double in_units(double units, bool negative, Rounding rounding) {
    if (rounding == NEAREST) return __builtin_nearbyint(units);  // ties to even
    bool away = rounding == (negative ? DOWN : UP);
    return away ? __builtin_ceil(units) : __builtin_floor(units);
}

unsigned short narrowed(double value, int fraction, Rounding rounding) {
    const bool negative = __builtin_signbit(value);
    const unsigned infinity = (1u << EXPONENT_BITS) - (1u << fraction), sign = negative ? 0x8000 : 0;
    if (value != value) return 0x7fff;
    if (__builtin_isinf(value)) return (unsigned short)(sign | infinity);
    const int least = 2 - (1 << (EXPONENT_BITS - fraction - 1));  // exponent of the smallest normal number
    double size = __builtin_fabs(value);
    int exponent = size == 0 ? least : std::max(__builtin_ilogb(size), least);
    unsigned bits = unsigned(in_units(__builtin_ldexp(size, fraction - exponent), negative, rounding));
    bits += unsigned(exponent - least) << fraction;  // a number that is normal brings one more by itself
    bool stays_finite = rounding != NEAREST && rounding != (negative ? DOWN : UP);
    return (unsigned short)(sign | (bits < infinity ? bits : stays_finite ? infinity - 1 : infinity));
}

double widened(unsigned short bits, int fraction) {
    const unsigned size = bits & 0x7fff, infinity = (1u << EXPONENT_BITS) - (1u << fraction);
    const int least = 2 - (1 << (EXPONENT_BITS - fraction - 1)), exponent = int(size >> fraction);
    unsigned units = size & ((1u << fraction) - 1);
    double value = size > infinity ? __builtin_nan("") : size == infinity ? __builtin_inf()
        : exponent ? __builtin_ldexp(units + (1u << fraction), exponent - 1 + least - fraction)
                   : __builtin_ldexp(units, least - fraction);
    return bits & 0x8000 ? -value : value;
}

// x * y + z of numbers of 16 bits, so that rounding it once more gives what rounding the exact result gives: where a
// double cannot hold it, its last bit is made odd. x * y is exact in double.
double fused(double x, double y, double z) {
    double product = x * y, sum = product + z;
    if (!__builtin_isfinite(sum)) return sum;
    double of_z = sum - product, error = (product - (sum - of_z)) + (z - of_z);
    uint64_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    if (error == 0 || bits & 1) return sum;
    return __builtin_nextafter(sum, error > 0 ? __builtin_inf() : -__builtin_inf());
}

}  // namespace simt
