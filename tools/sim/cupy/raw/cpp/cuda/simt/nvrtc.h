// NVRTC compiles without the C library's headers and without std, so their names are taken away again.
#pragma once

#undef INFINITY
#undef NAN
#undef HUGE_VAL
#undef HUGE_VALF
#undef M_E
#undef M_PI
#undef M_PI_2
#undef M_SQRT2
#undef RAND_MAX

// A source may declare these itself.
#define int8_t simt_has_no_int8_t
#define int16_t simt_has_no_int16_t
#define int32_t simt_has_no_int32_t
#define int64_t simt_has_no_int64_t
#define uint8_t simt_has_no_uint8_t
#define uint16_t simt_has_no_uint16_t
#define uint32_t simt_has_no_uint32_t
#define uint64_t simt_has_no_uint64_t
#define intptr_t simt_has_no_intptr_t
#define uintptr_t simt_has_no_uintptr_t

#pragma GCC poison std
