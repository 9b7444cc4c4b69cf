#include "common/stack_guard.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdint>

#include "common/error.hpp"

namespace eindb {
namespace {

// For code that does not check: SQLite, the standard library, and throwing the error itself.
constexpr std::size_t kReserve = std::size_t{256} << 10U;
// The reserve is at most this part of a small stack.
constexpr std::size_t kReservedShare = 4;

// The lowest usable address; 0 if the system does not report it.
std::uintptr_t lowest_address() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* begin = nullptr;
  std::size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  return known ? reinterpret_cast<std::uintptr_t>(begin) + std::min(kReserve, bytes / kReservedShare) : 0;
}

}  // namespace

void use_known_stack_size() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstacksize(&attributes, kStackBytes) == 0) pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

void require_stack() {
  static thread_local const std::uintptr_t lowest = lowest_address();
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > lowest) return;
  throw Error(ErrorKind::Unsupported, "the statement nests too deep for the stack of its thread", std::nullopt,
              "compute parts of it in WITH definitions, or give threads more (ulimit -s)");
}

}  // namespace eindb
