// Memory between two barriers, and global memory over all blocks: who stored and who loaded, and whether anything
// orders the two. The rules are those of tools/sim/cuda/memory/races.py.
#pragma once

#include <unordered_map>

#include "memory.h"
#include "objects.h"
#include "order.h"

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

// The cells of global memory that the block has touched since its last barrier.
struct Recent {
    struct Slot { uintptr_t key; uint32_t epoch; Cell cell; };
    static constexpr size_t FEWEST = 1 << 12, MOST = 1 << 20;
    std::vector<Slot> slots;
    size_t used = 0;
    uint32_t epoch = 0;  // to which all other slots are empty

    Slot& find(uintptr_t key) {
        size_t at = size_t(key * 0x9E3779B97F4A7C15ull >> 32) & (slots.size() - 1);
        while (slots[at].epoch == epoch && slots[at].key != key) at = (at + 1) & (slots.size() - 1);
        return slots[at];
    }

    Cell& cell(uintptr_t key, uint32_t now) {
        if (epoch != now) epoch = now, used = 0;
        if (2 * used >= slots.size()) grow();
        Slot& slot = find(key);
        if (slot.epoch != epoch) slot = {key, epoch, {}}, used++;
        return slot.cell;
    }

    void grow() {  // beyond the most, everything is forgotten, and a race with it missed
        std::vector<Slot> before(std::min(MOST, std::max(FEWEST, 2 * slots.size())));
        before.swap(slots);
        used = 0;
        if (before.size() == MOST) return;
        for (Slot& slot : before)
            if (slot.epoch == epoch) find(slot.key) = slot, used++;
    }
};

// How an access is made. is_flag: to a volatile variable, or by an atomic object; of_block: one for its block only;
// hears: it acquires what others released.
struct Manner { bool is_flag, is_object, of_block, hears; };
constexpr Manner PLAIN = {false, false, false, true}, VOLATILE = {true, false, false, true};

// Of the block that runs; others keep theirs until it is their turn.
struct RacesOfBlock {
    std::vector<Clock> clocks;  // of the warps
    uint32_t block = 0;         // its number, over all launches
    uint32_t epoch = 0;         // grows with each barrier
    uint32_t barrier = 0;       // the time of the last one
    Range* unset = nullptr;     // an array of which an element was loaded in this epoch that nobody stored,
    Cell::Touch unset_by;       // by whom,
    uintptr_t unset_at;         // where,
    Matrix unset_of;            // and with which fragment
    Recent recent;
    Knowledge knowledge;
    std::vector<Copies> copies;                        // by thread
    std::unordered_map<uintptr_t, Arrivals> arrivals;  // by their objects' addresses

    void pass_barrier(uint32_t time) { epoch++, barrier = time; }
};

struct Races : RacesOfBlock {
    Order order;
    uint32_t first = 0, last = 0;  // the numbers of the launch's blocks
    bool in_turns = false; // a block has run, and was not over when another one began
};

extern Races races;

// Warps may pass each other flags, by volatile variables and atomics; the lanes of one warp are held to __syncwarp.
inline bool ordered(const Cell::Touch& before, const Cell::Touch& now, const Fiber& me) {
    if (before.time < races.barrier || before.thread == me.thread) return true;
    bool same_warp = before.thread / WARP == me.warp;
    if (before.is_flag && now.is_flag && !same_warp) return true;
    if (same_warp && before.clock < races.clocks[me.warp].seen[me.lane][before.thread % WARP]) return true;
    return races.order.is_known(me, races.block, before.thread, before.time, before.clock, false)
        || races.knowledge.knows(me, before.thread, before.when, races.epoch);
}

[[noreturn]] void race(const Range& range, uintptr_t at, const Cell::Touch& mine, Operation operation,
                       const Cell::Touch& other, Operation other_operation);
[[noreturn]] void race_of_blocks(const Range& range, uintptr_t at, const Cell::Touch& mine, Operation operation,
                                 const Past& other, Operation other_operation);

[[noreturn]] void in_flight(const Range& range, uintptr_t at, const Cell::Touch& mine, Operation operation,
                            const Cell& cell);

// A store or an atomic: is there a load before it that nothing orders?
inline bool find_unordered_load(const Cell& cell, const Fiber& me, const Cell::Touch& now, Cell::Touch& load) {
    load = cell.other_load;
    if (!ordered(load, now, me)) return true;
    load = cell.load;
    if (load.time < races.barrier) return false;
    if (load.thread / WARP != me.warp && !Knowledge::in_use) return !ordered(load, now, me);
    for (uint32_t lanes = cell.loaders; lanes; lanes &= lanes - 1) {
        load.thread = uint16_t(cell.load.thread / WARP * WARP + __builtin_ctz(lanes));
        load.when = load.thread == cell.load.thread ? cell.load.when : cell.loaded_from;
        if (!ordered(load, now, me)) return true;
    }
    return false;
}

// Of the lanes that have loaded, those of which this one has not heard that they are done.
inline uint32_t unheard(const Cell& cell, const Fiber& me) {
    if (!me.knows) return cell.loaders;
    uint32_t left = cell.loaders;
    for (uint32_t lanes = cell.loaders; lanes; lanes &= lanes - 1) {
        unsigned lane = unsigned(__builtin_ctz(lanes));
        uint16_t thread = uint16_t(me.warp * WARP + lane);
        bool known = races.order.is_known(me, races.block, thread, cell.load.time, cell.load.clock, false);
        if (known) left &= ~(1u << lane);
    }
    return left;
}

inline void remember_load(Cell& cell, const Cell::Touch& load, const Fiber& me) {
    bool current = cell.load.time >= races.barrier, same_warp = cell.load.thread / WARP == load.thread / WARP;
    if (current && !same_warp) cell.other_load = cell.load;
    bool together = current && same_warp && cell.load.clock == load.clock;
    cell.loaders = together ? unheard(cell, me) : 0;
    cell.loaded_from = together ? std::min(cell.loaded_from, load.when) : load.when;
    cell.load = load;
    cell.loaders |= 1u << me.lane;
}

inline void touch_cell(Range& range, Cell& cell, Operation operation, uintptr_t at, const Cell::Touch& touch) {
    Fiber& me = *block.current;
    if (cell.block != races.block) cell = {}, cell.block = races.block;
    bool both_atomic = operation == ATOMIC && cell.store_is_atomic;
    if (!both_atomic && !ordered(cell.store, touch, me))
        race(range, at, touch, operation, cell.store, cell.store_is_atomic ? ATOMIC : STORE);
    if (operation == LOAD) {
        remember_load(cell, touch, me);
    } else {
        Cell::Touch load;
        if (find_unordered_load(cell, me, touch, load)) race(range, at, touch, operation, load, LOAD);
        cell.stored = true;
        bool own = cell.store.time >= races.barrier && cell.store.thread == touch.thread;
        if (operation == ATOMIC && own && !cell.store_is_atomic) return;  // its plain store is what others race with
        cell.store = touch;
        cell.store_is_atomic = operation == ATOMIC;
    }
}

inline Cell::Touch touch_of(const Fiber& me, uint32_t place, bool is_flag) {
    return {uint16_t(me.thread), is_flag, races.clocks[me.warp].now, races.order.now, place, me.since_barrier};
}

// What stands for a cell of shared memory among the flags (order.h).
inline uint64_t flag_at(const Range& range, size_t number) {
    return uint64_t(races.block) << 48 ^ (range.low + number * range.granule);
}

[[gnu::always_inline]] inline void check_shared(Range& range, uintptr_t at, unsigned size, Operation operation,
                                                Manner manner, uint32_t place) {
    Fiber& me = *block.current;
    bool is_flag = manner.is_flag || operation == ATOMIC;
    Cell::Touch touch = touch_of(me, place, is_flag);
    size_t first = (at - range.low) / range.granule, last = (at - range.low + size - 1) / range.granule;
    bool stored = operation == STORE;
    for (size_t number = first; number <= last; number++) {
        Cell& cell = range.cells[number];
        if (cell.in_flight && cell.block == races.block) in_flight(range, at, touch, operation, cell);
        stored |= cell.block == races.block && cell.stored;
        if (is_flag)
            races.order.meet_at(flag_at(range, number), me, operation != STORE, operation != LOAD, manner.hears);
        touch_cell(range, cell, manner.is_object ? ATOMIC : operation, at, touch);
    }
    if (!stored && !races.unset) races.unset = &range, races.unset_by = touch, races.unset_at = at, races.unset_of = me.matrix;
}

inline bool is_over(const Past& past) {
    return !past.block || past.generation != uint16_t(races.order.generation)
        || races.order.is_known(*block.current, past.block, past.thread, past.time, 0, true);
}

inline void compare_with_past(Range& range, const Past& past, uintptr_t at, Operation operation, Operation other,
                              const Cell::Touch& touch) {
    if (past.block != races.block && !is_over(past)) race_of_blocks(range, at, touch, operation, past, other);
}

inline void compare_blocks(Range& range, size_t number, uintptr_t at, Operation operation, const Cell::Touch& touch) {
    History& first = range.history[number];
    for (Operation other : {LOAD, STORE, ATOMIC}) {
        if (operation != STORE && other != STORE && operation == other) continue;
        compare_with_past(range, first.of[other], at, operation, other, touch);
        if (range.has_later) compare_with_past(range, range.later[number].of[other], at, operation, other, touch);
    }
    Past now = {races.block, touch.place, touch.time, touch.thread, uint16_t(races.order.generation)};
    Past& own = first.of[operation];
    if (own.block == races.block || is_over(own)) own = now;
    else if (races.in_turns && range.later) range.later[number].of[operation] = now, range.has_later = true;
}

// A load of a volatile variable: only a plain store races with it. It is not remembered.
inline void check_volatile_load(Range& range, size_t number, Cell& cell, uintptr_t at, const Cell::Touch& touch) {
    if (range.history) compare_with_past(range, range.history[number].of[STORE], at, LOAD, STORE, touch);
    if (range.has_later) compare_with_past(range, range.later[number].of[STORE], at, LOAD, STORE, touch);
    bool stored = cell.block == races.block && !cell.store_is_atomic;
    if (stored && !ordered(cell.store, touch, *block.current)) race(range, at, touch, LOAD, cell.store, STORE);
}

// A store to a flag races as little as an atomic, as in CUDA's memory model; an atomic object of a block, as a plain
// store with other blocks.
inline void check_global(Range& range, uintptr_t at, unsigned size, Operation operation, Manner manner,
                         uint32_t place) {
    Fiber& me = *block.current;
    Cell::Touch touch = touch_of(me, place, false);
    size_t first = (at - range.low) / range.granule, last = (at - range.low + size - 1) / range.granule;
    bool reads = operation != STORE;
    if (manner.is_flag && operation == STORE) operation = ATOMIC;
    for (size_t number = first; number <= last; number++) {
        uintptr_t key = range.low + number * range.granule;
        if (operation == ATOMIC || manner.is_flag)
            races.order.meet_at(key, me, reads, operation == ATOMIC, manner.hears);
        Cell& cell = races.recent.cell(key, races.epoch);
        if (range.history && (manner.of_block || !manner.is_flag || operation != LOAD))
            compare_blocks(range, number, at, manner.of_block && operation == ATOMIC ? STORE : operation, touch);
        if (manner.is_flag && operation == LOAD) {
            check_volatile_load(range, number, cell, at, touch);
            continue;
        }
        touch_cell(range, cell, operation, at, touch);
    }
}

}  // namespace simt
