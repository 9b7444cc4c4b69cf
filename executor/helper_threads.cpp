#include "executor/helper_threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>

#include "common/check.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

/// The time that a thread looks for work before it sleeps, as the regions of a plan follow each other closely.
constexpr std::chrono::microseconds kHelperLookOut{50};

}  // namespace

HelperThreads& HelperThreads::instance() {
  static HelperThreads helpers;
  return helpers;
}

HelperThreads::HelperThreads() : process_(::getpid()) {}

HelperThreads::~HelperThreads() {
  if (::getpid() != process_) {  // in a child after fork; the threads belong to the parent
    for (auto& thread : threads_) thread.detach();
    // The destructors would wait for the parent's sleeping threads, which the copied variables still count.
    new (&wake_) std::condition_variable;
    new (&ended_) std::condition_variable;
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void HelperThreads::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  CHECK(count > 0 && work != nullptr, "the caller has a part in its work");
  Call call{.work = work, .next = 1, .count = count};
  announce(call);
  try {
    work(0);
  } catch (...) {
    withdraw(call);
    throw;
  }
  withdraw(call);
}

void HelperThreads::announce(Call& call) {
  const auto wanted = call.count - 1;
  if (wanted == 0) return;
  std::unique_lock lock(mutex_);
  start_threads(wanted);
  auto** end = &first_;
  while (*end != nullptr) end = &(*end)->behind;
  *end = &call;
  announced_.fetch_add(1, std::memory_order_relaxed);
  const auto sleepers = std::min(idle_, wanted);
  lock.unlock();  // so that waking threads find the mutex unlocked
  for (std::size_t n = 0; n < sleepers; ++n) wake_.notify_one();
}

void HelperThreads::withdraw(Call& call) {
  std::unique_lock lock(mutex_);
  if (call.next < call.count) remove(call);
  ended_.wait(lock, [&call] { return call.running == 0; });
}

void HelperThreads::remove(Call& call) {
  auto** place = &first_;
  while (*place != nullptr && *place != &call) place = &(*place)->behind;
  if (*place == &call) *place = call.behind;
}

// Starts as many threads as requested, or as keep the cores busy over all callers.
void HelperThreads::start_threads(std::size_t wanted) {
  if (idle_ >= wanted) return;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const auto most = std::max(wanted, cores - 1);
  const auto missing = std::min(wanted - idle_, most - std::min(most, threads_.size()));
  try {
    for (std::size_t n = 0; n < missing; ++n) {
      threads_.emplace_back();
      threads_.back() = std::thread([this] { help(); });
    }
  } catch (const std::exception&) {  // no memory or thread is available; tried again next time
    if (!threads_.empty() && !threads_.back().joinable()) threads_.pop_back();
  }
}

std::size_t HelperThreads::size() {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

void HelperThreads::help() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (first_ != nullptr) help_with(*first_, lock);
    else rest(lock);
  }
}

void HelperThreads::help_with(Call& call, std::unique_lock<std::mutex>& lock) {
  const auto number = call.next++;
  if (call.next == call.count) remove(call);
  ++call.running;
  lock.unlock();
  call.work(number);
  lock.lock();
  if (--call.running == 0) ended_.notify_all();
}

void HelperThreads::rest(std::unique_lock<std::mutex>& lock) {
  const auto seen = announced_.load(std::memory_order_relaxed);
  lock.unlock();
  const auto until = Clock::now() + kHelperLookOut;
  while (announced_.load(std::memory_order_relaxed) == seen && Clock::now() < until) std::this_thread::yield();
  lock.lock();
  if (first_ != nullptr || ends_) return;
  ++idle_;
  wake_.wait(lock);
  --idle_;
}

}  // namespace eindb
