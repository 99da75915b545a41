// Which global memory is watched for races between blocks, and where its history lies while a launch runs.
#pragma once

namespace simt {

constexpr size_t MOST_WATCHED = size_t(32) << 20;  // bytes of an array in which races are looked for

static size_t history_bytes(const Range& range) {
    return sizeof(History) * ((range.high - range.low) / range.granule + 1);
}

static History* new_history(const Range& range) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* place = mmap(nullptr, history_bytes(range), PROT_READ | PROT_WRITE, flags, -1, 0);
    return place == MAP_FAILED ? nullptr : static_cast<History*>(place);
}

// Global memory that may be stored to is watched, unless that would take too much of the host's.
static void watch(Range& range, bool several_blocks) {
    size_t bytes = range.high - range.low;
    range.granule = unsigned(std::min<size_t>(std::max<size_t>(range.element, 1), 4));
    range.watched = bytes && bytes <= MOST_WATCHED;
    if (!range.watched || !several_blocks) return;
    range.history = new_history(range);
    range.later = range.history ? new_history(range) : nullptr;
    range.has_later = false;
}

static void forget_history(Range& range) {
    for (History* history : {range.history, range.later})
        if (history) munmap(history, history_bytes(range));
    range.history = range.later = nullptr;
}

}  // namespace simt
