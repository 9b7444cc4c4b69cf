#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "executor/join_operator.hpp"
#include "executor/kernels/workspace.hpp"
#include "executor/progress_report.hpp"
#include "executor/ready_queue.hpp"
#include "executor/relation.hpp"
#include "executor/sliced_result.hpp"
#include "executor/task_graph.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// One execution of a plan: workers, as many as the session has threads, run the tasks of a TaskGraph. Each takes the
/// most urgent task that is ready, preferably one that its last task made ready; when a tile is there, the tasks that
/// wait for it are counted up, and those that have all run. A tile is let go after its last reader. Who finds no task
/// helps with one that has several kernel calls left. The caller's thread is a worker, too, and the one that hands
/// tiles to the sinks, of each result in order, as soon as they are there.
///
///     ready --pop--> admitted (its memory is promised) --> runs --> tile is there --> readers counted --> ready
///                       |  ^
///                 deferred  '- when another task has ended, or nothing else runs
///
/// Memory: a task begins if what it takes is left beside what was promised to those that run, or can be made room for.
/// If nothing runs, it begins all the same, and fails if it must. A task that finds no room for a kernel call goes on
/// when others have ended; what it has accumulated is put aside meanwhile where that makes room. A plan that runs with
/// one thread thus runs with any number of them: see least_memory.hpp for what it needs. The workspace of kernels
/// counts, too: a worker keeps it from task to task, and lets go of it when there is none, so that only those that go
/// on have any.
///
/// Thread safety: run() is called once. `mutex_` guards what is written to below it; the tiles of relations, and
/// partial results, are handed from task to task by way of it or of the counters, with acquire and release.
class PlanRun {
 public:
  /// sinks[n] is for result n of the plan, and outlives the run.
  PlanRun(const PhysicalPlan& plan, ExecutionContext& context, std::span<TileSink* const> sinks);
  ExecutionProfile run();

 private:
  // A tensor relation and how often its tiles were read.
  struct NodeTiles {
    std::shared_ptr<Relation> relation;
    std::unique_ptr<std::atomic<std::uint32_t>[]> reads;  // per tile; absent if one read is the last
    std::int64_t total = 1;                               // reads of each tile; -1: it differs
    std::vector<const Link*> waiting;                     // links of the region at hand to the tiles it makes
    std::shared_ptr<Relation::Counter> stored_reads;      // of a scan
    bool is_made_here = false;                            // in the region at hand
  };

  // What the tasks of one tile have accumulated, if there are several.
  struct Group {
    std::mutex mutex;  // guards what follows
    JoinOperator::Partial parked;
    std::int64_t left = 1;  // tasks, or threads, that still work on it
  };

  // A stage in the region at hand.
  struct StageRun {
    const Stage* stage = nullptr;
    std::vector<std::int64_t> begin;  // of the slice, per axis
    JoinOperator::Inputs inputs;
    const JoinOperator* join = nullptr;                     // null: a repartition
    std::int64_t waits = 0;                                 // tiles that each task waits for; -1: it differs
    std::unique_ptr<std::atomic<std::uint32_t>[]> arrived;  // per task; absent if it waits for one at most
    std::unique_ptr<Group[]> groups;                        // per tile; absent if one task makes it
  };

  // A result that the region at hand hands over. Only the caller's thread writes to it.
  struct SinkRun {
    std::size_t node;    // of the sink
    std::size_t source;  // the node whose tiles it takes
    TileSink* to;
    std::int64_t tiles = 0;      // that the source's relation has
    std::int64_t next = 0;       // of them
    std::vector<char> is_there;  // empty: all are

    bool is_done() const { return next == tiles; }
    bool can_write() const { return !is_done() && (is_there.empty() || is_there[static_cast<std::size_t>(next)] != 0); }
  };

  // A task on which several threads work: each takes the next kernel call.
  struct SharedTask {
    TaskId id;
    std::int64_t calls = 0;
    std::atomic<std::int64_t> next_call{0};
    std::int64_t seats = 0;  // for others, whose memory is promised; guarded by mutex_
    Group group;
    std::vector<std::int64_t> returned;  // calls that found no room; guarded by the group's mutex
  };

  // How far a task has come that found no room for its next kernel call. What it has accumulated makes room for others
  // like any tile.
  struct Suspended {
    TaskId id;
    std::int64_t call = 0;
    std::unique_ptr<BufferedTiles> partial;  // one tile; null: nothing yet
  };

  // What one thread did, and what it works with.
  struct Worker {
    Coordinates c;
    std::vector<std::int64_t> key;  // of a kernel call
    std::vector<AxisRange> calls;   // of the task, along the aggregated axes
    JoinOperator::Buffers buffers;
    std::vector<TaskId> made_ready;
    std::shared_ptr<SharedTask> shared;  // that it offered to others
    std::vector<NodeProfile> nodes;
    std::int64_t tasks_done = 0;
    std::int64_t workspace_bytes = 0;  // that it has held at most
    std::int64_t promise = 0;          // bytes promised to the task at hand
    std::uint64_t began = 0;           // ended_ at its beginning
    bool can_restart = false;          // the task at hand can be run again, from where it has come to
    bool had_workspace = false;        // at its beginning, from another task
  };

  // Regions: plan_run.cpp.
  void run_slices(const TaskGraph::Region& region);
  void begin_region(const TaskGraph::Region& region, const TileKey& slice);
  void begin_scan(std::size_t node);
  void begin_stage(const Stage& stage, const TileKey& slice);
  void begin_sink(std::size_t node);
  void end_region(const TaskGraph::Region& region, bool last_slice);
  const JoinOperator& join_of(const Stage& stage);
  void count_reads_of(std::size_t node, std::int64_t tiles);
  std::int64_t reads_of(std::size_t node, const TileKey& key) const;
  void work_on_region();
  void collect_profile();
  void complete_profile(const Stage& stage, std::int64_t slices);

  // Workers: plan_run_workers.cpp. `lock` is held.
  void work(std::size_t number) noexcept;
  void work_until_done(std::size_t number);
  bool is_done(bool is_caller) const;
  SinkRun* sink_to_write();
  void write_next_tile(SinkRun& sink);
  std::optional<TaskId> next_task(Worker& worker);
  std::optional<TaskId> forced_task(Worker& worker);
  std::optional<TaskId> own_task(Worker& worker);
  bool is_suspended(TaskId task) const;
  std::int64_t need_of(const Worker& worker, std::size_t stage) const;
  void let_go_of_workspace(Worker& worker);
  bool is_free(std::int64_t bytes) const;
  bool admit(Worker& worker, std::int64_t bytes);
  void promise(Worker& worker, std::int64_t bytes);
  void take_error(std::exception_ptr error, Worker& worker, const std::optional<TaskId>& task);
  std::shared_ptr<SharedTask> task_to_help();
  void wait(Worker& worker, std::unique_lock<std::mutex>& lock, bool is_caller);
  void wake(std::size_t sleepers);
  void end_task(Worker& worker);

  // Tasks: plan_run_tasks.cpp. `mutex_` is free.
  void run_task(Worker& worker, TaskId id);
  void run_repartition(Worker& worker, StageRun& run, std::int64_t task);
  void run_join(Worker& worker, StageRun& run, TaskId id);
  void run_calls(Worker& worker, StageRun& run, TaskId id, std::int64_t calls, JoinOperator::Partial& partial);
  bool has_room_to_share(const Worker& worker, std::size_t stage) const;
  void suspend(TaskId id, std::int64_t call, JoinOperator::Partial partial);
  std::int64_t resume(TaskId id, JoinOperator::Partial& partial);
  void share(Worker& worker, TaskId id, std::int64_t calls);
  void run_shared(Worker& worker, SharedTask& shared);
  void run_shared_calls(Worker& worker, StageRun& run, SharedTask& shared, JoinOperator::Partial& partial);
  static std::optional<std::int64_t> next_call(SharedTask& shared);
  static bool give_up(SharedTask& shared, std::int64_t call);
  static bool goes_on(SharedTask& shared);
  std::int64_t find_calls(Worker& worker, const StageRun& run);
  void run_call(Worker& worker, StageRun& run, std::int64_t call, JoinOperator::Partial& partial);
  bool leave(const StageRun& run, Group& group, JoinOperator::Partial& partial);
  std::int64_t find_tile(Worker& worker, const StageRun& run, std::int64_t tile) const;
  void end_calls(Worker& worker, StageRun& run);
  void complete(Worker& worker, StageRun& run, std::int64_t tile, JoinOperator::Partial partial);
  void set_tile(Worker& worker, StageRun& run, std::int64_t tile_id, TilePtr tile);
  void announce(std::size_t node, std::int64_t tile_id);
  void count_arrival(Worker& worker, const Link& link);
  void release(std::size_t node, std::int64_t tile_id);
  void keep_promise(Worker& worker);
  NodeProfile& profile(Worker& worker, const StageRun& run) { return worker.nodes[run.stage->node]; }

  const PhysicalPlan& plan_;
  ExecutionContext& context_;
  const std::span<TileSink* const> results_;
  const TaskGraph graph_;
  std::vector<NodeTiles> nodes_;
  std::vector<StageRun> stages_;
  std::vector<std::unique_ptr<JoinOperator>> joins_;  // per stage; kept from slice to slice
  std::optional<SlicedResult> sliced_;                // of the loop at hand
  std::size_t sliced_node_ = 0;
  std::vector<Worker> workers_;
  std::int64_t workspace_bound_;  // of each worker's kernels; less once a stage needs the memory for its tiles
  ExecutionProfile profile_;
  ProgressReport progress_;

  std::atomic<std::int64_t> promised_{0};         // bytes that tasks take at most
  std::atomic<std::int64_t> suspended_count_{0};  // of suspended_
  std::atomic<bool> failed_{false};
  std::atomic<std::uint64_t> changes_{0};  // raised when there may be something to do again
  std::mutex mutex_;
  ReadyQueue ready_;
  std::vector<TaskId> deferred_;  // for memory, until something has ended
  std::vector<Suspended> suspended_;
  std::vector<std::shared_ptr<SharedTask>> shared_;
  std::int64_t tasks_left_ = 0;  // of the region
  std::uint64_t ended_ = 0;      // whatever threads did, ever
  std::size_t running_ = 0;      // threads that work on tasks
  std::size_t sleeping_ = 0;
  std::condition_variable wake_;
  bool caller_sleeps_ = false;
  std::condition_variable wake_caller_;
  std::exception_ptr error_;
  std::vector<SinkRun> sinks_;  // of the region
};

}  // namespace eindb
