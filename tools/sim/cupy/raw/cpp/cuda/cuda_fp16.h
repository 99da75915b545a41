// __half and __half2: numbers of 16 bits, computed in double and then rounded to the nearest, ties to even.
#pragma once

#include "simt/narrow.h"

SIMT_NARROW_TYPES(__half, __half2, 10)

using half = __half;
using half2 = __half2;

#define SIMT_NARROW __half
#define SIMT_NARROW2 __half2
#include "simt/narrow_functions.h"

SIMT_NARROW_CONVERSIONS(half, half, __half)

SIMT_PLAIN inline float __half2float(__half x) { return float(simt::wide(x)); }
SIMT_PLAIN inline __half __float2half(float x) { return x; }
SIMT_PLAIN inline __half __double2half(double x) { return x; }

SIMT_PLAIN inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
SIMT_PLAIN inline __half2 make_half2(__half x, __half y) { return {x, y}; }
SIMT_PLAIN inline __half2 __half2half2(__half x) { return {x, x}; }
SIMT_PLAIN inline __half2 __float2half2_rn(float x) { return {x, x}; }
SIMT_PLAIN inline __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
SIMT_PLAIN inline __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
SIMT_PLAIN inline float2 __half22float2(__half2 v) { return {__half2float(v.x), __half2float(v.y)}; }
SIMT_PLAIN inline __half __low2half(__half2 v) { return v.x; }
SIMT_PLAIN inline __half __high2half(__half2 v) { return v.y; }
SIMT_PLAIN inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
SIMT_PLAIN inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
SIMT_PLAIN inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
SIMT_PLAIN inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

#undef SIMT_NARROW
#undef SIMT_NARROW2

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
