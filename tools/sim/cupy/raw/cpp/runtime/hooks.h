// What the compiler's instrumentation calls: ThreadSanitizer's hooks before each access, the coverage hook at each
// basic block, and two of UndefinedBehaviorSanitizer's. The sanitizers' own runtimes are not linked.
#pragma once

namespace simt {

// A turn ends before an access, so that nobody comes between its check and itself.
static inline void end_turn_if_over(Fiber& me) {
    if (me.last == TURN || me.looks >= LOOKS) suspend();
}

static inline void step(Fiber& me, uint32_t place, uint8_t access, uint8_t size, int64_t address) {
    end_turn_if_over(me);
    me.at = place;
    me.steps++;
    me.since_barrier++;
    if (counting) me.trace[me.last] = {place, me.depth, access, size, address};
    me.last++;
}

static inline void enter_block(void* here) {
    Fiber* me = block.current;
    if (!me) return;
    if (!me->steps) me->depth_of_kernel = std::max<uint16_t>(me->depth, 1);
    uint32_t place = place_of(here);
    if (me->depth <= me->depth_of_kernel) me->place = place;
    step(*me, place, 0, 0, me->call[me->depth % LEVELS]);
}

static inline void act_at(Fiber& me, uint32_t place) {
    if (me.depth <= me.depth_of_kernel) me.place = place;
    me.acted_at = me.place;
}

// A structure is copied where the learner has the copy, not where it is declared.
static void* outside_of_copies(const Fiber& me, void* here) {
    for (unsigned depth = me.depth; depth; depth--) {
        Site& site = site_of(here);
        if (site.in_copy < 0) site.in_copy = copies(here);
        if (!site.in_copy) break;
        here = me.from[depth % LEVELS];
    }
    return here;
}

static inline void access(uintptr_t at, size_t size, Operation operation, void* here, bool is_volatile = false) {
    Fiber* me = block.current;
    if (!me || at - reinterpret_cast<uintptr_t>(me->stack) < STACK) return;
    notice_store(__builtin_frame_address(0));
    end_turn_if_over(*me);
    here = outside_of_copies(*me, here);
    Site& site = site_of(here);
    if (!site.range || !site.range->holds(at, size)) {
        if (site.page && site.page == at >> 12) return;
        Range* range = find(at, size);
        if (!range && in_module(at)) {
            site.page = at >> 12;
            return;
        }
        if (!range) refuse_access(OUT_OF_BOUNDS, at, size, operation, here);
        site.range = range;
    }
    Range& range = *site.range;
    int64_t address = range.address + int64_t(at - range.low);
    if (address & (size - 1)) refuse_access(MISALIGNED, at, size, operation, here);
    if (operation != LOAD) {
        if (range.space == CONSTANT) refuse_access(READ_ONLY, at, size, operation, here);
        range.changed = true;
    }
    uint32_t place = place_of(here);
    act_at(*me, place);
    if (range.space == SHARED) check_shared(range, at, unsigned(size), operation, is_volatile, place);
    if (range.watched) check_global(range, at, unsigned(size), operation, is_volatile, place);
    step(*me, place, range.space == CONSTANT ? 0 : uint8_t(1 + operation + 4 * range.space), uint8_t(size), address);
    if (operation != LOAD) expect_store(*me, at, size, operation, place);
    else if (is_volatile) look(*me, place, __builtin_frame_address(0));
}

// A structure is moved in pieces that its alignment allows. The compiler does not tell it; 4 bytes is the usual one.
static inline void access_pieces(uintptr_t at, size_t size, Operation operation, void* here) {
    Fiber* me = block.current;
    if (!me || at - reinterpret_cast<uintptr_t>(me->stack) < STACK) return;
    size_t piece = size | at | 4;
    piece &= ~piece + 1;
    for (size_t done = 0; done < size; done += piece) access(at + done, piece, operation, here);
}

void touch(const void* address, size_t size, Operation operation, void* here) {
    access(reinterpret_cast<uintptr_t>(address), size, operation, here);
}

void move(void* to, const void* from, size_t size) { std::memcpy(to, from, size); }

void copy(void* to, const void* from, size_t size, size_t alignment, void* here) {
    size_t piece = std::min(size, alignment);
    for (size_t done = 0; done < size; done += piece) touch(static_cast<const char*>(from) + done, piece, LOAD, here);
    for (size_t done = 0; done < size; done += piece) touch(static_cast<char*>(to) + done, piece, STORE, here);
    move(to, from, size);
}

// Reports of UndefinedBehaviorSanitizer. Their layouts are part of its interface.
struct SourceLocation { const char* file; uint32_t line, column; };
struct TypeDescriptor { uint16_t kind, info; char name[1]; };
struct OutOfBounds { SourceLocation where; const TypeDescriptor* array; const TypeDescriptor* index; };

}  // namespace simt

#define HOOK(name, size, operation, is_volatile)                                                          \
    extern "C" void __tsan_##name##size(void* at) {                                                       \
        simt::access(reinterpret_cast<uintptr_t>(at), size, simt::operation, __builtin_return_address(0), \
                     is_volatile);                                                                        \
    }
#define HOOKS(size)                                                                                       \
    HOOK(read, size, LOAD, false) HOOK(write, size, STORE, false)                                         \
    HOOK(unaligned_read, size, LOAD, false) HOOK(unaligned_write, size, STORE, false)                     \
    HOOK(volatile_read, size, LOAD, true) HOOK(volatile_write, size, STORE, true)                         \
    HOOK(unaligned_volatile_read, size, LOAD, true) HOOK(unaligned_volatile_write, size, STORE, true)
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)

extern "C" {

void __tsan_read_range(void* at, size_t size) {
    simt::access_pieces(reinterpret_cast<uintptr_t>(at), size, simt::LOAD, __builtin_return_address(0));
}
void __tsan_write_range(void* at, size_t size) {
    simt::access_pieces(reinterpret_cast<uintptr_t>(at), size, simt::STORE, __builtin_return_address(0));
}

void __tsan_init() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

void __tsan_func_entry(void* from) {
    simt::Fiber* me = simt::block.current;
    if (!me) return;
    me->depth++;
    me->call[me->depth % simt::LEVELS] = ++me->calls;
    me->from[me->depth % simt::LEVELS] = from;
    char* top = static_cast<char*>(__builtin_frame_address(0));
    if (top < me->stack + simt::RESERVE && top >= me->stack) {
        simt::describe(simt::STACK_OVERFLOW, me->at);
        simt::leave(simt::FAULT);
    }
}
void __tsan_func_exit() {
    if (simt::block.current) simt::block.current->depth--;
}

void __sanitizer_cov_trace_pc() { simt::enter_block(__builtin_return_address(0)); }

void __ubsan_handle_out_of_bounds(simt::OutOfBounds* data, uintptr_t index) {
    if (!simt::block.current) return;
    simt::describe(simt::INDEX, simt::place_of(__builtin_return_address(0))).number = int32_t(index);
    simt::copy_text(simt::fault.text, sizeof simt::fault.text, data->array->name);
    simt::leave(simt::FAULT);
}
void __ubsan_handle_divrem_overflow(void*, uintptr_t, uintptr_t) {
    if (!simt::block.current) return;
    simt::describe(simt::DIVISION, simt::place_of(__builtin_return_address(0)));
    simt::leave(simt::FAULT);
}

// What a kernel copies and sets by these functions. clang calls them for structures, too: from LLVM 15 on by the names
// of ThreadSanitizer, before by their own. The linker leads those, if a kernel calls them, to __wrap_ (toolchain.py).
#define COPY(name, function)                                                                                   \
    void* name(void* to, const void* from, size_t size) {                                                      \
        simt::access_pieces(reinterpret_cast<uintptr_t>(from), size, simt::LOAD, __builtin_return_address(0)); \
        simt::access_pieces(reinterpret_cast<uintptr_t>(to), size, simt::STORE, __builtin_return_address(0));  \
        return function(to, from, size);                                                                       \
    }
#define SET(name)                                                                                              \
    void* name(void* to, int value, size_t size) {                                                             \
        simt::access_pieces(reinterpret_cast<uintptr_t>(to), size, simt::STORE, __builtin_return_address(0));  \
        return memset(to, value, size);                                                                        \
    }
COPY(__wrap_memcpy, memcpy)
COPY(__wrap_memmove, memmove)
COPY(__tsan_memcpy, memcpy)
COPY(__tsan_memmove, memmove)
SET(__wrap_memset)
SET(__tsan_memset)

}  // extern "C"
