// Signals of the hardware while a kernel runs: what no hook saw coming ends the launch, not the process.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace simt {

static const int CAUGHT[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction handled_before[4];
static stack_t stack_before;
static pthread_t runner;

// Where the thread was, if in the module's code: as the place after the instruction.
static uint32_t place_in(const void* context, uint32_t otherwise) {
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    uintptr_t at = uintptr_t(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
    uintptr_t at = uintptr_t(registers.pc);
#endif
    return in_module(at) ? place_of(reinterpret_cast<void*>(at + 1)) : otherwise;
}

static void on_signal(int number, siginfo_t* info, void* context) {
    Fiber* me = block.current;
    if (!me || !pthread_equal(pthread_self(), runner)) {  // not the kernel's: it happens again, for whoever came before
        for (int each = 0; each < 4; each++)
            if (CAUGHT[each] == number) sigaction(number, &handled_before[each], nullptr);
        return;
    }
    uintptr_t at = reinterpret_cast<uintptr_t>(info->si_addr);
    bool overflow = at - reinterpret_cast<uintptr_t>(me->stack) < RESERVE;
    describe(number == SIGFPE ? DIVISION : overflow ? STACK_OVERFLOW : CRASH, place_in(context, me->at));
    Range* range = number == SIGSEGV ? missed(at) : nullptr;
    if (range) describe_array(*range, at);
    leave(FAULT);
}

static void catch_signals() {
    static char place[64 << 10];
    stack_t stack = {};
    stack.ss_sp = place;
    stack.ss_size = sizeof place;
    sigaltstack(&stack, &stack_before);
    runner = pthread_self();
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int each = 0; each < 4; each++) sigaction(CAUGHT[each], &action, &handled_before[each]);
}

static void release_signals() {
    for (int each = 0; each < 4; each++) sigaction(CAUGHT[each], &handled_before[each], nullptr);
    sigaltstack(&stack_before, nullptr);
}

}  // namespace simt
