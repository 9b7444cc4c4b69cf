#include "server/sessions/worker_pool.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

/// The longest time that a task should wait for an awake thread.
constexpr std::chrono::microseconds kWakingPatience{500};
/// The interval between checks of the watch.
constexpr auto kLook = kWakingPatience / 2;
/// The divisor for the weight of the last task in the typical time of a task.
constexpr int kShare = 8;
/// The most users whose entries are kept while they run nothing.
constexpr std::size_t kKnownUsers = 1000;

}  // namespace

thread_local WorkerPool::Worker* WorkerPool::current_ = nullptr;

WorkerPool::WorkerPool(std::size_t threads, Task afterwards) : count_(threads), afterwards_(std::move(afterwards)) {
  CHECK(count_ > 0, "something runs at a time");
  const std::lock_guard lock(mutex_);
  for (auto n = workers_.size(); n < wanted(); ++n) start_worker();  // or fewer, if the system allows no more
}

WorkerPool::~WorkerPool() { join(); }

void WorkerPool::post(Task task, std::string_view user) {
  CHECK(task != nullptr, "a thread has something to run");
  std::unique_lock lock(mutex_);
  auto& load = load_of(user);
  const bool was_active = load.is_active();
  load.tasks.push_back(std::move(task));
  try {
    if (load.tasks.size() == 1) turns_.push_back(&load);
  } catch (...) {
    load.tasks.pop_back();
    throw;
  }
  if (!was_active) ++active_;
  ++queued_;
  DCHECK(is_valid(), "a task that is posted is counted once");
  const bool wake = needs_another();
  lock.unlock();  // so that the thread finds the mutex unlocked
  if (wake) work_.notify_one();
}

WorkerPool::Load& WorkerPool::load_of(std::string_view user) {
  if (const auto known = loads_.find(user); known != loads_.end()) return known->second;
  if (loads_.size() >= kKnownUsers) std::erase_if(loads_, [](const auto& entry) { return !entry.second.is_active(); });
  return loads_.try_emplace(std::string(user)).first->second;
}

// ---- Turns ---------------------------------------------------------------------------------------------------------

// Beyond the regular number, tasks start one at a time, and only if all running tasks are long, since then no thread
// will be free soon.
bool WorkerPool::may_run(const Load& load) const {
  if (running_ < count_) return true;
  return running_ == long_runs_ && load.running() < std::max<std::size_t>(1, count_ / active_);
}

bool WorkerPool::has_work() const {
  if (running_ < count_) return queued_ > 0;
  return std::any_of(turns_.begin(), turns_.end(), [this](const Load* load) { return may_run(*load); });
}

// Takes the turn of the first user who may run; that user then goes behind all others.
WorkerPool::Load& WorkerPool::take_turn() {
  const auto turn = std::find_if(turns_.begin(), turns_.end(), [this](const Load* load) { return may_run(*load); });
  CHECK(turn != turns_.end(), "a thread takes a turn where there is work for it");
  auto& load = **turn;
  CHECK(!load.tasks.empty(), "who has a turn has a task");
  std::rotate(turn, turn + 1, turns_.end());
  if (load.tasks.size() == 1) turns_.pop_back();
  return load;
}

bool WorkerPool::is_valid() const {
  std::size_t queued = 0;
  std::size_t active = 0;
  std::size_t running = 0;
  std::size_t with_tasks = 0;
  for (const auto& [user, load] : loads_) {
    if (load.waiting > load.begun) return false;
    queued += load.tasks.size();
    active += load.is_active() ? 1 : 0;
    running += load.running();
    with_tasks += load.tasks.empty() ? 0 : 1;
  }
  return queued == queued_ && active == active_ && running == running_ && with_tasks == turns_.size() &&
         awake_ <= workers_.size() && idle_ <= workers_.size();
}

// ---- Threads -------------------------------------------------------------------------------------------------------

void WorkerPool::join() {
  std::unique_lock lock(mutex_);
  ends_ = true;
  work_.notify_all();
  ended_.wait(lock, [this] { return workers_.empty(); });
  for (auto& worker : done_) worker.thread.join();
  done_.clear();
}

void WorkerPool::start_worker() {
  for (auto& worker : done_) worker.thread.join();
  done_.clear();
  auto self = workers_.end();
  try {
    self = workers_.emplace(self);
    self->thread = std::thread([this, self] { run(self); });
    ++awake_;
  } catch (...) {
    if (self != workers_.end()) workers_.erase(self);
    if (workers_.empty()) throw;  // otherwise the existing threads take the work
  }
}

// Without a watch, long tasks would not be detected.
bool WorkerPool::needs_watch() const { return !has_watch_ && awake_ > 0 && queued_ > 0; }

bool WorkerPool::needs_another() const {
  if (idle_ == 0) return false;
  if (needs_watch()) return true;
  if (!has_work()) return false;
  if (awake_ == 0) return true;
  const auto wait = typical_ * static_cast<std::int64_t>(queued_) / static_cast<std::int64_t>(awake_);
  return wait > kWakingPatience;
}

// A thread that stood in for a waiting one ends once that one continues.
void WorkerPool::run(Workers::iterator self) {
  current_ = &*self;
  std::unique_lock lock(mutex_);
  while (!one_too_many()) {
    if (has_work()) run_one(lock, *self);
    else if (ends_) break;
    else rest(lock);
  }
  --awake_;
  done_.splice(done_.end(), workers_, self);
  if (has_work()) work_.notify_one();
  ended_.notify_all();
}

void WorkerPool::run_one(std::unique_lock<std::mutex>& lock, Worker& self) {
  auto& load = take_turn();
  auto task = std::move(load.tasks.front());
  load.tasks.pop_front();
  --queued_;
  ++load.begun;
  ++running_;
  self.load = &load;
  self.busy = true;
  self.long_run = false;
  self.since = looks_;
  if (workers_.size() < wanted()) start_worker();
  const bool wake = needs_another();  // this thread may have been the watch
  lock.unlock();
  if (wake) work_.notify_one();
  const auto begin = Clock::now();
  task();
  task = nullptr;  // frees resources of the task outside the lock
  if (afterwards_) afterwards_();
  const auto took = std::min<Clock::duration>(Clock::now() - begin, 2 * kWakingPatience);
  lock.lock();
  if (self.long_run) {
    ++awake_;
    --long_runs_;
  }
  self.busy = false;
  --running_;
  --load.begun;
  if (!load.is_active()) --active_;
  DCHECK(is_valid(), "a task that has ended is no longer counted");
  typical_ += (took - typical_) / kShare;
}

void WorkerPool::rest(std::unique_lock<std::mutex>& lock) {
  --awake_;
  ++idle_;
  if (has_watch_ || !watch(lock))
    work_.wait(lock, [this] { return ends_ || one_too_many() || has_work() || needs_watch(); });
  --idle_;
  ++awake_;
}

// Returns true if there is work for this thread, false if no short task runs any more.
bool WorkerPool::watch(std::unique_lock<std::mutex>& lock) {
  has_watch_ = true;
  bool called = false;
  while (!called && awake_ > 0 && !ends_ && !one_too_many()) {
    called = work_.wait_for(lock, kLook) == std::cv_status::no_timeout;
    look();
    called = called || needs_another();
  }
  has_watch_ = false;
  return called;
}

// Marks tasks as long if they already ran at the check before the last one.
void WorkerPool::look() {
  ++looks_;
  for (auto& worker : workers_) {
    if (!worker.busy || worker.long_run || worker.since + 2 > looks_) continue;
    worker.long_run = true;
    ++long_runs_;
    --awake_;
  }
}

WorkerPool::Waiting::Waiting(WorkerPool& pool) : pool_(pool) {
  const std::lock_guard lock(pool_.mutex_);
  pool_.begin_to_wait();
}

WorkerPool::Waiting::~Waiting() {
  const std::lock_guard lock(pool_.mutex_);
  pool_.end_to_wait();
}

void WorkerPool::begin_to_wait() {
  if (current_ != nullptr) {
    DCHECK(current_->load != nullptr && current_->load->running() > 0, "who waits has a task that runs");
    if (std::exchange(current_->long_run, true)) --long_runs_;
    else --awake_;
    ++current_->load->waiting;
    --running_;
  }
  ++waiting_;
  if (workers_.size() < wanted()) start_worker();
  if (has_work()) work_.notify_one();
}

void WorkerPool::end_to_wait() {
  DCHECK(waiting_ > 0, "who ends to wait has begun to");
  --waiting_;
  if (current_ != nullptr) {
    --current_->load->waiting;
    ++running_;
    ++long_runs_;
  }
  work_.notify_all();
}

}  // namespace eindb
