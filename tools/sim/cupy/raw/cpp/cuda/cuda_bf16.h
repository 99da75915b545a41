// __nv_bfloat16 and __nv_bfloat162: float's range with 8 significant bits, rounded to the nearest, ties to even.
#pragma once

#include "simt/narrow.h"

SIMT_NARROW_TYPES(__nv_bfloat16, __nv_bfloat162, 7)

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define SIMT_NARROW __nv_bfloat16
#define SIMT_NARROW2 __nv_bfloat162
#include "simt/narrow_functions.h"

SIMT_NARROW_CONVERSIONS(bfloat16, bfloat16, __nv_bfloat16)

SIMT_PLAIN inline float __bfloat162float(__nv_bfloat16 x) { return float(simt::wide(x)); }
SIMT_PLAIN inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
SIMT_PLAIN inline __nv_bfloat16 __double2bfloat16(double x) { return x; }

SIMT_PLAIN inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
SIMT_PLAIN inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
SIMT_PLAIN inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
SIMT_PLAIN inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
SIMT_PLAIN inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
SIMT_PLAIN inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
SIMT_PLAIN inline float2 __bfloat1622float2(__nv_bfloat162 v) {
    return {__bfloat162float(v.x), __bfloat162float(v.y)};
}
SIMT_PLAIN inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
SIMT_PLAIN inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
SIMT_PLAIN inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return {v.x, v.x}; }
SIMT_PLAIN inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return {v.y, v.y}; }
SIMT_PLAIN inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
SIMT_PLAIN inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }

#undef SIMT_NARROW
#undef SIMT_NARROW2

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
