// Fragments of matrices in the lanes of a warp: where each element is, how it is loaded and stored, and products.
#pragma once

namespace simt {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct Tf32 {};

template <class T> struct Stored { using type = T; };
template <> struct Stored<Tf32> { using type = float; };

template <class A, class B> constexpr bool is_same = false;
template <class A> constexpr bool is_same<A, A> = true;

template <class T> constexpr bool of_8_bits = one_of<T, signed char, unsigned char>;

template <class T> constexpr bool known_shape(Extent s, bool sums) {
    bool wide = (s.m == 16 && s.n == 16) || (s.m == 32 && s.n == 8) || (s.m == 8 && s.n == 32);
    if (is_same<T, double>) return s.m == 8 && s.n == 8 && s.k == 4;
    if (is_same<T, Tf32>) return s.m == 16 && s.n == 16 && s.k == 8;
    if (sums && is_same<T, float> && s.k == 8) return s.m == 16 && s.n == 16;
    return wide && s.k == 16 && (sums ? one_of<T, float, __half, int> : of_8_bits<T> || one_of<T, __half, __nv_bfloat16>);
}

template <class T, class C, class D> constexpr bool known_sum() {
    if (is_same<T, __half>) return one_of<C, __half, float> && one_of<D, __half, float>;
    if (of_8_bits<T>) return is_same<C, int> && is_same<D, int>;
    if (is_same<T, double>) return is_same<C, double> && is_same<D, double>;
    return is_same<C, float> && is_same<D, float>;
}

// A lane's part of a matrix. `outer` and `inner`: its two dimensions, of which the second is the one that products
// sum over, or that pairs of sums run along. Blocks are 8 x (4 * run), of which a lane has `run` elements in a row.
template <class Use, int m, int n, int k, class T> struct Lanes {
    using Element = typename Stored<T>::type;
    using element_type = T;
    using storage_element_type = Element;
    static constexpr bool of_sums = is_same<Use, accumulator>, of_b = is_same<Use, matrix_b>;
    static constexpr bool swapped = m == 8 && n == 32;  // the product is made of b and a
    static constexpr bool transposed = of_sums && swapped, by_inner = of_b && !swapped;  // in which order blocks come
    static constexpr int outer = of_b || transposed ? n : m, inner = !of_sums ? k : transposed ? m : n;
    static constexpr int run = of_sums ? 2 : sizeof(Element) < 4 ? 4 / int(sizeof(Element)) : 1;
    static constexpr int outer_blocks = outer / 8, inner_blocks = inner / (4 * run), blocks = outer_blocks * inner_blocks;
    static constexpr int held = blocks * run;  // elements that differ; those of half are held twice, or four times
    enum { num_elements = !of_sums && is_same<T, __half> ? 16 : held, num_storage_elements = num_elements };

    Element x[num_elements];

    SIMT_PLAIN Lanes() { touch_all(true); }

    // Fill it with a pattern that no number is likely to have; or: does it still hold that?
    SIMT_PLAIN bool touch_all(bool fill) {
        unsigned char* bytes = reinterpret_cast<unsigned char*>(x);
        bool as_made = true;
        for (unsigned i = 0; i < sizeof x; i++) {
            unsigned char made = (unsigned char)(0xa5 ^ 37 * i);
            if (fill) bytes[i] = made;
            as_made &= bytes[i] == made;
        }
        return as_made;
    }

    SIMT_PLAIN static int outer_block(int block) {
        if (by_inner) return block / inner_blocks;
        const int together = outer_blocks < 2 ? outer_blocks : 2;
        return block % together + together * (block / (together * inner_blocks));
    }
    SIMT_PLAIN static int inner_block(int block) {
        if (by_inner) return block % inner_blocks;
        return block / (outer_blocks < 2 ? outer_blocks : 2) % inner_blocks;
    }
    SIMT_PLAIN static int at_outer(int lane, int i) { return outer_block(i / run) * 8 + lane / 4; }
    SIMT_PLAIN static int at_inner(int lane, int i) {
        return inner_block(i / run) * 4 * run + lane % 4 * run + i % run;
    }
    // Row and column in the product's matrices, as one number.
    SIMT_PLAIN static int number(int lane, int i) {
        int o = at_outer(lane, i), in = at_inner(lane, i);
        return of_b || transposed ? in * outer + o : o * inner + in;
    }
};

// How a matrix lies in memory. along: elements that follow each other along `inner` are neighbours.
template <class E> struct Placed {
    E* start;
    unsigned ldm;
    bool along;
    SIMT_PLAIN E* at(int outer, int inner) const {
        return start + (along ? size_t(outer) * ldm + inner : size_t(inner) * ldm + outer);
    }
};

// Accesses of the instructions that NVIDIA's compiler makes of it: ldmatrix for half and bytes in shared memory, else
// pairs or fours that are neighbours, and single elements.
template <class F, class E> SIMT_PLAIN void touch_matrix(const Placed<E>& placed, Operation operation, void* here) {
    const int me = int(lane()), size = int(sizeof(E));
    const bool turned = !placed.along && size == 2 && F::run == 2;
    if (!F::of_sums && (of_8_bits<typename F::element_type> ? placed.along : is_same<typename F::element_type, __half>)
        && is_shared(placed.start)) {
        for (int first = 0; first < F::blocks; first += 4) {
            int block = first + me / 8;
            if (block >= F::blocks) continue;
            int o = F::outer_block(block) * 8, i = F::inner_block(block) * 4 * F::run;
            touch(placed.along ? placed.at(o + me % 8, i) : placed.at(o, i + me % 8), 16, operation, here);
        }
    } else if (turned) {
        for (int block = 0; block < F::blocks; block++) {
            int o = F::outer_block(block) * 8 + me % 4 * 2, i = F::inner_block(block) * 8 + me / 4;
            touch(placed.at(o, i), 4, operation, here);
        }
    } else {
        for (int i = 0; i < F::held; i += placed.along ? F::run : 1)
            touch(placed.at(F::at_outer(me, i), F::at_inner(me, i)), placed.along ? size_t(F::run) * size : size_t(size),
                  operation, here);
    }
}

SIMT_PLAIN inline unsigned long alike_in_warp(const Meeting& meeting, unsigned lane, const char* name, void* here) {
    need_whole_warp(meeting, name, here);
    if (meeting.values[lane] != meeting.values[0] || meeting.arguments[lane] != meeting.arguments[0])
        misused("passes another address or another stride to wmma than lane 0|"
                "All lanes of a warp pass the same. Does it depend on threadIdx.x?", here);
    return 0;
}

template <class F, class E>
SIMT_PLAIN void together(const Placed<E>& placed, Operation operation, const char* name, void* here) {
    meet(~0u, reinterpret_cast<unsigned long>(placed.start), placed.ldm * 2ul + placed.along, alike_in_warp, false, name, here);
    if (reinterpret_cast<unsigned long>(placed.start) % 32)
        misused("passes an address to wmma that is no multiple of 32 bytes|"
                "Is what is added to the array one? A shared array can be __align__(32).", here);
    if (sizeof(E) > 1 && placed.ldm * sizeof(E) % 16)
        misused("passes a stride to wmma whose bytes are no multiple of 16|"
                "How many elements does a row have? Pad it to a multiple.", here);
    begin_matrix(placed.start, placed.ldm * sizeof(E), placed.along != (F::of_b || F::transposed));
    touch_matrix<F>(placed, operation, here);
    begin_matrix(nullptr, 0, false);
}

template <class F, class E>
SIMT_PLAIN void load(F& f, const E* from, unsigned ldm, bool along, const char* name, void* here) {
    Placed<const E> placed = {from, ldm, along};
    together<F>(placed, LOAD, name, here);
    for (int i = 0; i < F::num_elements; i++)
        move(&f.x[i], placed.at(F::at_outer(lane(), i % F::held), F::at_inner(lane(), i % F::held)), sizeof(E));
}

template <class F, class E>
SIMT_PLAIN void store(const F& f, E* to, unsigned ldm, bool along, const char* name, void* here) {
    Placed<E> placed = {to, ldm, along};
    together<F>(placed, STORE, name, here);
    for (int i = 0; i < F::held; i++)
        move(placed.at(F::at_outer(lane(), i), F::at_inner(lane(), i)), &f.x[i], sizeof(E));
}

// Products. A tensor core takes no notice of the last 13 bits of a tf32.
template <class T> SIMT_PLAIN double taken_as(const typename Stored<T>::type& x) {
    if constexpr (is_same<T, Tf32>) return of_bits<float>(bits_of(x) & 0xffffe000);
    else if constexpr (one_of<T, __half, __nv_bfloat16>) return widened(x.bits, T::fraction);
    else return double(x);
}

template <class T> SIMT_PLAIN T given_as(double sum, bool satf) {
    if constexpr (!is_same<T, int>) return T(sum);
    else if (satf) return int(sum < -0x1p31 ? -0x1p31 : sum > 0x1p31 - 1 ? 0x1p31 - 1 : sum);
    else return int((long long)sum);
}

template <class D, class A, class B, class C> struct Operands {
    using Sums = D;
    D* d;
    const A* a;
    const B* b;
    const C* c;
    bool satf;
};

template <class F> SIMT_PLAIN void gather(const F* f, unsigned lane, double* matrix, void* here) {
    if (const_cast<F*>(f)->touch_all(false))
        misused("gives a fragment to wmma::mma_sync in which nothing was put|"
                "Which of the three is neither loaded nor filled?", here);
    for (int i = 0; i < F::held; i++) matrix[F::number(int(lane), i)] = taken_as<typename F::element_type>(f->x[i]);
}

template <class All, class A, class B> SIMT_PLAIN unsigned long product(const Meeting& meeting, unsigned lane, const char* name, void* here) {
    need_whole_warp(meeting, name, here);
    if (lane != 0) return 0;
    constexpr unsigned m = A::outer, n = B::outer, k = A::inner;
    double a[m * k], b[k * n], c[m * n];
    for (unsigned each = 0; each < 32; each++) {
        const All& all = *reinterpret_cast<const All*>(meeting.values[each]);
        gather(all.a, each, a, here), gather(all.b, each, b, here), gather(all.c, each, c, here);
    }
    add_product(a, b, c, Extent{m, n, k}, here);
    for (unsigned each = 0; each < 32; each++) {
        const All& all = *reinterpret_cast<const All*>(meeting.values[each]);
        using D = typename All::Sums;
        for (int i = 0; i < D::held; i++)
            all.d->x[i] = given_as<typename D::Element>(c[D::number(int(each), i)], all.satf);
    }
    return 0;
}

template <class D, class A, class B, class C>
SIMT_PLAIN void multiply(D& d, const A& a, const B& b, const C& c, bool satf, const char* name, void* here) {
    Operands<D, A, B, C> all = {&d, &a, &b, &c, satf};
    meet(~0u, reinterpret_cast<unsigned long>(&all), 0, product<Operands<D, A, B, C>, A, B>, false, name, here);
}

}  // namespace simt
