#pragma once

#include <atomic>
#include <chrono>
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
#include "executor/lent_call.hpp"
#include "executor/progress_report.hpp"
#include "executor/ready_queue.hpp"
#include "executor/relation.hpp"
#include "executor/sliced_result.hpp"
#include "executor/task_graph.hpp"
#include "plan/fragment.hpp"

namespace eindb {

/// Executions of a plan, one after the other: what does not depend on tensors, as operators and lists of a plan's size,
/// is made by the first one, and used again by others (executor/kept_runs). As many workers as the session has threads
/// run the tasks of a TaskGraph. Each takes the most urgent ready task, preferably one that its last task made ready.
/// When a tile is finished, the counters of the tasks that wait for it are increased, and tasks with all their tiles
/// become ready. A tile is released after its last reader. A worker without a task helps with one that has several
/// kernel calls left. The caller's thread is a worker too; it also passes tiles to the sinks, in order for each result,
/// as soon as they are finished.
///
///     ready --pop--> admitted (its memory is promised) --> runs --> tile is there --> readers counted --> ready
///                       |  ^
///                 deferred  '- when another task has ended, or nothing else runs
///
/// Memory: a task begins if its memory is available beside the memory promised to running tasks, or can be made
/// available. If nothing runs, a task begins in any case, and fails if it must. A task without room for a kernel call
/// continues when others have ended; if that frees memory, its partial result is evicted meanwhile. A plan that runs
/// with one thread thus runs with any number: see least_memory.hpp for its need. The workspace of kernels counts too: a
/// worker keeps it from task to task and frees it when there is no task, so that only active workers have one.
///
/// Thread safety: one thread at a time calls run(). `mutex_` guards the members below it; tiles of relations and
/// partial results are passed between tasks under it, or by the counters with acquire and release.
class PlanRun {
 public:
  /// What operators and tasks are made for.
  struct Conditions {
    std::int64_t memory_limit = 0;  ///< bytes
    std::size_t threads = 1;
    friend bool operator==(const Conditions&, const Conditions&) = default;
  };

  /// Whether what is made for a plan with so many stages is kept. Where there are more, computing takes much longer
  /// than making it.
  static bool keeps(std::size_t stages) { return stages <= 64; }

  static Conditions conditions_of(const ExecutionContext& context) {
    return {.memory_limit = context.memory->limit(), .threads = static_cast<std::size_t>(context.scheduler.threads())};
  }

  /// The plan must outlive it.
  PlanRun(const Fragment& plan, const Conditions& conditions);
  /// sinks[n] is for result n of the plan. The context is one of these conditions. After an error there is no other
  /// run.
  ExecutionProfile run(ExecutionContext& context, std::span<TileSink* const> sinks);
  /// Whether another run may follow the one that has ended, which holds nothing then.
  bool may_run_again() const { return keeps_joins_ && is_whole_ && workspace_bound_ == first_workspace_bound_; }
  const Conditions& conditions() const { return conditions_; }
  bool is_of(const Fragment& plan) const { return &plan == &plan_; }

 private:
  // Counters, of which some plans need none. Their memory is used again.
  struct Counters {
    std::unique_ptr<std::atomic<std::uint32_t>[]> at;
    std::size_t size = 0;

    explicit operator bool() const { return size > 0; }
    std::atomic<std::uint32_t>& operator[](std::int64_t n) const { return at[static_cast<std::size_t>(n)]; }
    void reset(std::size_t count);
  };

  // A tensor relation, and how often its tiles were read.
  struct NodeTiles {
    std::shared_ptr<Relation> relation;
    Counters reads;                                   // by tile; none if one read is the last
    std::int64_t total = 1;                           // reads of each tile; -1: it varies
    std::vector<const Link*> waiting;                 // links of the current region to the tiles it makes
    std::shared_ptr<Relation::Counter> stored_reads;  // for a scan
    bool is_made_here = false;                        // in the current region
    std::shared_ptr<Tile> whole;                      // in which its tiles are made, for a sink; null: elsewhere
  };

  // The values accumulated by several tasks of one tile.
  struct Group {
    std::mutex mutex;  // guards the members below
    JoinOperator::Partial parked;
    std::int64_t left = 1;  // tasks or threads that still work on it
  };

  // A stage in the current region.
  struct StageRun {
    const Stage* stage = nullptr;
    std::vector<std::int64_t> begin;  // of the slice, by axis
    TileWindow window;                // tiles of the slice
    JoinOperator::Inputs inputs;
    const JoinOperator* join = nullptr;  // null: a repartition
    std::int64_t waits = 0;              // tiles that each task waits for; -1: it varies
    Counters arrived;                    // by task; none if a task waits for at most one tile
    std::unique_ptr<Group[]> groups;     // by tile; null if one task makes the tile
  };

  // A result that the current region delivers. Only the caller's thread writes to it.
  struct SinkRun {
    std::size_t node;    // of the sink
    std::size_t source;  // the node of its tiles
    TileSink* to;
    std::int64_t tiles = 0;      // number of tiles of the source's relation
    std::int64_t next = 0;       // number of the next tile
    std::vector<char> is_there;  // by tile; empty: all are finished

    bool is_done() const { return next == tiles; }
    bool can_write() const { return !is_done() && (is_there.empty() || is_there[static_cast<std::size_t>(next)] != 0); }
  };

  // A task that several threads work on; each takes the next kernel call.
  struct SharedTask {
    TaskId id;
    std::int64_t calls = 0;
    std::atomic<std::int64_t> next_call{0};
    std::int64_t seats = 0;  // for other threads, whose memory is promised; guarded by mutex_
    Group group;
    std::vector<std::int64_t> returned;  // calls without room; guarded by the group's mutex
    // Of a gather whose rows are sorted: the rows, and the tile that all threads write theirs into.
    std::shared_ptr<const SortedRows> rows;
    JoinOperator::Partial gathered;
  };

  // A kernel's call that other threads may help with.
  struct Lent {
    std::shared_ptr<LentCall> call;
    std::int64_t bytes = 0;  // that each of them takes, promised to the task
  };

  // The progress of a task without room for its next kernel call. Its partial result can be evicted like any tile.
  struct Suspended {
    TaskId id;
    std::int64_t call = 0;
    std::unique_ptr<BufferedTiles> partial;  // one tile; null: none yet
  };

  // The figures and the buffers of one thread.
  struct Worker {
    Coordinates c;
    std::vector<std::int64_t> key;  // of a kernel call
    std::vector<AxisRange> calls;   // of the task, by aggregated axis
    JoinOperator::Buffers buffers;
    std::vector<TaskId> made_ready;
    std::shared_ptr<SharedTask> shared;  // the task that it offered to others
    std::vector<NodeProfile> nodes;
    std::chrono::steady_clock::time_point now;  // when the last step has ended, and the next one begins
    std::int64_t tasks_done = 0;
    std::int64_t workspace_bytes = 0;  // the most that it has held
    std::int64_t promise = 0;          // bytes promised to the current task
    std::uint64_t began = 0;           // value of ended_ when the task began
    bool can_restart = false;          // the current task can be resumed after an error
    bool had_workspace = false;        // from an earlier task, when the current one began
  };

  // Regions: plan_run.cpp.
  bool goes_on_after(std::size_t checkpoint);
  void run_slices(const TaskGraph::Region& region);
  void begin_region(const TaskGraph::Region& region, const TileKey& slice);
  void begin_scan(std::size_t node);
  void begin_stage(const Stage& stage, const TileKey& slice);
  void begin_sink(std::size_t node);
  bool may_be_whole(std::size_t node) const;
  void end_region(const TaskGraph::Region& region, bool last_slice);
  const JoinOperator& join_of(const Stage& stage);
  void count_reads_of(std::size_t node, std::int64_t tiles);
  std::int64_t reads_of(std::size_t node, const TileKey& key) const;
  void work_on_region();
  void begin(ExecutionContext& context, std::span<TileSink* const> sinks);
  void let_go();
  void collect_profile();
  void complete_profile(const Stage& stage, std::int64_t slices);

  // Workers: plan_run_workers.cpp. Called with `lock` held.
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
  std::optional<Lent> call_to_help();
  void wait(Worker& worker, std::unique_lock<std::mutex>& lock, bool is_caller);
  void wake(std::size_t sleepers);
  void end_task(Worker& worker);

  // Tasks: plan_run_tasks.cpp. Called without mutex_.
  void run_task(Worker& worker, TaskId id);
  void run_layout(Worker& worker, StageRun& run, std::int64_t task);
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
  std::optional<Lent> lend(Worker& worker, const StageRun& run);
  void take_back(Worker& worker, const Lent& lent);
  void help(Worker& worker, const Lent& lent);
  bool leave(const StageRun& run, Group& group, JoinOperator::Partial& partial);
  std::int64_t find_tile(Worker& worker, const StageRun& run, std::int64_t tile) const;
  void end_calls(Worker& worker, StageRun& run);
  void complete(Worker& worker, StageRun& run, std::int64_t tile, JoinOperator::Partial partial);
  void set_tile(Worker& worker, StageRun& run, std::int64_t tile_id, TilePtr tile);
  void complete_whole(std::size_t node, std::int64_t tile_id, const Tile* tile);
  void announce(std::size_t node, std::int64_t tile_id);
  void count_arrival(Worker& worker, const Link& link);
  void release(std::size_t node, std::int64_t tile_id);
  void keep_promise(Worker& worker);
  static double seconds_of_step(Worker& worker);
  NodeProfile& profile(Worker& worker, const StageRun& run) { return worker.nodes[run.stage->node]; }

  const Fragment& plan_;
  const Conditions conditions_;
  const TaskGraph graph_;
  std::vector<NodeTiles> nodes_;
  std::vector<StageRun> stages_;
  std::optional<SlicedResult> sliced_;  // of the current loop
  std::size_t sliced_node_ = 0;
  std::optional<std::size_t> held_behind_;  // the checkpoint of the region: what is read behind it keeps all its tiles
  std::vector<Worker> workers_;
  const std::int64_t first_workspace_bound_;
  std::int64_t workspace_bound_;                      // per worker; decreases if a stage needs the memory for its tiles
  std::vector<std::unique_ptr<JoinOperator>> joins_;  // by stage
  const bool keeps_joins_;                            // behind their region
  bool is_whole_ = false;                             // the last run has come to the end of the plan

  // Of one run:
  ExecutionContext* context_ = nullptr;
  std::span<TileSink* const> results_;
  ExecutionProfile profile_;
  std::optional<ProgressReport> progress_;

  std::atomic<std::int64_t> promised_{0};         // the most that the admitted tasks will take
  std::atomic<std::int64_t> suspended_count_{0};  // size of suspended_
  std::atomic<bool> failed_{false};
  std::atomic<std::uint64_t> changes_{0};  // increases when there may be new work
  std::mutex mutex_;
  ReadyQueue ready_;
  std::vector<TaskId> deferred_;  // wait for memory, until something has ended
  std::vector<Suspended> suspended_;
  std::vector<std::shared_ptr<SharedTask>> shared_;
  std::vector<Lent> lent_;
  std::int64_t tasks_left_ = 0;  // in the region
  std::uint64_t ended_ = 0;      // number of completed steps of all threads
  std::size_t running_ = 0;      // number of threads that work on tasks
  std::size_t sleeping_ = 0;
  std::condition_variable wake_;
  bool caller_sleeps_ = false;
  std::condition_variable wake_caller_;
  std::exception_ptr error_;
  std::vector<SinkRun> sinks_;  // of the region
};

}  // namespace eindb
