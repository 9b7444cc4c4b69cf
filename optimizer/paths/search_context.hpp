#pragma once

#include <cstdint>
#include <functional>

#include "common/cancellation.hpp"
#include "optimizer/paths/path_objective.hpp"

namespace eindb {

/// What a search for a path is after, and whom it answers while it runs. The result depends on the objective alone.
struct SearchContext {
  PathObjective objective = PathObjective::Flops;
  const Cancellation* cancellation = nullptr;  ///< outlives the search; null: cannot be cancelled
  /// Told now and then how much of the work is done, from the thread that searches; empty: nobody asks.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};

  /// Called at least every few milliseconds. Throws Error{Cancelled}.
  void poll() const {
    if (cancellation != nullptr) cancellation->check();
  }
  void report(std::int64_t done, std::int64_t total) const {
    if (progress) progress(done, total);
  }
};

}  // namespace eindb
