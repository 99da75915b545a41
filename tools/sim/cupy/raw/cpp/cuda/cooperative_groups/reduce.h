// reduce of cooperative groups: by shuffles, where a GPU has an instruction for integers.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define SIMT_OPERATION(name, expression)                                        \
    template <class T> struct name {                                            \
        SIMT_PLAIN T operator()(T a, T b) const { return expression; }          \
    };

SIMT_OPERATION(plus, a + b)
SIMT_OPERATION(less, b < a ? b : a)
SIMT_OPERATION(greater, a < b ? b : a)
SIMT_OPERATION(bit_and, a & b)
SIMT_OPERATION(bit_or, a | b)
SIMT_OPERATION(bit_xor, a ^ b)

#undef SIMT_OPERATION

// How lanes combine their values. name, here: of the call that asked for it.
struct simt_combined {
    template <class Group, class T, class Operation>
    SIMT_PLAIN static T scan(const Group& group, T value, Operation& operation, const char* name, void* here) {
        for (unsigned delta = 1; delta < group.size(); delta *= 2) {
            T before = simt::given(group.lanes(), value, group.before(delta), name, here);
            if (delta <= group.thread_rank()) value = operation(value, before);
        }
        return value;
    }

    template <class T, class Operation>
    SIMT_PLAIN static T butterfly(unsigned lanes, T value, Operation& operation, unsigned size, void* here) {
        for (int bits = int(size / 2); bits > 0; bits /= 2)
            value = operation(value, simt::given(lanes, value, simt::across(bits, int(size)), "reduce", here));
        return value;
    }
};

// The result is that of all lanes, and every lane has it; float sums are rounded in the order that CUDA's header has.
template <unsigned SIZE, class Parent, class T, class Operation>
SIMT_PLAIN T reduce(const thread_block_tile<SIZE, Parent>& tile, T value, Operation&& operation) {
    return simt_combined::butterfly(tile.lanes(), value, operation, SIZE, SIMT_HERE);
}

template <class T, class Operation>
SIMT_PLAIN T reduce(const coalesced_group& group, T value, Operation&& operation) {
    if (group.size() == 32) return simt_combined::butterfly(group.lanes(), value, operation, 32, SIMT_HERE);
    value = simt_combined::scan(group, value, operation, "reduce", SIMT_HERE);
    return simt::given(group.lanes(), value, group.at_rank(group.size() - 1), "reduce", SIMT_HERE);
}

}  // namespace cooperative_groups
