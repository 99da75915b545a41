// How the threads of a block take turns, warp by warp and lane by lane, until all have left it; then the next block.
#pragma once

namespace simt {

struct Schedule {
    const Kernel* kernel;
    void* arguments[MOST_ARGUMENTS];
    uint64_t blocks, number;  // of them all, the one that runs
    bool inside;              // a block has begun
    uint64_t turns;
};

static Schedule schedule;

constexpr uint64_t TURNS = 1 << 12;  // until Python has a look

static void run_kernel() {
    schedule.kernel->call(schedule.kernel->function, schedule.arguments);
    Fiber& me = *block.current;
    me.state = State::DONE;
    Fiber* lanes[WARP];
    unsigned count = warp_of(me.warp, lanes);
    for (unsigned lane = 0; lane < count; lane++)  // some may have waited only for this one
        if (lanes[lane]->state == State::MEETING) try_to_meet(*lanes[lane], lanes[lane]->truth);
}

static void begin_block() {
    block.index = block.place(schedule.number);
    races.block++;
    races.epoch++;
    races.global_epoch++;
    races.fences = 0;
    races.unset = nullptr;
    knowledge.begin_block(block.threads);
    copies.assign(block.threads, Copies());
    arrivals.clear();
    races.clocks.assign((block.threads + WARP - 1) / WARP, Clock());
    for (unsigned thread = 0; thread < block.threads; thread++) {
        Fiber& fiber = block.fibers[thread];
        fiber.state = State::READY;
        fiber.depth = 0;
        fiber.place = fiber.acted_at = fiber.last_wait = 0;
        fiber.first = fiber.last = 0;
        fiber.steps = fiber.since_barrier = 0;
        std::fill(fiber.entered, fiber.entered + LEVELS, Entered());
        std::fill(fiber.call, fiber.call + LEVELS, fiber.calls = 0);
    }
    schedule.inside = true;
}

// Lanes that asked who stands beside them, when nobody of their warp can run: those of the lowest place.
static bool answer_converged(Fiber** lanes, unsigned count) {
    void* lowest = nullptr;
    for (unsigned lane = 0; lane < count; lane++)
        if (lanes[lane]->state == State::CONVERGING && (!lowest || lanes[lane]->waiting_at < lowest))
            lowest = lanes[lane]->waiting_at;
    unsigned together = 0;
    for (unsigned lane = 0; lane < count; lane++)
        if (lanes[lane]->state == State::CONVERGING && lanes[lane]->waiting_at == lowest) together |= 1u << lane;
    for (unsigned lane = 0; lane < count; lane++)
        if (together >> lane & 1) lanes[lane]->result = together, lanes[lane]->state = State::READY;
    return together != 0;
}

static void make_room(Fiber& fiber) {
    if (counting) std::move(&fiber.trace[fiber.first], fiber.trace.data() + fiber.last, fiber.trace.data());
    fiber.last = counting ? fiber.pending() : 0;
    fiber.first = 0;
}

// A turn for each lane that can run. moved: whether there was one.
static bool run_warp(unsigned warp, bool& moved) {
    Fiber* lanes[WARP];
    unsigned count = warp_of(warp, lanes);
    bool ran = false;
    for (unsigned lane = 0; lane < count; lane++) {
        Fiber& fiber = *lanes[lane];
        if (fiber.state == State::BLOCKED && phase_is_over(fiber)) fiber.state = State::READY;
        if (fiber.state != State::READY) continue;
        ran = true;
        make_room(fiber);
        if (fiber.last < TURN && resume(fiber) == FAULT) return false;
        schedule.turns++;
    }
    if (counting) advance(lanes, count);
    moved |= ran || answer_converged(lanes, count);
    return true;
}

static bool all_shared_reads_were_set() {
    if (!races.unset) return true;
    describe(UNSET, races.unset_by.place, block.fibers[races.unset_by.thread]);
    describe_array(*races.unset, races.unset_at);
    return false;
}

static bool is_missing(const Fiber& fiber, const Fiber& waiting) {
    if (!fiber.alive()) return went_past(fiber, waiting);
    return fiber.state != waiting.state || fiber.waiting_at != waiting.waiting_at;
}

static bool refuse_waiting(const Fiber& waiting) {
    bool in_meeting = waiting.state == State::MEETING;
    describe(in_meeting ? STUCK : DIVERGENT_BARRIER, place_of(waiting.waiting_at), waiting).number = waiting.mask;
    copy_text(fault.text, sizeof fault.text, waiting.waiting_in);
    return false;
}

// All threads that are left stand at barriers: is it one and the same?
static bool release_barrier() {
    const Fiber* first = nullptr;
    Votes votes = {};
    for (unsigned thread = 0; thread < block.threads; thread++) {
        Fiber& fiber = block.fibers[thread];
        if (!fiber.alive()) continue;
        if (!first) first = &fiber;
        votes.threads++;
        votes.true_for += fiber.truth;
    }
    for (unsigned thread = 0; thread < block.threads; thread++)
        if (is_missing(block.fibers[thread], *first)) return refuse_waiting(*first);
    if (!all_shared_reads_were_set()) return false;
    races.epoch++;
    races.global_epoch++;
    unsigned warp = ~0u;
    for (unsigned thread = 0; thread < block.threads; thread++) {
        Fiber& fiber = block.fibers[thread];
        if (!fiber.alive()) continue;
        if (counting && fiber.warp != warp) warp = fiber.warp, log.barriers[place_of(fiber.waiting_at)]++;
        fiber.last_wait = place_of(fiber.waiting_at);
        fiber.result = uint64_t(votes.threads) << 32 | votes.true_for;
        fiber.since_barrier = 0;
        fiber.state = State::READY;
    }
    return true;
}

// Nobody can run: the block is over, or at a barrier, or stuck.
static bool settle() {
    const Fiber *alive = nullptr, *meeting = nullptr, *blocked = nullptr;
    for (unsigned thread = 0; thread < block.threads; thread++) {
        const Fiber& fiber = block.fibers[thread];
        if (fiber.alive() && !alive) alive = &fiber;
        if (fiber.state == State::MEETING && !meeting) meeting = &fiber;
        if (fiber.state == State::BLOCKED && !blocked) blocked = &fiber;
    }
    if (blocked && !meeting) return refuse_phase(*blocked);
    if (meeting) return refuse_waiting(*meeting);
    if (alive) return release_barrier();
    schedule.inside = false;
    schedule.number++;
    return all_shared_reads_were_set();
}

static Progress run() {
    for (uint64_t end = schedule.turns + TURNS; schedule.number < schedule.blocks;) {
        if (!schedule.inside) begin_block();
        bool moved = false;
        for (unsigned warp = 0; warp * WARP < block.threads; warp++)
            if (!run_warp(warp, moved)) return FAULT;
        if (!moved && !settle()) return FAULT;
        if (log.count >= LOG_LIMIT) return FULL;
        if (schedule.turns >= end) return MORE;
    }
    return FINISHED;
}

}  // namespace simt
