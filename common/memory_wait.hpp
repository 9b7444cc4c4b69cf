#pragma once

#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace eindb {

/// Repeats `f` until its allocations succeed; for the little work that must always be done, such as reporting a
/// failure. `f` must be repeatable after it threw std::bad_alloc; other exceptions propagate.
template <class F>
auto when_there_is_memory(F&& f) -> decltype(f()) {
  constexpr std::chrono::milliseconds kPause{10};
  for (;;) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace eindb
