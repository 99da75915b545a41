// What Python sees of the runtime; mirrored by tools/sim/cupy/raw/library.py.
#pragma once

#include <stdint.h>

#include "simt/runtime.h"

namespace simt {

enum Refusal : int32_t {
    OUT_OF_BOUNDS, MISALIGNED, READ_ONLY, UNSET, RACE, DIVERGENT_BARRIER, STUCK, NOT_ITSELF, TWO_MASKS, NOBODY_GIVES,
    INDEX, DIVISION, STACK_OVERFLOW, TOO_MUCH_SHARED, ASSERTION, TRAP, ENDLESS, NO_MEMORY, CRASH,
    DEADLOCK, NOT_COOPERATIVE, GRID_MISSED, WHOLE_WARP, MISUSED, IN_FLIGHT, NO_PHASE,
};

// Why a launch ended early, and where. Numbers that have no meaning for a refusal are 0.
struct Fault {
    int32_t refusal;
    int32_t operation;      // of enum Operation
    uint64_t place;         // in the module's code; other_place: of the thread that it collided with
    uint64_t other_place;
    uint32_t thread, other_thread;
    uint32_t block[3];
    uint32_t other_block[3];
    int32_t of_blocks;      // a race between two blocks
    int32_t other_operation;
    int64_t offset;         // bytes from the start of the array
    int64_t size;           // bytes of the access
    int64_t array_size;     // bytes
    int64_t element;        // bytes
    int64_t number;         // a mask, a lane, an index
    int32_t earlier;        // in lockstep, this thread's access came first
    int32_t by_rows;        // of a fragment: stride, in bytes, leads from row to row, else from column to column
    int64_t start, stride;  // where a fragment begins, in bytes from the start of the array
    char array[64];         // its name, "" where there is none
    char text[192];         // name of a function, of a type, or a condition
};

// What one instruction did: `count` requests of 32 addresses each, -1 for lanes that took no part.
struct Rows {
    uint64_t place;
    int32_t operation, space;
    int64_t size;  // bytes of one lane
    uint64_t count;
    const int64_t* addresses;
};

// What warps did: basic blocks that they entered, and their active lanes; ends of blocks that went on at different
// places in this launch, and those at which the lanes of a warp parted. How a source falls into blocks is the
// compiler's choice, so that only the last figure is the same with all.
struct Flow { uint64_t instructions, lanes, branches, divergent_branches; };

// How far a launch has come. FULL: the requests must be read before it can go on.
enum Progress : int32_t { FINISHED, MORE, FULL, FAULT };

}  // namespace simt
