// What every CUDA C++ source is compiled with on a CPU: CUDA's keywords and functions, on top of the runtime.
#pragma once

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <limits>
#include <type_traits>
#include <utility>

#include "simt/runtime.h"
#include "simt/vectors.h"
#include "simt/keywords.h"
#include "simt/kernels.h"
#include "simt/warps.h"
#include "simt/atomics.h"
#include "simt/bits.h"
#include "simt/mathematics.h"
#include "simt/addresses.h"
#ifdef SIMT_NVRTC
#include "simt/nvrtc.h"
#endif
