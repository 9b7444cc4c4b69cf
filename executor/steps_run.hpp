#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/exchange.hpp"
#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "executor/needed_pieces.hpp"
#include "executor/piece_streams.hpp"
#include "executor/relation.hpp"
#include "plan/physical_plan.hpp"
#include "plan/tile_layout.hpp"

namespace eindb {

/// One execution of the steps of a plan at one rank. A step's relation holds the rank's tiles of its result. The step
/// creates the relation, which is released after its last reader:
///
///     scan           read from the source when they are asked for
///     compute        by a PlanRun over the rank's window (plan/local_fragment), which reads relations of earlier steps
///     redistribute   by a TileAssembly   \  of pieces of tiles that are here (NeededPieces), and of those that come
///     reduce         by a TileReduction  /  (IncomingPieces) while others get theirs (OutgoingPieces)
///
/// A redistribute step that has a sequence of collectives makes a dense block of the tiles, hands that to
/// run_redistribution(), and cuts what it gets into tiles. Otherwise first all pieces travel, then tiles are made of
/// them by the scheduler's threads, as far as that has not been done when the last piece of a tile arrived. run() is
/// called once, and does everything in its thread but what threads of the scheduler and of the exchange do.
class StepsRun {
 public:
  StepsRun(const PhysicalPlan& plan, std::span<const TileHolders> lists, Exchange& exchange, ExecutionContext& context,
           std::span<TileSink* const> sinks);
  ExecutionProfile run();

 private:
  // The part of a step's result at this rank, while it is needed.
  struct Result {
    std::optional<TileLayout> layout;
    std::shared_ptr<Relation> relation;  // null: none
  };

  void run_step(StepId id);
  void make(StepId id, const ScanStep& scan);
  void make(StepId id, const RedistributeStep& redistribute);
  void make(StepId id, const ComputeStep& compute);
  void make(StepId id, const ReduceStep& reduce);
  void make(StepId id, const FragmentStep& fragment);
  void move_pieces(StepId id, const NeededPieces& needed, Relation* source, const PlanStep& moved, PieceTaker& taker);
  void run_sequence(StepId id, const RedistributeStep& redistribute);
  void count_traffic(StepId id, const ExchangeCounters& before);
  void begin_relation(StepId id);
  void let_go_after(StepId id);
  void write_result(StepId id, TileSink& sink);
  void report_progress(StepId id, double share);
  Result& result(StepId id) { return results_[id.index()]; }
  StepProfile& profile(StepId id) { return profile_.steps[id.index()]; }

  const PhysicalPlan& plan_;
  std::span<const TileHolders> lists_;
  Exchange& exchange_;
  ExecutionContext& context_;
  std::vector<TileSink*> sinks_;  // by step; null: the step gives no result
  const Rank rank_;
  std::vector<StepId> last_reader_;  // of each step; 0: none
  std::vector<Result> results_;      // of each step
  ExecutionProfile profile_;
};

}  // namespace eindb
