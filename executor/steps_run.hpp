#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "common/cancellation.hpp"
#include "executor/exchange.hpp"
#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "executor/needed_pieces.hpp"
#include "executor/piece_streams.hpp"
#include "executor/relation.hpp"
#include "executor/step_order.hpp"
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
/// them by the scheduler's threads, as far as that has not been done when the last piece of a tile arrived.
///
/// Steps run in the StepOrder of the plan, in the thread that calls run(), once. If relations can travel while the rank
/// computes, a second thread makes the moves (steps_run_lanes.cpp): both take their steps in that order, each as soon
/// as what it reads is there. Results are the same, as each step does the same with the same tiles. That is a matter of
/// this rank alone: others need not have a second thread. The caller's thread computes, and writes to the sinks.
///
/// Memory: a move that runs beside a computation takes all that it may need in advance (MemoryBudget::Advance), and is
/// made only if the computation has enough beside that. Otherwise it waits until nothing can be
/// computed, and has the memory for itself, as in one thread.
///
/// Thread safety: mutex_ guards the members below it. The part of a step's result belongs to the thread that makes it
/// until the step is done, and is read by both afterwards.
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

  // One thread: steps_run.cpp.
  void run_in_order();
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
  bool is_last_reader(StepId source);
  void let_go(StepId source);
  void let_go_after(StepId id);
  void write_result(StepId id);
  void report_progress(StepId id, double share);

  // Two threads: steps_run_lanes.cpp. Called without mutex_ if nothing else is said.
  bool overlaps() const;
  void run_lanes();
  void compute_and_write() noexcept;
  bool go_on_computing();
  void find_next_need();
  void move() noexcept;
  void move_when_possible(StepId id);
  void do_step(StepId id);
  void fail(std::exception_ptr error) noexcept;
  bool can_begin(StepId id) const;       // with mutex_ held
  bool can_compute() const;              // with mutex_ held
  bool is_caller_idle() const;           // with mutex_ held
  bool is_over() const;                  // with mutex_ held
  bool take_advance(std::int64_t need);  // with mutex_ held
  bool fit_beside(std::int64_t move, std::int64_t computation) const;
  std::int64_t bytes_to_move(StepId id);
  std::int64_t bytes_to_compute(StepId id) const;
  std::int64_t bytes_to_write(StepId id) const;
  /// For a step that moves: in one thread beside computations.
  ExecutionContext& moving() { return is_beside_ ? beside_ : context_; }
  Result& result(StepId id) { return results_[id.index()]; }
  StepProfile& profile(StepId id) { return profile_.steps[id.index()]; }

  const PhysicalPlan& plan_;
  std::span<const TileHolders> lists_;
  Exchange& exchange_;
  Cancellation stop_;  // of this run
  ExecutionContext context_;
  Scheduler one_thread_{1};
  ExecutionContext beside_;
  bool is_beside_ = false;        // the move that runs is made beside computations
  std::vector<TileSink*> sinks_;  // by step; null: the step gives no result
  const Rank rank_;
  const StepOrder order_;
  std::vector<StepId> last_reader_;  // of each step, in the order of the plan; 0: none
  std::vector<Result> results_;      // of each step
  ExecutionProfile profile_;

  std::mutex progress_mutex_;  // guards the next member and calls of the context's progress
  double progress_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> readers_left_;  // of each step, with its sink
  std::vector<char> is_done_;              // of each step
  std::vector<StepId> computations_;       // in order
  std::size_t next_computation_ = 0;
  std::vector<StepId> to_write_;  // results that are made, in order
  std::size_t moves_left_ = 0;
  std::optional<std::int64_t>
      in_use_;                  // the least bytes that the caller's thread needs for what it does; nullopt: idle
  std::int64_t next_need_ = 0;  // the same for the next computation
  std::int64_t advance_ = 0;    // what the move that runs has taken in advance
  std::exception_ptr error_;    // the first one
};

}  // namespace eindb
