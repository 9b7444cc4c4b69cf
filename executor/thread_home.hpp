#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstddef>

namespace eindb {

/// The processors that a helping thread may use: all but the one of the thread that it helps.
///
/// Linux often wakes a thread on the processor of the thread that wakes it, on virtual machines even if all others are
/// idle, and moves it to another one only after milliseconds. Two threads that take turns on one processor are no
/// faster than one, and most statements have ended by then.
///
/// Not thread-safe; keep_off() may be called by any thread.
class ThreadHome {
 public:
  /// Call first, in the thread itself.
  void of_this_thread();

  /// Bars the thread from a processor, and only from that one of those that it could use. Does nothing if it is barred
  /// from that one already, if `helpers` threads would have no processor each among the others, or where the system
  /// does not allow it. Negative: not known.
  void keep_off(int processor, std::size_t helpers);

 private:
  pid_t thread_ = 0;  // 0: not begun
  int barred_ = -1;   // -1: from none
  cpu_set_t own_{};   // without the bar
  cpu_set_t set_{};   // as it was set here last
};

}  // namespace eindb
