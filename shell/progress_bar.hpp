#pragma once

#include <chrono>
#include <cstddef>

#include "engine/session.hpp"

namespace eindb {

/// A line on standard error about the running statement, if it takes more than two seconds and standard error is a
/// terminal:
///
///     join [##########          ] 50%
///
/// update() is called by the executing thread between start() and finish(); one thread calls all three.
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
