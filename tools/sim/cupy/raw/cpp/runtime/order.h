// What fences and flags put in order. A thread that has passed a fence and then stores a flag, atomically or to a
// volatile variable, tells of that fence; who reads the flag in such a way has heard of it, and of all fences before.
// An access is known to those who have heard of a fence that its thread, or one that met it since, passed later.
#pragma once

#include <unordered_map>
#include <vector>

#include "fibers.h"

namespace simt {

// A fence. time: of the launch, which grows with each fence and barrier. barrier: the time of the block's last one.
// clock: of its warp.
enum class Reach : uint8_t { EVERYBODY, BLOCK, OTHER_BLOCKS };
struct Fence { uint32_t time, barrier, clock; uint16_t thread; Reach reach; };

struct Order {
    uint32_t now = 1;
    std::unordered_map<uint32_t, std::vector<Fence>> fences;  // by number of the block
    std::unordered_map<uint64_t, uint32_t> told;              // by flag: the time of the latest fence told of there
    uint32_t generation = 0;                                  // barriers of the whole grid so far

    void clear() { *this = Order(); }

    void fence(Fiber& me, uint32_t number, uint32_t barrier, uint32_t clock, Reach reach) {
        me.fenced = ++now;
        if (reach != Reach::OTHER_BLOCKS) me.knows = std::max(me.knows, me.heard);
        fences[number].push_back({now, barrier, clock, uint16_t(me.thread), reach});
    }

    // A thread reads or stores a flag. hears: it knows at once what is told there, or else after its next fence.
    void meet_at(uint64_t flag, Fiber& me, bool reads, bool stores, bool hears = true) {
        if (fences.empty()) return;
        auto found = told.find(flag);
        uint32_t& mine = hears ? me.knows : me.heard;
        if (reads && found != told.end()) mine = std::max(mine, found->second);
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
            if (fence->reach == (other ? Reach::BLOCK : Reach::OTHER_BLOCKS)) continue;
            bool in_step = fence->thread / WARP == thread / WARP && fence->clock > clock;
            if (fence->thread == thread || in_step || fence->barrier > time) return true;
        }
        return false;
    }
};

}  // namespace simt
