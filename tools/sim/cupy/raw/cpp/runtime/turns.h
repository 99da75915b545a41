// How the warps of the block that runs have their turns.
#pragma once

#include "in_step.h"

namespace simt {

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

// A turn for each lane that can run. moved: whether there was one.
static bool run_warp(unsigned warp, bool& moved) {
    Fiber* lanes[WARP];
    unsigned count = warp_of(warp, lanes);
    bool ran = false;
    if (block.in_step && !run_in_step(lanes, count, ran)) return false;
    for (unsigned lane = 0; lane < count && !block.in_step; lane++) {
        Fiber& fiber = *lanes[lane];
        if (fiber.state == State::BLOCKED && phase_is_over(fiber)) fiber.state = State::READY;
        if (fiber.state != State::READY) continue;
        ran = true;
        make_room(fiber);
        fiber.looks = fiber.glanced = 0;
        if (fiber.last < TURN) {
            if (resume(fiber) == FAULT) return false;
            notice_turn(fiber);
        }
        schedule.turns++;
    }
    if (counting) advance(lanes, count);
    moved |= ran || answer_converged(lanes, count);
    return true;
}

static Progress run() {
    for (uint64_t end = schedule.turns + TURNS; schedule.done < schedule.blocks;) {
        if (!schedule.inside && !enter_block(false)) return FAULT;
        bool moved = false;
        begin_round();
        for (unsigned warp = 0; warp * WARP < block.threads; warp++)
            if (!run_warp(warp, moved)) return FAULT;
        if (!moved && !settle()) return FAULT;
        if (moved && round_was_idle() && !give_way()) return FAULT;
        if (log.count >= LOG_LIMIT) return FULL;
        if (schedule.turns >= end) return MORE;
    }
    return FINISHED;
}

}  // namespace simt
