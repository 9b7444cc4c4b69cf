#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "common/cancellation.hpp"
#include "executor/memory_budget.hpp"
#include "executor/scheduler.hpp"
#include "executor/tile_exchange.hpp"

namespace eindb {

/// The resources and settings that a statement runs with. Everything referred to outlives the execution.
struct ExecutionContext {
  Scheduler& scheduler;
  const Cancellation& cancellation;
  std::shared_ptr<MemoryBudget> memory;
  TileSource& source;
  /// Told how far the whole plan is, in thousandths of its work; may be empty. Called from one thread at a time, not
  /// always the same, some dozens of times per second at most.
  std::function<void(std::string_view stage, std::int64_t done, std::int64_t total)> progress;
};

}  // namespace eindb
