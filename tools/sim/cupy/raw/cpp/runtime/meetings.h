// Where threads wait for each other: barriers of the block, and meetings of lanes of a warp.
#pragma once

namespace simt {

Index thread_index() { return block.current->index; }
Index block_index() { return block.index; }
Index block_size() { return block.size; }
Index grid_size() { return block.grid; }
unsigned lane() { return block.current->lane; }
unsigned long long steps() {
    attention.computed = true;  // the time passes while it waits
    return block.current->steps;
}
void pause() {
    look(*block.current, block.current->at, __builtin_frame_address(0));
    suspend();
}

void fence(bool of_block) {
    if (!block.current) return;
    Fiber& me = *block.current;
    races.order.fence(me, races.block, races.barrier, races.clocks[me.warp].now, of_block);
}

Alone::Alone() : me(block.current) { block.current = nullptr; }
Alone::~Alone() { block.current = static_cast<Fiber*>(me); }

static void wait(State state, const char* name, void* here) {
    Fiber& me = *block.current;
    me.waiting_at = here;
    me.waiting_in = name;
    act_at(me, place_of(here));
    step(me, place_of(here), 0, 0, me.call[me.depth % LEVELS]);
    me.state = state;
}

Votes barrier(bool truth, const char* name, void* here) {
    Fiber& me = *block.current;
    wait(State::AT_BARRIER, name, here);
    me.truth = truth;
    suspend();
    return {unsigned(me.result >> 32), unsigned(me.result)};
}

bool is_cooperative() { return block.cooperative; }

void barrier_of_grid(const char* name, void* here) {
    if (!block.cooperative) {
        copy_text(describe(NOT_COOPERATIVE, place_of(here)).text, sizeof fault.text, name);
        leave(FAULT);
    }
    wait(State::AT_GRID, name, here);
    suspend();
}

// The threads of a warp that have a number below the block's size.
static unsigned warp_of(unsigned warp, Fiber** lanes) {
    unsigned first = warp * WARP, count = std::min(WARP, block.threads - first);
    for (unsigned lane = 0; lane < count; lane++) lanes[lane] = &block.fibers[first + lane];
    return count;
}

// Has this thread done something behind the place where the other one waits, and left the kernel? One that left it
// before that place, or after having waited there itself, is not waited for by a GPU either.
static bool went_past(const Fiber& gone, const Fiber& waiting) {
    return gone.acted_at > waiting.place && gone.last_wait != place_of(waiting.waiting_at);
}

static const Fiber* served;  // the lane whose result is found at present

// What some of these threads have heard of fences, now all have.
static void join(Fiber** threads, unsigned count, bool orders) {
    uint32_t knows = 0, fenced = 0;
    for (unsigned each = 0; each < count; each++) {
        knows = std::max(knows, threads[each]->knows);
        fenced = std::max(fenced, threads[each]->fenced);
    }
    for (unsigned each = 0; each < count; each++) {
        threads[each]->knows = knows;
        if (orders) threads[each]->fenced = fenced;
    }
}

static void meet_now(Fiber** lanes, const Meeting& meeting, bool orders) {
    Alone alone;
    Fiber* members[WARP];
    unsigned count = 0;
    for (unsigned lane = 0; lane < WARP; lane++)
        if (meeting.members >> lane & 1) members[count++] = lanes[lane];
    join(members, count, orders);
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (!(meeting.members >> lane & 1)) continue;
        Fiber& fiber = *lanes[lane];
        served = &fiber;
        fiber.result = fiber.rule(meeting, lane, fiber.waiting_in, fiber.waiting_at);
        fiber.state = State::READY;
        fiber.last_wait = place_of(fiber.waiting_at);
    }
    if (orders) races.clocks[lanes[0]->warp].meet(meeting.members);
}

// Let the lanes that `fiber` waits for go on if all of them are here.
static bool try_to_meet(const Fiber& fiber, bool orders) {
    Fiber* lanes[WARP];
    Meeting meeting = {};
    unsigned count = warp_of(fiber.warp, lanes);
    for (unsigned lane = 0; lane < count; lane++) {
        Fiber& other = *lanes[lane];
        if (!(fiber.mask >> lane & 1) || (!other.alive() && !went_past(other, fiber))) continue;
        if (other.state != State::MEETING || other.waiting_at != fiber.waiting_at) return false;
        if (other.mask != fiber.mask) {
            describe(TWO_MASKS, place_of(other.waiting_at), other).number = other.mask;
            fault.other_thread = fiber.thread;
            fault.size = fiber.mask;
            copy_text(fault.text, sizeof fault.text, fiber.waiting_in);
            leave(FAULT);
        }
        meeting.members |= 1u << lane;
        meeting.values[lane] = other.value;
        meeting.arguments[lane] = other.argument;
    }
    meet_now(lanes, meeting, orders);
    return true;
}

uint64_t meet(unsigned mask, uint64_t value, uint64_t argument, Rule rule, bool orders, const char* name, void* here) {
    Fiber& me = *block.current;
    if (!(mask >> me.lane & 1)) {
        describe(NOT_ITSELF, place_of(here)).number = mask;
        copy_text(fault.text, sizeof fault.text, name);
        leave(FAULT);
    }
    wait(State::MEETING, name, here);
    me.mask = mask;
    me.value = value;
    me.argument = argument;
    me.rule = rule;
    me.truth = orders;
    if (!try_to_meet(me, orders)) suspend();
    return me.result;
}

unsigned converged(void* here) {
    Fiber& me = *block.current;
    wait(State::CONVERGING, "__activemask", here);
    suspend();
    return unsigned(me.result);
}

uint64_t taken(const Meeting& meeting, unsigned source, const char* name, void* here) {
    if (meeting.members >> source & 1) return meeting.values[source];
    describe(NOBODY_GIVES, place_of(here), *served).number = source;
    fault.size = meeting.members;
    copy_text(fault.text, sizeof fault.text, name);
    leave(FAULT);
}

void assertion_failed(const char* condition) {
    describe(ASSERTION, place_of(__builtin_return_address(0)));
    copy_text(fault.text, sizeof fault.text, condition);
    leave(FAULT);
}

void trapped() {
    describe(TRAP, place_of(__builtin_return_address(0)));
    leave(FAULT);
}

}  // namespace simt
