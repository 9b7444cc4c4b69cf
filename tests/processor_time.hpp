#pragma once

#include <ctime>

namespace eindb::testing {

/// The CPU time of all threads of this process so far, in seconds. Unlike the time of a clock it does not count other
/// work on the machine, so that tests may compare it.
inline double processor_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The same of the calling thread.
inline double thread_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace eindb::testing
