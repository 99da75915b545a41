// What threads of the block know of each other by barriers and atomics that are objects, between two __syncthreads:
// for each thread, up to which of its steps since the last one.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "fibers.h"

namespace simt {

struct Known {
    uint32_t epoch = 0;  // of shared memory, to which all of it belongs
    std::vector<unsigned long long> upto;

    void begin(uint32_t now, unsigned threads) {
        if (epoch == now && upto.size() == threads) return;
        epoch = now;
        upto.assign(threads, 0);
    }
    void join(const Known& other) {
        if (other.epoch != epoch) return;
        for (size_t thread = 0; thread < upto.size(); thread++) upto[thread] = std::max(upto[thread], other.upto[thread]);
    }
};

// By barriers and atomics of the block that runs; atomics by their addresses.
struct Knowledge {
    static inline bool in_use = false;  // the module includes a header that has such objects; set before main
    std::vector<Known> threads;  // by thread
    std::vector<Known> fenced;   // by thread: what its last fence released, for relaxed stores after it
    std::vector<Known> seen;     // by thread: what relaxed loads came upon, for a fence after them
    std::unordered_map<uintptr_t, Known> atomics;

    void begin_block(unsigned count) {
        if (!in_use) return;
        for (std::vector<Known>* each : {&threads, &fenced, &seen}) each->assign(count, Known());
        atomics.clear();
    }
    Known& of(const Fiber& fiber, uint32_t epoch) {
        Known& known = threads[fiber.thread];
        known.begin(epoch, unsigned(threads.size()));
        return known;
    }
    void release(const Fiber& me, Known& object, uint32_t epoch) {
        Known& mine = of(me, epoch);
        mine.upto[me.thread] = me.since_barrier;
        object.begin(epoch, unsigned(threads.size()));
        object.join(mine);
    }
    void acquire(const Fiber& me, const Known& object, uint32_t epoch) { of(me, epoch).join(object); }

    // Lanes of a warp met in __syncwarp.
    void meet(Fiber* const* lanes, unsigned members, uint32_t epoch) {
        Known all;
        for (unsigned lane = 0; lane < WARP; lane++)
            if (members >> lane & 1) release(*lanes[lane], all, epoch);
        for (unsigned lane = 0; lane < WARP; lane++)
            if (members >> lane & 1) acquire(*lanes[lane], all, epoch);
    }
    bool knows(const Fiber& me, unsigned thread, unsigned long long when, uint32_t epoch) const {
        if (!in_use) return false;
        const Known& mine = threads[me.thread];
        return mine.epoch == epoch && when < mine.upto[thread];
    }
};

// Asynchronous copies. Of one thread: those in no group yet, and the groups in their order.
struct Copy { uintptr_t to; unsigned size; uint32_t place; unsigned char bytes[16]; };
struct Copies {
    std::vector<Copy> open;
    std::deque<std::vector<Copy>> groups;
};

// A barrier that is an object. coming: what arrivals of this phase released; known: what those who wait know at its
// end; copies: that arrive with the phase.
struct Arrivals {
    unsigned expected, pending;
    uint64_t phase;
    Known coming, known;
    std::vector<Copy> copies;
};

}  // namespace simt
