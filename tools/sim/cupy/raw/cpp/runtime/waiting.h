// Does a block wait? A thread waits when it looks at a flag, by a volatile load or an atomic that changes nothing, in
// the very state in which it was there before: then only another thread can help it on.
#pragma once

namespace simt {

constexpr unsigned LOOKS = 2;         // of a thread in vain, until others have their turn
constexpr unsigned VAIN_ROUNDS = 16;  // and four for each block: then nobody will ever go on

struct Attention {
    // The last store or atomic: whether it changes anything is seen when the next access comes.
    const char* at = nullptr;
    size_t size;
    char before[16];
    Fiber* by;                       // nullptr: a plain store
    uint64_t changes = 0;            // of memory, and ends of threads
    bool changed, looked, computed;  // in this round of turns: memory, some in vain, others otherwise
    uint64_t vain = 0;               // rounds since something else happened
};

static Attention attention;

static uint64_t state_of(const Fiber& me, const void* frame) {
    uint64_t hash = 0xcbf29ce484222325ull;
    const char *from = static_cast<const char*>(frame), *top = me.stack + STACK;
    for (; from + 8 <= top; from += 8) {
        uint64_t word;
        std::memcpy(&word, from, 8);
        hash = (hash ^ word) * 0x100000001b3ull;
        hash ^= hash >> 29;
    }
    return hash;
}

// frame: of the kernel's functions that are in progress, the stack from here on. A state is compared with one that
// becomes as old as the loop is long (R. Brent's way to find a cycle).
static void look(Fiber& me, uint32_t place, const void* frame) {
    uint64_t state = state_of(me, frame) ^ place;
    if (me.changes != attention.changes) me.changes = attention.changes, me.glances = 0;
    me.glances++;
    if (me.glances > 1 && state == me.anchor) {
        me.looks++;
        me.looked_at = place;
        attention.looked = true;
    } else if ((me.glances & (me.glances - 1)) == 0) {
        me.anchor = state;
    }
}

static void notice_change() {
    attention.changed = true;
    attention.changes++;
}

// What became of the last store. frame: see look; nullptr when its thread does not run.
static void notice_store(const void* frame) {
    if (!attention.at) return;
    if (std::memcmp(attention.at, attention.before, attention.size) != 0) notice_change();
    else if (attention.by && attention.by == block.current && frame)
        look(*attention.by, attention.by->acted_in, frame);
    attention.at = nullptr;
}

static void expect_store(Fiber& me, uintptr_t at, size_t size, Operation operation, uint32_t place) {
    attention.at = reinterpret_cast<const char*>(at);
    attention.size = std::min(size, sizeof attention.before);
    std::memcpy(attention.before, attention.at, attention.size);
    attention.by = operation == ATOMIC ? &me : nullptr;
    me.acted_in = place;
}

static void begin_round() { attention.changed = attention.looked = attention.computed = false; }

// A thread has had its turn.
static void notice_turn(const Fiber& fiber) {
    if (fiber.state == State::READY && !fiber.looks) attention.computed = true;
}

static bool round_was_in_vain() {
    notice_store(nullptr);
    bool in_vain = attention.looked && !attention.changed && !attention.computed;
    attention.vain = in_vain ? attention.vain + 1 : 0;
    return in_vain;
}

static bool nobody_will_go_on(size_t residents) { return attention.vain > VAIN_ROUNDS + 4 * residents; }

// The threads that wait are those of one block, for what another thread does not do.
static bool refuse_deadlock(uint64_t begun, uint64_t blocks) {
    const Fiber* waiting = &block.fibers[0];
    for (unsigned thread = 0; thread < block.threads; thread++) {
        const Fiber& fiber = block.fibers[thread];
        if (fiber.alive() && fiber.looked_at && !(waiting->alive() && waiting->looked_at)) waiting = &fiber;
    }
    describe(DEADLOCK, waiting->looked_at, *waiting).number = int64_t(begun < blocks ? begun : 0);
    return false;
}

}  // namespace simt
