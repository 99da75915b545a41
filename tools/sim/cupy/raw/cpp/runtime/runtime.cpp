// Runs compiled CUDA kernels: the state of a launch, and how the threads of a block take turns.
#include "interface.h"

#include <cstdio>

#include "fibers.h"
#include "lockstep.h"
#include "memory.h"
#include "races.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace simt {

Block block;
Races races;
Log log;
Site sites[SITES];

static bool counting;
static Fault fault;
static uint64_t base;  // address of the module's code

constexpr unsigned MOST_ARGUMENTS = 256;
constexpr size_t LOG_LIMIT = 1 << 17;  // requests that are kept until Python reads them

}  // namespace simt

#include "refusals.h"
#include "waiting.h"
#include "hooks.h"
#include "meetings.h"
#include "narrow.h"
#include "tensor.h"
#include "signals.h"
#include "residents.h"
#include "schedule.h"
#include "launch.h"
