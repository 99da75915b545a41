// Threads of the simulated block, one after another on one thread of the host. Each has a stack of its own and
// leaves it only where it must wait, or when its turn is over.
#pragma once

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <vector>

#include "simt/runtime.h"

namespace simt {

constexpr unsigned WARP = 32;
constexpr size_t STACK = 256 << 10;   // bytes of a thread's stack,
constexpr size_t RESERVE = 64 << 10;  // of which so many stay free for the C library
constexpr size_t GUARD = 16 << 10;    // and so many are out of bounds
constexpr unsigned TURN = 1024;       // steps that a thread makes before others have theirs

// One step of a thread: it entered a basic block, or accessed memory.
struct Step {
    uint32_t place;     // in the module's code
    uint16_t depth;     // of calls
    uint8_t access;     // 0: none; else 1 + operation + 4 * space
    uint8_t size;       // bytes
    int64_t address;    // as a GPU would have it; of a basic block: which of the thread's calls it belongs to
};

// The basic block that a thread entered last in one call, and with whom: number of that step of the warp, the lowest
// lane, how many lanes.
struct Entered { int64_t call; uint32_t place; uint64_t step; unsigned leader, companions; };
constexpr unsigned LEVELS = 16;  // of calls that are told apart

enum class State : uint8_t { READY, AT_BARRIER, AT_GRID, MEETING, CONVERGING, BLOCKED, DONE };

// A fragment that is loaded or stored: where it begins, and the bytes to its next row, or column. All 0 for none.
struct Matrix { uintptr_t start; uint64_t stride; bool by_rows; };

struct Fiber {
    // Who it is.
    unsigned thread, lane, warp;
    Index index;
    // How it runs.
    State state;
    bool begun;  // its stack is in use
    jmp_buf context;
    char* stack;
    // What it waits for.
    void* waiting_at;
    const char* waiting_in;
    bool truth;          // at a barrier
    uintptr_t object;    // BLOCKED, until the barrier there has another phase than this
    uint64_t phase;
    unsigned mask;       // in a meeting, as its value, argument and rule
    uint64_t value, argument;
    Rule rule;
    uint64_t result;
    // Where it is in the kernel itself, and where it last accessed memory or waited.
    uint16_t depth, depth_of_kernel;
    int64_t calls, call[LEVELS];  // how many so far; by depth, which one it is in,
    void* from[LEVELS];           // and where it was called
    uint32_t place, acted_at, last_wait;
    uint32_t at;  // its last step, in whatever function
    unsigned long long steps, since_barrier;
    Matrix matrix;  // that it accesses
    // Fences (order.h): the latest that it has heard of, the latest that it will have heard of when it passes a fence
    // itself, and the latest that it can tell others of.
    uint32_t knows, heard, fenced;
    // Looks at flags (waiting.h): in vain in this turn, where the last one was, and what tells that they are.
    unsigned looks, glanced;  // glanced: in this turn, in vain or not
    uint32_t looked_at, acted_in;
    uint64_t changes, glances, anchor;
    // What it did in this turn, as far as its warp has not caught up.
    std::vector<Step> trace;
    unsigned first, last;
    Entered entered[LEVELS];

    bool alive() const { return state != State::DONE; }
    unsigned pending() const { return last - first; }
};

struct Block {
    Index index, size, grid;
    unsigned threads = 0;
    std::vector<Fiber> fibers;  // those of the largest block so far
    Fiber* current = nullptr;   // nullptr: the scheduler runs
    bool cooperative = false;   // all blocks of the grid are there from the start
    bool in_step = false;       // lanes go no further than a warp in lockstep would, as the kernel asks who is there
    jmp_buf scheduler;
    void (*body)() = nullptr;   // a thread's life

    Index place(uint64_t number) const {  // of a block of this number
        return {unsigned(number % grid.x), unsigned(number / grid.x % grid.y), unsigned(number / grid.x / grid.y)};
    }
    uint64_t number() const { return index.x + uint64_t(grid.x) * (index.y + uint64_t(grid.y) * index.z); }
};

extern Block block;

[[noreturn]] void leave(int why);  // to the scheduler, for ever

inline void suspend() {
    Fiber& me = *block.current;
    if (_setjmp(me.context) == 0) _longjmp(block.scheduler, 1);
}

inline void fiber_main() {
    for (;;) {  // each turn of this loop is a thread's life
        block.body();
        suspend();
    }
}

// Run a thread until it waits, its turn is over, or something is wrong. What `leave` was given; 0 otherwise.
inline int resume(Fiber& fiber) {
    block.current = &fiber;
    int why = _setjmp(block.scheduler);
    if (why == 0) {
        if (fiber.begun) _longjmp(fiber.context, 1);
        fiber.begun = true;
        ucontext_t start;
        getcontext(&start);
        start.uc_stack.ss_sp = fiber.stack;
        start.uc_stack.ss_size = STACK;
        start.uc_link = nullptr;
        makecontext(&start, fiber_main, 0);
        setcontext(&start);
    }
    block.current = nullptr;
    return why - 1;
}

inline void leave(int why) { _longjmp(block.scheduler, why + 1); }

// Have stacks for the threads of the block that runs. False when the host gives no memory.
inline bool prepare() {
    while (block.fibers.size() < block.threads) {
        Fiber fiber = {};
        void* stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED) return false;
        fiber.stack = static_cast<char*>(stack);
        mprotect(stack, GUARD, PROT_NONE);
        block.fibers.push_back(fiber);
    }
    return true;
}

}  // namespace simt
