#include "server/worker_threads.hpp"

#include <utility>

namespace eindb {

void WorkerThreads::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  start_as_needed();
  changed_.notify_one();
}

// Without a thread for a task that could run one is started; what has ended since is tidied away.
void WorkerThreads::start_as_needed() {
  for (auto& thread : done_) thread.join();
  done_.clear();
  if (tasks_.size() <= idle_ || threads_.size() >= count_ + waiting_) return;
  const auto self = threads_.emplace(threads_.end());
  try {
    *self = std::thread([this, self] { run(self); });
  } catch (...) {
    threads_.erase(self);
    if (threads_.empty()) throw;  // the others will come to it
  }
}

void WorkerThreads::run(std::list<std::thread>::iterator self) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [&] { return !tasks_.empty() || ends_ || threads_.size() > count_ + waiting_; });
    --idle_;
    // One too many: it was started for one that waited and does not any more.
    if (threads_.size() > count_ + waiting_ || tasks_.empty()) break;
    {
      const auto task = std::exchange(tasks_.front(), nullptr);
      tasks_.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
  }
  done_.splice(done_.end(), threads_, self);
  if (!tasks_.empty()) changed_.notify_one();
  ended_.notify_all();
}

void WorkerThreads::join() {
  std::unique_lock lock(mutex_);
  ends_ = true;
  changed_.notify_all();
  ended_.wait(lock, [&] { return threads_.empty(); });
  for (auto& thread : done_) thread.join();
  done_.clear();
}

WorkerThreads::Waiting::Waiting(WorkerThreads& threads) : threads_(threads) {
  const std::lock_guard lock(threads_.mutex_);
  ++threads_.waiting_;
  threads_.start_as_needed();
}

WorkerThreads::Waiting::~Waiting() {
  const std::lock_guard lock(threads_.mutex_);
  --threads_.waiting_;
  threads_.changed_.notify_all();
}

}  // namespace eindb
