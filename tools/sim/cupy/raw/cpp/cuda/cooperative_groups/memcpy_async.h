// Copies by a group of threads: cooperative_groups::memcpy_async, wait and wait_prior.
#pragma once

#include "cooperative_groups.h"
#include "simt/objects.h"

namespace cooperative_groups {

template <class Group, class T, class Size>
SIMT_PLAIN void memcpy_async(const Group& group, T* to, const T* from, Size size) {
    simt::copy_in_pieces(to, from, size, group.thread_rank(), group.size(), SIMT_HERE);
    simt::commit_copies();
}
template <class Group> SIMT_PLAIN void wait(const Group& group) {
    simt::wait_for_copies(0);
    group.sync();
}
template <unsigned prior, class Group> SIMT_PLAIN void wait_prior(const Group& group) {
    simt::wait_for_copies(prior);
    group.sync();
}

}  // namespace cooperative_groups
