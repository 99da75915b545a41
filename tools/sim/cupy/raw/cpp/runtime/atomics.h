// Atomics that are objects, with CUDA's memory orders and scopes.
#pragma once

namespace simt {

// What a relaxed store releases is what a fence before it did; what a relaxed load acquires waits for a fence.
void touch_atomic(const void* address, size_t size, Operation operation, bool acquires, bool releases, bool alone,
                  void* here) {
    if (releases && !alone) fence(false);
    uintptr_t at = reinterpret_cast<uintptr_t>(address);
    access(at, size, operation, here, {true, true, alone, acquires});
    Fiber& me = *block.current;
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

void fence_atomics(bool acquires, bool releases, bool alone) {
    if (!block.current) return;
    Fiber& me = *block.current;
    fence(alone);
    if (acquires) races.knowledge.acquire(me, races.knowledge.seen[me.thread], races.epoch);
    if (releases) races.knowledge.release(me, races.knowledge.fenced[me.thread], races.epoch);
}

}  // namespace simt
