// What fences and flags put in order. A thread that has passed a fence and then stores a flag, atomically or to a
// volatile variable, tells of that fence; who reads the flag in such a way has heard of it, and of all fences before.
// An access is known to those who have heard of a fence that its thread, or one that met it since, passed later.
#pragma once

#include <unordered_map>
#include <vector>

#include "fibers.h"

namespace simt {

// A fence. time: of the launch, which grows with each fence and barrier. barrier: the time of the block's last one.
// clock: of its warp. of_block: it concerns the block only.
struct Fence { uint32_t time, barrier, clock; uint16_t thread; bool of_block; };

struct Order {
    uint32_t now = 1;
    std::unordered_map<uint32_t, std::vector<Fence>> fences;  // by number of the block
    std::unordered_map<uint64_t, uint32_t> told;              // by flag: the time of the latest fence told of there
    uint32_t generation = 0;                                  // barriers of the whole grid so far

    void clear() { *this = Order(); }

    void fence(Fiber& me, uint32_t number, uint32_t barrier, uint32_t clock, bool of_block) {
        me.fenced = ++now;
        fences[number].push_back({now, barrier, clock, uint16_t(me.thread), of_block});
    }

    // A thread reads or stores a flag.
    void meet_at(uint64_t flag, Fiber& me, bool reads, bool stores) {
        if (fences.empty()) return;
        auto found = told.find(flag);
        if (reads && found != told.end()) me.knows = std::max(me.knows, found->second);
        if (stores && me.fenced) told[flag] = std::max(me.fenced, found == told.end() ? 0 : found->second);
    }

    // Has `me` heard that this access is over? clock: of its warp then, 0 if that is not known.
    bool is_known(const Fiber& me, uint32_t number, uint16_t thread, uint32_t time, uint32_t clock, bool other) const {
        if (!me.knows) return false;
        auto found = fences.find(number);
        if (found == fences.end()) return false;
        const std::vector<Fence>& all = found->second;
        auto after = [](uint32_t time, const Fence& fence) { return time < fence.time; };
        for (auto fence = std::upper_bound(all.begin(), all.end(), time, after); fence != all.end(); fence++) {
            if (fence->time > me.knows) return false;
            if (other && fence->of_block) continue;
            bool in_step = fence->thread / WARP == thread / WARP && fence->clock > clock;
            if (fence->thread == thread || in_step || fence->barrier > time) return true;
        }
        return false;
    }
};

}  // namespace simt
