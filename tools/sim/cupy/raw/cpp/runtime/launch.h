// Memory that kernels declare, and what Python calls: to begin a launch, to run it in slices, to read what it did.
#pragma once

namespace simt {

constexpr size_t STATIC_SHARED_LIMIT = 48 << 10;  // bytes that a kernel may declare
constexpr int64_t ALIGNMENT = 512;                // of device memory
constexpr size_t ARGUMENT_BYTES = 32764;          // of all of a kernel's parameters together

static int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

Variable::Variable(const char* name, void* address, size_t size, size_t element, Space space) {
    auto& variables = memory().variables;
    int64_t place = 0;
    if (!variables.empty()) place = variables.back().address + int64_t(variables.back().high - variables.back().low);
    uintptr_t low = reinterpret_cast<uintptr_t>(address);
    variables.push_back({name, low, low + size, round_up(place, ALIGNMENT), space, element});
    know(variables.back());
}

static void set_cells(Range& range, size_t alignment) {
    range.granule = unsigned(std::min<size_t>(alignment, 4));
    range.cells.assign((range.high - range.low + range.granule - 1) / range.granule, Cell());
}

static Range& new_shared_range(const char* name, size_t size, Element element) {
    Memory& all = memory();
    uintptr_t low = reinterpret_cast<uintptr_t>(open_window(ARGUMENTS + 1 + all.shared.size(), size));
    all.shared.push_back({name, low, low + size, 0, SHARED, element.size});
    set_cells(all.shared.back(), element.alignment);
    know(all.shared.back());
    return all.shared.back();
}

static Declaration& declaration(int number, const char* function, const char* name, size_t size, Element element) {
    Memory& all = memory();
    for (Declaration& known : all.declarations)
        if (known.number == number && known.function == function) return known;
    all.declarations.push_back({number, function, &new_shared_range(name, size, element), 0});
    return all.declarations.back();
}

void* shared(int number, const char* function, const char* name, size_t size, Element element, void* here) {
    Memory& all = memory();
    Declaration& found = declaration(number, function, name, size, element);
    if (found.launch != all.launch) {
        found.launch = all.launch;
        all.static_shared += size;
    }
    if (block.current && (all.static_shared > STATIC_SHARED_LIMIT || !found.range->low)) {
        describe(found.range->low ? TOO_MUCH_SHARED : NO_MEMORY, place_of(here)).number = int64_t(all.static_shared);
        leave(FAULT);
    }
    return reinterpret_cast<void*>(found.range->low);
}

void* dynamic_shared(const char* name, Element element) {
    Range& range = memory().dynamic;
    range.name = name;
    range.element = element.size;
    if (range.granule == 0 || element.alignment < range.granule) set_cells(range, element.alignment);
    return reinterpret_cast<void*>(range.low ? range.low : uintptr_t(open_window(ARGUMENTS, 1)));
}

static bool set_dynamic_shared(size_t size) {
    Range& range = memory().dynamic;
    uintptr_t low = reinterpret_cast<uintptr_t>(open_window(ARGUMENTS, size));
    bool known = range.low != 0;
    range.low = low, range.high = low + size, range.space = SHARED;
    if (!known) know(range);
    if (range.granule) set_cells(range, range.granule);
    return low != 0;
}

static bool set_values(const Kernel& kernel, const void* const* values) {
    alignas(16) static char bytes[ARGUMENT_BYTES + 16 * MOST_ARGUMENTS];
    size_t used = 0;
    for (unsigned number = 0; number < kernel.count; number++) {
        size_t size = kernel.parameters[number].size;
        if (number == MOST_ARGUMENTS || used + size > ARGUMENT_BYTES) return false;
        schedule.arguments[number] = bytes + used;
        std::memcpy(bytes + used, values[number], size);
        used += size_t(round_up(int64_t(size), 16));
    }
    return true;
}

static void forget_arguments() {
    Memory& all = memory();
    auto is_argument = [&](const Range* range) {
        return std::any_of(all.arguments.begin(), all.arguments.end(),
                           [&](const Range& each) { return &each == range; });
    };
    all.known.erase(std::remove_if(all.known.begin(), all.known.end(), is_argument), all.known.end());
    for (Range& range : all.variables) forget_history(range);
    for (Range& range : all.arguments) forget_history(range);
    for (Range& range : all.arguments)
        madvise(reinterpret_cast<void*>(range.low / ALIGNMENT * ALIGNMENT), range.high - range.low, MADV_DONTNEED);
    all.arguments.clear();
}

}  // namespace simt

using namespace simt;

// An array of the host that the next launch may touch: its bytes are copied. Where they lie then; nullptr: no room.
EXPORTED void* simt_argument(const char* name, const void* data, size_t size, int64_t address, size_t element,
                             bool read_only) {
    Memory& all = memory();
    size_t into_page = size_t(address % ALIGNMENT);
    char* window = all.arguments.size() < ARGUMENTS ? open_window(all.arguments.size(), into_page + size) : nullptr;
    if (!window) return nullptr;
    std::memcpy(window + into_page, data, size);
    uintptr_t low = reinterpret_cast<uintptr_t>(window) + into_page;
    all.arguments.push_back({name, low, low + size, address, GLOBAL, element});
    all.arguments.back().watched = !read_only;
    know(all.arguments.back());
    return window + into_page;
}

// Get ready to run. cooperative: all blocks are there from the start. in_step: see Block. values: where each argument's
// value is. False when something does not fit.
EXPORTED bool simt_begin(const Kernel* kernel, const uint32_t* grid, const uint32_t* size, size_t shared_bytes,
                         bool count, bool cooperative, bool in_step, const void* const* values) {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&simt_begin), &info);
    base = reinterpret_cast<uint64_t>(info.dli_fbase);
    block.grid = {grid[0], grid[1], grid[2]};
    block.size = {size[0], size[1], size[2]};
    block.threads = size[0] * size[1] * size[2];
    block.body = run_kernel;
    block.cooperative = cooperative;
    block.in_step = in_step;
    counting = count;
    schedule = {};
    schedule.kernel = kernel;
    schedule.blocks = uint64_t(grid[0]) * grid[1] * grid[2];
    races.first = races.last + 1;
    races.last += uint32_t(schedule.blocks);
    races.order.clear();
    races.in_turns = false;
    attention = {};
    for (Range& range : memory().arguments)
        if (range.watched) watch(range, schedule.blocks > 1);
    for (Range& range : memory().variables)
        if (range.space == GLOBAL) watch(range, schedule.blocks > 1);
    log = Log();
    memory().launch++;
    memory().static_shared = 0;
    std::fill(sites, sites + SITES, Site());
    return take_fibers() && set_dynamic_shared(shared_bytes) && set_values(*kernel, values);
}

// Bytes of shared arrays that the launch has come upon, without the dynamic one.
EXPORTED uint64_t simt_static_shared() { return memory().static_shared; }

// Go on for a while. most_resident: blocks that a GPU runs at a time.
EXPORTED int simt_run(uint64_t most_resident) {
    schedule.most_resident = most_resident;
    catch_signals();
    Progress progress = run();
    release_signals();
    fflush(stdout);
    return progress;
}

// A number that grows when a block begins, ends, or comes to a barrier of the grid.
EXPORTED uint64_t simt_progress() { return schedule.begun + schedule.done + schedule.arrived; }

// The launch will not be continued: the fault of the thread that ran longest, as if it were in an endless loop.
EXPORTED void simt_give_up() {
    if (!schedule.inside && !residents.empty()) schedule.number = unpark();
    Fiber* longest = &block.fibers[0];
    for (unsigned thread = 0; thread < block.threads; thread++) {
        Fiber& fiber = block.fibers[thread];
        if (fiber.alive() && (!longest->alive() || fiber.steps > longest->steps)) longest = &fiber;
    }
    describe(ENDLESS, longest->place, *longest);
}

EXPORTED const Fault* simt_fault() { return &fault; }

// For each thread of the block, 1 if the one that the fault names waits for it in vain.
EXPORTED void simt_missing(uint8_t* missing) {
    const Fiber& waiting = block.fibers[fault.thread];
    for (unsigned thread = 0; thread < block.threads; thread++) {
        const Fiber& fiber = block.fibers[thread];
        bool named = waiting.state != State::MEETING
            || (fiber.warp == waiting.warp && waiting.mask >> fiber.lane & 1);
        missing[thread] = named && is_missing(fiber, waiting);
    }
}

// For each thread of the block, the place where it waits as the one that the fault names does; 0 if it does not.
EXPORTED void simt_waiting(uint32_t* places) {
    const Fiber& waiting = block.fibers[fault.thread];
    for (unsigned thread = 0; thread < block.threads; thread++) {
        const Fiber& fiber = block.fibers[thread];
        places[thread] = fiber.state == waiting.state ? place_of(fiber.waiting_at) : 0;
    }
}

// After a launch, or in place of its end: the bytes of argument `number`, if the kernel stored to it.
EXPORTED const void* simt_changed(size_t number) {
    const Range& range = memory().arguments[number];
    return range.changed ? reinterpret_cast<const void*>(range.low) : nullptr;
}

EXPORTED void simt_end() {
    forget_arguments();
    forget_threads();
}

// What instruction `number` did since the last call of simt_forget_rows. False when there are not so many.
EXPORTED bool simt_rows(size_t number, Rows* rows) {
    if (number >= log.requests.size()) return false;
    const Requests& requests = log.requests[number];
    int what = requests.access - 1;
    *rows = {requests.place, what % 4, what / 4, requests.size, requests.addresses.size() / WARP,
             requests.addresses.data()};
    return true;
}

EXPORTED void simt_forget_rows() {
    log.requests.clear();
    log.by_key.clear();
    log.count = 0;
}

// Control flow since the launch began.
EXPORTED void simt_flow(Flow* flow) {
    *flow = {log.steps, log.lanes, 0, 0};
    for (const auto& [place, ending] : log.endings) {
        flow->branches += ending.is_branch ? ending.executed : 0;
        flow->divergent_branches += ending.parted;
    }
}

// By place, since the launch began: lanes that entered a basic block (0), warps that came to a barrier (1), operations
// of products of matrices (2). How many places that are; `most` of them are written down.
EXPORTED size_t simt_tally(int what, uint64_t* places, uint64_t* counts, size_t most) {
    size_t number = 0;
    for (const auto& [place, count] : what == 0 ? log.lanes_of : what == 1 ? log.barriers : log.products) {
        if (number < most) places[number] = place, counts[number] = count;
        number++;
    }
    return number;
}

// Where a variable of the module lies, and its bytes; nullptr when there is none of this name.
EXPORTED void* simt_variable(const char* name, size_t* size) {
    for (const Range& range : memory().variables) {
        if (range.name != name) continue;
        *size = range.high - range.low;
        return reinterpret_cast<void*>(range.low);
    }
    return nullptr;
}
