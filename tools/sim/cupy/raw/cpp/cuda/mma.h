// nvcuda::wmma: products of matrices on tensor cores, by all lanes of a warp together.
//
// A lane holds elements of 8 x 8 blocks (8 x 4 or 8 x 16 for wider and narrower types), as the instructions of compute
// capability 8.0 and later want them, and as an H100 was seen to hold them; CUDA promises nothing about x[i]. Sums are exact in double and
// rounded once; a tensor core drops some of the last bits.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/wmma.h"

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };
struct row_major {};
struct col_major {};
using simt::accumulator;
using simt::matrix_a;
using simt::matrix_b;
namespace precision {
using tf32 = simt::Tf32;
}

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment : public simt::Lanes<Use, m, n, k, T> {
    static_assert(simt::known_shape<T>(simt::Extent{m, n, k}, simt::is_same<Use, accumulator>),
                  "tensor cores have no fragment of this shape and type");
};

SIMT_PLAIN inline float __float_to_tf32(float x) {
    unsigned bits = simt::of_bits<unsigned>(simt::bits_of(x));
    if ((bits & 0x7f800000) != 0x7f800000) bits = (bits + 0x1000) & 0xffffe000;  // to the nearest, ties away from 0
    return simt::of_bits<float>(bits);
}

template <class F, class V> SIMT_PLAIN static void fill_fragment(F& f, const V& value) {
    for (int i = 0; i < F::num_elements; i++) f.x[i] = typename F::Element(value);
}

template <int m, int n, int k, class T, class Layout>
SIMT_PLAIN inline void load_matrix_sync(fragment<matrix_a, m, n, k, T, Layout>& f,
                                        const typename simt::Stored<T>::type* from, unsigned ldm) {
    simt::load(f, from, ldm, simt::is_same<Layout, row_major>, "wmma::load_matrix_sync", SIMT_HERE);
}

template <int m, int n, int k, class T, class Layout>
SIMT_PLAIN inline void load_matrix_sync(fragment<matrix_b, m, n, k, T, Layout>& f,
                                        const typename simt::Stored<T>::type* from, unsigned ldm) {
    simt::load(f, from, ldm, simt::is_same<Layout, col_major>, "wmma::load_matrix_sync", SIMT_HERE);
}

template <int m, int n, int k, class T>
SIMT_PLAIN inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from, unsigned ldm,
                                        layout_t layout) {
    simt::load(f, from, ldm, (layout == mem_row_major) != f.transposed, "wmma::load_matrix_sync", SIMT_HERE);
}

template <int m, int n, int k, class T>
SIMT_PLAIN inline void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f, unsigned ldm,
                                         layout_t layout) {
    simt::store(f, to, ldm, (layout == mem_row_major) != f.transposed, "wmma::store_matrix_sync", SIMT_HERE);
}

template <int m, int n, int k, class D, class T, class LayoutA, class LayoutB, class C>
SIMT_PLAIN inline void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                                const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                                const fragment<accumulator, m, n, k, C>& c, bool satf = false) {
    static_assert(simt::known_sum<T, C, D>(), "tensor cores do not add up numbers of these types in this one");
    simt::multiply(d, a, b, c, satf, "wmma::mma_sync", SIMT_HERE);
}

}  // namespace wmma
}  // namespace nvcuda
