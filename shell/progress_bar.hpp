#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "engine/session.hpp"

namespace eindb {

/// A line on standard error about the running statement, if it takes more than two seconds and standard error is a
/// terminal:
///
///     join [##########          ] 50%, 12 s left
///
/// The time that is left is that of what is counted now, if it goes on as fast as it has gone so far.
///
/// update() is called by the executing thread between start() and finish(); one thread calls all three.
class ProgressBar {
 public:
  ProgressBar();

  void start();
  void update(const Progress& progress);
  /// Removes the line.
  void finish();

  /// The text of the line, `elapsed` after the count began.
  static std::string line(const Progress& progress, std::chrono::duration<double> elapsed);

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool shown_ = false;
  Clock::time_point next_;                  // when to draw again
  Clock::time_point begin_ = Clock::now();  // of the present count
  Progress last_;                           // without its stage
};

}  // namespace eindb
