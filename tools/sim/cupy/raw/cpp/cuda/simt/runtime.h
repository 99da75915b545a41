// What the runtime offers to compiled kernels. It is compiled apart from them, without instrumentation.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#define SIMT_PLAIN __attribute__((noinline, unused, no_sanitize("thread", "coverage")))
#else
#define SIMT_PLAIN __attribute__((noinline, unused, no_sanitize("thread"), no_sanitize_coverage))
#endif
// In a SIMT_PLAIN function: the place in the learner's code that called it.
#define SIMT_HERE __builtin_return_address(0)

namespace simt {

struct Index { unsigned x, y, z; };

enum Operation : uint8_t { LOAD, STORE, ATOMIC };
enum Space : uint8_t { GLOBAL, SHARED, CONSTANT };

// A parameter of a kernel. size: bytes. kind: 'i', 'u', 'f', 'b' as NumPy has them, 'p' pointer, '.' anything else.
// element_size, element_kind: the same of what a pointer points to; 0 for void and incomplete types. read_only: it
// points to const.
struct Parameter { unsigned size; char kind; unsigned element_size; char element_kind; bool read_only; };

struct Kernel {
    void (*call)(void (*function)(), void** arguments);
    void (*function)();
    unsigned count;
    const Parameter* parameters;
};

// Who runs now.
Index thread_index();
Index block_index();
Index block_size();
Index grid_size();
unsigned lane();
unsigned long long steps();  // that this thread has made, as a clock

// An access that no instrumentation sees: checked and counted as if it stood at `here`.
void touch(const void* address, size_t size, Operation operation, void* here);
// Bytes moved without anybody noticing.
void move(void* to, const void* from, size_t size);
// A copy that no instrumentation sees either, checked and counted in pieces of `alignment` bytes.
void copy(void* to, const void* from, size_t size, size_t alignment, void* here);

// What an array is made of: bytes of an element, and its alignment.
struct Element { size_t size, alignment; };

// While it exists, no other thread runs, and nothing is checked or counted. g++ before 12 instruments basic blocks of
// SIMT_PLAIN functions all the same.
class Alone {
    void* me;

public:
    Alone();
    ~Alone();
};

// Memory of the block: the array that is declared with this number in this function; the dynamic part.
void* shared(int number, const char* function, const char* name, size_t size, Element element, void* here);
void* dynamic_shared(const char* name, Element element);

// A __device__ or __constant__ variable, registered when the module is loaded.
struct Variable { Variable(const char* name, void* address, size_t size, size_t element, Space space); };

// All threads of the block wait for each other. How many of them there are, and for how many `truth` is so.
struct Votes { unsigned threads, true_for; };
Votes barrier(bool truth, const char* name, void* here);

// What one lane brings to a warp function, and how its result follows from what all brought.
struct Meeting { uint64_t values[32]; uint64_t arguments[32]; unsigned members; };
using Rule = uint64_t (*)(const Meeting& meeting, unsigned lane, const char* name, void* here);

// The lanes of the mask wait for each other; orders: whether they then see what the others wrote.
uint64_t meet(unsigned mask, uint64_t value, uint64_t argument, Rule rule, bool orders, const char* name, void* here);
unsigned converged(void* here);  // the lanes that stand here now

// For rules: the value that lane `source` brought; refused when it is no member.
uint64_t taken(const Meeting& meeting, unsigned source, const char* name, void* here);

// Numbers of 16 bits, with so many of fraction: from a double, which is rounded, and as a double. fused: x * y + z in
// double, which rounds to 16 bits as the exact result does.
enum Rounding : uint8_t { NEAREST, TOWARDS_ZERO, DOWN, UP };
unsigned short narrowed(double value, int fraction, Rounding rounding);
double widened(unsigned short bits, int fraction);
double fused(double x, double y, double z);

// For functions of a whole warp: refused when some of its lanes are not there, or are none.
void need_whole_warp(const Meeting& meeting, const char* name, void* here);
// A fault in words: what the thread does, a bar, and a question.
[[noreturn]] void misused(const char* sentence, void* here);
// What this thread touches from here on belongs to a fragment, so many bytes from row to row, or column to column; with
// a stride of 0 to none.
void begin_matrix(const void* start, size_t stride, bool by_rows);
bool is_shared(const void* address);
size_t to_shared(const void* address);  // as PTX counts within shared memory, and back
void* from_shared(size_t address);

// Asynchronous copies from global to shared memory, of 4, 8 or 16 bytes, the last `zeros` of which become 0. They
// arrive when the thread waits for its group of copies: for all groups but the last `prior`, or for all copies.
void copy_async(void* to, const void* from, size_t size, size_t zeros, void* here);
void commit_copies();
void wait_for_copies(size_t prior);
void wait_for_all_copies();

// A barrier that is an object in shared memory, by its address. arrive: the phase that it is in. wait: for the end of
// that phase. Copies of the thread that are in no group yet arrive with the phase.
struct use_objects { use_objects(); };  // constructed where a module may use any, or atomics that are objects
void init_arrivals(void* object, unsigned expected, void* here);
unsigned long arrive(void* object, unsigned count, bool drop, void* here);
void wait_for_phase(void* object, unsigned long phase, const char* name, void* here);
bool phase_ended(void* object, unsigned long phase, void* here);
unsigned long phase_of(void* object, void* here);
void copies_arrive_with(void* object, void* here);

// An access of an atomic object. acquires: what others released there is known now; releases: the other way round.
// alone: by threads of the block only.
void touch_atomic(const void* address, size_t size, Operation operation, bool acquires, bool releases, bool alone,
                  void* here);
void touch_guess(const void* address, size_t size, void* here);  // a read that an atomicCAS checks
void fence_atomics(bool acquires, bool releases, bool alone);

// c += a * b, row by row; counted as one product of matrices at `here`.
struct Extent { unsigned m, n, k; };
void add_product(const double* a, const double* b, double* c, Extent size, void* here);

[[noreturn]] void assertion_failed(const char* condition);
[[noreturn]] void trapped();
// All threads of the grid wait for each other; refused in a launch that is not cooperative.
void barrier_of_grid(const char* name, void* here);
bool is_cooperative();
void pause();  // let others run
// What the thread did so far, and those that it met at barriers, comes before what those do who then read a flag from
// it. of_block: those of its block only.
void fence(bool of_block);

}  // namespace simt
