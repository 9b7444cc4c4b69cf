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
constexpr std::chrono::microseconds kHelperLookOut{100};

}  // namespace

HelperThreads& HelperThreads::instance() {
  static HelperThreads helpers;
  return helpers;
}

HelperThreads::HelperThreads() : process_(::getpid()) {}

HelperThreads::~HelperThreads() {
  if (::getpid() != process_) {  // in a child after fork; the threads belong to the parent
    // The destructors would wait for the parent's sleeping threads, which the copied variables still count.
    for (auto& helper : helpers_) {
      helper.thread.detach();
      new (&helper.wake) std::condition_variable;
    }
    new (&ended_) std::condition_variable;
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  for (auto& helper : helpers_) helper.wake.notify_all();
  for (auto& helper : helpers_) helper.thread.join();
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
  const auto processor = ::sched_getcpu();
  const std::lock_guard lock(mutex_);
  start_threads(wanted);
  auto** end = &first_;
  while (*end != nullptr) end = &(*end)->behind;
  *end = &call;
  announced_.fetch_add(1, std::memory_order_relaxed);
  for (auto& helper : helpers_)
    if (helper.doing == Doing::LookingOut) helper.home.keep_off(processor, wanted);
  for (auto n = std::min(idle_, wanted); n > 0; --n) {
    auto& helper = *sleeping_;
    sleeping_ = helper.below;
    --idle_;
    helper.home.keep_off(processor, wanted);
    helper.doing = Doing::LookingOut;
    helper.wake.notify_one();
  }
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
  const auto missing = std::min(wanted - idle_, most - std::min(most, helpers_.size()));
  try {
    for (std::size_t n = 0; n < missing; ++n) {
      auto& helper = helpers_.emplace_back();
      helper.thread = std::thread([this, &helper] { help(helper); });
    }
  } catch (const std::exception&) {  // no memory or thread is available; tried again next time
    if (!helpers_.empty() && !helpers_.back().thread.joinable()) helpers_.pop_back();
  }
}

std::size_t HelperThreads::size() {
  const std::lock_guard lock(mutex_);
  return helpers_.size();
}

void HelperThreads::help(Helper& self) {
  std::unique_lock lock(mutex_);
  self.home.of_this_thread();
  while (!ends_) {
    if (first_ != nullptr) help_with(*first_, self, lock);
    else rest(self, lock);
  }
}

void HelperThreads::help_with(Call& call, Helper& self, std::unique_lock<std::mutex>& lock) {
  const auto number = call.next++;
  if (call.next == call.count) remove(call);
  ++call.running;
  self.doing = Doing::Helping;
  lock.unlock();
  call.work(number);
  lock.lock();
  if (--call.running == 0) ended_.notify_all();
}

void HelperThreads::rest(Helper& self, std::unique_lock<std::mutex>& lock) {
  const auto seen = announced_.load(std::memory_order_relaxed);
  self.doing = Doing::LookingOut;
  lock.unlock();
  const auto until = Clock::now() + kHelperLookOut;
  while (announced_.load(std::memory_order_relaxed) == seen && Clock::now() < until) std::this_thread::yield();
  lock.lock();
  if (first_ != nullptr || ends_) return;
  self.doing = Doing::Sleeping;
  self.below = sleeping_;
  sleeping_ = &self;
  ++idle_;
  self.wake.wait(lock, [&] { return self.doing != Doing::Sleeping || ends_; });
}

}  // namespace eindb
