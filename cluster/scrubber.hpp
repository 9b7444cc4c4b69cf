#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "cluster/worker_node.hpp"

namespace eindb {

/// Verifies the checksums of a worker's contents in the background, one after the other, at the rate of
/// WorkerOptions::scrub_rate, and tells the node of those that are damaged. Begins anew some time after its end. A disk
/// that does not answer is left alone.
class Scrubber {
 public:
  /// Starts a thread, unless the rate is 0. The node must outlive it.
  explicit Scrubber(WorkerNode& node);
  ~Scrubber();
  Scrubber(const Scrubber&) = delete;
  Scrubber& operator=(const Scrubber&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void run() noexcept;
  void verify_all();
  /// Returns whether the scrubber is to end.
  bool pause(Clock::duration time);

  WorkerNode& node_;
  std::mutex mutex_;  // guards ends_
  std::condition_variable wakes_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace eindb
