#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "cluster/control_message.hpp"
#include "common/cancellation.hpp"
#include "executor/exchange.hpp"
#include "plan/physical_plan.hpp"
#include "storage/shards/content_runs.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// A statement for a cluster to run. Everything it refers to must outlive the run.
struct ClusterStatement {
  const PhysicalPlan& plan;
  std::span<const TileHolders> holders;
  /// The workers by rank, without the coordinator's rank.
  std::vector<DataId> workers;
  /// For each holder list, the contents of its tiles; arbitrary for tiles without holders. Empty for a tensor that no
  /// worker holds.
  std::span<const ContentRuns> contents;
  /// For each result of the plan; nullopt if workers do not store it. Empty if they store none.
  std::vector<std::optional<ResultContents>> results;
  std::uint32_t threads = 0;      ///< per worker; 0: all it has
  std::int64_t memory_limit = 0;  ///< per worker; 0: the share it gives
};

/// Runs the coordinator's rank in the caller's thread. The Cancellation asks it to stop when the statement is cancelled
/// or has failed at another rank.
using OwnPart = std::function<ExecutionProfile(Exchange&, const Cancellation&)>;

}  // namespace eindb
