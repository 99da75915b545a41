// Blocks that have begun and do not run at present: they wait for others, for a while or for the whole grid. Shared
// memory lies at the same addresses for all blocks, so that its bytes are kept here in the meantime.
#pragma once

namespace simt {

struct SharedBytes { std::vector<char> bytes; std::vector<Cell> cells; };

struct Resident {
    uint64_t number;
    bool at_grid;  // it waits for all blocks
    std::vector<Fiber> fibers;
    RacesOfBlock races;
    std::vector<SharedBytes> shared;
};

static std::deque<Resident> residents;
static std::vector<std::vector<Fiber>> spare_fibers;  // with their stacks, for blocks to come
constexpr size_t MOST_SPARE = 64;                     // blocks

static SharedBytes taken_out(Range& range) {
    const char* bytes = reinterpret_cast<const char*>(range.low);
    std::vector<Cell> cells(range.cells.size());
    cells.swap(range.cells);
    return {{bytes, bytes + (range.high - range.low)}, std::move(cells)};
}

static void put_back(Range& range, const SharedBytes& kept) {
    std::memcpy(reinterpret_cast<char*>(range.low), kept.bytes.data(), kept.bytes.size());
    size_t before = kept.cells.size(), now = range.cells.size();  // more, if another block declared smaller elements
    for (size_t number = 0; before && number < now; number++) range.cells[number] = kept.cells[number * before / now];
}

// The threads of a block that begins, with stacks. False when the host gives no memory.
static bool take_fibers() {
    if (block.fibers.size() < block.threads && !spare_fibers.empty()) {
        block.fibers.swap(spare_fibers.back());
        spare_fibers.pop_back();
    }
    if (!prepare()) return false;
    for (unsigned thread = 0; thread < block.threads; thread++) {
        Fiber& fiber = block.fibers[thread];
        fiber.thread = thread, fiber.warp = thread / WARP, fiber.lane = thread % WARP;
        fiber.index = {thread % block.size.x, thread / block.size.x % block.size.y,
                       thread / block.size.x / block.size.y};
        if (counting) fiber.trace.resize(TURN);
    }
    return true;
}

// Let go of the block that runs.
static void park(uint64_t number, bool at_grid) {
    Memory& all = memory();
    races.in_turns = true;
    residents.push_back({number, at_grid, {}, races, {}});
    Resident& resident = residents.back();
    resident.fibers.swap(block.fibers);
    resident.shared.push_back(taken_out(all.dynamic));
    for (Range& range : all.shared) resident.shared.push_back(taken_out(range));
    races.recent = Recent();
}

// Let the one that has waited longest go on. Its number.
static uint64_t unpark() {
    Memory& all = memory();
    Resident resident = std::move(residents.front());
    residents.pop_front();
    if (!block.fibers.empty()) spare_fibers.push_back(std::move(block.fibers));
    block.fibers = std::move(resident.fibers);
    static_cast<RacesOfBlock&>(races) = std::move(resident.races);
    put_back(all.dynamic, resident.shared[0]);
    for (size_t number = 1; number < resident.shared.size(); number++)
        put_back(all.shared[number - 1], resident.shared[number]);
    block.index = block.place(resident.number);
    return resident.number;
}

// A launch is over, or given up: the stacks of threads that have not ended are used from their start again.
static void forget_threads() {
    for (Resident& resident : residents) spare_fibers.push_back(std::move(resident.fibers));
    residents.clear();
    for (std::vector<Fiber>& fibers : spare_fibers)
        for (Fiber& fiber : fibers) fiber.begun = fiber.begun && !fiber.alive();
    for (Fiber& fiber : block.fibers) fiber.begun = fiber.begun && !fiber.alive();
    while (spare_fibers.size() > MOST_SPARE) {
        for (Fiber& fiber : spare_fibers.back()) munmap(fiber.stack, STACK);
        spare_fibers.pop_back();
    }
}

}  // namespace simt
