#include "server/worker_pool.hpp"

#include <algorithm>
#include <utility>

namespace eindb {
namespace {

/// What a task may wait for a thread that is awake.
constexpr std::chrono::microseconds kPatience{500};
/// Between two looks of the watch.
constexpr auto kLook = kPatience / 2;
/// Weight of the last task in the time of a typical one.
constexpr int kShare = 8;

}  // namespace

thread_local WorkerPool::Worker* WorkerPool::current_ = nullptr;

WorkerPool::WorkerPool(std::size_t threads) : count_(threads) {
  const std::lock_guard lock(mutex_);
  for (std::size_t n = 0; n < threads; ++n) start_worker();
}

WorkerPool::~WorkerPool() { join(); }

void WorkerPool::post(Task task) {
  std::unique_lock lock(mutex_);
  tasks_.push_back(std::move(task));
  const bool wake = needs_another();
  lock.unlock();  // so that the thread finds it free
  if (wake) work_.notify_one();
}

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
  const auto self = workers_.emplace(workers_.end());
  try {
    self->thread = std::thread([this, self] { run(self); });
    ++awake_;
  } catch (...) {
    workers_.erase(self);
    if (workers_.empty()) throw;  // the others will come to what there is
  }
}

// Without a watch nobody would notice that a task runs long.
bool WorkerPool::needs_another() const {
  if (idle_ == 0) return false;
  if (awake_ == 0 || !has_watch_) return true;
  const auto wait = typical_ * static_cast<std::int64_t>(tasks_.size()) / static_cast<std::int64_t>(awake_);
  return wait > kPatience;
}

// One is too many that stood in for one that waited and does not any more.
void WorkerPool::run(Workers::iterator self) {
  current_ = &*self;
  std::unique_lock lock(mutex_);
  while (!one_too_many()) {
    if (!tasks_.empty()) run_one(lock, *self);
    else if (ends_) break;
    else rest(lock);
  }
  --awake_;
  done_.splice(done_.end(), workers_, self);
  if (!tasks_.empty()) work_.notify_one();
  ended_.notify_all();
}

void WorkerPool::run_one(std::unique_lock<std::mutex>& lock, Worker& self) {
  auto task = std::move(tasks_.front());
  tasks_.pop_front();
  self.busy = true;
  self.long_run = false;
  self.since = looks_;
  const bool wake = !tasks_.empty() && needs_another();  // this thread may have been the watch
  lock.unlock();
  if (wake) work_.notify_one();
  const auto begin = Clock::now();
  task();
  task = nullptr;  // what it holds may end here
  const auto took = std::min<Clock::duration>(Clock::now() - begin, 2 * kPatience);
  lock.lock();
  if (self.long_run) ++awake_;
  self.busy = false;
  typical_ += (took - typical_) / kShare;
}

void WorkerPool::rest(std::unique_lock<std::mutex>& lock) {
  --awake_;
  ++idle_;
  if (has_watch_ || !watch(lock)) work_.wait(lock, [this] { return ends_ || one_too_many() || !tasks_.empty(); });
  --idle_;
  ++awake_;
}

// True: there is work for this thread. False: nothing short runs any more.
bool WorkerPool::watch(std::unique_lock<std::mutex>& lock) {
  has_watch_ = true;
  bool called = false;
  while (!called && awake_ > 0 && !ends_ && !one_too_many()) {
    called = work_.wait_for(lock, kLook) == std::cv_status::no_timeout;
    look();
    called = called || (!tasks_.empty() && needs_another());
  }
  has_watch_ = false;
  return called;
}

// What ran at the look before the last one already runs long.
void WorkerPool::look() {
  ++looks_;
  for (auto& worker : workers_) {
    if (!worker.busy || worker.long_run || worker.since + 2 > looks_) continue;
    worker.long_run = true;
    --awake_;
  }
}

WorkerPool::Waiting::Waiting(WorkerPool& pool) : pool_(pool) {
  const std::lock_guard lock(pool_.mutex_);
  if (current_ != nullptr && !std::exchange(current_->long_run, true)) --pool_.awake_;
  ++pool_.waiting_;
  pool_.start_worker();
}

WorkerPool::Waiting::~Waiting() {
  const std::lock_guard lock(pool_.mutex_);
  --pool_.waiting_;
  pool_.work_.notify_all();
}

}  // namespace eindb
