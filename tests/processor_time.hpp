#pragma once

#include <ctime>

namespace eindb::testing {

/// What all threads of this process have computed so far, in seconds of a processor. Other work on the machine does not
/// count, so that tests may compare it, unlike the time of a clock on the wall.
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
