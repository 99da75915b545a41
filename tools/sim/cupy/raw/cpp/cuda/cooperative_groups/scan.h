// Scans of cooperative groups: of each lane, the result of all lanes up to it, or before it.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
SIMT_PLAIN T inclusive_scan(const Group& group, T value, Operation&& operation) {
    return simt_combined::scan(group, value, operation, "inclusive_scan", SIMT_HERE);
}
template <class Group, class T> SIMT_PLAIN T inclusive_scan(const Group& group, T value) {
    plus<T> operation;
    return simt_combined::scan(group, value, operation, "inclusive_scan", SIMT_HERE);
}

// Of the first lane: T(), whatever the operation.
template <class Group, class T, class Operation>
SIMT_PLAIN T exclusive_scan(const Group& group, T value, Operation&& operation) {
    T all = simt_combined::scan(group, value, operation, "exclusive_scan", SIMT_HERE);
    T before = simt::given(group.lanes(), all, group.before(1), "exclusive_scan", SIMT_HERE);
    return group.thread_rank() ? before : T();
}
template <class Group, class T> SIMT_PLAIN T exclusive_scan(const Group& group, T value) {
    plus<T> operation;
    T all = simt_combined::scan(group, value, operation, "exclusive_scan", SIMT_HERE);
    T before = simt::given(group.lanes(), all, group.before(1), "exclusive_scan", SIMT_HERE);
    return group.thread_rank() ? before : T();
}

}  // namespace cooperative_groups
