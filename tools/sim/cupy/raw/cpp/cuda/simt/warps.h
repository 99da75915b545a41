// Barriers, and the functions by which the lanes of a warp work together.
#pragma once

#define SIMT_FUNCTION SIMT_PLAIN inline

SIMT_FUNCTION void __syncthreads() { simt::barrier(false, "__syncthreads", SIMT_HERE); }

SIMT_FUNCTION int __syncthreads_count(int predicate) {
    return simt::barrier(predicate != 0, "__syncthreads_count", SIMT_HERE).true_for;
}

SIMT_FUNCTION int __syncthreads_and(int predicate) {
    simt::Votes votes = simt::barrier(predicate != 0, "__syncthreads_and", SIMT_HERE);
    return votes.true_for == votes.threads;
}

SIMT_FUNCTION int __syncthreads_or(int predicate) {
    return simt::barrier(predicate != 0, "__syncthreads_or", SIMT_HERE).true_for != 0;
}

namespace simt {

template <class T> SIMT_PLAIN uint64_t bits_of(T value) {
    static_assert(sizeof(T) <= 8, "CUDA exchanges values of at most 8 bytes between lanes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T> SIMT_PLAIN T of_bits(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

SIMT_FUNCTION uint64_t nothing(const Meeting&, unsigned, const char*, void*) { return 0; }

SIMT_FUNCTION uint64_t from_argument(const Meeting& meeting, unsigned lane, const char* name, void* here) {
    return taken(meeting, unsigned(meeting.arguments[lane]), name, here);
}

SIMT_FUNCTION uint64_t true_for(const Meeting& meeting, unsigned, const char*, void*) {
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (meeting.members >> lane & 1 && meeting.values[lane]) lanes |= 1u << lane;
    return lanes;
}

SIMT_FUNCTION uint64_t true_for_all(const Meeting& meeting, unsigned lane, const char* name, void* here) {
    return true_for(meeting, lane, name, here) == meeting.members;
}

SIMT_FUNCTION uint64_t alike(const Meeting& meeting, unsigned lane, const char*, void*) {
    unsigned lanes = 0;
    for (unsigned other = 0; other < 32; other++)
        if (meeting.members >> other & 1 && meeting.values[other] == meeting.values[lane]) lanes |= 1u << other;
    return lanes;
}

SIMT_FUNCTION uint64_t all_alike(const Meeting& meeting, unsigned lane, const char* name, void* here) {
    return alike(meeting, lane, name, here) == meeting.members ? meeting.members : 0;
}

// The lane whose value is asked for; a lane's own where the group of `width` lanes ends (CUDA C++ Guide, shuffle).
SIMT_FUNCTION unsigned last_of_group(int width) { return lane() | unsigned(width - 1); }
SIMT_FUNCTION unsigned at_index(int source, int width) {
    return (lane() & ~unsigned(width - 1)) | (unsigned(source) & unsigned(width - 1));
}
SIMT_FUNCTION unsigned below(unsigned delta, int width) {
    return (lane() & unsigned(width - 1)) >= delta ? lane() - delta : lane();
}
SIMT_FUNCTION unsigned above(unsigned delta, int width) {
    return last_of_group(width) - lane() >= delta ? lane() + delta : lane();
}
SIMT_FUNCTION unsigned across(int bits, int width) {
    return (lane() ^ unsigned(bits)) <= last_of_group(width) ? lane() ^ unsigned(bits) : lane();
}

}  // namespace simt

#define SIMT_SHUFFLE(name, Argument, source_of)                                                              \
    template <class T> SIMT_FUNCTION T name(unsigned mask, T value, Argument argument, int width = 32) {     \
        return simt::of_bits<T>(simt::meet(mask, simt::bits_of(value), simt::source_of(argument, width),     \
                                           simt::from_argument, false, #name, SIMT_HERE));                   \
    }

SIMT_SHUFFLE(__shfl_sync, int, at_index)
SIMT_SHUFFLE(__shfl_up_sync, unsigned, below)
SIMT_SHUFFLE(__shfl_down_sync, unsigned, above)
SIMT_SHUFFLE(__shfl_xor_sync, int, across)

SIMT_FUNCTION void __syncwarp(unsigned mask = 0xffffffffu) {
    simt::meet(mask, 0, 0, simt::nothing, true, "__syncwarp", SIMT_HERE);
}
SIMT_FUNCTION unsigned __ballot_sync(unsigned mask, int predicate) {
    return unsigned(simt::meet(mask, predicate != 0, 0, simt::true_for, false, "__ballot_sync", SIMT_HERE));
}
SIMT_FUNCTION int __any_sync(unsigned mask, int predicate) {
    return simt::meet(mask, predicate != 0, 0, simt::true_for, false, "__any_sync", SIMT_HERE) != 0;
}
SIMT_FUNCTION int __all_sync(unsigned mask, int predicate) {
    return int(simt::meet(mask, predicate != 0, 0, simt::true_for_all, false, "__all_sync", SIMT_HERE));
}
template <class T> SIMT_FUNCTION unsigned __match_any_sync(unsigned mask, T value) {
    return unsigned(simt::meet(mask, simt::bits_of(value), 0, simt::alike, false, "__match_any_sync", SIMT_HERE));
}
template <class T> SIMT_FUNCTION unsigned __match_all_sync(unsigned mask, T value, int* all) {
    unsigned lanes = unsigned(simt::meet(mask, simt::bits_of(value), 0, simt::all_alike, false,
                                         "__match_all_sync", SIMT_HERE));
    *all = lanes != 0;
    return lanes;
}
SIMT_FUNCTION unsigned __activemask() { return simt::converged(SIMT_HERE); }

namespace simt {

template <class T, class Operator>
SIMT_PLAIN uint64_t folded(const Meeting& meeting, unsigned lane, const char*, void*) {
    T total = of_bits<T>(meeting.values[lane]);
    for (unsigned other = 0; other < 32; other++)
        if (other != lane && meeting.members >> other & 1)
            total = Operator::of(total, of_bits<T>(meeting.values[other]));
    return bits_of(total);
}

}  // namespace simt

#define SIMT_REDUCE(name, T, expression)                                                                     \
    namespace simt { struct name##_##T { SIMT_PLAIN static T of(T a, T b) { return expression; } }; }        \
    SIMT_FUNCTION T name(unsigned mask, T value) {                                                           \
        return simt::of_bits<T>(simt::meet(mask, simt::bits_of(value), 0, simt::folded<T, simt::name##_##T>, \
                                           false, #name, SIMT_HERE));                                        \
    }

SIMT_REDUCE(__reduce_add_sync, int, int(unsigned(a) + unsigned(b)))
SIMT_REDUCE(__reduce_add_sync, unsigned, a + b)
SIMT_REDUCE(__reduce_min_sync, int, a < b ? a : b)
SIMT_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
SIMT_REDUCE(__reduce_max_sync, int, a > b ? a : b)
SIMT_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
SIMT_REDUCE(__reduce_and_sync, unsigned, a & b)
SIMT_REDUCE(__reduce_or_sync, unsigned, a | b)
SIMT_REDUCE(__reduce_xor_sync, unsigned, a ^ b)

#undef SIMT_SHUFFLE
#undef SIMT_REDUCE
