// How a launch ends when a thread does what must not be done.
#pragma once

namespace simt {

static void copy_text(char* to, size_t size, const char* text) { snprintf(to, size, "%s", text); }

// A record that names the thread and its place; what else is known is filled in by the caller.
static Fault& describe(Refusal refusal, uint32_t place, const Fiber& who) {
    fault = {};
    fault.refusal = refusal;
    fault.place = place;
    fault.thread = who.thread;
    fault.block[0] = block.index.x, fault.block[1] = block.index.y, fault.block[2] = block.index.z;
    return fault;
}

static Fault& describe(Refusal refusal, uint32_t place) { return describe(refusal, place, *block.current); }

static void describe_array(const Range& range, uintptr_t at) {
    copy_text(fault.array, sizeof fault.array, range.name.c_str());
    fault.offset = int64_t(at) - int64_t(range.low);
    fault.array_size = int64_t(range.high - range.low);
    fault.element = int64_t(range.element);
    if (!fault.size) fault.size = fault.element;
}

static void describe_matrix(const Range& range, const Matrix& matrix) {
    fault.start = matrix.stride ? int64_t(matrix.start) - int64_t(range.low) : 0;
    fault.stride = int64_t(matrix.stride);
    fault.by_rows = matrix.by_rows;
}

static uint32_t place_of(void* here) { return uint32_t(reinterpret_cast<uintptr_t>(here) - base); }

[[noreturn]] static void refuse_access(Refusal refusal, uintptr_t at, size_t size, Operation operation, void* here) {
    Range* range = missed(at);
    describe(refusal, place_of(here));
    fault.operation = operation;
    fault.size = int64_t(size);
    if (range) describe_array(*range, at), describe_matrix(*range, block.current->matrix);
    leave(FAULT);
}

static void fault_of_race(const Range& range, uintptr_t at, const Cell::Touch& mine, Operation operation,
                          const Cell::Touch& other, Operation other_operation) {
    describe(RACE, mine.place);
    describe_array(range, at);
    fault.operation = operation;
    fault.other_operation = other_operation;
    fault.other_thread = other.thread;
    fault.other_place = other.place;
    fault.earlier = mine.when < other.when;
}

void race(const Range& range, uintptr_t at, const Cell::Touch& mine, Operation operation, const Cell::Touch& other,
          Operation other_operation) {
    fault_of_race(range, at, mine, operation, other, other_operation);
    leave(FAULT);
}

void in_flight(const Range& range, uintptr_t at, const Cell::Touch& mine, Operation operation, const Cell& cell) {
    describe(IN_FLIGHT, mine.place);
    describe_array(range, at);
    fault.operation = operation;
    fault.other_thread = cell.in_flight - 1u;
    fault.other_place = cell.flight_from;
    leave(FAULT);
}

void race_of_blocks(const Range& range, uintptr_t at, const Cell::Touch& mine, Operation operation, const Past& other,
                    Operation other_operation) {
    Cell::Touch touch = {};
    touch.thread = other.thread, touch.place = other.place;
    fault_of_race(range, at, mine, operation, touch, other_operation);
    Index place = block.place(other.block - races.first);
    fault.other_block[0] = place.x, fault.other_block[1] = place.y, fault.other_block[2] = place.z;
    fault.of_blocks = true;
    leave(FAULT);
}

}  // namespace simt
