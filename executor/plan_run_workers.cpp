// The choice of the workers' next steps.
#include <algorithm>
#include <chrono>
#include <thread>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "executor/never_fits.hpp"
#include "executor/plan_run.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

// The most tasks that are examined when memory is short.
constexpr std::size_t kMostDeferred = 64;
// The time that a worker looks for work before it sleeps.
constexpr std::chrono::microseconds kWorkerLookOut{100};

}  // namespace

void PlanRun::work(std::size_t number) noexcept {
  try {
    work_until_done(number);
  } catch (...) {  // no memory to record ready tasks; the other workers must not wait for them
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
    failed_ = true;
    changes_.fetch_add(1, std::memory_order_relaxed);
  }
  wake_.notify_all();
  wake_caller_.notify_all();
  let_go_of_workspace(workers_[number]);
}

void PlanRun::work_until_done(std::size_t number) {
  auto& worker = workers_[number];
  const bool is_caller = number == 0;
  const CancellationScope scope(context_->cancellation);
  const Workspace::Bound bound(static_cast<std::size_t>(workspace_bound_));
  worker.now = Clock::now();
  std::unique_lock lock(mutex_);
  const auto run = [&](const std::optional<TaskId>& task, auto&& what) {
    ++running_;
    worker.began = ended_;
    worker.had_workspace = worker.buffers.workspace.has_value();
    lock.unlock();
    std::exception_ptr error;
    try {
      what();
    } catch (...) {
      error = std::current_exception();
      worker.now = Clock::now();
    }
    lock.lock();
    --running_;
    if (error) take_error(std::move(error), worker, task);
    end_task(worker);
  };
  while (!is_done(is_caller)) {
    auto* sink = is_caller ? sink_to_write() : nullptr;
    if (sink != nullptr) run(std::nullopt, [&] { write_next_tile(*sink); });
    else if (const auto id = next_task(worker)) run(id, [&] { run_task(worker, *id); });
    else if (const auto shared = task_to_help()) run(std::nullopt, [&] { run_shared(worker, *shared); });
    else if (const auto lent = call_to_help()) run(std::nullopt, [&] { help(worker, *lent); });
    else wait(worker, lock, is_caller);
  }
}

bool PlanRun::is_done(bool is_caller) const {
  if (error_) return true;
  if (tasks_left_ > 0) return false;
  return !is_caller || std::all_of(sinks_.begin(), sinks_.end(), [](const SinkRun& sink) { return sink.is_done(); });
}

// The first result with a tile that can be delivered; null if there is none.
PlanRun::SinkRun* PlanRun::sink_to_write() {
  const auto found = std::find_if(sinks_.begin(), sinks_.end(), [](const SinkRun& sink) { return sink.can_write(); });
  return found == sinks_.end() ? nullptr : &*found;
}

void PlanRun::write_next_tile(SinkRun& sink) {
  CHECK(!sink.is_done(), "each tile of a result is handed over once");
  const MemoryBudget::Task scope(*context_->memory);
  context_->cancellation.check();
  auto& relation = *nodes_[sink.source].relation;
  const auto tile_id = relation.tile_id_of(sink.next);
  // Nothing has changed before this point, so the step can be repeated. A tile without other users becomes the sink's.
  workers_[0].can_restart = true;
  const bool takes_cells = plan_.nodes[sink.node].cells && sink.to->takes_cells();
  auto tile = takes_cells ? relation.stored_tile(tile_id) : relation.tile(tile_id);
  const auto bytes = tile == nullptr ? 0 : static_cast<std::int64_t>(tile->byte_size());
  const bool is_last_reader = nodes_[sink.source].stored_reads == nullptr && !nodes_[sink.source].reads;
  if (is_last_reader) {
    workers_[0].can_restart = false;
    release(sink.source, tile_id);
  }
  sink.to->write(tile_id, std::move(tile));
  if (!is_last_reader) release(sink.source, tile_id);
  auto& profile = workers_[0].nodes[sink.node];
  profile.bytes += bytes;
  ++sink.next;
  profile.seconds += seconds_of_step(workers_[0]);
}

// If memory is short, the most urgent tasks are deferred, and some that need less may still begin.
std::optional<TaskId> PlanRun::next_task(Worker& worker) {
  for (;;) {
    if (deferred_.size() >= kMostDeferred) return forced_task(worker);
    const auto id = own_task(worker);
    const auto task = id ? id : ready_.pop();
    if (!task) return forced_task(worker);
    if (admit(worker, need_of(worker, task->stage))) return task;
    deferred_.push_back(*task);
  }
}

// If no task is running, one must run.
std::optional<TaskId> PlanRun::forced_task(Worker& worker) {
  if (running_ > 0 || deferred_.empty()) return std::nullopt;
  // A suspended task holds its partial result until it ends, so it goes first.
  auto chosen = std::find_if(deferred_.begin(), deferred_.end(), [&](TaskId id) { return is_suspended(id); });
  if (chosen == deferred_.end()) chosen = deferred_.begin();
  const auto task = *chosen;
  deferred_.erase(chosen);
  promise(worker, need_of(worker, task.stage));
  return task;
}

bool PlanRun::is_suspended(TaskId task) const {
  return std::any_of(suspended_.begin(), suspended_.end(), [&](const auto& s) { return s.id == task; });
}

// The most urgent of the tasks that the worker's last task made ready, unless the queue has a more urgent one.
std::optional<TaskId> PlanRun::own_task(Worker& worker) {
  auto& own = worker.made_ready;
  if (own.empty()) return std::nullopt;
  const auto first = std::max_element(own.begin(), own.end(), ReadyQueue::less_urgent);
  std::optional<TaskId> task;
  if (ready_.is_urgent(*first)) task = *first;
  for (const auto& other : own)
    if (!task || other != *task) ready_.push(other);
  if (!task || own.size() > 1) wake(own.size());
  own.clear();
  return task;
}

// The memory that a task needs in addition to what its worker holds.
std::int64_t PlanRun::need_of(const Worker& worker, std::size_t stage) const {
  const auto tiles = graph_.stages()[stage].need;
  const auto* join = stages_[stage].join;
  if (join == nullptr) return tiles;
  const auto held = worker.buffers.workspace ? worker.buffers.workspace->bytes() : 0;
  return checked_add(tiles, std::max<std::int64_t>(0, join->workspace_bytes() - held));
}

void PlanRun::let_go_of_workspace(Worker& worker) {
  Workspace::release_this_thread();
  auto& counted = worker.buffers.workspace;
  if (counted) worker.workspace_bytes = std::max(worker.workspace_bytes, counted->bytes());
  counted.reset();
}

bool PlanRun::is_free(std::int64_t bytes) const {
  return bytes <= context_->memory->left() - promised_.load(std::memory_order_relaxed);
}

// Tiles that no task needs now can be evicted (TileBuffer), but tiles in use and partial results cannot; half of the
// limit is reserved for those. If that was insufficient, tasks that have begun must end first.
bool PlanRun::admit(Worker& worker, std::int64_t bytes) {
  const auto most = suspended_count_ > 0 ? 0 : context_->memory->limit() / 2;
  const auto room = most - promised_.load(std::memory_order_relaxed);
  if (bytes > room && !is_free(bytes)) return false;
  promise(worker, bytes);
  return true;
}

void PlanRun::promise(Worker& worker, std::int64_t bytes) {
  CHECK(worker.promise == 0 && bytes >= 0, "a worker has kept one promise before it gets the next");
  promised_.fetch_add(bytes, std::memory_order_relaxed);
  worker.promise = bytes;
}

// A task without room is tried again when others have ended, or after the workspace kept for it is freed.
void PlanRun::take_error(std::exception_ptr error, Worker& worker, const std::optional<TaskId>& task) {
  if (error_) return;
  try {
    std::rethrow_exception(error);
  } catch (const NeverFits&) {
    // Final, or tasks that each wait for the other's end would be tried for ever.
  } catch (const Error& e) {
    const bool may_find_room = running_ > 0 || ended_ != worker.began || worker.had_workspace;
    if (e.kind() == ErrorKind::MemoryLimit && worker.can_restart && may_find_room) {
      let_go_of_workspace(worker);
      if (task) deferred_.push_back(*task);
      return;
    }
  } catch (...) {  // any other error is final
  }
  error_ = std::move(error);
  failed_ = true;
}

std::shared_ptr<PlanRun::SharedTask> PlanRun::task_to_help() {
  for (const auto& shared : shared_) {
    if (shared->next_call.load(std::memory_order_relaxed) >= shared->calls || shared->seats == 0) continue;
    const std::lock_guard lock(shared->group.mutex);
    if (shared->group.left == 0) continue;
    ++shared->group.left;
    --shared->seats;
    return shared;
  }
  return nullptr;
}

std::optional<PlanRun::Lent> PlanRun::call_to_help() {
  for (const auto& lent : lent_)
    if (lent.call->wants_help() && lent.call->enter()) return lent;
  return std::nullopt;
}

// Call with the lock held, after any step of a worker.
void PlanRun::end_task(Worker& worker) {
  ++ended_;
  tasks_left_ -= std::exchange(worker.tasks_done, 0);
  CHECK(tasks_left_ >= 0, "each task of a region ends once");
  keep_promise(worker);
  if (worker.shared != nullptr) {
    const auto offered = std::find(shared_.begin(), shared_.end(), worker.shared);
    CHECK(offered != shared_.end(), "a task that is shared is offered until it ends");
    shared_.erase(offered);
    worker.shared = nullptr;
  }
  for (const auto& task : deferred_) ready_.push(task);
  const auto deferred = deferred_.size();
  deferred_.clear();
  changes_.fetch_add(1, std::memory_order_relaxed);
  if (deferred > 0) wake(deferred);
  if (caller_sleeps_ && (sink_to_write() != nullptr || is_done(true))) wake_caller_.notify_one();
  if (sleeping_ > 0 && is_done(false)) wake_.notify_all();
}

void PlanRun::wait(Worker& worker, std::unique_lock<std::mutex>& lock, bool is_caller) {
  // Before other workers check whether anybody could free memory.
  let_go_of_workspace(worker);
  const auto seen = changes_.load(std::memory_order_relaxed);
  lock.unlock();
  const auto until = Clock::now() + kWorkerLookOut;
  while (changes_.load(std::memory_order_relaxed) == seen && Clock::now() < until) std::this_thread::yield();
  lock.lock();
  struct Begin {
    Worker& worker;
    ~Begin() { worker.now = Clock::now(); }  // of the next step
  } const begin{worker};
  if (changes_.load(std::memory_order_relaxed) != seen || is_done(is_caller)) return;
  if (is_caller) {
    caller_sleeps_ = true;
    wake_caller_.wait(lock);
    caller_sleeps_ = false;
  } else {
    ++sleeping_;
    wake_.wait(lock);
    --sleeping_;
  }
}

// Wakes sleeping workers for at most this many tasks.
void PlanRun::wake(std::size_t tasks) {
  changes_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t n = 0; n < std::min(tasks, sleeping_); ++n) wake_.notify_one();
  if (caller_sleeps_) wake_caller_.notify_one();
}

}  // namespace eindb
