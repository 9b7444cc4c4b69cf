#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "common/cancellation.hpp"
#include "executor/memory_budget.hpp"
#include "executor/scheduler.hpp"
#include "executor/tile_exchange.hpp"

namespace eindb {

class CheckpointWatch;  // executor/checkpoint.hpp
class KeptRuns;         // executor/kept_runs.hpp

/// The resources and settings of a statement's execution. All references must outlive the execution.
struct ExecutionContext {
  Scheduler& scheduler;
  const Cancellation& cancellation;
  std::shared_ptr<MemoryBudget> memory;
  TileSource& source;
  /// Receives the progress of the whole plan in thousandths of its work; may be empty. Called by one thread at a time,
  /// not always the same, at most some dozens of times per second.
  std::function<void(std::string_view stage, std::int64_t done, std::int64_t total)> progress;
  /// Of exactly the plan that is executed; null: what its execution makes is not kept.
  KeptRuns* runs = nullptr;
  /// Asked at the plan's checkpoints; null: the run goes on.
  CheckpointWatch* watch = nullptr;
  /// Ranks move relations while they compute where one of at least so many bytes, about, can travel so.
  double least_overlap_bytes = 1 << 20;
};

}  // namespace eindb
