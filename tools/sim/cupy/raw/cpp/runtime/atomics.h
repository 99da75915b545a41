// Atomics that are objects, with CUDA's memory orders and scopes.
#pragma once

namespace simt {

void touch_atomic(const void* address, size_t size, Operation operation, bool acquires, bool releases, bool alone,
                  void* here) {
    uintptr_t at = reinterpret_cast<uintptr_t>(address);
    access(at, size, operation, here, alone ? OF_BLOCK : STRONG);
    Fiber& me = *block.current;
    Known& object = knowledge.atomics[at];
    if (acquires) knowledge.acquire(me, object, races.epoch);
    if (releases) {
        knowledge.release(me, object, races.epoch);
        if (!alone) races.fenced[races.block] = ++races.fences;
    } else if (operation == STORE) {
        object = Known();  // whoever reads this value learns nothing by it
    }
}

}  // namespace simt
