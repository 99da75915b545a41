// Atomics that are objects, with CUDA's memory orders and scopes.
#pragma once

namespace simt {

// What a relaxed store releases is what a fence before it did; what a relaxed load acquires waits for a fence.
void touch_atomic(const void* address, size_t size, Operation operation, bool acquires, bool releases, bool alone,
                  void* here) {
    uintptr_t at = reinterpret_cast<uintptr_t>(address);
    access(at, size, operation, here, alone ? OF_BLOCK : STRONG);
    Fiber& me = *block.current;
    Known& object = knowledge.atomics[at];
    object.begin(races.epoch, block.threads);
    Known& seen = knowledge.seen[me.thread];
    seen.begin(races.epoch, block.threads);
    if (operation != STORE) seen.join(object);
    if (acquires) knowledge.acquire(me, object, races.epoch);
    if (operation == LOAD) return;
    if (operation == STORE) object = Known(), object.begin(races.epoch, block.threads);
    object.join(knowledge.fenced[me.thread]);
    if (releases) knowledge.release(me, object, races.epoch);
    if (releases && !alone) races.fenced[races.block] = ++races.fences;
}

void fence_atomics(bool acquires, bool releases, bool alone) {
    if (!block.current) return;
    Fiber& me = *block.current;
    if (acquires) knowledge.acquire(me, knowledge.seen[me.thread], races.epoch);
    if (!releases) return;
    knowledge.release(me, knowledge.fenced[me.thread], races.epoch);
    if (!alone) races.fenced[races.block] = ++races.fences;
}

}  // namespace simt
