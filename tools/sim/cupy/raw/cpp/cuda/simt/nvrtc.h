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

#pragma GCC poison int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t std
