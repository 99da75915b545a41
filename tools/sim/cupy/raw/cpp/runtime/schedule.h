// How the threads of a block take turns, warp by warp and lane by lane, until all have left it; then the next block.
#pragma once

namespace simt {

struct Schedule {
    const Kernel* kernel;
    void* arguments[MOST_ARGUMENTS];
    uint64_t blocks, number;      // of them all, the one that runs
    bool inside;                  // a block runs
    uint64_t begun, done, arrived;  // blocks; how often one came to a barrier of the grid
    uint64_t most_resident;       // blocks that a GPU runs at a time
    uint64_t turns;
};

static Schedule schedule;

constexpr uint64_t TURNS = 1 << 12;  // until Python has a look

static void run_kernel() {
    schedule.kernel->call(schedule.kernel->function, schedule.arguments);
    notice_change();
    Fiber& me = *block.current;
    me.state = State::DONE;
    Fiber* lanes[WARP];
    unsigned count = warp_of(me.warp, lanes);
    for (unsigned lane = 0; lane < count; lane++)  // some may have waited only for this one
        if (lanes[lane]->state == State::MEETING) try_to_meet(*lanes[lane], lanes[lane]->truth);
}

static bool begin_block() {
    if (!take_fibers()) return false;
    schedule.number = schedule.begun++;
    attention.idle = 0;
    block.index = block.place(schedule.number);
    races.block = races.first + uint32_t(schedule.number);
    races.pass_barrier(++races.order.now);
    races.unset = nullptr;
    races.knowledge.begin_block(block.threads);
    races.copies.assign(block.threads, Copies());
    races.arrivals.clear();
    races.clocks.assign((block.threads + WARP - 1) / WARP, Clock());
    for (unsigned thread = 0; thread < block.threads; thread++) {
        Fiber& fiber = block.fibers[thread];
        fiber.state = State::READY;
        fiber.depth = 0;
        fiber.place = fiber.at = fiber.acted_at = fiber.last_wait = 0;
        fiber.first = fiber.last = 0;
        fiber.steps = fiber.since_barrier = 0;
        fiber.matrix = {};
        std::fill(fiber.entered, fiber.entered + LEVELS, Entered());
        std::fill(fiber.call, fiber.call + LEVELS, fiber.calls = 0);
        fiber.knows = fiber.heard = fiber.fenced = fiber.looks = fiber.looked_at = 0;
    }
    return true;
}

static void make_room(Fiber& fiber) {
    if (counting) std::move(&fiber.trace[fiber.first], fiber.trace.data() + fiber.last, fiber.trace.data());
    fiber.last = counting ? fiber.pending() : 0;
    fiber.first = 0;
}

static bool all_shared_reads_were_set() {
    if (!races.unset) return true;
    describe(UNSET, races.unset_by.place, block.fibers[races.unset_by.thread]);
    describe_array(*races.unset, races.unset_at);
    describe_matrix(*races.unset, races.unset_of);
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

// All threads that are left stand at barriers: is it one and the same? Gives one of them; nullptr if not.
static const Fiber* at_one_barrier(Votes& votes) {
    const Fiber* first = nullptr;
    for (unsigned thread = 0; thread < block.threads; thread++) {
        Fiber& fiber = block.fibers[thread];
        if (!fiber.alive()) continue;
        if (!first) first = &fiber;
        votes.threads++;
        votes.true_for += fiber.truth;
    }
    for (unsigned thread = 0; thread < block.threads; thread++)
        if (is_missing(block.fibers[thread], *first)) {
            refuse_waiting(*first);
            return nullptr;
        }
    return first;
}

static void release_barrier(Votes votes) {
    races.pass_barrier(++races.order.now);
    unsigned warp = ~0u;
    std::vector<Fiber*> alive;
    for (unsigned thread = 0; thread < block.threads; thread++) {
        Fiber& fiber = block.fibers[thread];
        if (!fiber.alive()) continue;
        if (counting && fiber.warp != warp) warp = fiber.warp, log.barriers[place_of(fiber.waiting_at)]++;
        fiber.last_wait = place_of(fiber.waiting_at);
        fiber.result = uint64_t(votes.threads) << 32 | votes.true_for;
        fiber.since_barrier = 0;
        fiber.state = State::READY;
        alive.push_back(&fiber);
    }
    join(alive.data(), unsigned(alive.size()), true);
}

static bool pass_barrier() {
    Votes votes = {};
    const Fiber* first = at_one_barrier(votes);
    if (!first || !all_shared_reads_were_set()) return false;
    bool of_grid = first->state == State::AT_GRID;
    release_barrier(votes);
    if (of_grid) {
        schedule.arrived++;
        park(schedule.number, true);
        schedule.inside = false;
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
    if (alive) return pass_barrier();
    schedule.inside = false;
    schedule.done++;
    return all_shared_reads_were_set();
}

// All blocks that have not ended wait for the whole grid.
static bool release_grid() {
    if (residents.size() < schedule.blocks) {
        schedule.number = unpark();
        const Fiber* waiting = &block.fibers[0];
        while (!waiting->alive()) waiting++;
        describe(GRID_MISSED, place_of(waiting->waiting_at), *waiting).number = int64_t(schedule.done);
        copy_text(fault.text, sizeof fault.text, waiting->waiting_in);
        return false;
    }
    for (Resident& resident : residents) resident.at_grid = false;
    races.order.generation++;
    notice_change();
    return true;
}

// A block runs now: one that begins, or the next of those that wait for others.
static bool enter_block(bool begins) {
    bool more = schedule.begun < schedule.blocks && residents.size() < schedule.most_resident;
    auto ready = std::stable_partition(residents.begin(), residents.end(), [](auto& each) { return !each.at_grid; });
    bool others = ready != residents.begin();
    schedule.inside = true;
    if (more && (begins || !others)) {
        if (begin_block()) return true;
        fault = {};
        fault.refusal = NO_MEMORY;
        return false;
    }
    if (!others && !release_grid()) return false;
    schedule.number = unpark();
    return true;
}

// The block that runs looks at flags in vain: others have their turn.
static bool give_way() {
    bool for_ever = nobody_will_go_on(residents.size());
    attention.idle = 0;
    if (!for_ever && residents.empty() && schedule.begun == schedule.blocks) return true;
    park(schedule.number, false);
    if (!for_ever) return enter_block(true);
    auto before = [](const Resident& a, const Resident& b) {
        return std::pair(a.at_grid, a.number) < std::pair(b.at_grid, b.number);
    };
    std::sort(residents.begin(), residents.end(), before);
    schedule.number = unpark();
    return refuse_deadlock(schedule.begun, schedule.blocks);
}

}  // namespace simt
