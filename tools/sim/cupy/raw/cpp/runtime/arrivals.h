// Barriers that are objects in shared memory: threads arrive, and wait for the end of a phase.
#pragma once

namespace simt {

use_objects::use_objects() { Knowledge::in_use = true; }

static Arrivals& arrivals_at(void* object, void* here) {
    auto found = races.arrivals.find(reinterpret_cast<uintptr_t>(object));
    if (found == races.arrivals.end())
        misused("uses a barrier that was not initialised in this block|"
                "Does one thread call init(&barrier, count), and do all wait for it?", here);
    return found->second;
}

void init_arrivals(void* object, unsigned expected, void* here) {
    if (!is_shared(object))
        misused("initialises a barrier that is not in shared memory|Should it be declared __shared__?", here);
    touch(object, 8, STORE, here);
    races.arrivals[reinterpret_cast<uintptr_t>(object)] = {expected, expected, 0, {}, {}, {}};
}

static void end_phase(Arrivals& all) {
    notice_change();
    all.phase++;
    all.pending = all.expected;
    all.known = all.coming;
    for (const Copy& copy : all.copies) {
        set_in_flight(copy, false);
        std::memcpy(reinterpret_cast<void*>(copy.to), copy.bytes, copy.size);
    }
    all.copies.clear();
}

unsigned long arrive(void* object, unsigned count, bool drop, void* here) {
    arrivals_at(object, here);
    touch(object, 8, ATOMIC, here);
    Arrivals& all = arrivals_at(object, here);  // others may have had their turn
    if (count > all.pending)
        misused("arrives at a barrier at which all of its phase have arrived|"
                "How many arrivals did init() announce, and how many threads arrive?", here);
    uint64_t phase = all.phase;
    races.knowledge.release(*block.current, all.coming, races.epoch);
    notice_change();
    all.pending -= count;
    if (drop) all.expected -= count;
    if (!all.pending) end_phase(all);
    return phase;
}

static bool phase_is_over(const Fiber& fiber) { return races.arrivals[fiber.object].phase != fiber.phase; }

void wait_for_phase(void* object, unsigned long phase, const char* name, void* here) {
    arrivals_at(object, here);
    Fiber& me = *block.current;
    me.object = reinterpret_cast<uintptr_t>(object);
    me.phase = phase;
    if (!phase_is_over(me)) {
        wait(State::BLOCKED, name, here);
        suspend();
    }
    races.knowledge.acquire(me, arrivals_at(object, here).known, races.epoch);
}

bool phase_ended(void* object, unsigned long phase, void* here) {
    Arrivals& all = arrivals_at(object, here);
    if (all.phase == phase) {
        pause();
        return false;
    }
    races.knowledge.acquire(*block.current, all.known, races.epoch);
    return true;
}

unsigned long phase_of(void* object, void* here) { return arrivals_at(object, here).phase; }

void copies_arrive_with(void* object, void* here) {
    Arrivals& all = arrivals_at(object, here);
    std::vector<Copy>& open = races.copies[block.current->thread].open;
    all.copies.insert(all.copies.end(), open.begin(), open.end());
    open.clear();
}

// Nobody can run, and this thread waits for a phase: who is missing there?
static bool refuse_phase(const Fiber& waiting) {
    const Arrivals& all = races.arrivals[waiting.object];
    describe(NO_PHASE, place_of(waiting.waiting_at), waiting).number = all.pending;
    fault.size = all.expected;
    copy_text(fault.text, sizeof fault.text, waiting.waiting_in);
    return false;
}

}  // namespace simt
