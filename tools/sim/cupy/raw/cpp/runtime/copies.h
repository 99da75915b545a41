// Asynchronous copies: what was read when they were issued is in shared memory once the thread has waited for them.
#pragma once

namespace simt {

static char* shared_windows() { return memory().windows + ARGUMENT_WINDOW * ARGUMENTS; }

bool is_shared(const void* address) {
    const Range* range = find(reinterpret_cast<uintptr_t>(address), 1);
    return range && range->space == SHARED;
}

size_t to_shared(const void* address) { return size_t(static_cast<const char*>(address) - shared_windows()); }
void* from_shared(size_t address) { return shared_windows() + address; }

static void set_in_flight(const Copy& copy, bool in_flight) {
    Range& range = *find(copy.to, copy.size);
    size_t first = (copy.to - range.low) / range.granule, last = (copy.to - range.low + copy.size - 1) / range.granule;
    for (size_t number = first; number <= last; number++) {
        range.cells[number].in_flight = in_flight ? uint16_t(block.current->thread + 1) : 0;
        range.cells[number].flight_from = copy.place;
    }
}

// The parts of one access that memory allows: the last ones of fewer bytes where some are filled with zeros.
static void touch_source(const char* from, size_t size, void* here) {
    for (size_t piece = 16; size; piece /= 2)
        for (; size >= piece; size -= piece, from += piece) touch(from, piece, LOAD, here);
}

void copy_async(void* to, const void* from, size_t size, size_t zeros, void* here) {
    if (size != 4 && size != 8 && size != 16)
        misused("copies another number of bytes than 4, 8 or 16 asynchronously|Which of these is the element's size?", here);
    if (zeros > size) misused("fills more bytes with zeros than it copies|How many bytes are there to copy?", here);
    if (find(reinterpret_cast<uintptr_t>(to), 1) && !is_shared(to))
        misused("copies asynchronously to an array that is not shared|Such a copy goes from global to shared memory.", here);
    if (is_shared(from) || (size > zeros && block.current && reinterpret_cast<uintptr_t>(from) - reinterpret_cast<uintptr_t>(block.current->stack) < STACK))
        misused("copies asynchronously from memory that is not global|Such a copy goes from global to shared memory.", here);
    if (reinterpret_cast<uintptr_t>(from) % size)
        refuse_access(MISALIGNED, reinterpret_cast<uintptr_t>(from), size, LOAD, here);
    touch_source(static_cast<const char*>(from), size - zeros, here);
    touch(to, size, STORE, here);
    Copy copy = {reinterpret_cast<uintptr_t>(to), unsigned(size), place_of(here), {}};
    std::memcpy(copy.bytes, from, size - zeros);
    set_in_flight(copy, true);
    races.copies[block.current->thread].open.push_back(copy);
}

// The thread that waited stores them, as far as others can tell: now.
static void bring(const std::vector<Copy>& group) {
    for (const Copy& copy : group) {
        Range& range = *find(copy.to, copy.size);
        set_in_flight(copy, false);
        check_shared(range, copy.to, copy.size, STORE, PLAIN, copy.place);
        std::memcpy(reinterpret_cast<void*>(copy.to), copy.bytes, copy.size);
    }
}

void commit_copies() {
    Copies& mine = races.copies[block.current->thread];
    mine.groups.emplace_back();
    mine.groups.back().swap(mine.open);
}

void wait_for_copies(size_t prior) {
    Copies& mine = races.copies[block.current->thread];
    for (; mine.groups.size() > prior; mine.groups.pop_front()) bring(mine.groups.front());
}

void wait_for_all_copies() {
    wait_for_copies(0);
    Copies& mine = races.copies[block.current->thread];
    bring(mine.open);
    mine.open.clear();
}

}  // namespace simt
