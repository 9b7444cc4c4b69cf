#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/plans/planned_query.hpp"
#include "engine/session/session_state.hpp"
#include "executor/checkpoint.hpp"
#include "executor/execution_profile.hpp"
#include "executor/tile_exchange.hpp"

namespace eindb {

/// The part of a query that was planned again at a checkpoint (optimizer/checkpoints), and its run.
struct PlannedAgain {
  std::string vertex;      ///< with other cells than were expected
  double expected = 0;     ///< cells
  std::int64_t found = 0;  ///< cells
  PlannedQuery planned;    ///< the rest; what was computed before is among its inputs
  ExecutionProfile profile;
  std::shared_ptr<const PlannedAgain> next;  ///< of the rest again; null if it ran as planned
};

/// The relations that a run had computed when it ended, as stored tensors of those who go on, beside those of another
/// source. Relations are there until the rest has run; tiles that nobody uses may be in the scratch file. Thread-safe.
class ComputedTiles final : public TileSource {
 public:
  ComputedTiles(TileSource& stored, std::shared_ptr<MemoryBudget> memory,
                std::map<std::string, std::shared_ptr<Relation>> computed)
      : stored_(stored), memory_(std::move(memory)), computed_(std::move(computed)) {}
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override;
  TilePtr read_attached(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                        ValueOrder order) override;
  TilePtr read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) override;
  std::optional<TilePtr> read_cut(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                                  const std::function<std::optional<Tile>()>& assemble) override;
  bool keeps_tiles() const override { return stored_.keeps_tiles(); }
  void let_go(const std::string& tensor) noexcept override;

 private:
  TileSource& stored_;
  std::shared_ptr<MemoryBudget> memory_;
  std::map<std::string, std::shared_ptr<Relation>> computed_;  // by name
};

/// Watches a run of a plan for one rank. Where a checkpoint has so many times more or fewer cells than expected as the
/// setting replan_factor says, and what is left takes some time, that is planned with the cells that are there, and the
/// run ends; if no plan for that keeps to the memory limit, it goes on.
///
///     run --checkpoint--> as expected: goes on
///                         otherwise: what is left of the graph -> optimizer -> rest(), run by who began the run
///
/// Lives on the session's thread, as long as the run.
class Replanner final : public CheckpointWatch {
 public:
  struct Rest {
    PlannedQuery planned;
    std::vector<std::size_t> results;  ///< result n is this result of the whole query
    std::map<std::string, std::shared_ptr<Relation>> computed;
    std::string vertex;
    double expected = 0;
    std::int64_t found = 0;
  };

  /// All outlive it.
  Replanner(const PlannedQuery& planned, SessionState& session, MemoryBudget& memory)
      : planned_(planned), session_(session), memory_(memory) {}
  bool goes_on(const ReachedCheckpoint& reached) override;
  /// The remaining part, if the run ended at a checkpoint; else nullopt.
  std::optional<Rest>& rest() { return rest_; }

 private:
  std::optional<Rest> plan_rest(const ReachedCheckpoint& reached) const;
  ComputedProducts products_of(const std::map<VertexId, InputTensor>& tensors) const;
  void note(const ReachedCheckpoint& reached, const std::map<VertexId, InputTensor>& tensors) const;
  InputTensor tensor_of(NodeId id, Relation& relation) const;
  CellEstimate count_cells(const FragmentNode& node, Relation& relation) const;

  const PlannedQuery& planned_;
  SessionState& session_;
  MemoryBudget& memory_;
  std::optional<Rest> rest_;
};

}  // namespace eindb
