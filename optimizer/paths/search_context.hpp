#pragma once

#include <cstdint>
#include <functional>

#include "common/cancellation.hpp"
#include "optimizer/paths/path_objective.hpp"

namespace eindb {

/// The objective of a search, and the callbacks for cancellation and progress. The result depends on the objective
/// alone.
struct SearchContext {
  PathObjective objective = PathObjective::Flops;
  const Cancellation* cancellation = nullptr;  ///< must outlive the search; null: cannot be cancelled
  /// Called now and then with the share of the work done, on the searching thread; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};

  /// Called by searches at least every few milliseconds. Throws Error{Cancelled}.
  void poll() const {
    if (cancellation != nullptr) cancellation->check();
  }
  void report(std::int64_t done, std::int64_t total) const {
    if (progress) progress(done, total);
  }
};

}  // namespace eindb
