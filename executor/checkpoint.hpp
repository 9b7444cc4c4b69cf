#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "executor/relation.hpp"
#include "plan/fragment.hpp"

namespace eindb {

/// The relations that a run has computed up to a checkpoint of its plan (Fragment::checkpoints).
struct ReachedCheckpoint {
  NodeId node;
  std::int64_t cells = 0;  ///< of the node's tiles
  /// The relations that nodes behind the checkpoint read, with all of their tiles, but for those of stored tensors.
  std::vector<std::pair<NodeId, std::shared_ptr<Relation>>> held = {};
};

/// Decides at checkpoints whether a run goes on.
class CheckpointWatch {
 public:
  virtual ~CheckpointWatch() = default;
  /// Whether the run goes on; otherwise it ends there, and what it holds is the watch's. Called by the thread that runs
  /// the plan, while no task runs. May throw; the run ends with the error then.
  virtual bool goes_on(const ReachedCheckpoint& reached) = 0;
};

}  // namespace eindb
