// Atomics that are objects, with CUDA's memory orders and scopes.
#pragma once

namespace simt {

// Within the block, knowledge.h has more exactly who has heard of what.
static void release_to_other_blocks(Fiber& me) {
    races.order.fence(me, races.block, races.barrier, races.clocks[me.warp].now, Reach::OTHER_BLOCKS);
}

// What a relaxed store releases is what a fence before it did; what a relaxed load acquires waits for a fence.
void touch_atomic(const void* address, size_t size, Operation operation, bool acquires, bool releases, bool alone,
                  void* here) {
    uintptr_t at = reinterpret_cast<uintptr_t>(address);
    Fiber& me = *block.current;
    if (releases && !alone) release_to_other_blocks(me);
    access(at, size, operation, here, {true, true, alone, acquires});
    Known& object = races.knowledge.atomics[at];
    object.begin(races.epoch, block.threads);
    Known& seen = races.knowledge.seen[me.thread];
    seen.begin(races.epoch, block.threads);
    if (operation != STORE) seen.join(object);
    if (acquires) races.knowledge.acquire(me, object, races.epoch);
    if (operation == LOAD) return;
    if (operation == STORE) object = Known(), object.begin(races.epoch, block.threads);
    object.join(races.knowledge.fenced[me.thread]);
    if (releases) races.knowledge.release(me, object, races.epoch);
}

// A plain read that a compare-and-swap checks: as little a race with atomics as one of them, and it hears of nothing.
void touch_guess(const void* address, size_t size, void* here) {
    access(reinterpret_cast<uintptr_t>(address), size, LOAD, here, {true, true, false, false});
}

void fence_atomics(bool acquires, bool releases, bool alone) {
    if (!block.current) return;
    Fiber& me = *block.current;
    if (acquires) {
        races.knowledge.acquire(me, races.knowledge.seen[me.thread], races.epoch);
        me.knows = std::max(me.knows, me.heard);
    }
    if (!releases) return;
    races.knowledge.release(me, races.knowledge.fenced[me.thread], races.epoch);
    if (!alone) release_to_other_blocks(me);
}

}  // namespace simt
