// Values that lanes give each other in cooperative groups: of up to 32 bytes, eight at a time.
#pragma once

namespace simt {

// The value of lane `source`. mask: the lanes that take part.
template <class T>
SIMT_PLAIN T given(unsigned mask, const T& value, unsigned source, const char* name, void* here) {
    static_assert(sizeof(T) <= 32, "cooperative groups exchange values of at most 32 bytes between lanes");
    unsigned long long words[4] = {};
    move(words, &value, sizeof(T));
    for (unsigned word = 0; 8 * word < sizeof(T); word++)
        words[word] = meet(mask, words[word], source, from_argument, false, name, here);
    T result = value;
    move(&result, words, sizeof(T));
    return result;
}

// The lane of this rank among those of the mask; one that is not among them if there are not so many.
SIMT_PLAIN inline unsigned lane_of(unsigned mask, unsigned rank) {
    for (unsigned lane = 0; lane < 32; lane++)
        if (mask >> lane & 1 && rank-- == 0) return lane;
    return mask == 0xffffffff ? 0 : unsigned(__builtin_ctz(~mask));
}

SIMT_PLAIN inline unsigned rank_of(unsigned mask, unsigned lane) {
    return unsigned(__builtin_popcount(mask & ((1u << lane) - 1)));
}

// Bits by lane made into bits by rank.
SIMT_PLAIN inline unsigned packed(unsigned mask, unsigned bits) {
    unsigned result = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (mask & bits & 1u << lane) result |= 1u << rank_of(mask, lane);
    return result;
}

SIMT_PLAIN inline unsigned rank_in(Index index, Index size) {
    return (index.z * size.y + index.y) * size.x + index.x;
}

SIMT_PLAIN inline unsigned count_of(Index size) { return size.x * size.y * size.z; }

}  // namespace simt
