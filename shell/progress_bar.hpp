#pragma once

#include <chrono>
#include <cstddef>

#include "engine/session.hpp"

namespace eindb {

/// A line on standard error about the statement that runs, if it takes more than two seconds and a person looks on:
///
///     join [##########          ] 50%
///
/// update() is called by the thread that executes, between start() and finish(); all three by one thread.
class ProgressBar {
 public:
  ProgressBar();

  void start();
  void update(const Progress& progress);
  /// Removes the line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool shown_ = false;
  Clock::time_point next_;  // when to draw again
};

}  // namespace eindb
