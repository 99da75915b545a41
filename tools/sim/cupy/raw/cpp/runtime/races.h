// Shared memory between two barriers: who stored and who loaded, and whether anything orders the two.
#pragma once

#include "memory.h"

namespace simt {

// One warp's clock ticks whenever some of its lanes meet in __syncwarp. seen[a][b]: the tick after which lane a
// knows all that lane b did before.
struct Clock {
    uint32_t now = 1;
    uint32_t seen[WARP][WARP] = {};

    void meet(unsigned members) {
        now++;
        uint32_t joined[WARP];
        for (unsigned other = 0; other < WARP; other++) {
            joined[other] = members >> other & 1 ? now : 0;
            for (unsigned lane = 0; lane < WARP; lane++)
                if (members >> lane & 1) joined[other] = std::max(joined[other], seen[lane][other]);
        }
        for (unsigned lane = 0; lane < WARP; lane++)
            if (members >> lane & 1) std::memcpy(seen[lane], joined, sizeof joined);
    }
};

struct Races {
    std::vector<Clock> clocks;  // of the warps
    uint32_t block = 0;         // number of the block that runs, over all launches
    uint32_t epoch = 0;         // grows with each barrier
    Range* unset = nullptr;     // an array of which an element was loaded in this epoch that nobody stored,
    Cell::Touch unset_by;       // by whom,
    uintptr_t unset_at;         // and where
};

extern Races races;

inline bool ordered(const Cell::Touch& before, const Fiber& me) {
    if (before.epoch != races.epoch || before.thread == me.thread) return true;
    if (before.thread / WARP != me.warp) return false;
    return before.clock < races.clocks[me.warp].seen[me.lane][before.thread % WARP];
}

[[noreturn]] void race(const Range& range, uintptr_t at, const Cell::Touch& mine, Operation operation,
                       const Cell::Touch& other, Operation other_operation);

// A store or an atomic: is there a load before it that nothing orders?
inline bool find_unordered_load(const Cell& cell, const Fiber& me, Cell::Touch& load) {
    load = cell.other_load;
    if (load.epoch == races.epoch && !ordered(load, me)) return true;
    load = cell.load;
    if (load.epoch != races.epoch) return false;
    if (load.thread / WARP != me.warp) return true;
    for (uint32_t lanes = cell.loaders; lanes; lanes &= lanes - 1) {
        load.thread = uint16_t(me.warp * WARP + __builtin_ctz(lanes));
        if (!ordered(load, me)) return true;
    }
    return false;
}

inline void remember_load(Cell& cell, const Cell::Touch& load, unsigned lane) {
    bool current = cell.load.epoch == load.epoch, same_warp = cell.load.thread / WARP == load.thread / WARP;
    if (current && !same_warp) cell.other_load = cell.load;
    if (!(current && same_warp && cell.load.clock == load.clock)) cell.loaders = 0;
    cell.load = load;
    cell.loaders |= 1u << lane;
}

inline void touch_cell(Range& range, Cell& cell, Operation operation, uintptr_t at, const Cell::Touch& touch) {
    Fiber& me = *block.current;
    if (cell.block != races.block) cell = {}, cell.block = races.block;
    bool both_atomic = operation == ATOMIC && cell.store_is_atomic;
    if (cell.store.epoch && !both_atomic && !ordered(cell.store, me))
        race(range, at, touch, operation, cell.store, cell.store_is_atomic ? ATOMIC : STORE);
    if (operation == LOAD) {
        remember_load(cell, touch, me.lane);
    } else {
        Cell::Touch load;
        if (find_unordered_load(cell, me, load)) race(range, at, touch, operation, load, LOAD);
        cell.store = touch;
        cell.stored = true;
        cell.store_is_atomic = operation == ATOMIC;
    }
}

inline void check_shared(Range& range, uintptr_t at, unsigned size, Operation operation, uint32_t place) {
    Fiber& me = *block.current;
    Cell::Touch touch = {uint16_t(me.thread), races.epoch, races.clocks[me.warp].now, place, me.since_barrier};
    size_t first = (at - range.low) / range.granule, last = (at - range.low + size - 1) / range.granule;
    bool stored = operation == STORE;
    for (size_t number = first; number <= last; number++) {
        Cell& cell = range.cells[number];
        stored |= cell.block == races.block && cell.stored;
        touch_cell(range, cell, operation, at, touch);
    }
    if (!stored && !races.unset) races.unset = &range, races.unset_by = touch, races.unset_at = at;
}

}  // namespace simt
