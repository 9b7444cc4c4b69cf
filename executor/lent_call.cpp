#include "executor/lent_call.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

// Loops of a factorisation follow each other closely, so that threads wait for each other awake for so long.
constexpr std::chrono::microseconds kLookOutForParts{100};

template <class Condition>
void look_out_for(const Condition& condition) {
  const auto until = Clock::now() + kLookOutForParts;
  while (!condition() && Clock::now() < until) std::this_thread::yield();
}

}  // namespace

LentCall::LentCall(std::int64_t most_helpers, std::function<void()> summon)
    : most_helpers_(most_helpers), summon_(std::move(summon)) {}

void LentCall::for_each(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  next_ = 0;
  count_ = count;
  error_ = nullptr;
  has_parts_ = true;
  loops_.fetch_add(1);
  lock.unlock();
  if (wants_help()) summon_();
  lock.lock();
  work(lock);
  if (running_ > 0) {
    lock.unlock();
    look_out_for([&] { return running_ == 0; });
    lock.lock();
    ended_.wait(lock, [&] { return running_ == 0; });
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

// Takes parts until there is none.
void LentCall::work(std::unique_lock<std::mutex>& lock) {
  while (next_ < count_) {
    const auto part = next_++;
    if (next_ == count_) has_parts_ = false;
    ++running_;
    lock.unlock();
    std::exception_ptr error;
    try {
      (*task_)(part);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !error_) error_ = std::move(error);
    if (error_) next_ = count_;
    if (error_) has_parts_ = false;
    if (--running_ == 0) ended_.notify_all();
  }
}

bool LentCall::enter() {
  auto helpers = helpers_.load();
  while (!closed_ && helpers < most_helpers_)
    if (helpers_.compare_exchange_weak(helpers, helpers + 1)) return true;
  return false;
}

void LentCall::help() {
  while (!closed_) {
    const auto seen = loops_.load();
    {
      std::unique_lock lock(mutex_);
      work(lock);
    }
    look_out_for([&] { return closed_ || loops_.load() != seen; });
    if (loops_.load() == seen) break;
  }
  helpers_.fetch_sub(1);
}

}  // namespace eindb
