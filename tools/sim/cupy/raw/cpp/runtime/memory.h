// What a kernel may touch: arguments, variables of the module, shared arrays. Each lies in a window of addresses of
// its own, so that what leaves an array meets no other one.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "fibers.h"

namespace simt {

constexpr size_t ARGUMENT_WINDOW = size_t(8) << 30, ARGUMENTS = 32;  // bytes of a window; how many there are
constexpr size_t SHARED_WINDOW = size_t(16) << 20, SHARED_ARRAYS = 256;
constexpr size_t SITES = 4096;

// What is known about some bytes of shared or global memory in the block that runs.
struct Cell {
    uint32_t block;               // in which they were touched last; what follows is from another one otherwise
    bool stored;                  // since the block began
    struct Touch { uint16_t thread; bool is_flag; uint32_t epoch, clock, time, place; unsigned long long when; };
    Touch store;
    bool store_is_atomic;
    Touch load;                   // the last one
    uint32_t loaders;             // lanes of its warp that have loaded since the warp's clock was load.clock
    Touch other_load;             // by a thread of another warp than load's
};

// An access of one kind by a block that global memory remembers. block: 0 for none; time: of the launch; generation:
// how many barriers of the whole grid came before.
struct Past { uint32_t block, place, time; uint16_t thread, generation; };

// Of some bytes of global memory, over all blocks of a launch.
struct History { Past of[3]; };  // by Operation

struct Range {
    std::string name;
    uintptr_t low, high;
    int64_t address;  // of low, as a GPU would have it
    Space space;
    size_t element;               // bytes
    bool changed = false;
    unsigned granule = 0;         // bytes of a cell
    std::vector<Cell> cells = {}; // of shared memory
    bool watched = false;         // global memory that the kernel may store to
    History* history = nullptr;   // of its cells, where there are several blocks: the first access of each kind,
    History* later = nullptr;     // and the last one by another block, where blocks take turns
    bool has_later = false;

    bool holds(uintptr_t at, size_t size) const { return at >= low && at + size <= high; }
};

// A declaration of a shared array. launch: the last one in which it was come upon.
struct Declaration { int number; const char* function; Range* range; uint64_t launch; };

struct Memory {
    char* windows = nullptr;                         // first those of arguments, then those of shared arrays
    std::deque<Range> arguments, variables, shared;  // deques, because others point to them
    Range dynamic = {};
    std::vector<Declaration> declarations;
    std::vector<Range*> known;  // in the order of their addresses
    uint64_t launch = 0;        // number of the launch that runs,
    size_t static_shared = 0;   // and the bytes of shared arrays that it has come upon
};

// Constructed with the first variable that registers, before main.
inline Memory& memory() {
    static Memory memory;
    return memory;
}

// So many bytes of window `number`, counted in windows of arguments first, ready for use. They lie in its middle, so
// that both sides are empty. nullptr when there is no room.
inline char* open_window(size_t number, size_t size) {
    Memory& all = memory();
    bool of_argument = number < ARGUMENTS;
    size_t width = of_argument ? ARGUMENT_WINDOW : SHARED_WINDOW;
    if (number >= ARGUMENTS + SHARED_ARRAYS || size > width / 4) return nullptr;
    if (!all.windows) {
        size_t total = ARGUMENT_WINDOW * ARGUMENTS + SHARED_WINDOW * SHARED_ARRAYS;
        void* place = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED) return nullptr;
        all.windows = static_cast<char*>(place);
    }
    char* first = of_argument ? all.windows : all.windows + ARGUMENT_WINDOW * ARGUMENTS;
    char* start = first + width * (of_argument ? number : number - ARGUMENTS) + width / 2;
    return mprotect(start, std::max<size_t>(size, 1), PROT_READ | PROT_WRITE) == 0 ? start : nullptr;
}

inline void know(Range& range) {
    auto& known = memory().known;
    auto after = [](uintptr_t low, const Range* other) { return low < other->low; };
    known.insert(std::upper_bound(known.begin(), known.end(), range.low, after), &range);
}

inline Range* find(uintptr_t at, size_t size) {
    auto& known = memory().known;
    auto after = [](uintptr_t address, const Range* other) { return address < other->low; };
    auto next = std::upper_bound(known.begin(), known.end(), at, after);
    return next != known.begin() && next[-1]->holds(at, size) ? next[-1] : nullptr;
}

// The array that an access missed: the one whose window it fell into. nullptr when it is nobody's.
inline Range* missed(uintptr_t at) {
    Range* best = nullptr;
    uintptr_t least = ARGUMENT_WINDOW / 2;
    for (Range* range : memory().known) {
        uintptr_t away = at < range->low ? range->low - at : at >= range->high ? at - range->high : 0;
        if (away < least) best = range, least = away;
    }
    return best;
}

// Does this address lie in the module's own image, as tables of constants and texts do?
inline bool in_module(uintptr_t at) {
    static const void* base = [] {
        Dl_info info;
        return dladdr(reinterpret_cast<void*>(&in_module), &info) ? info.dli_fbase : nullptr;
    }();
    Dl_info info;
    return dladdr(reinterpret_cast<void*>(at), &info) && info.dli_fbase == base;
}

// Does this place lie in a function that copies a structure, as compilers make them?
inline bool copies(void* here) {
    Dl_info info;
    if (!dladdr(static_cast<char*>(here) - 1, &info) || !info.dli_sname) return false;
    for (const char* end : {"C1ERKS", "C2ERKS", "C1EOS", "C2EOS", "aSERKS", "aSEOS"})
        if (std::strstr(info.dli_sname, end)) return true;
    return false;
}

// Where an instruction found its array the last time. in_copy: see copies; -1 if that is not known.
struct Site { void* here; Range* range; uintptr_t page; signed char in_copy; };
extern Site sites[SITES];

inline Site& site_of(void* here) {
    Site& site = sites[reinterpret_cast<uintptr_t>(here) % SITES];
    if (site.here != here) site = {here, nullptr, 0, -1};
    return site;
}

}  // namespace simt
