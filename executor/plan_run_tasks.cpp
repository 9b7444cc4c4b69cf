// The execution of single tasks.
#include <algorithm>
#include <chrono>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "executor/plan_run.hpp"
#include "executor/repartition_operator.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

// Tasks with fewer points of label space are not shared with other threads.
constexpr double kSmallTask = 1 << 17;

// Frees the parts of the buffers that belong to one group of calls.
struct LetGoOfGroup {
  JoinOperator::Buffers& buffers;
  ~LetGoOfGroup() {
    buffers.rows.reset();
    buffers.whole.reset();
  }
};

}  // namespace

void PlanRun::run_task(Worker& worker, TaskId id) {
  const MemoryBudget::Task scope(*context_->memory);
  context_->cancellation.check();
  CHECK(id.stage < stages_.size() && stages_[id.stage].stage != nullptr, "a task runs in a stage that has begun");
  auto& run = stages_[id.stage];
  worker.can_restart = true;
  run.stage->find_task(id.number, worker.c.task);
  if (run.join == nullptr) run_layout(worker, run, id.number);
  else run_join(worker, run, id);
  profile(worker, run).seconds += seconds_of_step(worker);
}

// The clock is read once between two steps.
double PlanRun::seconds_of_step(Worker& worker) {
  const auto began = std::exchange(worker.now, Clock::now());
  return std::chrono::duration<double>(worker.now - began).count();
}

void PlanRun::run_layout(Worker& worker, StageRun& run, std::int64_t task) {
  const auto& node = plan_.nodes[run.stage->node];
  const auto* joined = std::get_if<ConcatenationNode>(&node.op);
  CHECK(joined != nullptr || run.inputs.size() == 1, "a repartition reads one relation");
  const auto& grid = node.grid;
  const auto tile_id = find_tile(worker, run, task);
  std::int64_t pieces = 0;
  auto tile = node.cells ? gather_cells(*run.inputs[0], grid, tile_id, *context_->memory, pieces)
                         : gather_tile(run.inputs, joined != nullptr ? joined->along : 0, grid, tile_id,
                                       *context_->memory, pieces);
  auto& done = profile(worker, run);
  done.tiles_in += pieces;
  if (tile != nullptr) done.elements += tile->is_of_cells() ? tile->cells().count() : tile->shape().element_count();
  worker.can_restart = false;
  end_calls(worker, run);
  find_tile(worker, run, task);
  set_tile(worker, run, tile_id, std::move(tile));
}

void PlanRun::run_join(Worker& worker, StageRun& run, TaskId id) {
  const auto calls = find_calls(worker, run);
  const bool large = run.stage->cost >= kSmallTask * static_cast<double>(run.stage->task_count);
  if (calls > 1 && large && run.groups == nullptr && workers_.size() > 1 && has_room_to_share(worker, id.stage))
    return share(worker, id, calls);
  JoinOperator::Partial partial;
  const auto tile = run.stage->tile_of(id.number);
  auto* group = run.groups == nullptr ? nullptr : &run.groups[static_cast<std::size_t>(tile)];
  run_calls(worker, run, id, calls, partial);
  worker.can_restart = false;
  end_calls(worker, run);
  if (group == nullptr || leave(run, *group, partial)) complete(worker, run, tile, std::move(partial));
}

void PlanRun::run_calls(Worker& worker, StageRun& run, TaskId id, std::int64_t calls, JoinOperator::Partial& partial) {
  auto call = resume(id, partial);
  CHECK(call <= calls, "a task goes on with one of its calls");
  if (run.groups != nullptr && !partial) {
    auto& group = run.groups[static_cast<std::size_t>(run.stage->tile_of(id.number))];
    const std::lock_guard lock(group.mutex);
    partial = std::exchange(group.parked, std::nullopt);
  }
  try {
    if (partial) partial->reservation.raise_to(run.join->bytes_of_partial(partial->tile));
    const LetGoOfGroup let_go{worker.buffers};
    worker.buffers.whole = nodes_[run.stage->node].whole;
    if (run.groups == nullptr && run.join->sorts_rows())
      run.join->sort_rows(run.inputs, worker.key, worker.calls, context_->memory, worker.buffers);
    for (; call < calls && !failed_; ++call) run_call(worker, run, call, partial);
    if (!partial && run.groups == nullptr)
      partial = run.join->nothing_aggregated(find_tile(worker, run, id.number), context_->memory);
  } catch (const Error& error) {
    if (worker.buffers.broke_off) worker.can_restart = false;
    else if (error.kind() == ErrorKind::MemoryLimit) suspend(id, call, std::exchange(partial, std::nullopt));
    throw;
  }
}

void PlanRun::suspend(TaskId id, std::int64_t call, JoinOperator::Partial partial) {
  Suspended suspended{id, call, nullptr};
  if (partial) {
    partial->reservation.shrink_to(static_cast<std::int64_t>(partial->tile.byte_size()));
    suspended.partial = std::make_unique<BufferedTiles>(context_->memory, 1);
    suspended.partial->put(0, context_->memory->track(std::move(*partial)));
  }
  const std::lock_guard lock(mutex_);
  suspended_.push_back(std::move(suspended));
  ++suspended_count_;
}

// Restores the partial result of a suspended task, and returns its next call.
std::int64_t PlanRun::resume(TaskId id, JoinOperator::Partial& partial) {
  if (suspended_count_ == 0) return 0;
  Suspended found;
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(suspended_.begin(), suspended_.end(), [&](const auto& s) { return s.id == id; });
    if (at == suspended_.end()) return 0;
    found = std::move(*at);
    suspended_.erase(at);
    --suspended_count_;
    CHECK(std::cmp_equal(suspended_count_.load(), suspended_.size()), "tasks that wait for memory are counted");
  }
  try {
    if (found.partial != nullptr) partial = found.partial->take_alone(0);
  } catch (...) {  // the partial result is still stored
    const std::lock_guard lock(mutex_);
    suspended_.push_back(std::move(found));
    ++suspended_count_;
    throw;
  }
  return found.call;
}

// Whether there is room for all threads to work on the task: threads that share a task do not suspend it.
bool PlanRun::has_room_to_share(const Worker& worker, std::size_t stage) const {
  const auto need = need_of(worker, stage);
  return suspended_count_ == 0 && is_free(checked_multiply(need, static_cast<std::int64_t>(workers_.size()) + 1));
}

// Offers the task's kernel calls to idle threads.
void PlanRun::share(Worker& worker, TaskId id, std::int64_t calls) {
  auto shared = std::make_shared<SharedTask>();
  shared->id = id;
  shared->calls = calls;
  const auto others = static_cast<std::int64_t>(workers_.size()) - 1;
  shared->seats = others;
  const LetGoOfGroup let_go{worker.buffers};
  const auto& run = stages_[id.stage];
  if (run.join->sorts_rows()) {
    worker.buffers.whole = nodes_[run.stage->node].whole;
    run.join->sort_rows(run.inputs, worker.key, worker.calls, context_->memory, worker.buffers);
    shared->rows = worker.buffers.rows;
    if (shared->rows) shared->gathered = run.join->tile_of_rows(worker.key, context_->memory, worker.buffers);
    worker.buffers.whole.reset();
  }
  {
    const std::lock_guard lock(mutex_);
    const auto more = checked_multiply(need_of(worker, id.stage), others);
    promised_.fetch_add(more, std::memory_order_relaxed);
    CHECK(worker.shared == nullptr, "a worker shares one task at a time");
    worker.promise += more;
    shared_.push_back(shared);
    worker.shared = shared;
    wake(1);
  }
  run_shared(worker, *shared);
}

// The last thread to leave completes the task.
void PlanRun::run_shared(Worker& worker, SharedTask& shared) {
  auto& run = stages_[shared.id.stage];
  const bool helps = worker.shared.get() != &shared;
  worker.can_restart = false;
  std::optional<MemoryBudget::Task> scope;
  if (helps) scope.emplace(*context_->memory);
  if (helps) run.stage->find_task(shared.id.number, worker.c.task);
  if (helps) find_calls(worker, run);
  const LetGoOfGroup let_go{worker.buffers};
  worker.buffers.rows = shared.rows;
  JoinOperator::Partial partial;
  bool is_last = false;
  do {
    run_shared_calls(worker, run, shared, shared.rows ? shared.gathered : partial);
    is_last = leave(run, shared.group, partial);
  } while (is_last && !failed_ && goes_on(shared));
  if (is_last) {
    end_calls(worker, run);
    complete(worker, run, run.stage->tile_of(shared.id.number), std::move(shared.rows ? shared.gathered : partial));
  }
  if (helps) profile(worker, run).seconds += seconds_of_step(worker);
}

// A thread without room for a call leaves it to the others.
void PlanRun::run_shared_calls(Worker& worker, StageRun& run, SharedTask& shared, JoinOperator::Partial& partial) {
  while (!failed_) {
    const auto call = next_call(shared);
    if (!call) return;
    try {
      run_call(worker, run, *call, partial);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::MemoryLimit || worker.buffers.broke_off || !give_up(shared, *call)) throw;
      return;
    }
  }
}

std::optional<std::int64_t> PlanRun::next_call(SharedTask& shared) {
  const auto call = shared.next_call.fetch_add(1, std::memory_order_relaxed);
  if (call < shared.calls) return call;
  const std::lock_guard lock(shared.group.mutex);
  if (shared.returned.empty()) return std::nullopt;
  const auto returned = shared.returned.back();
  shared.returned.pop_back();
  return returned;
}

// Returns the call to the others; false if there is no other thread.
bool PlanRun::give_up(SharedTask& shared, std::int64_t call) {
  const std::lock_guard lock(shared.group.mutex);
  if (shared.group.left < 2) return false;
  shared.returned.push_back(call);
  return true;
}

// Whether the last thread finds calls that others have returned.
bool PlanRun::goes_on(SharedTask& shared) {
  const std::lock_guard lock(shared.group.mutex);
  if (shared.returned.empty()) return false;
  CHECK(shared.group.left == 0, "only the last thread goes on with what others gave up");
  shared.group.left = 1;
  return true;
}

// Sets the task's part of the aggregated axes, and the first part of the keys of its calls; returns the number of
// calls.
std::int64_t PlanRun::find_calls(Worker& worker, const StageRun& run) {
  const auto& stage = *run.stage;
  worker.key.resize(stage.axes.size());
  worker.calls.clear();
  std::int64_t count = 1;
  for (std::size_t a = 0; a < stage.axes.size(); ++a) {
    const auto& axis = stage.axes[a];
    if (!axis.aggregated) {
      worker.key[a] = run.begin[a] + worker.c.task[a];
      continue;
    }
    const auto range = part_range(axis.calls, axis.tasks, worker.c.task[a]);
    worker.calls.push_back({run.begin[a] + range.begin, range.size});
    count *= range.size;
  }
  CHECK(count > 0, "a task has a kernel call");
  return count;
}

void PlanRun::run_call(Worker& worker, StageRun& run, std::int64_t call, JoinOperator::Partial& partial) {
  context_->cancellation.check();
  for (auto n = worker.calls.size(); n-- > 0;) {
    worker.key[run.stage->rank + n] = worker.calls[n].begin + call % worker.calls[n].size;
    call /= worker.calls[n].size;
  }
  DCHECK(call == 0, "a kernel call is one of its task");
  const auto lent = lend(worker, run);
  const auto elements = [&] {
    struct TakeBack {
      PlanRun& plan_run;
      Worker& worker;
      const std::optional<Lent>& lent;
      ~TakeBack() {
        if (lent) plan_run.take_back(worker, *lent);
      }
    } const take_back{*this, worker, lent};
    const LentThreads::Scope scope(lent ? lent->call.get() : nullptr);
    return run.join->call(run.inputs, worker.key, partial, context_->memory, worker.buffers);
  }();
  if (elements) {
    auto& done = profile(worker, run);
    ++done.kernel_calls;
    done.elements += *elements;
  }
  for (const auto& link : run.stage->links)
    if (link.once) release(link.source, worker.buffers.tiles[link.operand]);
}

// Lets idle threads help with a kernel's call, if the call can be helped with and there is memory for them.
std::optional<PlanRun::Lent> PlanRun::lend(Worker& worker, const StageRun& run) {
  const auto others = static_cast<std::int64_t>(workers_.size()) - 1;
  const auto bytes = run.join->lent_bytes();
  if (bytes == 0 || others == 0) return std::nullopt;
  const auto all = checked_multiply(bytes, others);
  if (!is_free(checked_add(all, run.join->workspace_bytes()))) return std::nullopt;
  Lent lent{std::make_shared<LentCall>(others,
                                       [this] {
                                         const std::lock_guard lock(mutex_);
                                         wake(1);
                                       }),
            bytes};
  const std::lock_guard lock(mutex_);
  lent_.push_back(lent);
  promised_.fetch_add(all, std::memory_order_relaxed);
  worker.promise += all;
  return lent;
}

void PlanRun::take_back(Worker& worker, const Lent& lent) {
  lent.call->close();
  const std::lock_guard lock(mutex_);
  std::erase_if(lent_, [&](const Lent& other) { return other.call == lent.call; });
  const auto all = lent.bytes * (static_cast<std::int64_t>(workers_.size()) - 1);
  promised_.fetch_sub(all, std::memory_order_relaxed);
  worker.promise -= all;
}

// Without memory nobody helps.
void PlanRun::help(Worker& worker, const Lent& lent) {
  const MemoryBudget::Task scope(*context_->memory);
  worker.can_restart = false;
  auto& workspace = worker.buffers.workspace;
  try {
    if (workspace) workspace->raise_to(lent.bytes);
    else workspace.emplace(context_->memory, lent.bytes);
  } catch (const Error& error) {
    lent.call->close();
    if (error.kind() != ErrorKind::MemoryLimit) throw;
    return;
  }
  lent.call->help();
  worker.now = Clock::now();
}

// Leaves the thread's partial result to the others; true for the last thread, which gets the sum.
bool PlanRun::leave(const StageRun& run, Group& group, JoinOperator::Partial& partial) {
  for (;;) {
    JoinOperator::Partial other;
    {
      const std::lock_guard lock(group.mutex);
      other = std::exchange(group.parked, std::nullopt);
      if (!other) {
        CHECK(group.left > 0, "who leaves a group has worked on it");
        if (--group.left == 0) return true;
        group.parked = std::exchange(partial, std::nullopt);
        return false;
      }
    }
    run.join->combine(partial, std::move(other));
  }
}

// Releases tiles that several calls of the task have read.
void PlanRun::end_calls(Worker& worker, StageRun& run) {
  for (const auto& link : run.stage->links) {
    if (run.join != nullptr && link.once) continue;
    run.stage->for_each_tile(link, run.begin, worker.c, [&](const TileKey& key) {
      release(link.source, plan_.nodes[link.source].grid.id_of(key));
    });
  }
  worker.tasks_done = 1;
  if (progress_->is_wanted())
    progress_->advance(operator_name(plan_.nodes[run.stage->node]),
                       run.stage->cost / static_cast<double>(run.stage->task_count));
}

// The key of a tile of the result, as worker.c.key, and its tile_id.
std::int64_t PlanRun::find_tile(Worker& worker, const StageRun& run, std::int64_t tile) const {
  const auto& stage = *run.stage;
  auto& key = worker.c.key;
  key.resize(stage.rank);
  for (auto a = stage.rank; a-- > 0;) {
    key[a] = run.begin[a] + tile % stage.axes[a].tasks;
    tile /= stage.axes[a].tasks;
  }
  DCHECK(tile == 0, "a tile that is made lies in the slice at hand");
  return plan_.nodes[stage.node].grid.id_of(key);
}

void PlanRun::complete(Worker& worker, StageRun& run, std::int64_t tile, JoinOperator::Partial partial) {
  const auto& stage = *run.stage;
  const auto tile_id = find_tile(worker, run, tile);
  if (sliced_ && stage.node == sliced_node_) {
    if (!sliced_->aggregates()) {
      if (!partial) partial = run.join->nothing_aggregated(tile_id, context_->memory);
      if (partial) run.join->apply_epilogue(partial->tile);
    }
    if (partial) sliced_->add(tile_id, std::move(*partial));
    return;
  }
  set_tile(worker, run, tile_id, run.join->finish(std::move(partial), tile_id, context_->memory));
}

// worker.c.key must be the tile's key.
void PlanRun::set_tile(Worker& worker, StageRun& run, std::int64_t tile_id, TilePtr tile) {
  const auto node = run.stage->node;
  if (tile != nullptr) {
    auto& done = profile(worker, run);
    done.bytes += static_cast<std::int64_t>(tile->byte_size());
    if (tile->is_of_cells()) done.cells += tile->cells().count();
  }
  if (nodes_[node].whole != nullptr) complete_whole(node, tile_id, tile.get());
  nodes_[node].relation->put(tile_id, std::move(tile));
  for (const auto* link : nodes_[node].waiting) count_arrival(worker, *link);
  if (graph_.sinks_of(node) > 0) announce(node, tile_id);
}

// Fills a tile's values in the whole if it lies elsewhere: if several threads have made it, it was written to the
// scratch file meanwhile, or is zero.
void PlanRun::complete_whole(std::size_t node, std::int64_t tile_id, const Tile* tile) {
  const auto& grid = plan_.nodes[node].grid;
  auto& whole = *nodes_[node].whole;
  if (tile != nullptr && tile->lies_in(whole)) return;
  const auto key = grid.key_of(tile_id);
  auto values = Tile::in_whole(nodes_[node].whole, grid.tile_shape(key), grid.first_element(key));
  const auto to = values.mutable_bytes();
  if (tile == nullptr) std::fill(to.begin(), to.end(), std::byte{0});
  else std::copy(tile->bytes().begin(), tile->bytes().end(), to.begin());
}

// Records that the tile can be delivered.
void PlanRun::announce(std::size_t node, std::int64_t tile_id) {
  const auto number = static_cast<std::size_t>(nodes_[node].relation->number_of(tile_id));
  const std::lock_guard lock(mutex_);
  for (auto& sink : sinks_) {
    if (sink.source != node || sink.is_there.empty()) continue;
    CHECK(number < sink.is_there.size() && sink.is_there[number] == 0, "each tile of a result comes once");
    sink.is_there[number] = 1;
  }
}

void PlanRun::count_arrival(Worker& worker, const Link& link) {
  const auto& reader = stages_[link.stage];
  reader.stage->for_each_task(link, reader.begin, worker.c, [&](std::int64_t task) {
    if (reader.arrived) {
      auto needed = reader.waits;
      if (needed < 0) {
        needed = 0;
        reader.stage->find_task(task, worker.c.other);
        for (const auto& each : reader.stage->links)
          if (nodes_[each.source].is_made_here) needed += reader.stage->tiles_read(each, worker.c.other, reader.begin);
      }
      auto& arrived = reader.arrived[task];
      const std::int64_t now = arrived.fetch_add(1, std::memory_order_acq_rel) + 1;
      DCHECK(now <= needed, "a task waits for each tile once");
      if (now < needed) return;
    }
    worker.made_ready.push_back({link.stage, task});
  });
}

void PlanRun::release(std::size_t node, std::int64_t tile_id) {
  auto& tiles = nodes_[node];
  if (tiles.reads) {
    const auto total = tiles.total >= 0 ? tiles.total : reads_of(node, tiles.relation->grid().key_of(tile_id));
    auto& reads = tiles.reads[tiles.relation->number_of(tile_id)];
    if (reads.fetch_add(1, std::memory_order_acq_rel) + 1 < total) return;
  }
  if (held_behind_ && graph_.last_reader(node) > *held_behind_) return;
  tiles.relation->release(tile_id);
}

// Ends the promise to a task, which has taken its bytes.
void PlanRun::keep_promise(Worker& worker) {
  CHECK(promised_.load(std::memory_order_relaxed) >= worker.promise, "what a task was promised counts until it ends");
  if (worker.promise > 0) promised_.fetch_sub(std::exchange(worker.promise, 0), std::memory_order_relaxed);
}

}  // namespace eindb
