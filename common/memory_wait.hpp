#pragma once

#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace eindb {

/// Calls `f` until there is memory for it: for the little that has to be done whatever happens, as to tell somebody
/// that something has failed. `f` can be called again after it threw std::bad_alloc; what else it throws goes on.
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
