// Asynchronous copies by the functions of C: __pipeline_memcpy_async and its relatives.
#pragma once

SIMT_PLAIN inline void __pipeline_memcpy_async(void* shared, const void* global, size_t size, size_t zfill = 0) {
    simt::copy_async(shared, global, size, zfill, SIMT_HERE);
}
SIMT_PLAIN inline void __pipeline_commit() { simt::commit_copies(); }
SIMT_PLAIN inline void __pipeline_wait_prior(size_t prior) { simt::wait_for_copies(prior); }
