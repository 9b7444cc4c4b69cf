#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EINDB_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define EINDB_THREAD_SANITIZER
#endif
#if defined(EINDB_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#define EINDB_UNSEEN_BY_THREAD_SANITIZER __attribute__((no_sanitize("thread")))
#else
#define EINDB_UNSEEN_BY_THREAD_SANITIZER
#endif

namespace eindb {

/// Tells ThreadSanitizer in which order oneTBB runs things: what a thread did before it spawned tasks (`spawn`)
/// comes before each of them, and what each did comes before what follows the wait for all (the destructor). The
/// library is not compiled with the sanitizer, which so sees neither, and would report every value that a task reads.
/// Does nothing in other builds.
///
/// Says only what the library guarantees: two tasks have no order by it, so that a race between them is reported.
class TaskOrder {
 public:
#if defined(EINDB_THREAD_SANITIZER)
  ~TaskOrder() { __tsan_acquire(&end_); }
  void spawn() { __tsan_release(&begin_); }
#else
  void spawn() {}
#endif

  /// One task, from before its first action to after its last, however it ends.
  class Task {
   public:
#if defined(EINDB_THREAD_SANITIZER)
    explicit Task(TaskOrder& order) : order_(order) { __tsan_acquire(&order_.begin_); }
    ~Task() { __tsan_release(&order_.end_); }

   private:
    TaskOrder& order_;
#else
    explicit Task(TaskOrder& /*order*/) {}
#endif
  };

#if defined(EINDB_THREAD_SANITIZER)
 private:
  char begin_ = 0;
  char end_ = 0;
#endif
};

}  // namespace eindb
