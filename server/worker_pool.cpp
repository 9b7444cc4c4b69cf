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

WorkerPool::WorkerPool(std::size_t threads) : workers_(threads) {
  awake_ = threads;
  threads_.reserve(threads);
  for (auto& worker : workers_) threads_.emplace_back([this, &worker] { run(worker); });
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
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    work_.notify_all();
  }
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

// Without a watch nobody would notice that a task runs long.
bool WorkerPool::needs_another() const {
  if (idle_ == 0) return false;
  if (awake_ == 0 || !has_watch_) return true;
  const auto wait = typical_ * static_cast<std::int64_t>(tasks_.size()) / static_cast<std::int64_t>(awake_);
  return wait > kPatience;
}

void WorkerPool::run(Worker& self) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!tasks_.empty()) run_one(lock, self);
    else if (ends_) return;
    else rest(lock);
  }
}

void WorkerPool::run_one(std::unique_lock<std::mutex>& lock, Worker& self) {
  auto task = std::move(tasks_.front());
  tasks_.pop_front();
  self = {.busy = true, .long_run = false, .since = looks_};
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
  if (has_watch_ || !watch(lock)) work_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
  --idle_;
  ++awake_;
}

// True: there is work for this thread. False: nothing short runs any more.
bool WorkerPool::watch(std::unique_lock<std::mutex>& lock) {
  has_watch_ = true;
  bool called = false;
  while (!called && awake_ > 0 && !ends_) {
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

}  // namespace eindb
