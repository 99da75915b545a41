// assert of a kernel: a fault of this thread, where the C library's would end the process.
#undef assert
#ifdef NDEBUG
#define assert(condition) static_cast<void>(0)
#else
#define assert(condition) ((condition) ? static_cast<void>(0) : simt::assertion_failed(#condition))
#endif
