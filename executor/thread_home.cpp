#include "executor/thread_home.hpp"

#include <unistd.h>

namespace eindb {

void ThreadHome::of_this_thread() { thread_ = ::gettid(); }

void ThreadHome::keep_off(int processor, std::size_t helpers) {
  if (processor < 0 || processor >= CPU_SETSIZE || thread_ == 0) return;
  if (processor == processor_ && helpers == helpers_) return;
  cpu_set_t now;
  if (::sched_getaffinity(thread_, sizeof now, &now) != 0) return;
  if (processor_ < 0 || !CPU_EQUAL(&now, &set_)) own_ = now;  // else somebody else has set it meanwhile
  cpu_set_t others = own_;
  CPU_CLR(processor, &others);
  if (static_cast<std::size_t>(CPU_COUNT(&others)) < helpers) others = own_;
  if (::sched_setaffinity(thread_, sizeof others, &others) != 0) return;
  set_ = others;
  processor_ = processor;
  helpers_ = helpers;
}

}  // namespace eindb
