// What the threads of a warp did one after another, put together as a warp does it: in lockstep.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "fibers.h"

namespace simt {

// The requests of one instruction: 32 addresses each, -1 for lanes that take no part.
struct Requests {
    uint32_t place;
    uint8_t access, size;
    std::vector<int64_t> addresses;
};

// A basic block, and what warps did at its end. goes_on_at: at one block only, as far as seen, unless it is a branch.
struct Ending { uint64_t executed, parted; uint32_t goes_on_at; bool is_branch; };

struct Log {
    std::deque<Requests> requests;  // in the order in which their instructions first ran
    std::unordered_map<uint64_t, Requests*> by_key;
    size_t count = 0;               // requests since the log was read
    std::unordered_map<uint32_t, Ending> endings;  // by the blocks' places
    uint64_t steps = 0, lanes = 0;  // basic blocks that warps entered, and their active lanes
    std::unordered_map<uint32_t, uint64_t> lanes_of;  // the latter by the blocks' places
    std::unordered_map<uint32_t, uint64_t> barriers;  // warps that came to a barrier, by its place
    std::unordered_map<uint32_t, uint64_t> products;  // operations of products of matrices, by their place

    Requests& of(const Step& step) {
        uint64_t key = uint64_t(step.place) << 16 | step.access << 8 | step.size;
        Requests*& found = by_key[key];
        if (!found) {
            requests.push_back({step.place, step.access, step.size, {}});
            found = &requests.back();
        }
        return *found;
    }

    void add_request(const Step& step, Fiber* const* lanes, unsigned taking_part) {
        std::vector<int64_t>& addresses = of(step).addresses;
        size_t start = addresses.size();
        addresses.resize(start + WARP, -1);
        for (unsigned lane = 0; lane < WARP; lane++)
            if (taking_part >> lane & 1) addresses[start + lane] = lanes[lane]->trace[lanes[lane]->first].address;
        count++;
    }

    // A basic block ends: the warp, or the part of it that has its lowest lane, goes on at `place`.
    void end_block(const Entered& block, unsigned together, uint32_t place) {
        Ending& ending = endings[block.place];
        ending.is_branch |= ending.executed && ending.goes_on_at != place;
        ending.goes_on_at = place;
        ending.executed++;
        if (together < block.companions) ending.parted++, ending.is_branch = true;
    }

    void enter_block(const Step& step, Fiber* const* all, unsigned taking_part) {
        unsigned level = step.depth % LEVELS, together[WARP] = {};  // by the leader of the block before
        for (unsigned lane = 0; lane < WARP; lane++) {
            if (!(taking_part >> lane & 1)) continue;
            const Entered& entered = all[lane]->entered[level];
            together[entered.leader] += all[entered.leader]->entered[level].step == entered.step;
        }
        steps++;
        unsigned leader = __builtin_ctz(taking_part), companions = __builtin_popcount(taking_part);
        lanes += companions;
        lanes_of[step.place] += companions;
        Entered now = {0, step.place, steps, leader, companions};
        for (unsigned lane = 0; lane < WARP; lane++) {
            if (!(taking_part >> lane & 1)) continue;
            Entered& entered = all[lane]->entered[level];
            now.call = all[lane]->trace[all[lane]->first].address;
            if (entered.companions && entered.call == now.call && entered.leader == lane)
                end_block(entered, together[lane], step.place);
            entered = now;
        }
    }
};

extern Log log;

// Of several steps, the one that a warp makes first: the deepest call, then the lowest place. Code stands in the
// order of its source, so lanes that are behind catch up, and all meet again where their ways join
// (S. Collange, "Stack-less SIMT reconvergence at low cost", 2011).
inline uint64_t rank(const Step& step) { return uint64_t(uint16_t(~step.depth)) << 32 | step.place; }

inline bool same_step(const Step& a, const Step& b) {
    return a.place == b.place && a.depth == b.depth && a.access == b.access && a.size == b.size;
}

// Go on as far as it is known what all lanes do next. `lanes`: the threads of one warp.
inline void advance(Fiber* const* lanes, unsigned count) {
    for (;;) {
        Fiber *first = nullptr, *behind = nullptr;
        uint64_t least = ~0ull;
        for (unsigned lane = 0; lane < count; lane++) {
            Fiber& fiber = *lanes[lane];
            if (!fiber.pending()) {
                if (fiber.state == State::READY) return;
                continue;
            }
            if (fiber.pending() == TURN && !fiber.looks) behind = &fiber;
            uint64_t own = rank(fiber.trace[fiber.first]);
            if (own < least) least = own, first = &fiber;
        }
        if (!first) return;
        if (first->looks && behind) first = behind;  // nobody comes up to a lane that waits for one of these
        Step step = first->trace[first->first];
        unsigned taking_part = 0;
        for (unsigned lane = 0; lane < count; lane++) {
            const Fiber& fiber = *lanes[lane];
            if (fiber.pending() && same_step(fiber.trace[fiber.first], step)) taking_part |= 1u << lane;
        }
        if (step.access) log.add_request(step, lanes, taking_part);
        else log.enter_block(step, lanes, taking_part);
        for (unsigned lane = 0; lane < count; lane++)
            if (taking_part >> lane & 1) lanes[lane]->first++;
    }
}

}  // namespace simt
