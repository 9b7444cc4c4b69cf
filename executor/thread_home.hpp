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

  /// Bars the thread from a processor, and only from that one of those that it could use; from none, if `helpers`
  /// threads would not have a processor each among the others. Does nothing where the system does not allow it, and if
  /// it was called with the same arguments last. Negative: not known.
  void keep_off(int processor, std::size_t helpers);

 private:
  pid_t thread_ = 0;         // 0: not begun
  int processor_ = -1;       // of the last call; -1: none
  std::size_t helpers_ = 0;  // of the last call
  cpu_set_t own_{};          // without the bar
  cpu_set_t set_{};          // as it was set here last
};

}  // namespace eindb
