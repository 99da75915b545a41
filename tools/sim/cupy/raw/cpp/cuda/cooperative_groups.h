// Cooperative groups: the block, tiles of a warp, the lanes that stand together, and the whole grid.
#pragma once

#include "simt/shuffles.h"

namespace cooperative_groups {

// Any group by its kind; the lanes of a group of lanes.
class thread_group {
protected:
    enum Kind : unsigned char { BLOCK, LANES, GRID };
    Kind kind;
    const char* sync_name;
    unsigned mask;

    SIMT_PLAIN thread_group(Kind kind, const char* sync_name, unsigned mask = 0)
        : kind(kind), sync_name(sync_name), mask(mask) {}

public:
    using size_type = unsigned long long;

    SIMT_PLAIN void sync() const { sync_at(SIMT_HERE); }
    SIMT_PLAIN void sync_at(void* here) const {
        if (kind == BLOCK) simt::barrier(false, sync_name, here);
        else if (kind == GRID) simt::barrier_of_grid(sync_name, here);
        else simt::meet(mask, 0, 0, simt::nothing, true, sync_name, here);
    }
    SIMT_PLAIN unsigned long long thread_rank() const {
        if (kind == LANES) return simt::rank_of(mask, simt::lane());
        unsigned in_block = simt::rank_in(simt::thread_index(), simt::block_size());
        if (kind == BLOCK) return in_block;
        unsigned long long block = simt::rank_in(simt::block_index(), simt::grid_size());
        return block * simt::count_of(simt::block_size()) + in_block;
    }
    SIMT_PLAIN unsigned long long num_threads() const {
        if (kind == LANES) return unsigned(__builtin_popcount(mask));
        unsigned long long blocks = kind == GRID ? simt::count_of(simt::grid_size()) : 1;
        return blocks * simt::count_of(simt::block_size());
    }
    SIMT_PLAIN unsigned long long size() const { return num_threads(); }
    SIMT_PLAIN bool is_valid() const { return true; }
    SIMT_PLAIN bool is_of_lanes() const { return kind == LANES; }
    SIMT_PLAIN unsigned lanes() const { return mask; }
};

class thread_block : public thread_group {
    SIMT_PLAIN thread_block() : thread_group(BLOCK, "block.sync") {}
    friend thread_block this_thread_block();

public:
    SIMT_PLAIN static void sync() { simt::barrier(false, "block.sync", SIMT_HERE); }
    SIMT_PLAIN static unsigned thread_rank() { return simt::rank_in(simt::thread_index(), simt::block_size()); }
    SIMT_PLAIN static unsigned num_threads() { return simt::count_of(simt::block_size()); }
    SIMT_PLAIN static unsigned size() { return num_threads(); }
    SIMT_PLAIN static dim3 group_index() { return simt::as<dim3>(simt::block_index()); }
    SIMT_PLAIN static dim3 thread_index() { return simt::as<dim3>(simt::thread_index()); }
    SIMT_PLAIN static dim3 group_dim() { return simt::as<dim3>(simt::block_size()); }
    SIMT_PLAIN static dim3 dim_threads() { return group_dim(); }
};

class grid_group : public thread_group {
    SIMT_PLAIN grid_group() : thread_group(GRID, "grid.sync") {}
    friend grid_group this_grid();

public:
    SIMT_PLAIN bool is_valid() const { return simt::is_cooperative(); }
    SIMT_PLAIN static unsigned long long num_blocks() { return simt::count_of(simt::grid_size()); }
    SIMT_PLAIN static unsigned long long block_rank() { return simt::rank_in(simt::block_index(), simt::grid_size()); }
    SIMT_PLAIN static dim3 dim_blocks() { return simt::as<dim3>(simt::grid_size()); }
    SIMT_PLAIN static dim3 group_dim() { return dim_blocks(); }
    SIMT_PLAIN static dim3 block_index() { return simt::as<dim3>(simt::block_index()); }
};

// What the lanes of a group do together. Group::source_of: the lane that a shuffle asks; packed: bits by rank.
template <class Group> class of_lanes : public thread_group {
    SIMT_PLAIN const Group& me() const { return static_cast<const Group&>(*this); }

protected:
    SIMT_PLAIN of_lanes(const char* sync_name, unsigned mask) : thread_group(LANES, sync_name, mask) {}

public:
    template <class T> SIMT_PLAIN T shfl(T value, int rank) const {
        return simt::given(mask, value, me().at_rank(unsigned(rank)), Group::names[0], SIMT_HERE);
    }
    template <class T> SIMT_PLAIN T shfl_up(T value, unsigned delta) const {
        return simt::given(mask, value, me().before(delta), Group::names[1], SIMT_HERE);
    }
    template <class T> SIMT_PLAIN T shfl_down(T value, unsigned delta) const {
        return simt::given(mask, value, me().behind(delta), Group::names[2], SIMT_HERE);
    }
    SIMT_PLAIN unsigned ballot(int predicate) const {
        return me().by_rank(unsigned(
            simt::meet(mask, predicate != 0, 0, simt::true_for, false, Group::names[4], SIMT_HERE)));
    }
    SIMT_PLAIN int any(int predicate) const {
        return simt::meet(mask, predicate != 0, 0, simt::true_for, false, Group::names[5], SIMT_HERE) != 0;
    }
    SIMT_PLAIN int all(int predicate) const {
        return int(simt::meet(mask, predicate != 0, 0, simt::true_for_all, false, Group::names[6], SIMT_HERE));
    }
    template <class T> SIMT_PLAIN unsigned match_any(T value) const {
        return me().by_rank(unsigned(
            simt::meet(mask, simt::bits_of(value), 0, simt::alike, false, Group::names[7], SIMT_HERE)));
    }
    template <class T> SIMT_PLAIN unsigned match_all(T value, int& all) const {
        unsigned lanes = unsigned(
            simt::meet(mask, simt::bits_of(value), 0, simt::all_alike, false, Group::names[8], SIMT_HERE));
        all = lanes != 0;
        return me().by_rank(lanes);
    }
    SIMT_PLAIN unsigned thread_rank() const { return simt::rank_of(mask, simt::lane()); }
    SIMT_PLAIN unsigned num_threads() const { return unsigned(__builtin_popcount(mask)); }
    SIMT_PLAIN unsigned size() const { return num_threads(); }
};

#define SIMT_NAMES(group)                                                                                    \
    {group ".shfl", group ".shfl_up", group ".shfl_down", group ".shfl_xor", group ".ballot", group ".any",  \
     group ".all", group ".match_any", group ".match_all", "reduce", "inclusive_scan", "exclusive_scan"}

// SIZE neighbouring lanes of a warp, whether the block has threads for all of them or not.
template <unsigned SIZE, class Parent = void> class thread_block_tile : public of_lanes<thread_block_tile<SIZE>> {
    static_assert(SIZE <= 32, "tiles of more than 32 threads, which span warps, are not simulated");
    static_assert((SIZE & (SIZE - 1)) == 0 && SIZE, "the size of a tile is a power of two");
    using Base = of_lanes<thread_block_tile<SIZE>>;
    unsigned meta_rank, meta_size;

public:
    SIMT_PLAIN thread_block_tile(unsigned meta_rank, unsigned meta_size)
        : Base("tile.sync", (SIZE == 32 ? 0xffffffff : (1u << SIZE % 32) - 1) << (simt::lane() & ~(SIZE - 1))),
          meta_rank(meta_rank), meta_size(meta_size) {}
    template <class Other>
    SIMT_PLAIN thread_block_tile(const thread_block_tile<SIZE, Other>& other)
        : thread_block_tile(other.meta_group_rank(), other.meta_group_size()) {}

    template <class T> SIMT_PLAIN T shfl_xor(T value, int bits) const {
        return simt::given(this->mask, value, simt::across(bits, SIZE), names[3], SIMT_HERE);
    }
    SIMT_PLAIN static constexpr unsigned num_threads() { return SIZE; }
    SIMT_PLAIN static constexpr unsigned size() { return SIZE; }
    SIMT_PLAIN unsigned meta_group_rank() const { return meta_rank; }
    SIMT_PLAIN unsigned meta_group_size() const { return meta_size; }

    SIMT_PLAIN unsigned at_rank(unsigned rank) const { return simt::at_index(int(rank), SIZE); }
    SIMT_PLAIN unsigned before(unsigned delta) const { return simt::below(delta, SIZE); }
    SIMT_PLAIN unsigned behind(unsigned delta) const { return simt::above(delta, SIZE); }
    SIMT_PLAIN unsigned by_rank(unsigned lanes) const { return lanes >> (simt::lane() & ~(SIZE - 1)); }
    static constexpr const char* names[] = SIMT_NAMES("tile");
};

// Any lanes of a warp.
class coalesced_group : public of_lanes<coalesced_group> {
    unsigned meta_rank, meta_size;

public:
    SIMT_PLAIN explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
        : of_lanes("group.sync", mask), meta_rank(meta_rank), meta_size(meta_size) {}
    template <unsigned SIZE, class Parent>
    SIMT_PLAIN coalesced_group(const thread_block_tile<SIZE, Parent>& tile) : coalesced_group(tile.lanes()) {}

    SIMT_PLAIN unsigned meta_group_rank() const { return meta_rank; }
    SIMT_PLAIN unsigned meta_group_size() const { return meta_size; }

    SIMT_PLAIN unsigned at_rank(unsigned rank) const { return simt::lane_of(mask, rank); }
    SIMT_PLAIN unsigned before(unsigned delta) const {
        return thread_rank() < delta ? simt::lane() : at_rank(thread_rank() - delta);
    }
    SIMT_PLAIN unsigned behind(unsigned delta) const {
        return thread_rank() + delta >= size() ? simt::lane() : at_rank(thread_rank() + delta);
    }
    SIMT_PLAIN unsigned by_rank(unsigned lanes) const { return simt::packed(mask, lanes); }
    static constexpr const char* names[] = SIMT_NAMES("group");
};

#undef SIMT_NAMES

SIMT_PLAIN inline thread_block this_thread_block() { return {}; }
SIMT_PLAIN inline grid_group this_grid() { return {}; }
SIMT_PLAIN inline coalesced_group coalesced_threads() { return coalesced_group(simt::converged(SIMT_HERE)); }

template <class T = void> void this_cluster() {
    static_assert(sizeof(T*) == 0, "clusters of blocks are not simulated");
}

template <unsigned SIZE, class Parent>
SIMT_PLAIN thread_block_tile<SIZE, Parent> tiled_partition(const Parent& parent) {
    unsigned rank = unsigned(parent.thread_rank()), threads = unsigned(parent.size());
    return {rank / SIZE, (threads + SIZE - 1) / SIZE};
}

// The lanes of a group with equal `key`; parts are numbered by their lowest lanes.
SIMT_PLAIN inline coalesced_group part_of(unsigned mask, unsigned long long key, const char* name, void* here) {
    unsigned own = unsigned(simt::meet(mask, key, 0, simt::alike, false, name, here));
    unsigned first = unsigned(__builtin_ctz(own));
    unsigned leaders = unsigned(simt::meet(mask, first == simt::lane(), 0, simt::true_for, false, name, here));
    return coalesced_group(own, simt::rank_of(leaders, first), unsigned(__builtin_popcount(leaders)));
}

SIMT_PLAIN inline coalesced_group tiled_partition(const thread_group& parent, unsigned size) {
    unsigned mask = parent.lanes();
    if (!parent.is_of_lanes()) mask = size >= 32 ? 0xffffffff : ((1u << size) - 1) << (simt::lane() & ~(size - 1));
    unsigned rank = unsigned(parent.thread_rank()), threads = unsigned(parent.num_threads()), lanes = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (mask >> lane & 1 && (!parent.is_of_lanes() || simt::rank_of(mask, lane) / size == rank / size))
            lanes |= 1u << lane;
    return coalesced_group(lanes, rank / size, (threads + size - 1) / size);
}

template <class Group, class Label> SIMT_PLAIN coalesced_group labeled_partition(const Group& group, Label label) {
    return part_of(group.lanes(), simt::bits_of(label), "labeled_partition", SIMT_HERE);
}
template <class Group> SIMT_PLAIN coalesced_group binary_partition(const Group& group, bool predicate) {
    unsigned own = part_of(group.lanes(), predicate, "binary_partition", SIMT_HERE).lanes();
    return own == group.lanes() ? coalesced_group(own) : coalesced_group(own, predicate, 2);
}

template <class Group> SIMT_PLAIN void sync(const Group& group) {
    static_cast<const thread_group&>(group).sync_at(SIMT_HERE);
}
template <class Group> SIMT_PLAIN auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> SIMT_PLAIN auto group_size(const Group& group) { return group.size(); }

template <class Group, class Function, class... Values>
void invoke_one(const Group& group, Function&& function, Values&&... values) {
    if (group.thread_rank() == 0) function(values...);
}

}  // namespace cooperative_groups
