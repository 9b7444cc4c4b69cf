#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "executor/execution_context.hpp"

namespace eindb {

/// Reports the progress of an execution at a rate suitable for display, from one thread at a time. Thread-safe.
class ProgressReport {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{20};

  /// `total` has the unit of advance()'s `done`.
  ProgressReport(const ExecutionContext& context, double total) : progress_(context.progress), total_(total) {}

  bool is_wanted() const { return static_cast<bool>(progress_); }
  /// Adds `done` to the work completed, as part of `stage`.
  void advance(std::string_view stage, double done) {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    done_ += done;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + kInterval;
    const auto share = total_ > 0 ? done_ / total_ : 0;
    constexpr double kTotal = 1000;
    progress_(stage, static_cast<std::int64_t>(share < 1 ? share * kTotal : kTotal - 1),
              static_cast<std::int64_t>(kTotal));
  }

 private:
  const std::function<void(std::string_view, std::int64_t, std::int64_t)>& progress_;
  const double total_;
  std::mutex mutex_;  // guards the members below
  double done_ = 0;
  Clock::time_point next_{};
};

}  // namespace eindb
