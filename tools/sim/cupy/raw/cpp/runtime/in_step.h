// Warps of a kernel that asks which lanes stand together: their lanes go from basic block to basic block in the order
// in which a warp in lockstep would execute them (lockstep.h), and not far ahead of each other.
#pragma once

namespace simt {

static bool is_last(const Fiber& fiber) { return fiber.state != State::READY && fiber.state != State::CONVERGING; }

// The lanes whose turn it is: those that are furthest behind, or deepest in calls. Not those that wait for a flag, nor
// those of which too much is noted before the others come up.
static unsigned furthest_behind(Fiber** lanes, unsigned count) {
    uint64_t least = ~0ull;
    unsigned chosen = 0;
    for (unsigned lane = 0; lane < count; lane++) {
        const Fiber& fiber = *lanes[lane];
        if (is_last(fiber) || fiber.looks || fiber.glanced >= GLANCES || fiber.last == TURN) continue;
        uint64_t own = rank({fiber.at, fiber.depth, 0, 0, 0});
        if (own < least) least = own, chosen = 0;
        if (own == least) chosen |= 1u << lane;
    }
    return chosen;
}

static unsigned in_state(Fiber** lanes, unsigned chosen, State state) {
    unsigned found = 0;
    for (unsigned lane = 0; lane < WARP; lane++)
        if (chosen >> lane & 1 && lanes[lane]->state == state) found |= 1u << lane;
    return found;
}

static void answer(Fiber** lanes, unsigned together) {
    for (unsigned lane = 0; lane < WARP; lane++)
        if (together >> lane & 1) lanes[lane]->result = together, lanes[lane]->state = State::READY;
}

static bool some_are_noted(Fiber** lanes, unsigned count) {
    for (unsigned lane = 0; lane < count; lane++)
        if (lanes[lane]->state == State::READY && lanes[lane]->last == TURN) return true;
    return false;
}

// Turns for the lanes of a warp, a basic block at a time. moved: whether there was one.
static bool run_in_step(Fiber** lanes, unsigned count, bool& moved) {
    for (unsigned lane = 0; lane < count; lane++) {
        make_room(*lanes[lane]);
        lanes[lane]->looks = lanes[lane]->glanced = 0;
        if (lanes[lane]->state == State::BLOCKED && phase_is_over(*lanes[lane])) lanes[lane]->state = State::READY;
    }
    for (unsigned turns = 0; turns < TURN; turns++) {
        bool last = some_are_noted(lanes, count);
        unsigned chosen = furthest_behind(lanes, count), ready = in_state(lanes, chosen, State::READY);
        if (!chosen) break;
        moved = true;
        if (!ready) answer(lanes, chosen);
        for (unsigned lane = 0; lane < count; lane++)
            if (ready >> lane & 1 && resume(*lanes[lane]) == FAULT) return false;
        if (last) break;
    }
    for (unsigned lane = 0; lane < count; lane++) notice_turn(*lanes[lane]);
    schedule.turns += count;
    return true;
}

}  // namespace simt
