// Integer functions: counting, moving and multiplying bits, and looking at a number as another type.
#pragma once

#define SIMT_FUNCTION SIMT_PLAIN inline

SIMT_FUNCTION int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_FUNCTION int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_FUNCTION int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
SIMT_FUNCTION int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
SIMT_FUNCTION int __ffs(int x) { return __builtin_ffs(x); }
SIMT_FUNCTION int __ffsll(long long x) { return __builtin_ffsll(x); }

SIMT_FUNCTION unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; bit++) reversed |= (x >> bit & 1) << (63 - bit);
    return reversed;
}
SIMT_FUNCTION unsigned __brev(unsigned x) { return unsigned(__brevll(x) >> 32); }

// Byte number (selector & 7) of the eight bytes of y:x. Bit 3, by which PTX spreads a byte's sign, CUDA ignores.
SIMT_FUNCTION unsigned __byte_perm(unsigned x, unsigned y, unsigned selectors) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int place = 0; place < 4; place++) {
        unsigned selector = selectors >> 4 * place & 7;
        result |= (unsigned(bytes >> 8 * selector) & 255) << 8 * place;
    }
    return result;
}

SIMT_FUNCTION unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return unsigned(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
SIMT_FUNCTION unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return unsigned(((unsigned long long)high << 32 | low) >> (shift & 31));
}

SIMT_FUNCTION int __mulhi(int x, int y) { return int((long long)x * y >> 32); }
SIMT_FUNCTION unsigned __umulhi(unsigned x, unsigned y) { return unsigned((unsigned long long)x * y >> 32); }
SIMT_FUNCTION long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
SIMT_FUNCTION unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
SIMT_FUNCTION int __mul24(int x, int y) { return int(unsigned(x << 8 >> 8) * unsigned(y << 8 >> 8)); }
SIMT_FUNCTION unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
SIMT_FUNCTION unsigned __sad(int x, int y, unsigned z) {
    return z + (x > y ? unsigned(x) - unsigned(y) : unsigned(y) - unsigned(x));
}
SIMT_FUNCTION unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
SIMT_FUNCTION int __dp4a(int x, int y, int sum) {
    for (int shift = 0; shift < 32; shift += 8)
        sum += int((signed char)(x >> shift)) * int((signed char)(y >> shift));
    return sum;
}
SIMT_FUNCTION unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
    for (int shift = 0; shift < 32; shift += 8) sum += (x >> shift & 255) * (y >> shift & 255);
    return sum;
}

SIMT_FUNCTION int __float_as_int(float x) { return simt::of_bits<int>(simt::bits_of(x)); }
SIMT_FUNCTION unsigned __float_as_uint(float x) { return simt::of_bits<unsigned>(simt::bits_of(x)); }
SIMT_FUNCTION float __int_as_float(int x) { return simt::of_bits<float>(simt::bits_of(x)); }
SIMT_FUNCTION float __uint_as_float(unsigned x) { return simt::of_bits<float>(simt::bits_of(x)); }
SIMT_FUNCTION long long __double_as_longlong(double x) { return simt::of_bits<long long>(simt::bits_of(x)); }
SIMT_FUNCTION double __longlong_as_double(long long x) { return simt::of_bits<double>(simt::bits_of(x)); }
