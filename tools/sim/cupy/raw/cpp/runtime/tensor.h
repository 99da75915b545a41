// Products of small matrices by a whole warp, as tensor cores make them.
#pragma once

namespace simt {

void need_whole_warp(const Meeting& meeting, const char* name, void* here) {
    if (meeting.members == ~0u) return;
    describe(WHOLE_WARP, place_of(here), *served).number = meeting.members;
    copy_text(fault.text, sizeof fault.text, name);
    leave(FAULT);
}

void misused(const char* sentence, void* here) {
    describe(MISUSED, place_of(here), block.current ? *block.current : *served);
    copy_text(fault.text, sizeof fault.text, sentence);
    leave(FAULT);
}

void begin_matrix(const void* start, size_t stride, bool by_rows) {
    block.current->matrix = {reinterpret_cast<uintptr_t>(start), stride, by_rows};
}

void add_product(const double* a, const double* b, double* c, Extent size, void* here) {
    for (unsigned row = 0; row < size.m; row++) {
        for (unsigned column = 0; column < size.n; column++) {
            double sum = 0;
            for (unsigned i = 0; i < size.k; i++) sum += a[row * size.k + i] * b[i * size.n + column];
            c[row * size.n + column] += sum;
        }
    }
    if (counting) log.products[place_of(here)] += 2ull * size.m * size.n * size.k;
}

}  // namespace simt
