// A library for LD_PRELOAD that wraps malloc and its relatives, mmap and pthread_create. It makes the n-th call fail,
// as on a machine without free memory or threads.
//
// EINDB_ALLOC_FAULTS names a file that the program maps and the test writes to while the program runs:
//
//     8 bytes  kinds   of calls that count: 1 allocations, 2 maps of memory, 4 threads; 0: nothing fails
//     8 bytes  first   the call that fails, from 1; 0: they are only counted
//     8 bytes  number  how many calls fail, from that one on
//     8 bytes  calls   that were counted
//     8 bytes  failed  of them
//     8 bytes  reads   of standard input that were begun: the program has nothing else to do
//
// Processes forked by the program are counted too. The C++ library is not used here, since it allocates.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t);  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming): glibc's names
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
void* __libc_realloc(void*, std::size_t);         // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
}

namespace {

enum Kind : std::uint64_t { Allocations = 1, Maps = 2, Threads = 4 };

struct Control {
  std::atomic<std::uint64_t> kinds;
  std::atomic<std::uint64_t> first;
  std::atomic<std::uint64_t> number;
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint64_t> failed;
  std::atomic<std::uint64_t> reads;
};

std::atomic<Control*> g_control{nullptr};
bool g_traces = false;

/// Prints a stack trace to stderr, if EINDB_ALLOC_FAULTS_TRACE is set.
void trace() {
  constexpr int kDepth = 64;
  void* frames[kDepth];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, kDepth), STDERR_FILENO);
  static_cast<void>(!::write(STDERR_FILENO, "--\n", 3));
}

void trace_crash(int signal) {
  trace();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

__attribute__((constructor)) void begin() {
  const char* path = std::getenv("EINDB_ALLOC_FAULTS");
  if (path == nullptr) return;
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) std::_Exit(125);
  void* memory = ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) std::_Exit(125);
  g_traces = std::getenv("EINDB_ALLOC_FAULTS_TRACE") != nullptr;
  if (g_traces) {
    void* frame = nullptr;
    ::backtrace(&frame, 1);  // the first call loads a library
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS}) ::signal(signal, &trace_crash);
  }
  g_control.store(static_cast<Control*>(memory));
}

bool fails(Kind kind) {
  auto* control = g_control.load(std::memory_order_relaxed);
  if (control == nullptr || (control->kinds.load(std::memory_order_relaxed) & kind) == 0) return false;
  const auto call = control->calls.fetch_add(1) + 1;
  const auto first = control->first.load();
  if (first == 0 || call < first || call - first >= control->number.load()) return false;
  control->failed.fetch_add(1);
  if (g_traces) trace();
  return true;
}

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return fails(Allocations) ? no_memory() : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) {
  return fails(Allocations) ? no_memory() : __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
  return fails(Allocations) ? no_memory() : __libc_realloc(memory, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  return fails(Allocations) ? no_memory() : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  auto* made = memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

void* mmap(void* address, std::size_t length, int protection, int flags, int file, off_t offset) {
  if (fails(Maps)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the system gives addresses as numbers
  return reinterpret_cast<void*>(::syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

void* mmap64(void* address, std::size_t length, int protection, int flags, int file, off_t offset) {
  return mmap(address, length, protection, flags, file, offset);
}

ssize_t read(int file, void* target, std::size_t size) {
  auto* control = g_control.load(std::memory_order_relaxed);
  if (file == STDIN_FILENO && control != nullptr) control->reads.fetch_add(1);
  return ::syscall(SYS_read, file, target, size);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (fails(Threads)) return EAGAIN;
  return create(thread, attributes, run, argument);
}

}  // extern "C"
